// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: vmalloc areas: the hook, the probes, and their switches. */

#include <linux/kernel.h>
#include <linux/kmemtrace.h>
#include <linux/kprobes.h>

#include "features.h"
#include "operation.h"
#include "probe.h"
#include "record.h"
#include "session.h"

void __kmemtrace_vrealloc(unsigned long call_site, const void *ptr,
			  size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
			  int node)
{
	struct kmemtrace_operation op = { .call_site = call_site };

	kmemtrace_part(&op, trace_kmemtrace_vmalloc_free(call_site, ptr));
	kmemtrace_part(&op, trace_kmemtrace_vmalloc_alloc(call_site, ptr,
							  bytes_req, bytes_alloc,
							  gfp_flags, node));
}

static void probe_vmalloc_alloc(void *data, unsigned long call_site,
				const void *ptr, size_t bytes_req,
				size_t bytes_alloc, gfp_t gfp_flags, int node)
{
	kmemtrace_record_alloc(KMEMTRACE_TYPE_VMALLOC, call_site,
			       kmemtrace_object(ptr), bytes_req, bytes_alloc,
			       gfp_flags, node, KMEMTRACE_CACHE_NONE, false);
}
NOKPROBE_SYMBOL(probe_vmalloc_alloc);

static void probe_vmalloc_free(void *data, unsigned long call_site,
			       const void *ptr)
{
	kmemtrace_record_free(KMEMTRACE_TYPE_VMALLOC, call_site,
			      kmemtrace_object(ptr), KMEMTRACE_CACHE_NONE);
}
NOKPROBE_SYMBOL(probe_vmalloc_free);

KMEMTRACE_ONLY_PROBE(kmemtrace_vmalloc_free, probe_vmalloc_free);
KMEMTRACE_ONLY_PROBE(kmemtrace_vmalloc_alloc, probe_vmalloc_alloc);

static struct kmemtrace_event_source kmemtrace_vmalloc_sources[] = {
	KMEMTRACE_EVENT_SOURCE("vmalloc", ALLOC, VMALLOC,
			       kmemtrace_vmalloc_alloc_probes),
	KMEMTRACE_EVENT_SOURCE("vfree", FREE, VMALLOC,
			       kmemtrace_vmalloc_free_probes),
};

KMEMTRACE_SOURCES_FEATURE(kmemtrace_vmalloc);
