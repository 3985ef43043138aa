// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/aggregate.h"
#include "report/books.h"

#include <string.h>

/* gcc does not see that these are called for each event. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* NULL: the filter does not want it. */
static inline const KmtLotBook *wanted(KmtBooks *run, guint32 lot)
{
	const KmtLotBook *b = kmt_books_lot(run, lot);

	return b->ledger ? b : NULL;
}

/* ---- the plain figures ---- */

/* Keeps the group's live bytes as of the last peak of its kind. */
static inline void before_change(KmtLedger *l)
{
	if (l->epoch != l->sum->epoch) {
		l->epoch = l->sum->epoch;
		l->at_peak = l->live;
	}
}

static ALWAYS_INLINE void book_alloc(KmtBooks *run, const KmtLotBook *b,
				     gint64 now, gboolean remote)
{
	KmtLedger *kind = &run->kinds[b->kind];
	KmtLedger *slab = &run->kinds[KMT_KIND_SLAB];

	before_change(b->ledger);
	kmt_ledger_alloc(b->ledger, b->bytes_req, b->bytes_alloc, now);
	/* What fits in the sum of a kind fits in that of a group. */
	if (G_UNLIKELY(kind->bytes_req + b->bytes_req < b->bytes_req ||
		       kind->bytes_alloc + b->bytes_alloc < b->bytes_alloc))
		run->aggregate->overflowed = TRUE;
	kind->epoch +=
		kmt_ledger_alloc(kind, b->bytes_req, b->bytes_alloc, now);
	if (b->kind != KMT_KIND_PAGES)
		slab->epoch += kmt_ledger_live(slab, b->bytes_alloc, now);
	if (G_UNLIKELY(remote)) {
		b->ledger->remote_node_allocs++;
		kind->remote_node_allocs++;
	}
}

/* The object is live no more, in each sum that it is a part of. */
static ALWAYS_INLINE void book_close(KmtBooks *run, const KmtLotBook *b)
{
	before_change(b->ledger);
	kmt_ledger_close(b->ledger, b->bytes_req, b->bytes_alloc);
	kmt_ledger_close(&run->kinds[b->kind], b->bytes_req, b->bytes_alloc);
	if (b->kind != KMT_KIND_PAGES)
		run->kinds[KMT_KIND_SLAB].live -= b->bytes_alloc;
}

/* The object was freed. */
static inline void book_free(KmtBooks *run, const KmtLotBook *b, gboolean cross)
{
	kmt_ledger_free(b->ledger, cross);
	kmt_ledger_free(&run->kinds[b->kind], cross);
}

static gboolean is_remote(const KmtBooks *run, gint32 wanted, guint16 file)
{
	const KmtCpuFile *f = run->capture->files->pdata[file];

	return wanted >= 0 && f->node >= 0 && wanted != f->node;
}

/* ---- the figures that somebody has to ask for ---- */

static KmtTallySite site_of(const KmtBooks *run, guint32 lot)
{
	KmtCell cell = kmt_cells_cell(run->aggregate->cells, lot);
	KmtTallySite site = {.address = cell.call_site,
			     .kind = (KmtKind)cell.type};

	return site;
}

static gboolean has_lifetime(const KmtFilter *filter, guint64 lifetime)
{
	return lifetime >= filter->lifetime_min &&
	       lifetime <= filter->lifetime_max;
}

/* Whatever the filter says: it is a finding. */
static void note_short(KmtBooks *run, guint32 lot)
{
	const KmtLotBook *b = kmt_books_lot(run, lot);

	run->aggregate->short_allocs += b->bytes_alloc < b->bytes_req;
}

static void window_alloc(KmtBooks *run, const KmtLotBook *b, gint64 now)
{
	if (!run->options->span.windows)
		return;
	kmt_ledger_alloc(&run->window_kinds[b->kind], b->bytes_req,
			 b->bytes_alloc, now);
	if (b->kind != KMT_KIND_PAGES)
		kmt_ledger_live(&run->window_kinds[KMT_KIND_SLAB],
				b->bytes_alloc, now);
}

static void window_close(KmtBooks *run, const KmtLotBook *b)
{
	if (!run->options->span.windows)
		return;
	kmt_ledger_close(&run->window_kinds[b->kind], b->bytes_req,
			 b->bytes_alloc);
	if (b->kind != KMT_KIND_PAGES)
		run->window_kinds[KMT_KIND_SLAB].live -= b->bytes_alloc;
}

static KmtDetail *detail_of(const KmtBooks *run, const KmtLotBook *b)
{
	return run->aggregate->groups->groups[b->group].detail;
}

static void count_alloc(KmtBooks *run, const KmtLotBook *b, gint64 now,
			gboolean remote)
{
	KmtDetail *detail = detail_of(run, b);

	book_alloc(run, b, now, remote);
	if (detail && run->inside)
		kmt_histogram_add(&detail->sizes, b->bytes_req);
}

/* By a filter of lifetimes, whether an object counts is known when it is freed
 * or at the end. */
static void count_late(KmtBooks *run, const KmtLotBook *b, gint64 now,
		       guint32 lot, guint16 file)
{
	KmtCell cell = kmt_cells_cell(run->aggregate->cells, lot);

	count_alloc(run, b, now, is_remote(run, cell.node, file));
}

static void asked_alloc(KmtBooks *run, const KmtLotBook *b, gint64 now,
			gboolean remote)
{
	if (run->options->filter->lifetime)
		return;
	count_alloc(run, b, now, remote);
	window_alloc(run, b, now);
}

static void asked_close(KmtBooks *run, const KmtLotBook *b)
{
	if (run->options->filter->lifetime)
		return;
	book_close(run, b);
	window_close(run, b);
}

/* object: where and when it was allocated; now, file: where and when freed. */
typedef struct {
	guint32 lot;
	gint64 born;
	guint16 file;
	gint64 now;
	guint16 free_file;
	guint64 free_site;
} Freed;

static void asked_free(KmtBooks *run, const KmtLotBook *b, const Freed *freed)
{
	const KmtFilter *filter = run->options->filter;
	guint64 lifetime = freed->now > freed->born
				   ? (guint64)freed->now - (guint64)freed->born
				   : 0;
	gboolean cross = freed->file != freed->free_file;
	KmtDetail *detail = detail_of(run, b);

	if (filter->lifetime) {
		if (!run->inside || !has_lifetime(filter, lifetime))
			return;
		count_late(run, b, freed->now, freed->lot, freed->file);
		book_close(run, b);
	}
	book_free(run, b, cross);
	run->extra_frees[b->kind]++;
	if (run->options->span.windows)
		kmt_ledger_free(&run->window_kinds[b->kind], cross);
	if (!run->inside)
		return;
	if (detail) {
		kmt_histogram_add(&detail->lifetimes, lifetime);
		detail->short_lived += lifetime < run->options->churn_ns;
	}
	if (run->aggregate->cross) {
		KmtTallySite alloc = site_of(run, freed->lot);

		kmt_cross_add(run->aggregate->cross, &alloc, freed->file,
			      freed->free_site, freed->free_file,
			      b->bytes_alloc);
	}
}

/* ---- time ---- */

static gint64 add_saturated(gint64 a, gint64 b)
{
	gint64 sum;

	return __builtin_add_overflow(a, b, &sum) ? G_MAXINT64 : sum;
}

static gint64 end_of_window(const KmtBooks *run, guint window)
{
	const KmtSpan *span = &run->options->span;
	guint64 start = (guint64)run->start - (guint64)run->origin;
	guint64 length = MAX(span->windows_stop, start) - start;
	guint n = span->windows;

	if (window + 1 == n)
		return run->stop;
	return (gint64)((guint64)run->start + length / n * (window + 1) +
			length % n * (window + 1) / n);
}

static void begin_window(KmtBooks *run, gint64 start)
{
	guint i;

	run->window_end = end_of_window(run, run->window);
	run->aggregate->windows[run->window].start =
		(guint64)start - (guint64)run->origin;
	for (i = 0; i < KMT_N_KINDS; i++) {
		kmt_ledger_restart(&run->window_kinds[i], start);
		run->window_frees[i] = 0;
	}
}

/* What the kinds add up to; frees: of all records, or NULL. */
static void make_kinds(KmtBooks *run, KmtTotals totals[KMT_N_KINDS],
		       const KmtLedger ledgers[KMT_N_KINDS],
		       const guint64 *frees)
{
	KmtTotals *slab = &totals[KMT_KIND_SLAB];
	guint i;

	for (i = 0; i < KMT_N_KINDS; i++) {
		totals[i] = kmt_ledger_totals(&ledgers[i]);
		if (frees)
			totals[i].frees = frees[i];
	}
	/* Its ledger has nothing but peaks. */
	*slab = (KmtTotals){.peak_bytes_alloc = slab->peak_bytes_alloc,
			    .peak_timestamp = slab->peak_timestamp};
	run->aggregate->overflowed |=
		kmt_totals_add(slab, &totals[KMT_KIND_KMALLOC]) |
		kmt_totals_add(slab, &totals[KMT_KIND_CACHE]);
}

static void end_window(KmtBooks *run)
{
	KmtGroups *groups = run->aggregate->groups;
	guint32 i;

	make_kinds(run, run->aggregate->windows[run->window].kinds,
		   run->window_kinds,
		   run->counts_all ? run->window_frees : NULL);
	for (i = 0; i < groups->n_groups; i++)
		groups->groups[i].detail->live_bytes[run->window] =
			kmt_groups_ledger(groups, i)->live;
	run->window++;
}

static void begin_span(KmtBooks *run)
{
	KmtGroups *groups = run->aggregate->groups;
	guint32 i;

	run->inside = TRUE;
	for (i = 0; i < KMT_N_KINDS; i++) {
		kmt_ledger_restart(&run->kinds[i], run->start);
		/* At its start, live bytes are the most so far. */
		run->kinds[i].epoch++;
		run->free_records[i] = 0;
	}
	for (i = 0; i < groups->n_groups; i++)
		kmt_ledger_restart(kmt_groups_ledger(groups, i), run->start);
	if (run->options->span.windows)
		begin_window(run, run->start);
}

/* Time has come to now. */
static void at_time(KmtBooks *run, gint64 now)
{
	if (!run->inside && now >= run->start)
		begin_span(run);
	while (run->inside && run->window < run->options->span.windows &&
	       now > run->window_end) {
		gint64 end = run->window_end;

		end_window(run);
		if (run->window < run->options->span.windows)
			begin_window(run, end);
	}
}

static void first_record(KmtBooks *run, gint64 now)
{
	const KmtSpan *span = &run->options->span;

	run->started = TRUE;
	run->origin = now;
	run->start = add_saturated(now, span->start);
	/* Without an end, also where the first time is below 0. */
	run->stop = span->stop == G_MAXINT64 ? G_MAXINT64
					     : add_saturated(now, span->stop);
}

/* ---- records ---- */

static void tally(KmtBooks *run, KmtTallyClass class, const KmtExtra *extra)
{
	KmtTallySite to = {.address = extra->event.call_site,
			   .kind = (KmtKind)extra->event.type_id};
	KmtTallySite from;

	if (extra->op == KMT_EXTRA_UNMATCHED) {
		kmt_tally_add(run->aggregate->tally, class, &to, NULL);
		return;
	}
	from = site_of(run, extra->object.lot);
	kmt_tally_add(run->aggregate->tally, class, &from, &to);
}

/* Those of records after the span are not decided with all that it takes. */
static void find(KmtBooks *run, const KmtExtra *extra)
{
	KmtFindings *findings = &run->aggregate->findings;

	if (extra->event.timestamp > run->stop)
		return;
	switch (extra->op) {
	case KMT_EXTRA_FREE:
		if (extra->mismatch) {
			findings->mismatches++;
			tally(run, KMT_TALLY_MISMATCH, extra);
		} else if (extra->object.type != extra->event.type_id) {
			findings->mismatches_after_loss++;
		}
		break;
	case KMT_EXTRA_DOUBLE:
		findings->doubles[extra->class]++;
		tally(run, KMT_TALLY_DOUBLE_AFTER_LOSS + extra->class, extra);
		break;
	case KMT_EXTRA_UNMATCHED:
		findings->unmatched[extra->class]++;
		tally(run, KMT_TALLY_UNMATCHED_BEFORE_TRACE + extra->class,
		      extra);
		break;
	case KMT_EXTRA_ALLOC:
	case KMT_EXTRA_REPLACED:
		break;
	}
}

static void consume_extra(KmtBooks *run, const KmtMatched *matched,
			  const KmtExtra *extra)
{
	const KmtObject *object = &extra->object;
	Freed freed = {.lot = object->lot,
		       .born = object->timestamp,
		       .file = object->file,
		       .now = extra->event.timestamp,
		       .free_file = extra->file,
		       .free_site = extra->event.call_site};
	const KmtLotBook *b = extra->op == KMT_EXTRA_UNMATCHED
				      ? NULL
				      : wanted(run, object->lot);

	find(run, extra);
	switch (extra->op) {
	case KMT_EXTRA_ALLOC:
		note_short(run, object->lot);
		if (b)
			asked_alloc(
				run, b, object->timestamp,
				is_remote(run, extra->event.node, extra->file));
		break;
	case KMT_EXTRA_FREE:
		if (b) {
			asked_close(run, b);
			asked_free(run, b, &freed);
		}
		break;
	case KMT_EXTRA_REPLACED:
		if (b)
			asked_close(run, b);
		break;
	case KMT_EXTRA_DOUBLE:
		if (extra->late_free) {
			const KmtItem *item = matched->items[extra->place];

			freed.now = item->now;
			freed.free_file = item->file;
			freed.free_site = item->event->call_site;
			if (b)
				asked_free(run, b, &freed);
		}
		break;
	case KMT_EXTRA_UNMATCHED:
		break;
	}
}

/* What is live at the end of the span, for how long, and whether the filter
 * wants that. */
static void live_at(KmtBooks *run, const KmtObject *object, gint64 end)
{
	const KmtFilter *filter = run->options->filter;
	const KmtLotBook *b;
	guint64 age = end > object->timestamp
			      ? (guint64)end - (guint64)object->timestamp
			      : 0;

	if (object->timestamp > run->stop || !(b = wanted(run, object->lot)))
		return;
	if (filter->lifetime) {
		if (!has_lifetime(filter, age))
			return;
		count_late(run, b, end, object->lot, object->file);
	}
	if (detail_of(run, b))
		kmt_histogram_add(&detail_of(run, b)->ages, age);
}

/* After the span, from a record and an extra on: what is freed then was live
 * when it ended. */
static void after_span(KmtBooks *run, const KmtMatched *matched, guint from,
		       guint next)
{
	guint i;

	for (; next < matched->n_extras; next++) {
		const KmtExtra *extra = matched->extras[next];

		find(run, extra);
		if (extra->op == KMT_EXTRA_FREE ||
		    extra->op == KMT_EXTRA_REPLACED)
			live_at(run, &extra->object, run->stop);
	}
	for (i = from; i < matched->n; i++) {
		const KmtItem *item = matched->items[i];
		KmtObject object = {.timestamp = item->born,
				    .lot = item->lot,
				    .file = item->born_file};

		if (item->op == KMT_STEP_FREE)
			live_at(run, &object, run->stop);
	}
}

static void asked_step(KmtBooks *run, const KmtItem *item)
{
	const KmtRawEvent *event = item->event;
	const KmtLotBook *b;

	if (event->event_id == KMEMTRACE_EVENT_FREE && run->inside) {
		run->free_records[item->type]++;
		run->window_frees[item->type]++;
	}
	if (item->op == KMT_STEP_ALLOC)
		note_short(run, item->lot);
	if (item->op == KMT_STEP_NONE || !(b = wanted(run, item->lot)))
		return;
	if (item->op == KMT_STEP_ALLOC) {
		asked_alloc(run, b, item->now, item->remote);
	} else {
		Freed freed = {.lot = item->lot,
			       .born = item->born,
			       .file = item->born_file,
			       .now = item->now,
			       .free_file = item->file,
			       .free_site = event->call_site};

		asked_close(run, b);
		asked_free(run, b, &freed);
	}
}

static void asked_steps(KmtBooks *run, const KmtMatched *matched, guint from,
			guint to)
{
	guint i;

	for (i = from; i < to; i++) {
		const KmtItem *item = matched->items[i];

		at_time(run, item->now);
		asked_step(run, item);
	}
}

/* How many of the records are not after the span. */
static guint within_span(const KmtBooks *run, const KmtMatched *matched)
{
	guint n = matched->n;

	while (n && matched->items[n - 1]->now > run->stop)
		n--;
	return n;
}

static void consume(gpointer user, const KmtMatched *matched)
{
	KmtBooks *run = user;
	guint n, i = 0, next = 0;

	if (!run->started && matched->n)
		first_record(run, matched->items[0]->now);
	n = within_span(run, matched);
	if (n < matched->n ||
	    (!matched->n &&
	     kmt_merge_stopped(kmt_pipeline_merge(run->pipeline))))
		run->ended = TRUE;
	while (i < n || next < matched->n_extras) {
		guint place = next < matched->n_extras
				      ? matched->extras[next]->place
				      : n;
		guint to = MIN(place, n);

		if (run->plain)
			kmt_plain_steps(run, matched, i, to);
		else
			asked_steps(run, matched, i, to);
		i = to;
		if (place >= n && run->ended)
			break;
		if (place < n)
			at_time(run, matched->items[place]->now);
		for (; next < matched->n_extras &&
		       matched->extras[next]->place == place;
		     next++)
			consume_extra(run, matched, matched->extras[next]);
	}
	if (run->ended)
		after_span(run, matched, n, next);
	run->records += matched->n;
	if (run->options->progress)
		run->options->progress(run->records);
}

/* ---- all of it ---- */

static void at_end(gpointer user, const KmtObject *object)
{
	KmtBooks *run = user;

	live_at(run, object, MIN(run->stop, run->aggregate->last_timestamp));
}

static void set_span(KmtBooks *run)
{
	gint64 end = MIN(run->stop, run->aggregate->last_timestamp);

	if (end > run->start)
		run->aggregate->span_ns = (guint64)end - (guint64)run->start;
}

/* Not all of the files was read if the span ended before. */
static void set_range(KmtBooks *run, const KmtMerge *merge)
{
	KmtAggregate *aggregate = run->aggregate;
	gint64 first, last;
	guint i;

	if (!kmt_merge_range(merge, &aggregate->first_timestamp,
			     &aggregate->last_timestamp))
		aggregate->first_timestamp = aggregate->last_timestamp = 0;
	for (i = 0; run->ended && i < run->capture->files->len; i++) {
		const KmtCpuFile *file = run->capture->files->pdata[i];

		if (file->stream || !kmt_merge_span(file, &first, &last))
			continue;
		aggregate->first_timestamp =
			MIN(aggregate->first_timestamp, first);
		aggregate->last_timestamp =
			MAX(aggregate->last_timestamp, last);
	}
}

/* Those that no time was left for, too. */
static void finish_windows(KmtBooks *run)
{
	guint n = run->options->span.windows;

	at_time(run, run->stop);
	while (run->window < n) {
		gint64 end = run->window_end;

		end_window(run);
		if (run->window < n)
			begin_window(run, end);
	}
	run->aggregate->n_windows = n;
}

static void finish(KmtBooks *run, KmtPipeline *pipeline)
{
	KmtAggregate *aggregate = run->aggregate;
	const KmtMerge *merge = kmt_pipeline_merge(pipeline);
	guint64 epochs[KMT_N_KINDS];
	guint i;

	aggregate->skipped = kmt_merge_skipped(merge);
	aggregate->unordered = kmt_merge_unordered(merge);
	set_range(run, merge);
	aggregate->timeless = run->capture->timeless;
	aggregate->notes = kmt_merge_notes(merge);
	for (i = 0; i < run->capture->files->len; i++) {
		const KmtCpuFile *file =
			g_ptr_array_index(run->capture->files, i);

		aggregate->truncated_bytes += file->truncated_bytes;
	}
	if (run->started)
		set_span(run);
	if (!run->plain && run->started) {
		finish_windows(run);
		kmt_pipeline_foreach_live(pipeline, at_end, run);
	}
	for (i = 0; i < KMT_N_KINDS; i++)
		epochs[i] = run->kinds[i].epoch;
	if (run->plain)
		kmt_plain_groups(run);
	kmt_groups_finish(aggregate->groups, epochs);
	if (run->plain)
		kmt_plain_kinds(run);
	else
		make_kinds(run, aggregate->kinds, run->kinds,
			   run->counts_all ? run->free_records : NULL);
}

static gboolean is_plain(const KmtAggregateOptions *o)
{
	return o->by->kinds && !o->span.start && o->span.stop == G_MAXINT64 &&
	       !o->span.windows && !o->lifetimes && !o->cross &&
	       !o->filter->lifetime && !kmt_filter_is_set(o->filter);
}

KmtAggregate *kmt_aggregate_new(const KmtCapture *capture,
				const KmtNames *names,
				const KmtAggregateOptions *options)
{
	KmtAggregate *aggregate = g_new0(KmtAggregate, 1);
	const KmtGroupsOptions groups_options = {
		.by = options->by,
		.filter = options->filter,
		.names = names,
		.capture = capture,
		.n_windows = options->span.windows,
		.details = options->lifetimes || options->span.windows,
	};
	KmtBooks run = {.capture = capture,
			.options = options,
			.aggregate = aggregate,
			.plain = is_plain(options),
			.counts_all = !kmt_filter_is_set(options->filter),
			.inside = is_plain(options)};
	KmtPipelineOptions pipeline_options = {
		.jobs = options->jobs,
		.clock_tolerance_ns = options->clock_tolerance_ns,
		.stop_ns = options->span.stop,
	};
	g_autoptr(KmtPipeline) pipeline = NULL;

	aggregate->cells = kmt_cells_new(options->by->parts |
					 kmt_filter_parts(options->filter));
	aggregate->groups = kmt_groups_new(&groups_options, aggregate->cells);
	aggregate->tally = kmt_tally_new();
	aggregate->has_peaks = !options->filter->lifetime;
	if (options->cross)
		aggregate->cross = kmt_cross_new(capture->files->len);
	if (options->span.windows)
		aggregate->windows = g_new0(KmtWindow, options->span.windows);
	run.kinds[KMT_KIND_KMALLOC].sum = &run.kinds[KMT_KIND_SLAB];
	run.kinds[KMT_KIND_CACHE].sum = &run.kinds[KMT_KIND_SLAB];
	/* That of pages is nobody's. */
	run.kinds[KMT_KIND_PAGES].sum = &run.kinds[KMT_N_KINDS];
	pipeline_options.cells = aggregate->cells;
	pipeline = kmt_pipeline_new(capture, &pipeline_options, consume, &run);
	run.pipeline = pipeline;
	kmt_pipeline_run(pipeline);
	finish(&run, pipeline);
	g_free(run.lots);
	return aggregate;
}

void kmt_aggregate_free(KmtAggregate *aggregate)
{
	if (!aggregate)
		return;
	kmt_groups_free(aggregate->groups);
	kmt_tally_free(aggregate->tally);
	kmt_cross_free(aggregate->cross);
	kmt_cells_free(aggregate->cells);
	g_free(aggregate->windows);
	g_ptr_array_unref(aggregate->notes);
	g_free(aggregate);
}
