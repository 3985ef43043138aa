// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/aggregate.h"
#include "report/accounting.h"

static gint64 add_saturated(gint64 a, gint64 b)
{
	gint64 sum;

	return __builtin_add_overflow(a, b, &sum) ? G_MAXINT64 : sum;
}

static void first_record(KmtBooks *books, gint64 now)
{
	const KmtSpan *span = &books->options->span;

	books->started = TRUE;
	books->origin = now;
	books->start = add_saturated(now, span->start);
	/* Without an end, also where the first time is below 0. */
	books->stop = span->stop == G_MAXINT64 ? G_MAXINT64
					       : add_saturated(now, span->stop);
}

/* How many of the records are not after the span. */
static guint within_span(const KmtBooks *books, const KmtMatchedBlock *matched)
{
	guint n = matched->n;

	while (n && matched->items[n - 1]->now > books->stop)
		n--;
	return n;
}

/* Is it about what others tell of, too? */
static gboolean is_but_finding(const KmtMatchSlowEvent *extra)
{
	return extra->op == KMT_MATCH_SLOW_UNMATCHED ||
	       (extra->op == KMT_MATCH_SLOW_DOUBLE && !extra->late_free);
}

static void consume(gpointer user, const KmtMatchedBlock *matched)
{
	KmtBooks *books = user;
	guint n, i = 0, next = 0;

	if (!books->started && matched->n)
		first_record(books, matched->items[0]->now);
	n = within_span(books, matched);
	if (n < matched->n ||
	    (!matched->n && kmt_match_merge_stopped(
				    kmt_match_pipeline_merge(books->pipeline))))
		books->ended = TRUE;
	while (i < n || next < matched->n_slow_events) {
		guint index = next < matched->n_slow_events
				      ? matched->slow_events[next]->index
				      : n;
		guint to = MIN(index, n);

		/* No figure depends on when it is counted. */
		if (books->plain && index < n &&
		    is_but_finding(matched->slow_events[next])) {
			kmt_asked_extra(books, matched,
					matched->slow_events[next]);
			next++;
			continue;
		}
		if (books->plain)
			kmt_plain_steps(books, matched, i, to);
		else
			kmt_asked_steps(books, matched, i, to);
		i = to;
		if (index >= n && books->ended)
			break;
		if (index < n && !books->plain)
			kmt_asked_at_time(books, matched->items[index]->now);
		for (; next < matched->n_slow_events &&
		       matched->slow_events[next]->index == index;
		     next++)
			kmt_asked_extra(books, matched,
					matched->slow_events[next]);
	}
	if (books->ended)
		kmt_asked_after_span(books, matched, n, next);
	books->records += matched->n;
	if (books->options->progress)
		books->options->progress(books->records);
}

/* ---- all of it ---- */

static void set_span(KmtBooks *books)
{
	gint64 end = MIN(books->stop, books->aggregate->last_timestamp);

	if (end > books->start)
		books->aggregate->span_ns =
			(guint64)end - (guint64)books->start;
}

/* Not all of the files was read if the span ended before. */
static void set_range(KmtBooks *books, const KmtMatchMerge *merge)
{
	KmtAggregate *aggregate = books->aggregate;
	gint64 first, last;
	guint i;

	if (!kmt_match_merge_time_range(merge, &aggregate->first_timestamp,
					&aggregate->last_timestamp))
		aggregate->first_timestamp = aggregate->last_timestamp = 0;
	for (i = 0; books->ended && i < books->capture->files->len; i++) {
		const KmtInputCpuFile *file = books->capture->files->pdata[i];

		if (file->stream ||
		    !kmt_match_merge_file_span(file, &first, &last))
			continue;
		aggregate->first_timestamp =
			MIN(aggregate->first_timestamp, first);
		aggregate->last_timestamp =
			MAX(aggregate->last_timestamp, last);
	}
}

gboolean kmt_capture_origin(const KmtInputCapture *capture, gint64 *origin)
{
	gboolean known = FALSE;
	gint64 first, last;
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		if (!kmt_match_merge_file_span(capture->files->pdata[i], &first,
					       &last))
			continue;
		*origin = known ? MIN(*origin, first) : first;
		known = TRUE;
	}
	return known;
}

static void set_origin(KmtAggregate *aggregate, const KmtInputCapture *capture)
{
	guint i;

	aggregate->origin = aggregate->first_timestamp;
	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		if (file->stream)
			return;
	}
	kmt_capture_origin(capture, &aggregate->origin);
}

static void finish(KmtBooks *books, KmtMatchPipeline *pipeline)
{
	KmtAggregate *aggregate = books->aggregate;
	const KmtMatchMerge *merge = kmt_match_pipeline_merge(pipeline);
	guint64 epochs[KMT_N_KINDS];
	guint i;

	aggregate->skipped = kmt_match_merge_skipped(merge);
	aggregate->mark_records = kmt_match_merge_mark_records(merge);
	aggregate->hole_records = kmt_match_merge_gap_records(merge);
	aggregate->stop_records = kmt_match_merge_stop_records(merge);
	aggregate->holes = g_array_copy((GArray *)kmt_match_merge_gaps(merge));
	aggregate->unordered = kmt_match_merge_unordered(merge);
	set_range(books, merge);
	set_origin(aggregate, books->capture);
	aggregate->has_sequence_times = books->capture->has_sequence_times;
	aggregate->notes = kmt_match_merge_notes(merge);
	for (i = 0; i < books->capture->files->len; i++) {
		const KmtInputCpuFile *file =
			g_ptr_array_index(books->capture->files, i);

		aggregate->truncated_bytes += file->truncated_bytes;
	}
	if (books->started)
		set_span(books);
	if (!books->plain && books->started)
		kmt_asked_finish(books, pipeline);
	for (i = 0; i < KMT_N_KINDS; i++)
		epochs[i] = books->kinds[i].epoch;
	if (books->plain)
		kmt_plain_groups(books);
	kmt_groups_finish(aggregate->groups, epochs);
	if (books->plain)
		kmt_plain_kinds(books);
	else
		kmt_asked_kinds(books);
	aggregate->overflowed |= books->live_overflowed;
	if (aggregate->cross)
		kmt_cross_sort(aggregate->cross);
}

static gboolean is_plain(const KmtAggregateOptions *o)
{
	return o->by->kinds && !o->span.start && o->span.stop == G_MAXINT64 &&
	       !o->span.windows && !o->lifetimes && !o->cross &&
	       !kmt_filter_is_set(o->filter);
}

static gboolean load_names(gpointer names)
{
	return kmt_names_load_some(names);
}

/* NULL if nobody asks for owners, or there are none. */
static KmtInputTables *open_tables(const KmtInputCapture *capture,
				   KmtMatchKeyParts parts)
{
	return parts & KMT_MATCH_KEY_OWNER &&
			       kmt_input_capture_has_owners(capture)
		       ? kmt_input_tables_new(capture)
		       : NULL;
}

/* A table is of no use, with what follows from that. */
static void note_table(KmtAggregate *aggregate, const KmtInputCapture *capture,
		       const char *name, const char *result)
{
	g_autofree char *why = kmt_input_tables_missing_reason(capture, name);

	g_ptr_array_add(aggregate->notes,
			g_strdup_printf("%s: %s", why, result));
}

/* How to record stacks depends on what recorded. */
static const char *how_to_record_stacks(const KmtInputCapture *capture)
{
	g_autofree char *source =
		capture->meta ? g_key_file_get_string(capture->meta, "capture",
						      "source", NULL)
			      : NULL;

	return g_strcmp0(source, "import") == 0
		       ? "perf record -g or trace-cmd record -T"
		       : "kmemtrace.stacks=yes";
}

static void note_stacks(KmtAggregate *aggregate, const KmtInputCapture *capture)
{
	if (!kmt_input_capture_has_stacks(capture))
		g_ptr_array_add(
			aggregate->notes,
			g_strdup_printf("the records have no stacks, which "
					"needs %s: a call site is all that is "
					"known",
					how_to_record_stacks(capture)));
	else if (!kmt_input_tables_has_stacks(aggregate->tables))
		note_table(aggregate, capture, "stacks",
			   "not all stacks are known");
}

/* What else is odd about what was asked for. */
static void note_owners(KmtAggregate *aggregate, const KmtInputCapture *capture,
			KmtMatchKeyParts parts)
{
	const GPtrArray *warnings;
	guint i;

	if (!aggregate->tables) {
		/* That of a cache is shown by size then. */
		if (parts & KMT_MATCH_KEY_STACK)
			note_stacks(aggregate, capture);
		if (parts & KMT_MATCH_KEY_OWNER &
		    ~(guint)(KMT_MATCH_KEY_CACHE | KMT_MATCH_KEY_STACK))
			g_ptr_array_add(
				aggregate->notes,
				g_strdup("the records do not say which task "
					 "and context they are of, which needs "
					 "version 2 (a kernel with kmemtrace, "
					 "without kmemtrace.abi=1)"));
		return;
	}
	if (parts & KMT_MATCH_KEY_STACK)
		note_stacks(aggregate, capture);
	if (parts & KMT_MATCH_KEY_COMM &&
	    !kmt_input_tables_has_tasks(aggregate->tables))
		note_table(aggregate, capture, "tasks",
			   "not all commands are known");
	if (parts & KMT_MATCH_KEY_CACHE &&
	    !kmt_input_tables_has_caches(aggregate->tables))
		note_table(aggregate, capture, "caches",
			   "caches without a name are shown by their size");
	warnings = kmt_input_tables_warnings(aggregate->tables);
	for (i = 0; i < warnings->len; i++)
		g_ptr_array_add(aggregate->notes, g_strdup(warnings->pdata[i]));
}

KmtAggregate *kmt_aggregate_new(const KmtInputCapture *capture,
				const KmtNames *names,
				const KmtAggregateOptions *options)
{
	KmtAggregate *aggregate = g_new0(KmtAggregate, 1);
	KmtMatchKeyParts parts =
		options->by->parts | kmt_filter_parts(options->filter);
	KmtInputTables *tables = open_tables(capture, parts);
	const KmtGroupsOptions groups_options = {
		.by = options->by,
		.filter = options->filter,
		.names = names,
		.skip = options->skip,
		.capture = capture,
		.tables = tables,
		.phases = options->phases,
		.details = options->lifetimes,
	};
	KmtBooks books = {.capture = capture,
			  .options = options,
			  .aggregate = aggregate,
			  .plain = is_plain(options),
			  .counts_all = !kmt_filter_is_set(options->filter),
			  .inside = is_plain(options)};
	KmtMatchPipelineOptions pipeline_options = {
		.jobs = options->jobs,
		.clock_tolerance_ns = options->clock_tolerance_ns,
		.stop_ns = options->span.stop,
		.idle = load_names,
		.idle_user = (gpointer)names,
	};
	g_autoptr(KmtMatchPipeline) pipeline = NULL;
	guint kind;

	aggregate->scale = 1;
	aggregate->tables = tables;
	aggregate->keys = kmt_match_keys_new(parts, capture, tables);
	if (options->phases)
		kmt_match_keys_set_phases(
			aggregate->keys,
			(const gint64 *)options->phases->starts->data,
			options->phases->starts->len);
	aggregate->groups = kmt_groups_new(&groups_options, aggregate->keys);
	aggregate->tally = kmt_tally_new();
	aggregate->has_peaks = !options->filter->lifetime;
	if (options->cross)
		aggregate->cross = kmt_cross_new(capture->files->len);
	if (options->span.windows)
		aggregate->windows = g_new0(KmtWindow, options->span.windows);
	books.kinds[KMT_KIND_KMALLOC].sum = &books.kinds[KMT_KIND_SLAB];
	books.kinds[KMT_KIND_CACHE].sum = &books.kinds[KMT_KIND_SLAB];
	/* That of the others is nobody's. */
	for (kind = KMT_KIND_PAGES; kind < KMT_KIND_SLAB; kind++)
		books.kinds[kind].sum = &books.kinds[KMT_N_KINDS];
	pipeline_options.keys = aggregate->keys;
	pipeline = kmt_match_pipeline_new(capture, &pipeline_options, consume,
					  &books);
	books.pipeline = pipeline;
	kmt_match_pipeline_run(pipeline);
	finish(&books, pipeline);
	note_owners(aggregate, capture, parts);
	g_free(books.lot_books);
	return aggregate;
}

void kmt_aggregate_free(KmtAggregate *aggregate)
{
	if (!aggregate)
		return;
	kmt_groups_free(aggregate->groups);
	kmt_tally_free(aggregate->tally);
	kmt_cross_free(aggregate->cross);
	kmt_match_keys_free(aggregate->keys);
	kmt_input_tables_free(aggregate->tables);
	g_free(aggregate->windows);
	g_ptr_array_unref(aggregate->notes);
	g_array_unref(aggregate->holes);
	g_free(aggregate);
}
