/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: probes on tracepoints, and switches of the events that they record.
 *
 * A probe records after an allocation and before a free: see <linux/kmemtrace.h>.
 * Failed allocations are not recorded.
 */
#ifndef _MM_KMEMTRACE_PROBE_H
#define _MM_KMEMTRACE_PROBE_H

#include <linux/kernel.h>

#include "switch.h"

struct kmemtrace_probe {
	const char	*name;		/* of the tracepoint */
	int		(*attach)(void);
	void		(*detach)(void);
};

/* Define the functions that attach and detach a probe of a tracepoint. */
#define KMEMTRACE_PROBE(tracepoint, probe)				\
static int attach_##tracepoint(void)					\
{									\
	return register_trace_##tracepoint(probe, NULL);		\
}									\
static void detach_##tracepoint(void)					\
{									\
	unregister_trace_##tracepoint(probe, NULL);			\
}

/* An entry of an array of probes, which ends with an entry without a name. */
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

/* An event that allocations or frees of one type of memory make. */
struct kmemtrace_event_source {
	struct kmemtrace_switch		sw;
	const struct kmemtrace_probe	*probes;
};

/* The callback of the switch: attach or detach the probes. */
int kmemtrace_event_source_set(struct kmemtrace_switch *sw, bool on);

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
 * Register the switches of n events.  Records of version 1 have no other types than
 * kmalloc, cache and pages; sources of other types are left out then.  Context:
 * early boot.
 */
void kmemtrace_register_sources(struct kmemtrace_event_source *sources,
				unsigned int n);

#endif /* _MM_KMEMTRACE_PROBE_H */
