/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: macros and hooks that older kernels need.
 *
 * Each entry names the last version that needs the entry.
 */
#ifndef _LINUX_KMEMTRACE_COMPAT_H
#define _LINUX_KMEMTRACE_COMPAT_H

#include <linux/types.h>
#include <linux/version.h>

/*
 * Until Linux 6.15 DECLARE_TRACE() does not add a suffix to the name of a tracepoint.
 * Later versions add one, and have DECLARE_TRACE_EVENT(), which adds no suffix.
 */
#ifdef CONFIG_KMEMTRACE
#include <linux/tracepoint.h>
#ifndef DECLARE_TRACE_EVENT
#define DECLARE_TRACE_EVENT	DECLARE_TRACE
#endif
#endif

/*
 * Until Linux 6.9 the page allocator frees lists of single pages, linked through
 * page->lru, instead of batches of folios, and compaction isolates such lists.  These
 * hooks do for a list what kmemtrace_page_free_folios() does for a batch and
 * kmemtrace_page_alloc_array() for an array.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
struct list_head;

#ifdef CONFIG_KMEMTRACE
void __kmemtrace_page_alloc_list(unsigned long call_site,
				 struct list_head *pages, gfp_t gfp_flags);
void __kmemtrace_page_free_list(unsigned long call_site,
				struct list_head *pages);

#define kmemtrace_page_alloc_list(call_site, pages, gfp_flags)		\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_alloc_list(call_site, pages,	\
						   gfp_flags))

#define kmemtrace_page_free_list(call_site, pages)			\
	kmemtrace_hook(kmemtrace_page_free,				\
		       __kmemtrace_page_free_list(call_site, pages))
#else
static inline void kmemtrace_page_alloc_list(unsigned long call_site,
					     struct list_head *pages,
					     gfp_t gfp_flags)
{
}

static inline void kmemtrace_page_free_list(unsigned long call_site,
					    struct list_head *pages)
{
}
#endif
#endif

#endif /* _LINUX_KMEMTRACE_COMPAT_H */
