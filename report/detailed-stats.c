// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statistics that an option selects: a span, windows, a filter, details of
 * groups, and cross-CPU frees. The file exceeds 500 lines because the compiler
 * inlines all steps of an event into one loop.
 */
#include "config.h"

#include "report/accounting.h"

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

static KmtFindingSite site_of(const KmtAccounting *accounting, guint32 class_id)
{
	KmtMatchKey cell =
		kmt_match_keys_of_class(accounting->aggregate->keys, class_id);
	KmtFindingSite site = {.address = cell.call_site,
			       .kind = (KmtKind)cell.type};

	return site;
}

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

/*
 * Account for the windows before window n, at whose ends the group had live
 * bytes.  This runs at the next event of the group or at the end, so a window
 * without an event of the group costs nothing.
 */
static void see_windows(KmtGrowth *growth, guint64 live, guint n)
{
	if (!growth->seen)
		growth->first = live;
	else
		growth->grown += live > growth->last;
	growth->last = live;
	growth->seen = n;
}

/*
 * Update the windows of a class and its group at the first event of the class
 * in the current window.
 */
static void enter_window(KmtAccounting *accounting, KmtClassStats *b)
{
	KmtGrowth *growth;

	if (accounting->plain)
		return;
	b->asked.window = accounting->window;
	if (!accounting->options->lifetimes)
		return;
	growth = &kmt_groups_detail(accounting->aggregate->groups, b->group)
			  ->growth;
	if (growth->seen != accounting->window)
		see_windows(growth, b->counters->live, accounting->window);
}

static void asked_alloc(KmtAccounting *accounting, KmtClassStats *b, gint64 now,
			gboolean remote)
{
	if (accounting->options->filter->lifetime)
		return;
	if (G_UNLIKELY(b->asked.window != accounting->window))
		enter_window(accounting, b);
	count_alloc(accounting, b, now, remote);
	window_alloc(accounting, b, now);
}

static void asked_close(KmtAccounting *accounting, KmtClassStats *b)
{
	if (accounting->options->filter->lifetime)
		return;
	if (G_UNLIKELY(b->asked.window != accounting->window))
		enter_window(accounting, b);
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
		KmtFindingSite alloc = site_of(accounting, freed->class_id);

		accounting->aggregate->overflowed |= kmt_cross_cpu_add(
			accounting->aggregate->cross, &alloc, freed->alloc_file,
			freed->free_site, freed->free_file, b->bytes_alloc);
	}
}

/* ---- spans and windows ---- */

static gint64 end_of_window(const KmtAccounting *accounting, guint window)
{
	const KmtSpan *span = &accounting->options->span;
	guint64 start =
		(guint64)accounting->start - (guint64)accounting->origin;
	guint64 length = MAX(span->windows_stop, start) - start;
	guint n = span->windows;

	if (window + 1 == n)
		return accounting->stop;
	return (gint64)((guint64)accounting->start + length / n * (window + 1) +
			length % n * (window + 1) / n);
}

static void begin_window(KmtAccounting *accounting, gint64 start)
{
	guint i;

	accounting->window_end = end_of_window(accounting, accounting->window);
	accounting->aggregate->windows[accounting->window].start =
		(guint64)start - (guint64)accounting->origin;
	for (i = 0; i < KMT_N_KINDS; i++) {
		kmt_counters_restart(&accounting->window_kinds[i], start);
		accounting->window_frees[i] = 0;
	}
}

/*
 * Compute the totals of all kinds. If @frees is not NULL, it holds the FREE
 * records by kind and replaces the matched frees.
 */
static void make_kinds(KmtAccounting *accounting, KmtTotals totals[KMT_N_KINDS],
		       const KmtCounters counters[KMT_N_KINDS],
		       const guint64 *frees)
{
	KmtTotals *slab = &totals[KMT_KIND_SLAB];
	guint i;

	for (i = 0; i < KMT_N_KINDS; i++) {
		totals[i] = kmt_counters_totals(&counters[i]);
		if (frees)
			totals[i].frees = frees[i];
	}
	/* The counters of slab hold only live bytes and the peak. */
	*slab = (KmtTotals){.peak_bytes_alloc = slab->peak_bytes_alloc,
			    .peak_timestamp = slab->peak_timestamp};
	accounting->aggregate->overflowed |=
		kmt_totals_add(slab, &totals[KMT_KIND_KMALLOC]) |
		kmt_totals_add(slab, &totals[KMT_KIND_CACHE]);
}

static void end_window(KmtAccounting *accounting)
{
	make_kinds(accounting,
		   accounting->aggregate->windows[accounting->window].kinds,
		   accounting->window_kinds,
		   accounting->counts_all ? accounting->window_frees : NULL);
	accounting->window++;
}

static void begin_span(KmtAccounting *accounting)
{
	KmtGroups *groups = accounting->aggregate->groups;
	guint32 i;

	accounting->inside = TRUE;
	accounting->aggregate->overflowed = FALSE;
	for (i = 0; i < KMT_N_KINDS; i++) {
		kmt_counters_restart(&accounting->kinds[i], accounting->start);
		/* The live bytes at the start of the span are the first peak.
		 */
		accounting->kinds[i].epoch++;
		accounting->free_records[i] = 0;
	}
	for (i = 0; i < groups->n_groups; i++)
		kmt_counters_restart(kmt_groups_counters(groups, i),
				     accounting->start);
	if (accounting->options->span.windows)
		begin_window(accounting, accounting->start);
}

void kmt_detailed_at_time(KmtAccounting *accounting, gint64 now)
{
	if (!accounting->inside && now >= accounting->start)
		begin_span(accounting);
	while (accounting->inside &&
	       accounting->window < accounting->options->span.windows &&
	       now > accounting->window_end) {
		gint64 end = accounting->window_end;

		end_window(accounting);
		if (accounting->window < accounting->options->span.windows)
			begin_window(accounting, end);
	}
}

/* ---- records ---- */

static void fill_slot(KmtAccounting *accounting, KmtFindingSlot *slot)
{
	KmtFindingCounts *finding_counts =
		accounting->aggregate->finding_counts;
	KmtFindingSite to = {.address = slot->call_site,
			     .kind = (KmtKind)slot->type};
	KmtFindingSite from;

	if (slot->class_id == NO_CLASS) {
		slot->count = kmt_finding_counts_count(finding_counts,
						       slot->class, &to, NULL);
		return;
	}
	from = site_of(accounting, slot->class_id);
	slot->count = kmt_finding_counts_count(finding_counts, slot->class,
					       &from, &to);
}

static void tally_finding(KmtAccounting *accounting, KmtFindingClass class,
			  const KmtMatchSlowEvent *extra)
{
	KmtFindingSlot key = {
		.call_site = extra->call_site,
		.class_id = extra->op == KMT_MATCH_SLOW_UNMATCHED
				    ? NO_CLASS
				    : extra->object.class_id,
		.class = (guint8) class,
		.type = extra->type,
	};
	KmtFindingSlot *slot =
		&accounting->finding_slots[(key.call_site ^ key.class_id) %
					   G_N_ELEMENTS(
						   accounting->finding_slots)];

	if (!slot->count || slot->call_site != key.call_site ||
	    slot->class_id != key.class_id || slot->class != key.class ||
	    slot->type != key.type) {
		*slot = key;
		fill_slot(accounting, slot);
	}
	++*slot->count;
}

/*
 * Count the finding of a slow-path event. Findings of records after the span
 * are ignored, because the records that would decide them are not read.
 */
static void count_finding(KmtAccounting *accounting,
			  const KmtMatchSlowEvent *extra)
{
	KmtMatchFindings *findings = &accounting->aggregate->findings;

	if (extra->now > accounting->stop)
		return;
	switch (extra->op) {
	case KMT_MATCH_SLOW_FREE:
		if (extra->mismatch) {
			findings->mismatches++;
			tally_finding(accounting, KMT_FINDING_MISMATCH, extra);
		} else if (extra->object.type != extra->type) {
			findings->mismatches_after_loss++;
		}
		break;
	case KMT_MATCH_SLOW_DOUBLE:
		findings->doubles[extra->class]++;
		tally_finding(accounting,
			      KMT_FINDING_DOUBLE_AFTER_LOSS + extra->class,
			      extra);
		break;
	case KMT_MATCH_SLOW_UNMATCHED:
		findings->unmatched[extra->class]++;
		tally_finding(accounting,
			      KMT_FINDING_UNMATCHED_BEFORE_TRACE + extra->class,
			      extra);
		break;
	case KMT_MATCH_SLOW_ALLOC:
	case KMT_MATCH_SLOW_REPLACED:
		break;
	}
}

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

	count_finding(accounting, extra);
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

		count_finding(accounting, extra);
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

/* Complete all windows, including those that begin after the last record. */
static void finish_windows(KmtAccounting *accounting)
{
	KmtGroups *groups = accounting->aggregate->groups;
	guint n = accounting->options->span.windows;
	guint32 i;

	kmt_detailed_at_time(accounting, accounting->stop);
	while (accounting->window < n) {
		gint64 end = accounting->window_end;

		end_window(accounting);
		if (accounting->window < n)
			begin_window(accounting, end);
	}
	accounting->aggregate->n_windows = n;
	for (i = 0; n && accounting->options->lifetimes && i < groups->n_groups;
	     i++)
		see_windows(&kmt_groups_detail(groups, i)->growth,
			    kmt_groups_counters(groups, i)->live, n);
}

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
	finish_windows(accounting);
	kmt_match_pipeline_foreach_live(pipeline, at_end, accounting);
	fill_sizes(accounting);
}

void kmt_detailed_kinds(KmtAccounting *accounting)
{
	make_kinds(accounting, accounting->aggregate->kinds, accounting->kinds,
		   accounting->counts_all ? accounting->free_records : NULL);
}
