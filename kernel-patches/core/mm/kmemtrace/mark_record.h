/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: records of annotations. */
#ifndef _MM_KMEMTRACE_MARK_RECORD_H
#define _MM_KMEMTRACE_MARK_RECORD_H

#include <linux/fs.h>

struct kmemtrace_mark;

/* The descriptor of the lines that user space writes to the file marker. */
extern struct kmemtrace_mark kmemtrace_marker;

/* The operations of the file marker. */
extern const struct file_operations kmemtrace_marker_fops;

/*
 * A function that is called after each kmemtrace_mark() whose key is on, also if the
 * annotation was lost; for a line of the file marker, only after the line was recorded.
 * @name: name of the annotation.
 * @caller: address in the code of the annotation.  Any context.
 */
typedef void kmemtrace_mark_fn(const char *name, unsigned long caller);

/* The function of trigger.c to call, set once at boot; NULL: none. */
extern kmemtrace_mark_fn *kmemtrace_mark_hook;

#endif /* _MM_KMEMTRACE_MARK_RECORD_H */
