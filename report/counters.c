// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/counters.h"

static guint64 live_objects(const KmtCounters *counters)
{
	return counters->first_objects + counters->allocs - counters->frees -
	       (guint64)counters->closed_minus_freed;
}

static guint64 live_req(const KmtCounters *counters)
{
	return counters->first_req + counters->bytes_req - counters->closed_req;
}

void kmt_counters_restart(KmtCounters *counters, gint64 now)
{
	guint64 live = kmt_counters_live(counters);
	KmtCounters next = {
		.parent = counters->parent,
		.first_objects = live_objects(counters),
		.first_req = live_req(counters),
		.peak = live,
		.peak_timestamp = live ? now : 0,
		.epoch = counters->epoch,
		.at_peak = counters->at_peak,
	};

	*counters = next;
}

KmtTotals kmt_counters_totals(const KmtCounters *counters)
{
	return (KmtTotals){
		.allocs = counters->allocs,
		.frees = counters->frees,
		.bytes_req = counters->bytes_req,
		.bytes_alloc = counters->bytes_alloc,
		.cross_cpu_frees = counters->cross_cpu_frees,
		.remote_node_allocs = counters->remote_node_allocs,
		.live_objects = live_objects(counters),
		.live_bytes_req = live_req(counters),
		.live_bytes_alloc = kmt_counters_live(counters),
		.peak_bytes_alloc = counters->peak,
		.peak_timestamp = counters->peak_timestamp,
	};
}
