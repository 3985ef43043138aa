// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statistics that an option selects: a span, windows, a filter, details of
 * groups, and cross-CPU frees. This file accounts for events; detailed-span.c
 * begins and ends windows, and detailed-findings.c counts findings.
 */
#include "config.h"

#include "report/detailed-private.h"

/* gcc cannot infer that these functions run once for each event. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/*
 * Return the statistics of @class_id, or NULL if the filter excludes the class.
 */
static inline KmtClassStats *wanted(KmtAccounting *accounting, guint32 class_id)
{
	KmtClassStats *b = kmt_accounting_class(accounting, class_id);

	return b->counters ? b : NULL;
}

/* ---- figures that basic-stats.c computes from sums ---- */

static ALWAYS_INLINE void book_alloc(KmtAccounting *accounting,
				     const KmtClassStats *b, gint64 now,
				     gboolean remote)
{
	KmtCounters *kind = &accounting->kinds[b->kind];
	KmtCounters *slab = &accounting->kinds[KMT_KIND_SLAB];

	kmt_counters_before(b->counters);
	kmt_counters_alloc(b->counters, b->bytes_req, b->bytes_alloc, now);
	/* The sum of a kind includes the sum of each group, so a check of the
	 * kind suffices. */
	if (G_UNLIKELY(kind->bytes_req + b->bytes_req < b->bytes_req ||
		       kind->bytes_alloc + b->bytes_alloc < b->bytes_alloc))
		accounting->aggregate->overflowed = TRUE;
	/* Live bytes include objects from before the span, which the sums
	 * exclude, so the live bytes need their own check. */
	if (G_UNLIKELY(kind->live + b->bytes_alloc < b->bytes_alloc))
		accounting->live_overflowed = TRUE;
	kind->epoch +=
		kmt_counters_alloc(kind, b->bytes_req, b->bytes_alloc, now);
	if (kmt_kind_is_slab(b->kind))
		slab->epoch +=
			kmt_counters_change(slab, FALSE, b->bytes_alloc, now);
	if (G_UNLIKELY(remote)) {
		b->counters->remote_node_allocs++;
		kind->remote_node_allocs++;
	}
}

/* Subtract an object from the live counters of its group and kinds. */
static ALWAYS_INLINE void book_close(KmtAccounting *accounting,
				     const KmtClassStats *b)
{
	kmt_counters_before(b->counters);
	kmt_counters_close(b->counters, b->bytes_req, b->bytes_alloc);
	kmt_counters_close(&accounting->kinds[b->kind], b->bytes_req,
			   b->bytes_alloc);
	if (kmt_kind_is_slab(b->kind))
		accounting->kinds[KMT_KIND_SLAB].live -= b->bytes_alloc;
}

/* Count the free of an object. */
static inline void book_free(KmtAccounting *accounting, const KmtClassStats *b,
			     gboolean cross)
{
	kmt_counters_free(b->counters, cross);
	kmt_counters_free(&accounting->kinds[b->kind], cross);
}

static gboolean is_remote(const KmtAccounting *accounting, gint32 wanted,
			  guint16 file)
{
	const KmtInputCpuFile *f = accounting->capture->files->pdata[file];

	return wanted >= 0 && f->node >= 0 && wanted != f->node;
}

/* ---- figures that an option selects ---- */

static gboolean has_lifetime(const KmtFilter *filter, guint64 lifetime)
{
	return lifetime >= filter->lifetime_min &&
	       lifetime <= filter->lifetime_max;
}

/*
 * Count an allocation with bytes_alloc < bytes_req. The count is a finding, so
 * the filter does not apply.
 */
static void note_short(KmtAccounting *accounting, const KmtClassStats *b)
{
	accounting->aggregate->short_allocs += b->bytes_alloc < b->bytes_req;
}

static void window_alloc(KmtAccounting *accounting, const KmtClassStats *b,
			 gint64 now)
{
	if (!accounting->options->span.windows)
		return;
	kmt_counters_alloc(&accounting->window_kinds[b->kind], b->bytes_req,
			   b->bytes_alloc, now);
	if (kmt_kind_is_slab(b->kind))
		kmt_counters_change(&accounting->window_kinds[KMT_KIND_SLAB],
				    FALSE, b->bytes_alloc, now);
}

static void window_close(KmtAccounting *accounting, const KmtClassStats *b)
{
	if (!accounting->options->span.windows)
		return;
	kmt_counters_close(&accounting->window_kinds[b->kind], b->bytes_req,
			   b->bytes_alloc);
	if (kmt_kind_is_slab(b->kind))
		accounting->window_kinds[KMT_KIND_SLAB].live -= b->bytes_alloc;
}

static KmtDetail *detail_of(const KmtAccounting *accounting,
			    const KmtClassStats *b)
{
	return accounting->options->lifetimes
		       ? kmt_groups_detail(accounting->aggregate->groups,
					   b->group)
		       : NULL;
}

static void count_alloc(KmtAccounting *accounting, KmtClassStats *b, gint64 now,
			gboolean remote)
{
	book_alloc(accounting, b, now, remote);
	if (!accounting->plain)
		b->asked.allocs += accounting->inside;
}

/* Count an allocation for a lifetime filter. Whether the object matches is
 * known only when it is freed or at the end of the span. */
static void count_late(KmtAccounting *accounting, KmtClassStats *b, gint64 now,
		       guint32 class_id, guint16 file)
{
	KmtMatchKey cell =
		kmt_match_keys_of_class(accounting->aggregate->keys, class_id);

	count_alloc(accounting, b, now, is_remote(accounting, cell.node, file));
}

static void asked_alloc(KmtAccounting *accounting, KmtClassStats *b, gint64 now,
			gboolean remote)
{
	if (accounting->options->filter->lifetime)
		return;
	if (G_UNLIKELY(b->asked.window != accounting->window))
		kmt_detailed_enter_window(accounting, b);
	count_alloc(accounting, b, now, remote);
	window_alloc(accounting, b, now);
}

static void asked_close(KmtAccounting *accounting, KmtClassStats *b)
{
	if (accounting->options->filter->lifetime)
		return;
	if (G_UNLIKELY(b->asked.window != accounting->window))
		kmt_detailed_enter_window(accounting, b);
	book_close(accounting, b);
	window_close(accounting, b);
}

/*
 * A freed object: its class, the time and file of its allocation, and the time,
 * file and call site of its free.
 */
typedef struct {
	guint32 class_id;
	gint64 alloc_time;
	guint16 alloc_file;
	gint64 now;
	guint16 free_file;
	guint64 free_site;
} Freed;

static void asked_free(KmtAccounting *accounting, KmtClassStats *b,
		       const Freed *freed)
{
	const KmtFilter *filter = accounting->options->filter;
	guint64 lifetime =
		freed->now > freed->alloc_time
			? (guint64)freed->now - (guint64)freed->alloc_time
			: 0;
	gboolean cross = freed->alloc_file != freed->free_file;
	KmtDetail *detail = detail_of(accounting, b);

	if (filter->lifetime) {
		if (!accounting->inside || !has_lifetime(filter, lifetime))
			return;
		count_late(accounting, b, freed->now, freed->class_id,
			   freed->alloc_file);
		book_close(accounting, b);
	}
	book_free(accounting, b, cross);
	if (accounting->plain)
		accounting->slow_frees[b->kind]++;
	if (accounting->options->span.windows)
		kmt_counters_free(&accounting->window_kinds[b->kind], cross);
	if (!accounting->inside)
		return;
	if (detail) {
		kmt_histogram_add(&detail->lifetimes, lifetime, 1);
		detail->short_lived += lifetime < accounting->options->churn_ns;
	}
	if (accounting->aggregate->cross) {
		KmtFindingSite alloc =
			kmt_detailed_site(accounting, freed->class_id);

		accounting->aggregate->overflowed |= kmt_cross_cpu_add(
			accounting->aggregate->cross, &alloc, freed->alloc_file,
			freed->free_site, freed->free_file, b->bytes_alloc);
	}
}

/* ---- records ---- */

void kmt_detailed_slow_event(KmtAccounting *accounting,
			     const KmtMatchedBlock *matched,
			     const KmtMatchSlowEvent *extra)
{
	const KmtMatchObject *object = &extra->object;
	Freed freed = {.class_id = object->class_id,
		       .alloc_time = object->timestamp,
		       .alloc_file = object->file,
		       .now = extra->now,
		       .free_file = extra->file,
		       .free_site = extra->call_site};
	KmtClassStats *b = extra->op == KMT_MATCH_SLOW_UNMATCHED
				   ? NULL
				   : wanted(accounting, object->class_id);

	kmt_detailed_count_finding(accounting, extra);
	switch (extra->op) {
	case KMT_MATCH_SLOW_ALLOC:
		note_short(accounting,
			   kmt_accounting_class(accounting, object->class_id));
		if (b)
			asked_alloc(accounting, b, object->timestamp,
				    matched->items[extra->index]->remote);
		break;
	case KMT_MATCH_SLOW_FREE:
		if (b) {
			asked_close(accounting, b);
			asked_free(accounting, b, &freed);
		}
		break;
	case KMT_MATCH_SLOW_REPLACED:
		if (b)
			asked_close(accounting, b);
		break;
	case KMT_MATCH_SLOW_DOUBLE:
		if (extra->late_free) {
			const KmtMatchEvent *item =
				matched->items[extra->index];

			freed.now = item->now;
			freed.free_file = item->file;
			freed.free_site = item->event->call_site;
			if (b)
				asked_free(accounting, b, &freed);
		}
		break;
	case KMT_MATCH_SLOW_UNMATCHED:
		break;
	}
}

/* Account for an object that is live at the end of the span: its age, and with
 * a lifetime filter its allocation. */
static void live_at(KmtAccounting *accounting, const KmtMatchObject *object,
		    gint64 end)
{
	const KmtFilter *filter = accounting->options->filter;
	KmtClassStats *b;
	guint64 age = end > object->timestamp
			      ? (guint64)end - (guint64)object->timestamp
			      : 0;

	if (object->timestamp > accounting->stop ||
	    !(b = wanted(accounting, object->class_id)))
		return;
	if (filter->lifetime) {
		if (!has_lifetime(filter, age))
			return;
		count_late(accounting, b, end, object->class_id, object->file);
	}
	if (detail_of(accounting, b))
		kmt_histogram_add(&detail_of(accounting, b)->ages, age, 1);
}

void kmt_detailed_after_span(KmtAccounting *accounting,
			     const KmtMatchedBlock *matched, guint from,
			     guint next)
{
	guint i;

	for (; next < matched->n_slow_events; next++) {
		const KmtMatchSlowEvent *extra = matched->slow_events[next];

		kmt_detailed_count_finding(accounting, extra);
		if (extra->op == KMT_MATCH_SLOW_FREE ||
		    extra->op == KMT_MATCH_SLOW_REPLACED)
			live_at(accounting, &extra->object, accounting->stop);
	}
	for (i = from; i < matched->n; i++) {
		const KmtMatchEvent *item = matched->items[i];
		KmtMatchObject object = {.timestamp = item->alloc_time,
					 .class_id = item->class_id,
					 .file = item->alloc_file};

		if (item->op == KMT_MATCH_STEP_FREE)
			live_at(accounting, &object, accounting->stop);
	}
}

static void asked_step(KmtAccounting *accounting, const KmtMatchEvent *item)
{
	const KmtInputRawEvent *event = item->event;
	KmtClassStats *b;

	if (event->event_id == KMEMTRACE_EVENT_FREE && accounting->inside) {
		accounting->free_records[item->type]++;
		accounting->window_frees[item->type]++;
	}
	if (item->op == KMT_MATCH_STEP_NONE)
		return;
	b = kmt_accounting_class(accounting, item->class_id);
	if (item->op == KMT_MATCH_STEP_ALLOC)
		note_short(accounting, b);
	if (!b->counters)
		return;
	if (item->op == KMT_MATCH_STEP_ALLOC) {
		asked_alloc(accounting, b, item->now, item->remote);
	} else {
		Freed freed = {.class_id = item->class_id,
			       .alloc_time = item->alloc_time,
			       .alloc_file = item->alloc_file,
			       .now = item->now,
			       .free_file = item->file,
			       .free_site = event->call_site};

		asked_close(accounting, b);
		asked_free(accounting, b, &freed);
	}
}

void kmt_detailed_steps(KmtAccounting *accounting,
			const KmtMatchedBlock *matched, guint from, guint to)
{
	guint i;

	for (i = from; i < to; i++) {
		const KmtMatchEvent *item = matched->items[i];

		kmt_detailed_at_time(accounting, item->now);
		asked_step(accounting, item);
	}
}

/* ---- end of the capture ---- */

/* Compute the size histogram of each group from its classes. */
static void fill_sizes(KmtAccounting *accounting)
{
	KmtGroups *groups = accounting->aggregate->groups;
	guint32 i;

	for (i = 0;
	     accounting->options->lifetimes && i < accounting->n_class_stats;
	     i++) {
		const KmtClassStats *b = &accounting->class_stats[i];

		if (b->counters)
			kmt_histogram_add(
				&kmt_groups_detail(groups, b->group)->sizes,
				b->bytes_req, b->asked.allocs);
	}
}

static void at_end(gpointer user, const KmtMatchObject *object)
{
	KmtAccounting *accounting = user;

	live_at(accounting, object,
		MIN(accounting->stop, accounting->aggregate->last_timestamp));
}

void kmt_detailed_finish(KmtAccounting *accounting, KmtMatchPipeline *pipeline)
{
	kmt_detailed_finish_windows(accounting);
	kmt_match_pipeline_foreach_live(pipeline, at_end, accounting);
	fill_sizes(accounting);
}
