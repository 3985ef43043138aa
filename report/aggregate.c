// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/aggregate.h"

/* What the matcher's callbacks work on. */
typedef struct {
	const KmtCapture *capture;
	KmtAggregate *aggregate;
	const KmtPosition *now; /* of the record that is fed */
} Run;

static gboolean in_slab(KmtKind kind)
{
	return kind == KMT_KIND_KMALLOC || kind == KMT_KIND_CACHE;
}

static const KmtCpuFile *object_file(const Run *run, const KmtObject *object)
{
	return g_ptr_array_index(run->capture->files, object->file);
}

static KmtTallySite event_site(const struct kmemtrace_event *event)
{
	KmtTallySite site = {.address = event->call_site,
			     .kind = (KmtKind)event->type_id};

	return site;
}

static KmtTallySite object_site(const Run *run, const KmtObject *object)
{
	const KmtSite *from = &run->aggregate->sites->sites[object->site];
	KmtTallySite site = {.address = from->address, .kind = from->kind};

	return site;
}

static void book_alloc(KmtAggregate *aggregate, KmtTotals *totals,
		       const struct kmemtrace_event *event, gboolean remote)
{
	if (kmt_totals_alloc(totals, event->bytes_req, event->bytes_alloc,
			     event->timestamp))
		aggregate->overflowed = TRUE;
	totals->remote_node_allocs += remote;
}

static void on_alloc(gpointer user, KmtObject *object,
		     const struct kmemtrace_event *event,
		     const KmtPosition *position)
{
	Run *run = user;
	KmtAggregate *aggregate = run->aggregate;
	KmtKind kind = (KmtKind)event->type_id;
	gint node = position->file->node;
	gboolean remote = event->node >= 0 && node >= 0 && event->node != node;

	object->site = kmt_sites_get(aggregate->sites, event->call_site, kind);
	book_alloc(aggregate, &aggregate->sites->sites[object->site].totals,
		   event, remote);
	book_alloc(aggregate, &aggregate->kinds[kind], event, remote);
	if (in_slab(kind))
		book_alloc(aggregate, &aggregate->kinds[KMT_KIND_SLAB], event,
			   remote);
	aggregate->short_allocs += event->bytes_alloc < event->bytes_req;
}

/* The object is live no more, in each total that it is a part of. */
static void book_close(KmtAggregate *aggregate, const KmtObject *object)
{
	KmtKind kind = (KmtKind)object->type;

	kmt_totals_close(&aggregate->sites->sites[object->site].totals,
			 object->bytes_req, object->bytes_alloc);
	kmt_totals_close(&aggregate->kinds[kind], object->bytes_req,
			 object->bytes_alloc);
	if (in_slab(kind))
		kmt_totals_close(&aggregate->kinds[KMT_KIND_SLAB],
				 object->bytes_req, object->bytes_alloc);
}

/* The object was freed, there. */
static void book_free(const Run *run, const KmtObject *object,
		      const KmtPosition *position)
{
	KmtAggregate *aggregate = run->aggregate;
	KmtTotals *site = &aggregate->sites->sites[object->site].totals;
	gboolean cross = object_file(run, object)->cpu != position->file->cpu;

	site->frees++;
	site->cross_cpu_frees += cross;
	aggregate->kinds[object->type].cross_cpu_frees += cross;
	if (in_slab((KmtKind)object->type))
		aggregate->kinds[KMT_KIND_SLAB].cross_cpu_frees += cross;
}

static void on_free(gpointer user, const KmtObject *object,
		    const struct kmemtrace_event *event,
		    const KmtPosition *position, gboolean mismatch)
{
	Run *run = user;
	KmtAggregate *aggregate = run->aggregate;

	book_close(aggregate, object);
	book_free(run, object, position);
	if (mismatch) {
		KmtTallySite from = object_site(run, object);
		KmtTallySite to = event_site(event);

		kmt_tally_add(aggregate->tally, KMT_TALLY_MISMATCH, &from, &to);
	}
}

static void on_replaced(gpointer user, const KmtObject *object,
			const struct kmemtrace_event *event,
			const KmtPosition *position)
{
	Run *run = user;

	book_close(run->aggregate, object);
}

static void on_double(gpointer user, const KmtObject *old_object,
		      const struct kmemtrace_event *event,
		      const KmtPosition *position, KmtDouble class,
		      const struct kmemtrace_event *free_event)
{
	Run *run = user;
	KmtTallySite older = object_site(run, old_object);
	KmtTallySite newer = event_site(event);

	/* A late free of an object that was closed when it was replaced; the
	 * matcher tells it at that very record. */
	if (free_event)
		book_free(run, old_object, run->now);
	kmt_tally_add(run->aggregate->tally,
		      (KmtTallyClass)(KMT_TALLY_DOUBLE_AFTER_LOSS + class),
		      &older, &newer);
}

static void on_unmatched(gpointer user, const struct kmemtrace_event *event,
			 const KmtPosition *position, KmtUnmatched class)
{
	Run *run = user;
	KmtTallySite site = event_site(event);

	kmt_tally_add(run->aggregate->tally,
		      (KmtTallyClass)(KMT_TALLY_UNMATCHED_BEFORE_TRACE + class),
		      &site, NULL);
}

static const KmtMatchOps match_ops = {
	.on_alloc = on_alloc,
	.on_free = on_free,
	.on_replaced = on_replaced,
	.on_double = on_double,
	.on_unmatched = on_unmatched,
};

/* Whether a free finds its object or not, it is a free of the kind it names. */
static void count_free(KmtAggregate *aggregate, KmtKind kind)
{
	aggregate->kinds[kind].frees++;
	if (in_slab(kind))
		aggregate->kinds[KMT_KIND_SLAB].frees++;
}

static void feed(Run *run, KmtMatcher *matcher, const KmtMerged *record)
{
	const struct kmemtrace_event *event = &record->event;
	KmtAggregate *aggregate = run->aggregate;

	aggregate->first_timestamp =
		MIN(aggregate->first_timestamp, event->timestamp);
	aggregate->last_timestamp =
		MAX(aggregate->last_timestamp, event->timestamp);
	if (event->event_id == KMEMTRACE_EVENT_FREE)
		count_free(aggregate, (KmtKind)event->type_id);
	run->now = &record->position;
	kmt_matcher_feed(matcher, event, &record->position);
}

static void read_all(Run *run, KmtMatcher *matcher, KmtMerge *merge)
{
	KmtAggregate *aggregate = run->aggregate;
	KmtMerged batch[KMT_MERGE_BATCH];
	guint n, i;

	aggregate->first_timestamp = G_MAXINT64;
	aggregate->last_timestamp = G_MININT64;
	while ((n = kmt_merge_next_batch(merge, batch, KMT_MERGE_BATCH))) {
		for (i = 0; i < n; i++)
			kmt_matcher_prefetch(matcher, &batch[i].event);
		for (i = 0; i < n; i++)
			feed(run, matcher, &batch[i]);
	}
	run->now = NULL;
	kmt_matcher_finish(matcher);
	if (aggregate->first_timestamp > aggregate->last_timestamp)
		aggregate->first_timestamp = aggregate->last_timestamp = 0;
}

KmtAggregate *kmt_aggregate_new(const KmtCapture *capture,
				gint64 clock_tolerance_ns)
{
	KmtAggregate *aggregate = g_new0(KmtAggregate, 1);
	Run run = {.capture = capture, .aggregate = aggregate};
	g_autoptr(KmtMerge) merge = kmt_merge_new(capture);
	g_autoptr(KmtMatcher) matcher =
		kmt_matcher_new(capture, &match_ops, &run, clock_tolerance_ns);
	guint i;

	aggregate->sites = kmt_sites_new();
	aggregate->tally = kmt_tally_new();
	read_all(&run, matcher, merge);
	aggregate->findings = *kmt_matcher_findings(matcher);
	aggregate->skipped = kmt_merge_skipped(merge);
	aggregate->unordered = kmt_merge_unordered(merge);
	for (i = 0; i < capture->files->len; i++) {
		const KmtCpuFile *file = g_ptr_array_index(capture->files, i);

		aggregate->truncated_bytes += file->truncated_bytes;
	}
	return aggregate;
}

void kmt_aggregate_free(KmtAggregate *aggregate)
{
	if (!aggregate)
		return;
	kmt_sites_free(aggregate->sites);
	kmt_tally_free(aggregate->tally);
	g_free(aggregate);
}
