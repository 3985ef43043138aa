/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: probes on tracepoints, and switches for the events that probes record.
 *
 * A probe is called after an allocation and before a free: see <linux/kmemtrace.h>.
 * Failed allocations are not recorded.
 */
#ifndef _MM_KMEMTRACE_PROBE_H
#define _MM_KMEMTRACE_PROBE_H

#include <linux/kernel.h>

#include "switch.h"

/* A probe of a tracepoint. */
struct kmemtrace_probe {
	const char	*name;		/* name of the tracepoint; NULL ends an array */
	int		(*attach)(void);	/* returns 0 or -errno; sleeps */
	void		(*detach)(void);	/* sleeps */
};

/* Define the functions that attach the function @probe to a tracepoint and detach it. */
#define KMEMTRACE_PROBE(tracepoint, probe)				\
static int attach_##tracepoint(void)					\
{									\
	return register_trace_##tracepoint(probe, NULL);		\
}									\
static void detach_##tracepoint(void)					\
{									\
	unregister_trace_##tracepoint(probe, NULL);			\
}

/* An entry of an array of struct kmemtrace_probe, after KMEMTRACE_PROBE(). */
#define KMEMTRACE_PROBE_ENTRY(tracepoint)				\
	{								\
		.name = #tracepoint,					\
		.attach = attach_##tracepoint,				\
		.detach = detach_##tracepoint,				\
	}

/* Define the array tracepoint_probes with the only probe of an event. */
#define KMEMTRACE_ONLY_PROBE(tracepoint, probe)				\
KMEMTRACE_PROBE(tracepoint, probe)					\
static const struct kmemtrace_probe tracepoint##_probes[] = {		\
	KMEMTRACE_PROBE_ENTRY(tracepoint),				\
	{ }								\
}

/* The allocations, frees, or deferred frees of one type of memory, and their switch. */
struct kmemtrace_event_source {
	struct kmemtrace_switch		sw;
	const struct kmemtrace_probe	*probes;	/* array */
};

/*
 * Attach or detach the probes of an event source.  This is the callback set() of its
 * switch @sw.  Return 0, or -errno after logging the failure; no probe is attached
 * then.  Context: kmemtrace_mutex is held.  Sleeps.
 */
int kmemtrace_event_source_set(struct kmemtrace_switch *sw, bool on);

/* Initialiser of a struct kmemtrace_event_source. */
#define KMEMTRACE_EVENT_SOURCE(text, event, type, its_probes)		\
	{								\
		.sw = {							\
			.name = text,					\
			.event_id = KMEMTRACE_EVENT_##event,		\
			.type_id = KMEMTRACE_TYPE_##type,		\
			.set = kmemtrace_event_source_set,		\
		},							\
		.probes = its_probes,					\
	}

/* Define a feature that only registers the array name_sources. */
#define KMEMTRACE_SOURCES_FEATURE(name)					\
static void name##_init(void)						\
{									\
	kmemtrace_register_sources(name##_sources,			\
				   ARRAY_SIZE(name##_sources));		\
}									\
									\
struct kmemtrace_feature name##_feature = {				\
	.init	= name##_init,						\
}

/*
 * Register the switches of @n event sources.  Records of version 1 only have the types
 * kmalloc, cache and pages; DEFER records exist since version 3.  A source is not
 * registered if the selected version lacks its records.  Context: early boot.
 */
void kmemtrace_register_sources(struct kmemtrace_event_source *sources,
				unsigned int n);

#endif /* _MM_KMEMTRACE_PROBE_H */
