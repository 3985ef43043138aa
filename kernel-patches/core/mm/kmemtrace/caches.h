/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: the table of caches. */
#ifndef _MM_KMEMTRACE_CACHES_H
#define _MM_KMEMTRACE_CACHES_H

#include <linux/types.h>

/*
 * Call @func for each cache that has a number.  @func does not sleep, but this
 * function does.
 */
void kmemtrace_caches_each(void (*func)(void *data, u16 number,
					const char *name),
			   void *data);

#endif /* _MM_KMEMTRACE_CACHES_H */
