// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: functions that the files in debugfs share: the check of lockdown at
 * open(), the parsing of written values, and the output of times and names.
 *
 * If the kernel is locked down, debugfs refuses to open a file that can be written, and
 * allows a file that can only be read.  The records and tables reveal addresses of
 * the kernel, as tracefs does, so every file of kmemtrace obeys the same lockdown
 * reason as tracefs: each open function begins with kmemtrace_may_open().
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/overflow.h>
#include <linux/ratelimit.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "file_util.h"

int kmemtrace_may_open(void)
{
	return security_locked_down(LOCKDOWN_TRACEFS);
}

int kmemtrace_simple_open(struct inode *inode, struct file *file)
{
	return kmemtrace_may_open() ?: simple_open(inode, file);
}

int kmemtrace_single_open(struct inode *inode, struct file *file,
			  int (*show)(struct seq_file *m, void *v))
{
	return kmemtrace_may_open() ?:
	       single_open(file, show, inode->i_private);
}

int kmemtrace_seq_open(struct file *file, const struct seq_operations *ops)
{
	return kmemtrace_may_open() ?: seq_open(file, ops);
}

int kmemtrace_bool_from_user(const char *name, const char *takes,
			     const char __user *buffer, size_t count,
			     bool *value)
{
	char text[8] = "";
	size_t n = min(count, sizeof(text) - 1);
	const char *word;

	if (copy_from_user(text, buffer, n))
		return -EFAULT;
	word = strim(text);
	/* kstrtobool() reads only the first character, and would take 10 for 1. */
	if (count < sizeof(text) && !(isdigit(word[0]) && word[1]) &&
	    !kstrtobool(word, value))
		return 0;
	pr_warn_ratelimited("%s takes %s, not \"%*pE\"\n", name, takes,
			    (int)strlen(text), text);
	return -EINVAL;
}

int kmemtrace_parse_bytes(const char *text, u64 *bytes)
{
	static const char suffixes[] = "KMGTPE";
	bool is_hex = text[0] == '0' && toupper(text[1]) == 'X';
	size_t n = strlen(text);
	unsigned int shift = 0;
	unsigned long long value;
	const char *suffix;
	char number[24];

	if (!isdigit(*text))
		return -EINVAL;
	suffix = strchr(suffixes, toupper(text[n - 1]));
	/* The last digit of a hexadecimal number may be an E. */
	if (suffix && !(is_hex && *suffix == 'E')) {
		shift = 10 * (suffix - suffixes + 1);
		n--;
	}
	/* kstrtoull() would accept a newline after the number. */
	if (n >= sizeof(number) || !isxdigit(text[n - 1]))
		return -EINVAL;
	memcpy(number, text, n);
	number[n] = '\0';
	if (kstrtoull(number, 0, &value) ||
	    check_shl_overflow(value, shift, bytes))
		return -EINVAL;
	return 0;
}

/* The backslash, and all control characters, which the name of a task may contain. */
#define KMEMTRACE_ESCAPED						\
	"\\\001\002\003\004\005\006\007\010\011\012\013\014\015\016\017"	\
	"\020\021\022\023\024\025\026\027\030\031\032\033\034\035\036\037\177"

void kmemtrace_put_time(struct seq_file *m, u64 time)
{
	if (time)
		seq_printf(m, "%llu ", time);
	else
		seq_puts(m, "- ");
}

void kmemtrace_put_escaped(struct seq_file *m, const char *text)
{
	seq_escape(m, text, KMEMTRACE_ESCAPED);
}
