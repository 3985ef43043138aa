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

/* Return the first version of the records that has the event of a switch. */
static unsigned int kmemtrace_first_abi(const struct kmemtrace_switch *sw)
{
	if (sw->event_id == KMEMTRACE_EVENT_DEFER)
		return 3;
	return sw->type_id <= KMEMTRACE_TYPE_PAGES ? 1 : 2;
}

void kmemtrace_register_sources(struct kmemtrace_event_source *sources,
				unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (kmemtrace_first_abi(&sources[i].sw) <= kmemtrace_abi)
			kmemtrace_switch_register(&sources[i].sw);
}
