/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: records of annotations. */
#ifndef _MM_KMEMTRACE_MARK_RECORD_H
#define _MM_KMEMTRACE_MARK_RECORD_H

#include <linux/fs.h>

struct kmemtrace_mark;

/* The annotation of the lines that user space writes to the file marker. */
extern struct kmemtrace_mark kmemtrace_marker;
extern const struct file_operations kmemtrace_marker_fops;

/* Called after the annotation @name was recorded or lost.  Any context. */
typedef void kmemtrace_mark_fn(const char *name, unsigned long caller);

/* Set at boot, by the triggers; NULL: none. */
extern kmemtrace_mark_fn *kmemtrace_mark_hook;

#endif /* _MM_KMEMTRACE_MARK_RECORD_H */
