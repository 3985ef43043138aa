/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: the version and the size of the records. */
#ifndef _MM_KMEMTRACE_FORMAT_H
#define _MM_KMEMTRACE_FORMAT_H

#include <uapi/linux/kmemtrace_abi.h>

/*
 * Version of the records, 1 to KMEMTRACE_ABI_VERSION.  The version does not change
 * after boot.
 */
extern unsigned int kmemtrace_abi;

/* Size of every record, in bytes.  The size does not change after boot. */
extern unsigned int kmemtrace_record_size;

/*
 * Set kmemtrace_record_size to the size of a record of version kmemtrace_abi.  Context:
 * early boot, before stacks.c sets the larger size of a record with a stack.
 */
void kmemtrace_format_init(void);

#endif /* _MM_KMEMTRACE_FORMAT_H */
