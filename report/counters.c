// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/counters.h"

static guint64 live_objects(const KmtCounters *l)
{
	return l->first_objects + l->allocs - l->frees - (guint64)l->gone;
}

static guint64 live_req(const KmtCounters *l)
{
	return l->first_req + l->bytes_req - l->closed_req;
}

void kmt_counters_restart(KmtCounters *l, gint64 now)
{
	KmtCounters next = {
		.sum = l->sum,
		.first_objects = live_objects(l),
		.first_req = live_req(l),
		.live = l->live,
		.peak = l->live,
		.peak_timestamp = l->live ? now : 0,
		.epoch = l->epoch,
		.at_peak = l->at_peak,
	};

	*l = next;
}

KmtTotals kmt_counters_totals(const KmtCounters *l)
{
	return (KmtTotals){
		.allocs = l->allocs,
		.frees = l->frees,
		.bytes_req = l->bytes_req,
		.bytes_alloc = l->bytes_alloc,
		.cross_cpu_frees = l->cross_cpu_frees,
		.remote_node_allocs = l->remote_node_allocs,
		.live_objects = live_objects(l),
		.live_bytes_req = live_req(l),
		.live_bytes_alloc = l->live,
		.peak_bytes_alloc = l->peak,
		.peak_timestamp = l->peak_timestamp,
	};
}
