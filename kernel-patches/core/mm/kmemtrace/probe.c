// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: attach and detach the probes of an event. */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/container_of.h>
#include <linux/printk.h>

#include "format.h"
#include "probe.h"

/* Detach all probes from @first to the one before @last, in reverse order. */
static void kmemtrace_detach_probes(const struct kmemtrace_probe *first,
				    const struct kmemtrace_probe *last)
{
	while (last-- > first)
		last->detach();
}

/* Attach all probes of an event; return 0, or -errno and attach none. */
static int kmemtrace_attach_probes(const struct kmemtrace_probe *first)
{
	const struct kmemtrace_probe *probe;
	int err;

	for (probe = first; probe->name; probe++) {
		err = probe->attach();
		if (err) {
			pr_err("cannot attach to tracepoint %s: %d\n",
			       probe->name, err);
			kmemtrace_detach_probes(first, probe);
			return err;
		}
	}
	return 0;
}

int kmemtrace_event_source_set(struct kmemtrace_switch *sw, bool on)
{
	const struct kmemtrace_event_source *source =
		container_of(sw, struct kmemtrace_event_source, sw);
	const struct kmemtrace_probe *end = source->probes;

	if (on)
		return kmemtrace_attach_probes(source->probes);
	while (end->name)
		end++;
	kmemtrace_detach_probes(source->probes, end);
	return 0;
}

void kmemtrace_register_sources(struct kmemtrace_event_source *sources,
				unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (sources[i].sw.type_id <= KMEMTRACE_TYPE_PAGES ||
		    kmemtrace_abi >= 2)
			kmemtrace_switch_register(&sources[i].sw);
}
