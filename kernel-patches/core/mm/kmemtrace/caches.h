/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: the table of caches. */
#ifndef _MM_KMEMTRACE_CACHES_H
#define _MM_KMEMTRACE_CACHES_H

#include <linux/types.h>

/*
 * Call @func with @data for each cache in the table of caches: @number and @name are
 * those of the cache.  @func must not sleep.  Context: kmemtrace_mutex may be held.
 * Sleeps.
 */
void kmemtrace_caches_each(void (*func)(void *data, u16 number,
					const char *name),
			   void *data);

#endif /* _MM_KMEMTRACE_CACHES_H */
