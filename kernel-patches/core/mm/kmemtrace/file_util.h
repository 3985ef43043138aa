/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: functions that the files in debugfs share. */
#ifndef _MM_KMEMTRACE_FILE_UTIL_H
#define _MM_KMEMTRACE_FILE_UTIL_H

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/types.h>

/* A file in the directory of kmemtrace in debugfs. */
struct kmemtrace_file {
	const char			*name;	/* NULL ends an array of files */
	umode_t				mode;
	const struct file_operations	*fops;
	unsigned int			abi;	/* no file if kmemtrace_abi is lower */
};

/*
 * Test whether a file of kmemtrace may be opened.  Each open function of a file calls
 * this function first, directly or by one of the three functions below.  Return 0, or
 * -EPERM if the kernel is locked down for confidentiality.
 */
int kmemtrace_may_open(void);

/* Open a file by simple_open().  Return 0, or -EPERM as kmemtrace_may_open(). */
int kmemtrace_simple_open(struct inode *inode, struct file *file);

/*
 * Open a file by single_open() with @show.  Return 0, -EPERM as kmemtrace_may_open(),
 * or -ENOMEM.  The release function of the file must be single_release().
 */
int kmemtrace_single_open(struct inode *inode, struct file *file,
			  int (*show)(struct seq_file *m, void *v));

/*
 * Open a file by seq_open() with @ops.  Return 0, -EPERM as kmemtrace_may_open(), or
 * -ENOMEM.  The release function of the file must be seq_release().
 */
int kmemtrace_seq_open(struct file *file, const struct seq_operations *ops);

#define __KMEMTRACE_SEQ_FILE_FOPS(name, its_release, ...)		\
static const struct file_operations name##_fops = {			\
	.owner		= THIS_MODULE,					\
	.open		= name##_open,					\
	.read		= seq_read,					\
	.llseek		= seq_lseek,					\
	.release	= its_release,					\
	__VA_ARGS__							\
}

#define __KMEMTRACE_SHOW_FOPS(name, ...)				\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return kmemtrace_single_open(inode, file, name##_show);		\
}									\
									\
__KMEMTRACE_SEQ_FILE_FOPS(name, single_release, __VA_ARGS__)

/* Define name_fops of a file that can only be read; name_show() prints its text. */
#define KMEMTRACE_SHOW_FOPS(name)	__KMEMTRACE_SHOW_FOPS(name)

/* Define name_fops of a file for name_show() and name_write(). */
#define KMEMTRACE_SHOW_WRITE_FOPS(name)					\
	__KMEMTRACE_SHOW_FOPS(name, .write = name##_write)

/* Define name_fops of a table for name_start(), _next(), _stop() and _show(). */
#define KMEMTRACE_SEQ_FOPS(name)					\
static const struct seq_operations name##_seq_ops = {			\
	.start	= name##_start,						\
	.next	= name##_next,						\
	.stop	= name##_stop,						\
	.show	= name##_show,						\
};									\
									\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return kmemtrace_seq_open(file, &name##_seq_ops);		\
}									\
									\
__KMEMTRACE_SEQ_FILE_FOPS(name, seq_release)

/*
 * Parse a boolean that user space writes to the file @name, and store it in @value.
 * @valid: the valid values, for the log.  Return 0, -EFAULT, or -EINVAL after logging
 * the valid values.
 */
int kmemtrace_bool_from_user(const char *name, const char *valid,
			     const char __user *buffer, size_t count,
			     bool *value);

/*
 * Parse a number of bytes, and store it in @bytes.  The number is decimal, octal (0...)
 * or hexadecimal (0x...), with an optional suffix K, M, G, T, P or E, in either case,
 * for a power of 1024; in a hexadecimal number, E is a digit.  Return 0, or -EINVAL if
 * @text is not exactly one such number, has more than 23 characters before the suffix,
 * or does not fit into 64 bits.
 */
int kmemtrace_parse_bytes(const char *text, u64 *bytes);

/* Print a time in ns and a space; if @time is 0, which means no time, print "- ". */
void kmemtrace_put_time(struct seq_file *m, u64 time);

/*
 * Print a text as the tables contain it: control characters and backslashes are octal
 * escape sequences.
 */
void kmemtrace_put_escaped(struct seq_file *m, const char *text);

#endif /* _MM_KMEMTRACE_FILE_UTIL_H */
