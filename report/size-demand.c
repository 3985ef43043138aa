// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/size-demand.h"

KmtSizeDemand *kmt_size_demand_new(guint32 limit)
{
	KmtSizeDemand *demand = g_new0(KmtSizeDemand, 1);
	guint i;

	demand->limit = limit;
	for (i = 0; i < KMT_SIZE_N_MOMENTS; i++)
		demand->objects[i] = g_new0(guint64, (gsize)limit + 1);
	demand->live = g_new0(KmtReplayGauge, (gsize)limit + 1);
	return demand;
}

void kmt_size_demand_free(KmtSizeDemand *demand)
{
	guint i;

	if (!demand)
		return;
	for (i = 0; i < KMT_SIZE_N_MOMENTS; i++)
		g_free(demand->objects[i]);
	g_free(demand->live);
	g_free(demand);
}

/* Count an allocation in the time of the report. */
static void count_allocation(KmtSizeDemand *demand, const KmtReplayClass *class)
{
	demand->objects[KMT_SIZE_ALL][class->bytes_req]++;
	demand->allocated[KMT_SIZE_ALL] += class->bytes_alloc;
}

static void on_event(gpointer user, const KmtReplay *replay,
		     const KmtReplayEvent *event)
{
	const KmtReplayKind *kind = &replay->kinds[KMT_KIND_KMALLOC];
	const KmtReplayClass *class = event->class;
	KmtSizeDemand *demand = user;
	gboolean is_end = kmt_size_demand_is_end(event);

	if (class->kind != KMT_KIND_KMALLOC ||
	    (event->op != KMT_REPLAY_ALLOC && !is_end))
		return;
	if (!kmt_size_demand_is_classed(class, demand->limit)) {
		demand->large += event->is_inside && !is_end;
		return;
	}
	demand->unselected += !class->is_selected;
	if (!is_end && event->is_inside)
		count_allocation(demand, class);
	kmt_replay_gauge_add(&demand->live[class->bytes_req], kind,
			     is_end ? -G_GUINT64_CONSTANT(1) : 1);
	kmt_replay_gauge_add(&demand->live_allocated, kind,
			     is_end ? -class->bytes_alloc : class->bytes_alloc);
}

/* Sum up the objects of a moment. */
static void add_sums(KmtSizeDemand *demand, KmtSizeMoment moment)
{
	guint32 size;

	for (size = 0; size <= demand->limit; size++) {
		guint64 n = demand->objects[moment][size];

		demand->n_objects[moment] += n;
		demand->requested[moment] += n * size;
	}
}

static void on_end(gpointer user, const KmtReplay *replay, gint64 now)
{
	const KmtReplayKind *kind = &replay->kinds[KMT_KIND_KMALLOC];
	KmtSizeDemand *demand = user;
	guint32 size;
	guint i;

	(void)now;
	for (size = 0; size <= demand->limit; size++) {
		KmtReplayGauge *live = &demand->live[size];

		kmt_replay_at_peak(live, kind);
		demand->objects[KMT_SIZE_AT_PEAK][size] = live->at_peak;
		demand->objects[KMT_SIZE_AT_END][size] = live->now;
	}
	kmt_replay_at_peak(&demand->live_allocated, kind);
	demand->allocated[KMT_SIZE_AT_PEAK] = demand->live_allocated.at_peak;
	demand->allocated[KMT_SIZE_AT_END] = demand->live_allocated.now;
	for (i = 0; i < KMT_SIZE_N_MOMENTS; i++)
		add_sums(demand, (KmtSizeMoment)i);
}

KmtReplayConsumer kmt_size_demand_consumer(KmtSizeDemand *demand)
{
	return (KmtReplayConsumer){
		.on_event = on_event, .on_end = on_end, .user = demand};
}
