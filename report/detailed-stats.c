// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statistics that an option selects: a span, windows, a filter, details of
 * groups, the tables of cross-CPU frees, and a --by that does not separate the
 * kinds. This file accounts for slow events and for the objects that are live
 * at the end; detailed-steps.c accounts for all other events, detailed-counts.c
 * computes sums, detailed-span.c begins and ends windows, detailed-findings.c
 * counts findings, and detailed-deferred.c accounts for deferred objects.
 * kmt_detailed_slow_event() runs for the basic statistics as well, whose other
 * events basic-stats.c accounts for.
 */
#include "config.h"

#include "report/detailed-private.h"

/*
 * Return the statistics of @class_id, or NULL if the filter excludes the class.
 */
static KmtClassStats *find_class(KmtAccounting *accounting, guint32 class_id)
{
	KmtClassStats *stats = kmt_accounting_class(accounting, class_id);

	return stats->counters ? stats : NULL;
}

/* ---- figures that detailed-steps.c and basic-stats.c compute from sums ----
 */

static void account_alloc(KmtAccounting *accounting, const KmtClassStats *stats,
			  gint64 now, gboolean remote)
{
	KmtCounters *kind = kmt_accounting_kind(accounting, stats);
	guint64 bytes_req = kmt_accounting_bytes_req(accounting, stats);

	kmt_counters_save_peak(stats->counters);
	kmt_counters_alloc(stats->counters, bytes_req, stats->bytes_alloc, now);
	/* The sums of a kind include those of its groups, so it suffices to
	 * check the sums of the kind for overflow. */
	if (G_UNLIKELY(kind->bytes_req + bytes_req < bytes_req ||
		       kind->bytes_alloc + stats->bytes_alloc <
			       stats->bytes_alloc))
		accounting->aggregate->overflowed = TRUE;
	/* Live bytes include objects from before the span, which the sums
	 * exclude, so the live bytes need their own overflow check. */
	if (G_UNLIKELY(kmt_counters_live(kind) + stats->bytes_alloc <
		       stats->bytes_alloc))
		accounting->live_overflowed = TRUE;
	if (kmt_counters_alloc(kind, bytes_req, stats->bytes_alloc, now))
		kmt_detailed_new_peak(accounting, kind);
	if (kmt_counters_change(kind->parent, FALSE, stats->bytes_alloc, now))
		kmt_detailed_new_peak(accounting, kind->parent);
	if (G_UNLIKELY(remote)) {
		stats->counters->remote_node_allocs++;
		kind->remote_node_allocs++;
	}
}

/* Subtract an object from the live counters of its group and kinds. */
static void account_close(KmtAccounting *accounting, const KmtClassStats *stats)
{
	KmtCounters *kind = kmt_accounting_kind(accounting, stats);
	guint64 bytes_req = kmt_accounting_bytes_req(accounting, stats);

	kmt_counters_save_peak(stats->counters);
	kmt_counters_close(stats->counters, bytes_req, stats->bytes_alloc);
	kmt_counters_close(kind, bytes_req, stats->bytes_alloc);
	kind->parent->headroom += stats->bytes_alloc;
}

/* Count the free of an object. */
static void account_free(KmtAccounting *accounting, const KmtClassStats *stats,
			 gboolean cross)
{
	kmt_counters_free(stats->counters, cross);
	kmt_counters_free(kmt_accounting_kind(accounting, stats), cross);
}

/* ---- figures that an option selects ---- */

/*
 * Count an allocation with bytes_alloc < bytes_req. The count is a finding, so
 * the filter does not apply.
 */
static void count_short_alloc(KmtAccounting *accounting,
			      const KmtClassStats *stats)
{
	accounting->aggregate->short_allocs +=
		stats->bytes_alloc <
		kmt_accounting_bytes_req(accounting, stats);
}

static void count_alloc(KmtAccounting *accounting, KmtClassStats *stats,
			gint64 now, gboolean remote)
{
	KmtDetail *detail = kmt_accounting_detail(accounting, stats);

	account_alloc(accounting, stats, now, remote);
	if (accounting->inside && detail)
		kmt_histogram_add(&detail->sizes,
				  kmt_accounting_bytes_req(accounting, stats),
				  1);
}

/* Count the allocation of an object that a lifetime filter selects. @now is the
 * time of the object's free or the end of the span: only then is the lifetime
 * known. */
static void count_delayed_alloc(KmtAccounting *accounting, KmtClassStats *stats,
				gint64 now, guint32 class_id, guint16 file)
{
	count_alloc(accounting, stats, now,
		    kmt_detailed_is_remote(accounting, class_id, file));
}

static void detailed_alloc(KmtAccounting *accounting, KmtClassStats *stats,
			   gint64 now, gboolean remote)
{
	if (accounting->options->filter->lifetime)
		return;
	kmt_detailed_touch(accounting, stats);
	if (accounting->aggregate->history)
		kmt_detailed_history_alloc(accounting, stats);
	count_alloc(accounting, stats, now, remote);
}

static void detailed_close(KmtAccounting *accounting, KmtClassStats *stats)
{
	if (accounting->options->filter->lifetime)
		return;
	kmt_detailed_touch(accounting, stats);
	if (accounting->aggregate->history)
		kmt_detailed_history_close(accounting, stats);
	account_close(accounting, stats);
}

/*
 * A freed object: its class, the time and file of its allocation, and the time,
 * file and call site of its free. A file is an index in capture->files. If the
 * object was deferred, free_file and free_site are those of the DEFER.
 */
typedef struct {
	guint32 class_id;
	gint64 alloc_time;
	guint16 alloc_file;
	gint64 now;
	guint16 free_file;
	guint64 free_site;
	gboolean is_deferred;
	gint64 defer_time;
} FreedObject;

static void set_defer(FreedObject *freed, const KmtMatchObject *object)
{
	freed->is_deferred = object->is_deferred;
	if (!freed->is_deferred)
		return;
	freed->defer_time = object->defer.time;
	freed->free_file = object->defer.file;
	freed->free_site = object->defer.call_site;
}

static void detailed_free(KmtAccounting *accounting, KmtClassStats *stats,
			  const FreedObject *freed)
{
	const KmtFilter *filter = accounting->options->filter;
	guint64 lifetime = kmt_detailed_lifetime(freed->alloc_time, freed->now);
	gboolean cross = freed->alloc_file != freed->free_file;
	const KmtClassInfo *info = kmt_accounting_info(accounting, stats);
	KmtDetail *detail = kmt_accounting_detail(accounting, stats);

	if (filter->lifetime) {
		if (!accounting->inside ||
		    !kmt_detailed_has_lifetime(filter, lifetime))
			return;
		count_delayed_alloc(accounting, stats, freed->now,
				    freed->class_id, freed->alloc_file);
		account_close(accounting, stats);
	}
	account_free(accounting, stats, cross);
	if (accounting->basic)
		accounting->slow_frees[info->kind]++;
	if (!accounting->inside)
		return;
	if (freed->is_deferred)
		kmt_detailed_free_deferred(accounting, stats, freed->defer_time,
					   freed->now);
	if (detail)
		kmt_detailed_count_lifetime(accounting, detail, lifetime);
	if (accounting->aggregate->history)
		kmt_history_free_object(
			accounting->aggregate->history, info->group, info->kind,
			freed->alloc_file, freed->free_file, freed->free_site);
	if (accounting->aggregate->cross)
		kmt_detailed_count_cross(accounting, stats, freed->alloc_file,
					 freed->free_file, freed->free_site);
}

/* ---- records ---- */

/* Subtract an object that a slow event freed or replaced from the live and
 * deferred figures. */
static void close_object(KmtAccounting *accounting, KmtClassStats *stats,
			 const KmtMatchObject *object)
{
	if (object->is_deferred)
		kmt_detailed_close_deferred(accounting, stats);
	detailed_close(accounting, stats);
}

void kmt_detailed_slow_event(KmtAccounting *accounting,
			     const KmtMatchedBlock *matched,
			     const KmtMatchSlowEvent *slow_event)
{
	const KmtMatchObject *object = &slow_event->object;
	FreedObject freed = {.class_id = object->class_id,
			     .alloc_time = object->timestamp,
			     .alloc_file = object->file,
			     .now = slow_event->now,
			     .free_file = slow_event->file,
			     .free_site = slow_event->call_site};
	gboolean has_object = kmt_match_slow_event_has_object(slow_event);
	KmtClassStats *stats =
		has_object ? find_class(accounting, object->class_id) : NULL;

	kmt_detailed_count_finding(accounting, slow_event);
	switch (slow_event->op) {
	case KMT_MATCH_SLOW_ALLOC:
		count_short_alloc(
			accounting,
			kmt_accounting_class(accounting, object->class_id));
		if (stats)
			detailed_alloc(
				accounting, stats, object->timestamp,
				matched->items[slow_event->index]->remote);
		break;
	case KMT_MATCH_SLOW_FREE:
		if (stats) {
			set_defer(&freed, object);
			close_object(accounting, stats, object);
			detailed_free(accounting, stats, &freed);
		}
		break;
	case KMT_MATCH_SLOW_REPLACED:
		if (stats)
			close_object(accounting, stats, object);
		break;
	case KMT_MATCH_SLOW_DEFER:
		if (stats && slow_event->class == KMT_MATCH_DEFER_FIRST)
			kmt_detailed_defer(accounting, stats);
		break;
	case KMT_MATCH_SLOW_DOUBLE:
		if (slow_event->late_free) {
			const KmtMatchEvent *item =
				matched->items[slow_event->index];

			freed.now = item->now;
			freed.free_file = item->file;
			freed.free_site = item->event->call_site;
			set_defer(&freed, object);
			if (stats)
				detailed_free(accounting, stats, &freed);
		}
		break;
	case KMT_MATCH_SLOW_UNMATCHED:
	case KMT_MATCH_SLOW_DOUBLE_DEFER:
	case KMT_MATCH_SLOW_UNMATCHED_DEFER:
		break;
	}
}

/* Account for an object that is live at the end of the span: for its age or, if
 * it is deferred, the time since its DEFER. With a lifetime filter, account for
 * its allocation, too. */
static void count_live_object(KmtAccounting *accounting,
			      const KmtMatchObject *object, gint64 end)
{
	const KmtFilter *filter = accounting->options->filter;
	KmtClassStats *stats;
	guint64 age = kmt_detailed_lifetime(object->timestamp, end);

	if (object->timestamp > accounting->stop ||
	    !(stats = find_class(accounting, object->class_id)))
		return;
	if (filter->lifetime) {
		if (!kmt_detailed_has_lifetime(filter, age))
			return;
		count_delayed_alloc(accounting, stats, end, object->class_id,
				    object->file);
	}
	if (object->is_deferred && object->defer.time <= accounting->stop)
		kmt_detailed_deferred_at_end(accounting, stats,
					     object->defer.time, end);
	else if (accounting->options->lifetimes)
		kmt_histogram_add(
			&kmt_accounting_detail(accounting, stats)->ages, age,
			1);
}

void kmt_detailed_after_span(KmtAccounting *accounting,
			     const KmtMatchedBlock *matched, guint from,
			     guint next)
{
	guint i;

	for (; next < matched->n_slow_events; next++) {
		const KmtMatchSlowEvent *slow_event =
			matched->slow_events[next];

		kmt_detailed_count_finding(accounting, slow_event);
		if (slow_event->op == KMT_MATCH_SLOW_FREE ||
		    slow_event->op == KMT_MATCH_SLOW_REPLACED)
			count_live_object(accounting, &slow_event->object,
					  accounting->stop);
	}
	for (i = from; i < matched->n; i++) {
		const KmtMatchEvent *item = matched->items[i];
		KmtMatchObject object = {.timestamp = item->alloc_time,
					 .class_id = item->class_id,
					 .file = item->alloc_file};

		if (item->op == KMT_MATCH_STEP_FREE)
			count_live_object(accounting, &object,
					  accounting->stop);
	}
}

/* ---- end of the capture ---- */

static void count_live_at_end(gpointer user, const KmtMatchObject *object)
{
	KmtAccounting *accounting = user;

	count_live_object(
		accounting, object,
		MIN(accounting->stop, accounting->aggregate->last_timestamp));
}

void kmt_detailed_finish(KmtAccounting *accounting, KmtMatchPipeline *pipeline)
{
	kmt_detailed_finish_windows(accounting);
	if (accounting->aggregate->history)
		kmt_detailed_finish_history(accounting);
	kmt_match_pipeline_foreach_live(pipeline, count_live_at_end,
					accounting);
	kmt_detailed_flush_excluded(accounting);
}
