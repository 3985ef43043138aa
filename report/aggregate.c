// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/aggregate.h"
#include "trace/pipeline.h"

#include <string.h>

/* What the consumer works on. */
typedef struct {
	const KmtCapture *capture;
	const KmtAggregateOptions *options;
	KmtAggregate *aggregate;
	gboolean plain;	     /* nothing but the figures that all reports have */
	gboolean counts_all; /* no filter: frees are those of all records */
	gboolean started;    /* there was a record: */
	gint64 origin;	     /* its merged time */
	gint64 start;	     /* of the span, merged time, */
	gint64 stop;	     /* and its last moment */
	gboolean inside;     /* the span has begun */
	guint window;	     /* that is filled */
	gint64 window_end;
	KmtTotals window_kinds[KMT_N_KINDS];
	guint64 records; /* so far */
} Run;

/* What was allocated, in the terms of the figures. */
typedef struct {
	guint64 bytes_req;
	guint64 bytes_alloc;
	KmtGroup *group; /* NULL: the filter does not want it */
	KmtKind kind;
} Booking;

static inline Booking booking(Run *run, guint32 cell, guint32 size)
{
	KmtAggregate *aggregate = run->aggregate;
	const KmtPair *bytes = kmt_intern_at(aggregate->cells->sizes, size);
	guint32 number = kmt_groups_get(aggregate->groups, cell, size);
	Booking b = {.bytes_req = bytes->word[0],
		     .bytes_alloc = bytes->word[1]};

	if (number == KMT_NO_GROUP)
		return b;
	b.group = &aggregate->groups->groups[number];
	b.kind = b.group->kind;
	if (b.kind == KMT_KIND_SLAB)
		b.kind = (KmtKind)kmt_cells_type(aggregate->cells, cell);
	return b;
}

/* ---- the plain figures ---- */

/* Keeps the group's live bytes as of the last peak of its kind. */
static inline void before_change(const KmtAggregate *aggregate, KmtGroup *group)
{
	guint64 epoch = aggregate->peak_epoch[group->kind];

	if (group->peak_epoch != epoch) {
		group->peak_epoch = epoch;
		group->at_peak = group->totals.live_bytes_alloc;
	}
}

guint64 kmt_aggregate_at_peak(const KmtAggregate *aggregate,
			      const KmtGroup *group)
{
	return group->peak_epoch == aggregate->peak_epoch[group->kind]
		       ? group->at_peak
		       : group->totals.live_bytes_alloc;
}

static inline void book_kind(KmtAggregate *aggregate, KmtKind kind,
			     const Booking *b, gint64 now, gboolean remote)
{
	guint result = kmt_totals_alloc(&aggregate->kinds[kind], b->bytes_req,
					b->bytes_alloc, now);

	aggregate->kinds[kind].remote_node_allocs += remote;
	if (G_UNLIKELY(result & KMT_TOTALS_OVERFLOW))
		aggregate->overflowed = TRUE;
	if (result & KMT_TOTALS_PEAK)
		aggregate->peak_epoch[kind]++;
}

static inline void book_alloc(Run *run, const Booking *b, gint64 now,
			      gboolean remote)
{
	KmtAggregate *aggregate = run->aggregate;

	before_change(aggregate, b->group);
	if (G_UNLIKELY(kmt_totals_alloc(&b->group->totals, b->bytes_req,
					b->bytes_alloc, now) &
		       KMT_TOTALS_OVERFLOW))
		aggregate->overflowed = TRUE;
	b->group->totals.remote_node_allocs += remote;
	book_kind(aggregate, b->kind, b, now, remote);
	if (b->kind != KMT_KIND_PAGES)
		book_kind(aggregate, KMT_KIND_SLAB, b, now, remote);
	aggregate->short_allocs += b->bytes_alloc < b->bytes_req;
}

/* The object is live no more, in each total that it is a part of. */
static inline void book_close(Run *run, const Booking *b)
{
	KmtAggregate *aggregate = run->aggregate;

	before_change(aggregate, b->group);
	kmt_totals_close(&b->group->totals, b->bytes_req, b->bytes_alloc);
	kmt_totals_close(&aggregate->kinds[b->kind], b->bytes_req,
			 b->bytes_alloc);
	if (b->kind != KMT_KIND_PAGES)
		kmt_totals_close(&aggregate->kinds[KMT_KIND_SLAB], b->bytes_req,
				 b->bytes_alloc);
}

/* The object was freed. */
static inline void book_free(Run *run, const Booking *b, gboolean cross)
{
	KmtTotals *kinds = run->aggregate->kinds;

	b->group->totals.frees++;
	b->group->totals.cross_cpu_frees += cross;
	kinds[b->kind].cross_cpu_frees += cross;
	if (b->kind != KMT_KIND_PAGES)
		kinds[KMT_KIND_SLAB].cross_cpu_frees += cross;
}

/* Whether a free finds its object or not, it is a free of the kind it names. */
static inline void count_free(KmtTotals *kinds, KmtKind kind)
{
	kinds[kind].frees++;
	if (kind != KMT_KIND_PAGES)
		kinds[KMT_KIND_SLAB].frees++;
}

static gboolean is_remote(const Run *run, gint32 wanted, guint16 file)
{
	const KmtCpuFile *f = run->capture->files->pdata[file];

	return wanted >= 0 && f->node >= 0 && wanted != f->node;
}

/* ---- the figures that somebody has to ask for ---- */

static KmtTallySite cell_site(const Run *run, guint32 number)
{
	KmtCell cell = kmt_cells_cell(run->aggregate->cells, number);
	KmtTallySite site = {.address = cell.call_site,
			     .kind = (KmtKind)cell.type};

	return site;
}

/* Before the span, what is live is all that counts. */
static void book_live(Run *run, const Booking *b)
{
	KmtAggregate *aggregate = run->aggregate;
	guint result = kmt_totals_live(&b->group->totals, b->bytes_req,
				       b->bytes_alloc);

	result |= kmt_totals_live(&aggregate->kinds[b->kind], b->bytes_req,
				  b->bytes_alloc);
	if (b->kind != KMT_KIND_PAGES)
		result |= kmt_totals_live(&aggregate->kinds[KMT_KIND_SLAB],
					  b->bytes_req, b->bytes_alloc);
	if (result)
		aggregate->overflowed = TRUE;
}

static gboolean is_short_of(const KmtFilter *filter, guint64 lifetime)
{
	return lifetime < filter->lifetime_min ||
	       lifetime > filter->lifetime_max;
}

static void window_alloc(Run *run, const Booking *b, gint64 now)
{
	if (!run->options->span.windows)
		return;
	kmt_totals_alloc(&run->window_kinds[b->kind], b->bytes_req,
			 b->bytes_alloc, now);
	if (b->kind != KMT_KIND_PAGES)
		kmt_totals_alloc(&run->window_kinds[KMT_KIND_SLAB],
				 b->bytes_req, b->bytes_alloc, now);
}

static void window_close(Run *run, const Booking *b)
{
	if (!run->options->span.windows)
		return;
	kmt_totals_close(&run->window_kinds[b->kind], b->bytes_req,
			 b->bytes_alloc);
	if (b->kind != KMT_KIND_PAGES)
		kmt_totals_close(&run->window_kinds[KMT_KIND_SLAB],
				 b->bytes_req, b->bytes_alloc);
}

static void count_record(Run *run, KmtKind kind)
{
	count_free(run->aggregate->kinds, kind);
	if (run->options->span.windows)
		count_free(run->window_kinds, kind);
}

static void asked_alloc(Run *run, const Booking *b, gint64 now, gboolean remote)
{
	if (!b->group || run->options->filter->lifetime)
		return;
	if (!run->inside) {
		book_live(run, b);
	} else {
		book_alloc(run, b, now, remote);
		if (b->group->detail)
			kmt_histogram_add(&b->group->detail->sizes,
					  b->bytes_req);
	}
	window_alloc(run, b, now);
}

static void asked_close(Run *run, const Booking *b)
{
	if (!b->group || run->options->filter->lifetime)
		return;
	book_close(run, b);
	window_close(run, b);
}

/* object: where and when it was allocated; now, file: where and when freed. */
typedef struct {
	guint32 cell;
	gint64 born;
	guint16 file;
	gint64 now;
	guint16 free_file;
	guint64 free_site;
} Freed;

static void asked_free(Run *run, const Booking *b, const Freed *freed)
{
	const KmtFilter *filter = run->options->filter;
	guint64 lifetime = freed->now > freed->born
				   ? (guint64)freed->now - (guint64)freed->born
				   : 0;
	gboolean cross = freed->file != freed->free_file;

	if (!b->group || !run->inside)
		return;
	if (filter->lifetime) {
		if (is_short_of(filter, lifetime))
			return;
		book_alloc(run, b, freed->now, FALSE);
		book_close(run, b);
	}
	book_free(run, b, cross);
	if (!run->counts_all)
		count_record(run, b->kind);
	if (b->group->detail) {
		kmt_histogram_add(&b->group->detail->lifetimes, lifetime);
		b->group->detail->short_lived +=
			lifetime < run->options->churn_ns;
	}
	if (run->aggregate->cross) {
		KmtTallySite alloc = cell_site(run, freed->cell);

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

static gint64 end_of_window(const Run *run, guint window)
{
	guint64 length = (guint64)run->stop - (guint64)run->start;
	guint n = run->options->span.windows;

	return (gint64)((guint64)run->start + length / n * (window + 1) +
			length % n * (window + 1) / n);
}

/* Peaks of what follows begin with what is live. */
static void restart_peaks(KmtTotals *totals, gint64 now)
{
	totals->peak_bytes_alloc = totals->live_bytes_alloc;
	totals->peak_timestamp = now;
}

static void begin_window(Run *run, gint64 start)
{
	guint i;

	run->window_end = end_of_window(run, run->window);
	run->aggregate->windows[run->window].start =
		(gint64)((guint64)start - (guint64)run->origin);
	for (i = 0; i < KMT_N_KINDS; i++) {
		KmtTotals *t = &run->window_kinds[i];
		KmtTotals next = {.live_objects = t->live_objects,
				  .live_bytes_req = t->live_bytes_req,
				  .live_bytes_alloc = t->live_bytes_alloc};

		*t = next;
		restart_peaks(t, start);
	}
}

static void end_window(Run *run)
{
	KmtGroups *groups = run->aggregate->groups;
	guint32 i;

	memcpy(run->aggregate->windows[run->window].kinds, run->window_kinds,
	       sizeof(run->window_kinds));
	for (i = 0; i < groups->n_groups; i++) {
		KmtGroup *group = &groups->groups[i];

		group->detail->live_bytes[run->window] =
			group->totals.live_bytes_alloc;
	}
	run->window++;
}

static void begin_span(Run *run)
{
	KmtAggregate *aggregate = run->aggregate;
	guint32 i;

	run->inside = TRUE;
	for (i = 0; i < KMT_N_KINDS; i++)
		restart_peaks(&aggregate->kinds[i], run->start);
	for (i = 0; i < aggregate->groups->n_groups; i++)
		restart_peaks(&aggregate->groups->groups[i].totals, run->start);
	if (run->options->span.windows)
		begin_window(run, run->start);
}

/* Time has come to now. */
static void at_time(Run *run, gint64 now)
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

static void first_record(Run *run, gint64 now)
{
	const KmtSpan *span = &run->options->span;

	run->started = TRUE;
	run->origin = now;
	run->start = add_saturated(now, span->start);
	run->stop = add_saturated(now, span->stop);
}

/* ---- records ---- */

static void tally(Run *run, KmtTallyClass class, const KmtExtra *extra)
{
	KmtTallySite to = {.address = extra->event.call_site,
			   .kind = (KmtKind)extra->event.type_id};
	KmtTallySite from;

	if (extra->op == KMT_EXTRA_UNMATCHED) {
		kmt_tally_add(run->aggregate->tally, class, &to, NULL);
		return;
	}
	from = cell_site(run, extra->object.cell);
	kmt_tally_add(run->aggregate->tally, class, &from, &to);
}

static void consume_extra(Run *run, const KmtBlock *records,
			  const KmtExtra *extra)
{
	const KmtObject *object = &extra->object;
	Freed freed = {.cell = object->cell,
		       .born = object->timestamp,
		       .file = object->file,
		       .now = extra->event.timestamp,
		       .free_file = extra->file,
		       .free_site = extra->event.call_site};
	Booking b = {0};

	if (extra->op != KMT_EXTRA_UNMATCHED)
		b = booking(run, object->cell, object->size);
	switch (extra->op) {
	case KMT_EXTRA_ALLOC:
		asked_alloc(run, &b, object->timestamp,
			    is_remote(run, extra->event.node, extra->file));
		break;
	case KMT_EXTRA_FREE:
		asked_close(run, &b);
		asked_free(run, &b, &freed);
		if (extra->mismatch)
			tally(run, KMT_TALLY_MISMATCH, extra);
		break;
	case KMT_EXTRA_REPLACED:
		asked_close(run, &b);
		break;
	case KMT_EXTRA_DOUBLE:
		if (extra->late_free) {
			const KmtRawEvent *event =
				records->record[extra->place];

			freed.now = records->now[extra->place];
			freed.free_file = records->file[extra->place];
			freed.free_site = event->call_site;
			asked_free(run, &b, &freed);
		}
		tally(run, KMT_TALLY_DOUBLE_AFTER_LOSS + extra->class, extra);
		break;
	case KMT_EXTRA_UNMATCHED:
		tally(run, KMT_TALLY_UNMATCHED_BEFORE_TRACE + extra->class,
		      extra);
		break;
	}
}

static inline void plain_step(Run *run, const KmtStep *step, gint64 now,
			      const KmtRawEvent *event, guint16 file)
{
	Booking b;

	if (G_UNLIKELY(step->op == KMT_STEP_NONE)) {
		if (event->event_id == KMEMTRACE_EVENT_FREE)
			count_free(run->aggregate->kinds,
				   (KmtKind)event->type_id);
		return;
	}
	b = booking(run, step->cell, step->size);
	if (step->op == KMT_STEP_ALLOC) {
		book_alloc(run, &b, now,
			   G_UNLIKELY(event->node >= 0) &&
				   is_remote(run, event->node, file));
	} else {
		book_close(run, &b);
		book_free(run, &b, step->file != file);
		count_free(run->aggregate->kinds, b.kind);
	}
}

static void asked_step(Run *run, const KmtStep *step, gint64 now,
		       const KmtRawEvent *event, guint16 file)
{
	Booking b;

	if (event->event_id == KMEMTRACE_EVENT_FREE && run->counts_all &&
	    run->inside)
		count_record(run, (KmtKind)event->type_id);
	if (step->op == KMT_STEP_NONE)
		return;
	b = booking(run, step->cell, step->size);
	if (step->op == KMT_STEP_ALLOC) {
		asked_alloc(run, &b, now, is_remote(run, event->node, file));
	} else {
		Freed freed = {.cell = step->cell,
			       .born = step->born,
			       .file = step->file,
			       .now = now,
			       .free_file = file,
			       .free_site = event->call_site};

		asked_close(run, &b);
		asked_free(run, &b, &freed);
	}
}

static void consume(gpointer user, const KmtMatched *matched)
{
	const KmtBlock *records = matched->records;
	Run *run = user;
	guint i, next = 0;

	if (!run->started && records->n)
		first_record(run, records->now[0]);
	for (i = 0; i < records->n; i++) {
		if (!run->plain) {
			if (records->now[i] > run->stop)
				return;
			at_time(run, records->now[i]);
		}
		for (; G_UNLIKELY(next < matched->n_extras) &&
		       matched->extras[next]->place == i;
		     next++)
			consume_extra(run, records, matched->extras[next]);
		if (run->plain)
			plain_step(run, &matched->steps[i], records->now[i],
				   records->record[i], records->file[i]);
		else
			asked_step(run, &matched->steps[i], records->now[i],
				   records->record[i], records->file[i]);
	}
	for (; next < matched->n_extras; next++)
		consume_extra(run, records, matched->extras[next]);
	run->records += records->n;
	if (run->options->progress)
		run->options->progress(run->records);
}

/* What is still live, for how long, and whether the filter wants that. */
static void at_end(gpointer user, const KmtObject *object)
{
	Run *run = user;
	const KmtFilter *filter = run->options->filter;
	gint64 end = MIN(run->stop, run->aggregate->last_timestamp);
	Booking b = booking(run, object->cell, object->size);
	guint64 age = end > object->timestamp
			      ? (guint64)end - (guint64)object->timestamp
			      : 0;

	if (!b.group || object->timestamp > run->stop)
		return;
	if (filter->lifetime && !is_short_of(filter, age))
		book_alloc(run, &b, end, FALSE);
	if (b.group->detail)
		kmt_histogram_add(&b.group->detail->ages, age);
}

/* ---- all of it ---- */

static void set_span(Run *run)
{
	gint64 end = MIN(run->stop, run->aggregate->last_timestamp);

	if (end > run->start)
		run->aggregate->span_ns = (guint64)end - (guint64)run->start;
}

static void finish(Run *run, KmtPipeline *pipeline)
{
	KmtAggregate *aggregate = run->aggregate;
	const KmtMerge *merge = kmt_pipeline_merge(pipeline);
	guint i;

	aggregate->findings = kmt_pipeline_findings(pipeline);
	aggregate->skipped = kmt_merge_skipped(merge);
	aggregate->unordered = kmt_merge_unordered(merge);
	if (!kmt_merge_range(merge, &aggregate->first_timestamp,
			     &aggregate->last_timestamp))
		aggregate->first_timestamp = aggregate->last_timestamp = 0;
	for (i = 0; i < run->capture->files->len; i++) {
		const KmtCpuFile *file =
			g_ptr_array_index(run->capture->files, i);

		aggregate->truncated_bytes += file->truncated_bytes;
	}
	if (run->started)
		set_span(run);
	if (!run->plain && run->started) {
		at_time(run, run->stop);
		if (run->window < run->options->span.windows)
			end_window(run);
		kmt_pipeline_foreach_live(pipeline, at_end, run);
	}
}

static gboolean is_plain(const KmtAggregateOptions *o)
{
	return !o->span.start && o->span.stop == G_MAXINT64 &&
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
	Run run = {.capture = capture,
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
	if (options->cross)
		aggregate->cross = kmt_cross_new(capture->files->len);
	if (options->span.windows)
		aggregate->windows = g_new0(KmtWindow, options->span.windows);
	pipeline_options.cells = aggregate->cells;
	pipeline = kmt_pipeline_new(capture, &pipeline_options, consume, &run);
	kmt_pipeline_run(pipeline);
	finish(&run, pipeline);
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
	g_free(aggregate);
}
