// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: per-CPU memory: the hook, the probes, and their switches. */

#include <linux/align.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/kmemtrace.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>

#include "features.h"
#include "probe.h"
#include "record.h"
#include "session.h"

void __kmemtrace_percpu_alloc(unsigned long call_site, const void __percpu *ptr,
			      size_t size, gfp_t gfp_flags)
{
	size_t bytes_alloc = ALIGN(size, PCPU_MIN_ALLOC_SIZE);

	if (ptr)
		trace_kmemtrace_percpu_alloc(call_site,
					     (__force const void *)ptr,
					     size * num_possible_cpus(),
					     bytes_alloc * num_possible_cpus(),
					     gfp_flags);
}

/* A per-CPU pointer has no KASAN tag to reset. */
static void probe_percpu_alloc(void *data, unsigned long call_site,
			       const void *ptr, size_t bytes_req,
			       size_t bytes_alloc, gfp_t gfp_flags)
{
	kmemtrace_record_alloc(KMEMTRACE_TYPE_PERCPU, call_site,
			       (unsigned long)ptr, bytes_req, bytes_alloc,
			       gfp_flags, NUMA_NO_NODE, KMEMTRACE_CACHE_NONE,
			       false);
}
NOKPROBE_SYMBOL(probe_percpu_alloc);

static void probe_percpu_free(void *data, unsigned long call_site,
			      const void *ptr)
{
	kmemtrace_record_free(KMEMTRACE_TYPE_PERCPU, call_site,
			      (unsigned long)ptr, KMEMTRACE_CACHE_NONE);
}
NOKPROBE_SYMBOL(probe_percpu_free);

KMEMTRACE_ONLY_PROBE(kmemtrace_percpu_free, probe_percpu_free);
KMEMTRACE_ONLY_PROBE(kmemtrace_percpu_alloc, probe_percpu_alloc);

static struct kmemtrace_event_source kmemtrace_percpu_sources[] = {
	KMEMTRACE_EVENT_SOURCE("percpu_alloc", ALLOC, PERCPU,
			       kmemtrace_percpu_alloc_probes),
	KMEMTRACE_EVENT_SOURCE("percpu_free", FREE, PERCPU,
			       kmemtrace_percpu_free_probes),
};

KMEMTRACE_SOURCES_FEATURE(kmemtrace_percpu);
