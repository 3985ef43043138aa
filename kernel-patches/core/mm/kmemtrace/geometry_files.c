// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: the files mode, subbufs and subbuf_size. */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "buffer.h"
#include "features.h"
#include "file_util.h"
#include "geometry.h"

/*
 * Size in bytes of the buffer for a text that user space writes, and a NUL.  All valid
 * values without needless zeros fit.
 */
#define KMEMTRACE_WORD_MAX 24

/*
 * Copy to @word the text that user space wrote, without a newline at its end.  Return
 * 0, -EFAULT, or -EINVAL if the text is empty, too long, or contains a NUL.
 */
static int kmemtrace_get_word(const char __user *from, size_t count,
			      char word[KMEMTRACE_WORD_MAX])
{
	if (!count || count >= KMEMTRACE_WORD_MAX)
		return -EINVAL;
	if (copy_from_user(word, from, count))
		return -EFAULT;
	word[count] = '\0';
	if (strlen(word) != count)
		return -EINVAL;
	if (word[count - 1] == '\n')
		word[count - 1] = '\0';
	return 0;
}

static int kmemtrace_mode_show(struct seq_file *m, void *v)
{
	seq_puts(m, READ_ONCE(kmemtrace_overwrite) ? "overwrite\n" :
						     "discard\n");
	return 0;
}

static ssize_t kmemtrace_mode_write(struct file *file, const char __user *from,
				    size_t count, loff_t *ppos)
{
	char word[KMEMTRACE_WORD_MAX];
	int err;

	err = kmemtrace_get_word(from, count, word);
	if (!err && !strcmp(word, "discard"))
		WRITE_ONCE(kmemtrace_overwrite, false);
	else if (!err && !strcmp(word, "overwrite"))
		WRITE_ONCE(kmemtrace_overwrite, true);
	else
		err = err ?: -EINVAL;
	if (err == -EINVAL)
		pr_warn_ratelimited("mode is discard or overwrite\n");
	return err ?: count;
}

KMEMTRACE_SHOW_WRITE_FOPS(kmemtrace_mode);

static void kmemtrace_explain(int err)
{
	if (err == -EINVAL)
		pr_warn_ratelimited("subbufs and subbuf_size are numbers as kmemtrace.subbufs and kmemtrace.subbuf_size take them, and both together at most half of the memory\n");
	else if (err == -EBUSY)
		pr_warn_ratelimited("subbufs and subbuf_size can only be changed while tracing is off\n");
}

static int kmemtrace_subbufs_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(kmemtrace_subbufs));
	return 0;
}

static ssize_t kmemtrace_subbufs_write(struct file *file,
				       const char __user *from, size_t count,
				       loff_t *ppos)
{
	char word[KMEMTRACE_WORD_MAX];
	unsigned int n;
	int err;

	err = kmemtrace_get_word(from, count, word);
	if (!err && (kstrtouint(word, 0, &n) || !n))
		err = -EINVAL;
	if (!err)
		err = kmemtrace_set_geometry(n, 0);
	kmemtrace_explain(err);
	return err ?: count;
}

KMEMTRACE_SHOW_WRITE_FOPS(kmemtrace_subbufs);

static int kmemtrace_subbuf_size_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(kmemtrace_subbuf_size));
	return 0;
}

static ssize_t kmemtrace_subbuf_size_write(struct file *file,
					   const char __user *from,
					   size_t count, loff_t *ppos)
{
	char word[KMEMTRACE_WORD_MAX];
	unsigned int bytes;
	int err;

	err = kmemtrace_get_word(from, count, word);
	if (!err)
		err = kmemtrace_parse_subbuf_size(word, &bytes);
	if (!err)
		err = kmemtrace_set_geometry(0, bytes);
	kmemtrace_explain(err);
	return err ?: count;
}

KMEMTRACE_SHOW_WRITE_FOPS(kmemtrace_subbuf_size);

static const struct kmemtrace_file kmemtrace_geometry_files[] = {
	{ "mode",        0600, &kmemtrace_mode_fops },
	{ "subbuf_size", 0600, &kmemtrace_subbuf_size_fops },
	{ "subbufs",     0600, &kmemtrace_subbufs_fops },
	{ }
};

struct kmemtrace_feature kmemtrace_geometry_files_feature = {
	.files	= kmemtrace_geometry_files,
};
