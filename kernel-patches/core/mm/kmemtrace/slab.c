// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: slab objects: the out-of-line hooks of the slab allocators, the probes,
 * and their switches.  <linux/kmemtrace.h> documents each hook.
 *
 * kfree(NULL) and kmalloc(0), which takes no memory, are not recorded; neither is
 * the kfree() of the latter.
 */

#include <linux/kernel.h>
#include <linux/kmemtrace.h>
#include <linux/kprobes.h>
#include <linux/slab.h>

#include <trace/events/kmem.h>

#include "compat_slab.h"
#include "features.h"
#include "operation.h"
#include "probe.h"
#include "record.h"
#include "session.h"

/* --- Hooks ----------------------------------------------------------------------- */

void __kmemtrace_krealloc(unsigned long call_site, const void *ptr,
			  size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags)
{
	struct kmemtrace_operation op = { .call_site = call_site };

	kmemtrace_part(&op, trace_kmemtrace_kfree(call_site, ptr));
	/*
	 * krealloc() knows how many bytes the caller may use, which is less with
	 * KASAN, for example.
	 */
	kmemtrace_part(&op, trace_kmemtrace_kmalloc(call_site, ptr, bytes_req,
						    kmemtrace_bytes_of(ptr) ?:
						    bytes_alloc, gfp_flags));
}

void __kmemtrace_cache_alloc_bulk(unsigned long call_site,
				  struct kmem_cache *s, gfp_t gfp_flags,
				  size_t nr, void **p)
{
	struct kmemtrace_operation op = { .call_site = call_site };
	size_t i;

	for (i = 0; i < nr; i++)
		kmemtrace_part(&op, trace_kmemtrace_cache_alloc(call_site, p[i],
								s, gfp_flags));
}

void __kmemtrace_free_bulk(unsigned long call_site, struct kmem_cache *s,
			   size_t nr, void **p)
{
	struct kmemtrace_operation op = { .call_site = call_site };
	size_t i;

	for (i = 0; i < nr; i++) {
		kmemtrace_operation_enter(&op);
		if (s)
			trace_kmemtrace_cache_free(call_site, p[i], s);
		else
			trace_kmemtrace_kfree(call_site, p[i]);
		kmemtrace_operation_leave(&op);
	}
}

/* --- Probes ---------------------------------------------------------------------- */

static void probe_kmalloc(void *data, unsigned long call_site, const void *ptr,
			  size_t bytes_req, size_t bytes_alloc,
			  gfp_t gfp_flags, int node)
{
	if (ZERO_OR_NULL_PTR(ptr))
		return;
	kmemtrace_record_alloc(KMEMTRACE_TYPE_KMALLOC, call_site,
			       kmemtrace_object(ptr), bytes_req, bytes_alloc,
			       gfp_flags, node, KMEMTRACE_CACHE_NONE, false);
}
NOKPROBE_SYMBOL(probe_kmalloc);

static void probe_kmemtrace_kmalloc(void *data, unsigned long call_site,
				    const void *ptr, size_t bytes_req,
				    size_t bytes_alloc, gfp_t gfp_flags)
{
	probe_kmalloc(data, call_site, ptr, bytes_req, bytes_alloc, gfp_flags,
		      NUMA_NO_NODE);
}
NOKPROBE_SYMBOL(probe_kmemtrace_kmalloc);

static void probe_cache_alloc(void *data, unsigned long call_site,
			      const void *ptr, struct kmem_cache *s,
			      gfp_t gfp_flags, int node)
{
	if (!ptr)
		return;
	kmemtrace_record_alloc(KMEMTRACE_TYPE_CACHE, call_site,
			       kmemtrace_object(ptr),
			       kmemtrace_cache_bytes_req(s),
			       kmemtrace_cache_bytes_alloc(s), gfp_flags, node,
			       kmemtrace_cache_number(s),
			       s->flags & SLAB_ACCOUNT);
}
NOKPROBE_SYMBOL(probe_cache_alloc);

static void probe_kmemtrace_cache_alloc(void *data, unsigned long call_site,
					const void *ptr, struct kmem_cache *s,
					gfp_t gfp_flags)
{
	probe_cache_alloc(data, call_site, ptr, s, gfp_flags, NUMA_NO_NODE);
}
NOKPROBE_SYMBOL(probe_kmemtrace_cache_alloc);

static void probe_cache_free(void *data, unsigned long call_site,
			     const void *ptr, const struct kmem_cache *s)
{
	if (!ptr)
		return;
	kmemtrace_record_free(KMEMTRACE_TYPE_CACHE, call_site,
			      kmemtrace_object(ptr), kmemtrace_cache_number(s));
}
NOKPROBE_SYMBOL(probe_cache_free);

/*
 * Since Linux 6.4 kfree() and its relatives also free the objects of caches, but rarely.
 * The usual case has a branch of its own, in which the type and the cache are constants.
 */
static void probe_kfree(void *data, unsigned long call_site, const void *ptr)
{
	struct kmem_cache *s;

	if (ZERO_OR_NULL_PTR(ptr))
		return;
	s = kmemtrace_kfree_cache(ptr);
	if (unlikely(s))
		probe_cache_free(data, call_site, ptr, s);
	else
		kmemtrace_record_free(KMEMTRACE_TYPE_KMALLOC, call_site,
				      kmemtrace_object(ptr),
				      KMEMTRACE_CACHE_NONE);
}
NOKPROBE_SYMBOL(probe_kfree);

KMEMTRACE_PROBE(kfree, probe_kfree)
KMEMTRACE_PROBE(kmem_cache_free, probe_cache_free)
KMEMTRACE_PROBE(kmemtrace_kfree, probe_kfree)
KMEMTRACE_PROBE(kmemtrace_cache_free, probe_cache_free)
KMEMTRACE_PROBE(kmalloc, probe_kmalloc)
KMEMTRACE_PROBE(kmem_cache_alloc, probe_cache_alloc)
KMEMTRACE_PROBE(kmemtrace_kmalloc, probe_kmemtrace_kmalloc)
KMEMTRACE_PROBE(kmemtrace_cache_alloc, probe_kmemtrace_cache_alloc)

static const struct kmemtrace_probe kmemtrace_kmalloc_probes[] = {
	KMEMTRACE_PROBE_ENTRY(kmalloc),
	KMEMTRACE_PROBE_ENTRY(kmemtrace_kmalloc),
	{ }
};

static const struct kmemtrace_probe kmemtrace_kfree_probes[] = {
	KMEMTRACE_PROBE_ENTRY(kfree),
	KMEMTRACE_PROBE_ENTRY(kmemtrace_kfree),
	{ }
};

static const struct kmemtrace_probe kmemtrace_cache_alloc_probes[] = {
	KMEMTRACE_PROBE_ENTRY(kmem_cache_alloc),
	KMEMTRACE_PROBE_ENTRY(kmemtrace_cache_alloc),
	{ }
};

static const struct kmemtrace_probe kmemtrace_cache_free_probes[] = {
	KMEMTRACE_PROBE_ENTRY(kmem_cache_free),
	KMEMTRACE_PROBE_ENTRY(kmemtrace_cache_free),
	{ }
};

static struct kmemtrace_event_source kmemtrace_slab_sources[] = {
	KMEMTRACE_EVENT_SOURCE("kmalloc", ALLOC, KMALLOC,
			       kmemtrace_kmalloc_probes),
	KMEMTRACE_EVENT_SOURCE("kfree", FREE, KMALLOC,
			       kmemtrace_kfree_probes),
	KMEMTRACE_EVENT_SOURCE("cache_alloc", ALLOC, CACHE,
			       kmemtrace_cache_alloc_probes),
	KMEMTRACE_EVENT_SOURCE("cache_free", FREE, CACHE,
			       kmemtrace_cache_free_probes),
};

KMEMTRACE_SOURCES_FEATURE(kmemtrace_slab);
