/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: call sites from allocation tags (CONFIG_MEM_ALLOC_PROFILING).  tags.c
 * describes when the tag of an allocation replaces its return address.
 */
#ifndef _MM_KMEMTRACE_TAGS_H
#define _MM_KMEMTRACE_TAGS_H

#include <linux/gfp_types.h>
#include <linux/types.h>

#ifdef CONFIG_MEM_ALLOC_PROFILING

#include <linux/alloc_tag.h>

#include <uapi/linux/kmemtrace_abi.h>

/* Out-of-line part of kmemtrace_call_site(), for an allocation while profiling is on. */
unsigned long __kmemtrace_tagged_call_site(unsigned long return_address,
					   gfp_t gfp_flags);

/* Return whether the call site of an event may be a tag.  Any context. */
static __always_inline bool kmemtrace_may_have_tag(u8 event_id)
{
	return event_id == KMEMTRACE_EVENT_ALLOC && mem_alloc_profiling_enabled();
}

/*
 * Return the call site of an event, as the record contains it: the address of the
 * allocation tag if the tag names the caller better than @return_address, otherwise
 * @return_address.  Any context, outside of the writing of a record.
 */
static __always_inline unsigned long
kmemtrace_call_site(u8 event_id, unsigned long return_address, gfp_t gfp_flags)
{
	if (kmemtrace_may_have_tag(event_id))
		return __kmemtrace_tagged_call_site(return_address, gfp_flags);
	return return_address;
}

#else

/* Macros, so that the writer has the same instructions as without this feature. */
#define kmemtrace_may_have_tag(event_id)	false
#define kmemtrace_call_site(event_id, return_address, gfp_flags)	\
	(return_address)

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _MM_KMEMTRACE_TAGS_H */
