/* SPDX-License-Identifier: GPL-2.0-only */
/* Files in /proc by which the guest controls a test module. */
#ifndef KMT_PROC_H
#define KMT_PROC_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/*
 * Copy the text that was written to a file, and end it with NUL. Returns 0 or a
 * negative errno.
 */
static inline int kmt_copy_text(char *text, size_t size, const char __user *buf,
				size_t len)
{
	if (len >= size)
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = '\0';
	return 0;
}

/*
 * Copy a command, which is a word, a space, and a number. Store the word in
 * @text and the number in @number. Returns 0 or a negative errno.
 */
static inline int kmt_copy_command(char *text, size_t size, const char __user *buf,
				   size_t len, unsigned long *number)
{
	char *space;
	int err = kmt_copy_text(text, size, buf, len);

	if (err)
		return err;
	space = strchr(text, ' ');
	if (!space)
		return -EINVAL;
	*space = '\0';
	return kstrtoul(space + 1, 0, number);
}

/* Define name_ops for a file with functions name_show() and name_write(). */
#define KMT_DEFINE_PROC_OPS(name)					\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return single_open(file, name##_show, NULL);			\
}									\
									\
static const struct proc_ops name##_ops = {				\
	.proc_open	= name##_open,					\
	.proc_read	= seq_read,					\
	.proc_write	= name##_write,					\
	.proc_lseek	= seq_lseek,					\
	.proc_release	= single_release,				\
}

#endif
