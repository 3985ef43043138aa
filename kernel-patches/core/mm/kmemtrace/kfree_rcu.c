// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: deferred frees: the hook of kfree_rcu() and its variants, the probes, and
 * their switches.
 *
 * The probes of this file write a DEFER record when memory is handed over to be freed
 * later.  slab.c and vmalloc.c record the free itself, when the grace period is over.
 */

#include <linux/kernel.h>
#include <linux/kmemtrace.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat_slab.h"
#include "features.h"
#include "probe.h"
#include "record.h"
#include "session.h"

/* @ptr is not NULL: the macros in <linux/rcupdate.h> test for NULL. */
void __kmemtrace_defer(unsigned long call_site, const void *ptr)
{
	if (is_vmalloc_addr(ptr))
		trace_kmemtrace_vfree_rcu(call_site, ptr);
	else
		trace_kmemtrace_kfree_rcu(call_site, ptr);
}

/* The type and the cache are those of the later FREE record: see probe_kfree(). */
static void probe_kfree_rcu(void *data, unsigned long call_site,
			    const void *ptr)
{
	struct kmem_cache *s;

	if (ZERO_OR_NULL_PTR(ptr))
		return;
	s = kmemtrace_kfree_cache(ptr);
	kmemtrace_record_defer(s ? KMEMTRACE_TYPE_CACHE :
				   KMEMTRACE_TYPE_KMALLOC,
			       call_site, kmemtrace_object(ptr),
			       s ? kmemtrace_cache_number(s) :
				   KMEMTRACE_CACHE_NONE);
}
NOKPROBE_SYMBOL(probe_kfree_rcu);

static void probe_vfree_rcu(void *data, unsigned long call_site,
			    const void *ptr)
{
	kmemtrace_record_defer(KMEMTRACE_TYPE_VMALLOC, call_site,
			       kmemtrace_object(ptr), KMEMTRACE_CACHE_NONE);
}
NOKPROBE_SYMBOL(probe_vfree_rcu);

KMEMTRACE_ONLY_PROBE(kmemtrace_kfree_rcu, probe_kfree_rcu);
KMEMTRACE_ONLY_PROBE(kmemtrace_vfree_rcu, probe_vfree_rcu);

static struct kmemtrace_event_source kmemtrace_kfree_rcu_sources[] = {
	KMEMTRACE_EVENT_SOURCE("kfree_rcu", DEFER, KMALLOC,
			       kmemtrace_kfree_rcu_probes),
	KMEMTRACE_EVENT_SOURCE("vfree_rcu", DEFER, VMALLOC,
			       kmemtrace_vfree_rcu_probes),
};

KMEMTRACE_SOURCES_FEATURE(kmemtrace_kfree_rcu);
