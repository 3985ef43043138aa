// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/aggregate.h"
#include "report/accounting.h"

static gint64 add_saturated(gint64 a, gint64 b)
{
	gint64 sum;

	return __builtin_add_overflow(a, b, &sum) ? G_MAXINT64 : sum;
}

static void first_record(KmtAccounting *accounting, gint64 now)
{
	const KmtSpan *span = &accounting->options->span;

	accounting->started = TRUE;
	accounting->origin = now;
	accounting->start = add_saturated(now, span->start);
	/* Do not add to G_MAXINT64: the first time may be negative, and then
	 * the sum would be too small. */
	accounting->stop = span->stop == G_MAXINT64
				   ? G_MAXINT64
				   : add_saturated(now, span->stop);
}

/* Return the number of records in the block that are not after the span. */
static guint within_span(const KmtAccounting *accounting,
			 const KmtMatchedBlock *matched)
{
	guint n = matched->n;

	while (n && matched->items[n - 1]->now > accounting->stop)
		n--;
	return n;
}

/*
 * Return whether the event changes no figure of an object; at most, it counts a
 * finding.
 */
static gboolean is_finding_only(const KmtMatchSlowEvent *slow_event)
{
	switch (slow_event->op) {
	case KMT_MATCH_SLOW_UNMATCHED:
	case KMT_MATCH_SLOW_DOUBLE_DEFER:
	case KMT_MATCH_SLOW_UNMATCHED_DEFER:
		return TRUE;
	case KMT_MATCH_SLOW_DOUBLE:
		return !slow_event->late_free;
	case KMT_MATCH_SLOW_DEFER:
		return slow_event->class != KMT_MATCH_DEFER_FIRST;
	default:
		return FALSE;
	}
}

static void begin_block(KmtAccounting *accounting,
			const KmtMatchedBlock *matched)
{
	if (!accounting->started && matched->n)
		first_record(accounting, matched->items[0]->now);
}

static void end_block(KmtAccounting *accounting, const KmtMatchedBlock *matched)
{
	accounting->records += matched->n;
	if (accounting->options->progress)
		accounting->options->progress(accounting->records);
}

static void consume(gpointer user, const KmtMatchedBlock *matched)
{
	KmtAccounting *accounting = user;
	guint n, i = 0, next = 0;

	begin_block(accounting, matched);
	n = within_span(accounting, matched);
	if (n < matched->n ||
	    (!matched->n && kmt_match_merge_stopped(kmt_match_pipeline_merge(
				    accounting->pipeline))))
		accounting->ended = TRUE;
	while (i < n || next < matched->n_slow_events) {
		guint index = next < matched->n_slow_events
				      ? matched->slow_events[next]->index
				      : n;
		guint to = MIN(index, n);

		/* The count of a finding does not depend on the order of
		 * events, so do not split the range of basic steps here. */
		if (accounting->basic && index < n &&
		    is_finding_only(matched->slow_events[next])) {
			kmt_detailed_slow_event(accounting, matched,
						matched->slow_events[next]);
			next++;
			continue;
		}
		if (accounting->basic)
			kmt_basic_steps(accounting, matched, i, to);
		else
			kmt_detailed_steps(accounting, matched, i, to);
		i = to;
		if (index >= n && accounting->ended)
			break;
		if (index < n && !accounting->basic)
			kmt_detailed_at_time(accounting,
					     matched->items[index]->now);
		for (; next < matched->n_slow_events &&
		       matched->slow_events[next]->index == index;
		     next++)
			kmt_detailed_slow_event(accounting, matched,
						matched->slow_events[next]);
	}
	if (accounting->ended)
		kmt_detailed_after_span(accounting, matched, n, next);
	end_block(accounting, matched);
}

/* Match and consume a block for the basic statistics. */
static void match_basic_block(gpointer user, KmtMatchShard *shard,
			      KmtMatchPipelineBlock *work,
			      const KmtMatchedBlock *matched)
{
	KmtAccounting *accounting = user;

	begin_block(accounting, matched);
	kmt_basic_block(accounting, shard, work, matched);
	end_block(accounting, matched);
}

/* ---- the whole capture ---- */

static void set_span(KmtAccounting *accounting)
{
	gint64 end =
		MIN(accounting->stop, accounting->aggregate->last_timestamp);

	if (end > accounting->start)
		accounting->aggregate->span_ns =
			(guint64)end - (guint64)accounting->start;
}

/*
 * Set first_timestamp and last_timestamp of the capture. If the span ends
 * before the capture, the merge may have stopped before the end of the files.
 * This function then reads the last records of the files that are no streams.
 */
static void set_range(KmtAccounting *accounting, const KmtMatchMerge *merge)
{
	KmtAggregate *aggregate = accounting->aggregate;
	gint64 first, last;
	guint i;

	if (!kmt_match_merge_time_range(merge, &aggregate->first_timestamp,
					&aggregate->last_timestamp))
		aggregate->first_timestamp = aggregate->last_timestamp = 0;
	for (i = 0; accounting->ended && i < accounting->capture->files->len;
	     i++) {
		const KmtInputCpuFile *file =
			accounting->capture->files->pdata[i];

		if (file->stream ||
		    !kmt_match_merge_file_span(file, &first, &last))
			continue;
		aggregate->first_timestamp =
			MIN(aggregate->first_timestamp, first);
		aggregate->last_timestamp =
			MAX(aggregate->last_timestamp, last);
	}
}

gboolean kmt_report_first_timestamp(const KmtInputCapture *capture,
				    gint64 *origin)
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
	kmt_report_first_timestamp(capture, &aggregate->origin);
}

static void finish(KmtAccounting *accounting, KmtMatchPipeline *pipeline)
{
	KmtAggregate *aggregate = accounting->aggregate;
	const KmtMatchMerge *merge = kmt_match_pipeline_merge(pipeline);
	guint64 epochs[KMT_N_KINDS];
	guint i;

	aggregate->skipped = kmt_match_merge_skipped(merge);
	aggregate->mark_records = kmt_match_merge_mark_records(merge);
	aggregate->gap_records = kmt_match_merge_gap_records(merge);
	aggregate->stop_records = kmt_match_merge_stop_records(merge);
	aggregate->gaps = g_array_copy((GArray *)kmt_match_merge_gaps(merge));
	aggregate->unordered = kmt_match_merge_unordered(merge);
	set_range(accounting, merge);
	set_origin(aggregate, accounting->capture);
	aggregate->has_sequence_times = accounting->capture->has_sequence_times;
	aggregate->notes = kmt_match_merge_notes(merge);
	for (i = 0; i < accounting->capture->files->len; i++) {
		const KmtInputCpuFile *file =
			g_ptr_array_index(accounting->capture->files, i);

		aggregate->truncated_bytes += file->truncated_bytes;
	}
	if (accounting->started)
		set_span(accounting);
	aggregate->defer_records = kmt_match_merge_defer_records(merge);
	if (!accounting->basic && accounting->started)
		kmt_detailed_finish(accounting, pipeline);
	else if (aggregate->defer_records)
		kmt_detailed_finish_deferred(accounting, pipeline);
	for (i = 0; i < KMT_N_KINDS; i++) {
		epochs[i] = accounting->kinds[i].epoch;
		kmt_deferred_finish(&aggregate->deferred[i], epochs[i]);
	}
	if (accounting->basic)
		kmt_basic_groups(accounting);
	kmt_groups_finish(aggregate->groups, epochs);
	if (accounting->basic)
		kmt_basic_kinds(accounting);
	else
		kmt_detailed_kinds(accounting);
	aggregate->overflowed |= accounting->live_overflowed;
	if (aggregate->cross)
		kmt_cross_cpu_sort(aggregate->cross);
}

static gboolean is_basic(const KmtAggregateOptions *o)
{
	return o->by->kinds && !o->span.start && o->span.stop == G_MAXINT64 &&
	       !o->span.windows && !o->lifetimes && !o->cross && !o->history &&
	       !kmt_filter_is_set(o->filter);
}

/*
 * Open the name tables. Return NULL if no figure needs owners or the records
 * have no owners.
 */
static KmtInputTables *open_tables(const KmtInputCapture *capture,
				   KmtMatchKeyParts parts)
{
	return parts & KMT_MATCH_KEY_OWNER &&
			       kmt_input_capture_has_owners(capture)
		       ? kmt_input_tables_new(capture)
		       : NULL;
}

/* Add a warning that a table is missing or invalid, with the consequence in
 * @result. */
static void note_table(KmtAggregate *aggregate, const KmtInputCapture *capture,
		       const char *name, const char *result)
{
	g_autofree char *why = kmt_input_tables_missing_reason(capture, name);

	g_ptr_array_add(aggregate->notes,
			g_strdup_printf("%s: %s", why, result));
}

/* Return how the source of the capture records stacks. */
static const char *how_to_record_stacks(const KmtInputCapture *capture)
{
	g_autofree char *source =
		capture->meta ? g_key_file_get_string(capture->meta, "capture",
						      "source", NULL)
			      : NULL;

	if (g_strcmp0(source, "import") == 0)
		return "perf record -g or trace-cmd record -T";
	return g_strcmp0(source, "bpf") == 0 ? "kmemtraced --stacks"
					     : "kmemtrace.stacks=yes";
}

static void note_stacks(KmtAggregate *aggregate, const KmtInputCapture *capture)
{
	if (!kmt_input_capture_has_stacks(capture))
		g_ptr_array_add(
			aggregate->notes,
			g_strdup_printf(
				"the records have no stacks, whose recording "
				"needs %s: only the call sites are known",
				how_to_record_stacks(capture)));
	else if (!kmt_input_tables_has_stacks(aggregate->tables))
		note_table(aggregate, capture, "stacks",
			   "not all stacks are known");
}

/* Add warnings about the table of cgroups. */
static void note_cgroups(KmtAggregate *aggregate,
			 const KmtInputCapture *capture)
{
	g_autofree char *how = g_key_file_get_string(capture->meta, "capture",
						     "cgroups", NULL);

	if (!kmt_input_tables_has_cgroups(aggregate->tables))
		note_table(aggregate, capture, "cgroups",
			   "not all cgroups are known");
	if (g_strcmp0(how, "end") == 0)
		g_ptr_array_add(aggregate->notes,
				g_strdup("changes of cgroups were not "
					 "recorded: each task is shown in the "
					 "cgroup of the end of the recording"));
}

/* Add warnings about owners, stacks and names that the options need and that
 * are missing. */
static void note_owners(KmtAggregate *aggregate, const KmtInputCapture *capture,
			KmtMatchKeyParts parts)
{
	const GPtrArray *warnings;
	guint i;

	if (!aggregate->tables) {
		/* Caches without tables are shown by size, so they need no
		 * warning. */
		if (parts & KMT_MATCH_KEY_STACK)
			note_stacks(aggregate, capture);
		if (parts & KMT_MATCH_KEY_OWNER &
		    ~(guint)(KMT_MATCH_KEY_CACHE | KMT_MATCH_KEY_STACK))
			g_ptr_array_add(
				aggregate->notes,
				g_strdup("the records have no task and "
					 "context, which records of version 2 "
					 "and later have (from a kernel with "
					 "kmemtrace, without "
					 "kmemtrace.abi=1)"));
		return;
	}
	if (parts & KMT_MATCH_KEY_STACK)
		note_stacks(aggregate, capture);
	if (parts & KMT_MATCH_KEY_COMM &&
	    !kmt_input_tables_has_tasks(aggregate->tables))
		note_table(aggregate, capture, "tasks",
			   "not all commands are known");
	if (parts & KMT_MATCH_KEY_CGROUP)
		note_cgroups(aggregate, capture);
	if (parts & KMT_MATCH_KEY_CACHE &&
	    !kmt_input_tables_has_caches(aggregate->tables))
		note_table(aggregate, capture, "caches",
			   "caches without a name are shown by their size");
	warnings = kmt_input_tables_warnings(aggregate->tables);
	for (i = 0; i < warnings->len; i++)
		g_ptr_array_add(aggregate->notes, g_strdup(warnings->pdata[i]));
}

/* Set the parents of the counters of kinds: slab for kmalloc and cache; for the
 * other kinds an extra entry that no figure uses. */
static void init_kinds(KmtCounters kinds[KMT_N_KINDS + 1])
{
	guint kind;

	for (kind = 0; kind < KMT_KIND_SLAB; kind++)
		kinds[kind].parent =
			&kinds[kmt_kind_is_slab(kind) ? KMT_KIND_SLAB
						      : KMT_N_KINDS];
}

/* Return the ends of the tags that end, sorted by address and time. */
static GArray *find_tag_ends(const KmtSymbolizer *symbolizer)
{
	GArray *ends = g_array_new(FALSE, FALSE, sizeof(KmtMatchTagEnd));
	const KmtSymTag *tags;
	guint n, i;

	tags = kmt_sym_tags_get(symbolizer->tags, &n);
	for (i = 0; i < n; i++) {
		KmtMatchTagEnd end = {tags[i].address, tags[i].went};

		if (end.time != G_MAXINT64)
			g_array_append_val(ends, end);
	}
	return ends;
}

/* Allocate an aggregate without events. */
static KmtAggregate *aggregate_init(const KmtInputCapture *capture,
				    const KmtSymbolizer *symbolizer,
				    const KmtAggregateOptions *options,
				    KmtMatchKeyParts parts)
{
	KmtAggregate *aggregate = g_new0(KmtAggregate, 1);
	KmtInputTables *tables = open_tables(capture, parts);
	const KmtGroupsOptions groups_options = {
		.by = options->by,
		.filter = options->filter,
		.symbolizer = symbolizer,
		.skip = options->skip,
		.capture = capture,
		.tables = tables,
		.phases = options->phases,
		.details = options->lifetimes,
	};

	aggregate->scale = 1;
	aggregate->tables = tables;
	aggregate->tag_ends = find_tag_ends(symbolizer);
	if (aggregate->tag_ends->len)
		parts |= KMT_MATCH_KEY_TAG;
	aggregate->keys = kmt_match_keys_new(parts, capture, tables);
	if (aggregate->tag_ends->len)
		kmt_match_keys_set_tag_ends(aggregate->keys,
					    (const KmtMatchTagEnd *)(void *)
						    aggregate->tag_ends->data,
					    aggregate->tag_ends->len);
	if (options->phases)
		kmt_match_keys_set_phases(
			aggregate->keys,
			(const gint64 *)options->phases->starts->data,
			options->phases->starts->len);
	aggregate->groups = kmt_groups_new(&groups_options, aggregate->keys);
	aggregate->finding_counts = kmt_finding_counts_new();
	aggregate->has_peaks = !options->filter->lifetime;
	if (options->cross)
		aggregate->cross = kmt_cross_cpu_new(capture->files->len);
	if (options->history)
		aggregate->history = kmt_history_new(capture->files->len);
	if (options->span.windows)
		aggregate->windows = g_new0(KmtWindow, options->span.windows);
	return aggregate;
}

/* Return the parts of the owner that the history needs and the records have. */
static KmtMatchKeyParts history_parts(const KmtInputCapture *capture,
				      const KmtAggregateOptions *options)
{
	KmtMatchKeyParts parts = 0;

	if (!options->history || !kmt_input_capture_has_owners(capture))
		return 0;
	parts |= KMT_MATCH_KEY_CACHE | KMT_MATCH_KEY_COMM;
	if (kmt_input_capture_has_stacks(capture))
		parts |= KMT_MATCH_KEY_STACK;
	return parts;
}

KmtAggregate *kmt_aggregate_new(const KmtInputCapture *capture,
				const KmtSymbolizer *symbolizer,
				const KmtAggregateOptions *options)
{
	KmtMatchKeyParts parts = options->by->parts |
				 kmt_filter_parts(options->filter) |
				 history_parts(capture, options);
	KmtAggregate *aggregate =
		aggregate_init(capture, symbolizer, options, parts);
	KmtAccounting accounting = {.capture = capture,
				    .options = options,
				    .aggregate = aggregate,
				    .basic = is_basic(options),
				    .has_details = options->lifetimes,
				    .counts_all =
					    !kmt_filter_is_set(options->filter),
				    .inside = is_basic(options)};
	const KmtMatchPipelineOptions pipeline_options = {
		.jobs = options->jobs,
		.clock_tolerance_ns = options->clock_tolerance_ns,
		.stop_ns = options->span.stop,
		.keys = aggregate->keys,
		.match_block = accounting.basic ? match_basic_block : NULL,
	};
	g_autoptr(KmtMatchPipeline) pipeline = kmt_match_pipeline_new(
		capture, &pipeline_options, consume, &accounting);

	init_kinds(accounting.kinds);
	if (!accounting.basic)
		accounting.touched = g_array_new(FALSE, FALSE, sizeof(guint32));
	accounting.pipeline = pipeline;
	kmt_match_pipeline_run(pipeline);
	finish(&accounting, pipeline);
	note_owners(aggregate, capture, parts);
	g_free(accounting.stats_block);
	g_free(accounting.class_infos);
	g_free(accounting.class_details);
	if (accounting.touched)
		g_array_unref(accounting.touched);
	return aggregate;
}

void kmt_aggregate_free(KmtAggregate *aggregate)
{
	guint i;

	if (!aggregate)
		return;
	for (i = 0; i < KMT_N_KINDS; i++)
		kmt_deferred_clear(&aggregate->deferred[i]);
	kmt_groups_free(aggregate->groups);
	kmt_finding_counts_free(aggregate->finding_counts);
	kmt_cross_cpu_free(aggregate->cross);
	kmt_history_free(aggregate->history);
	kmt_match_keys_free(aggregate->keys);
	g_array_unref(aggregate->tag_ends);
	kmt_input_tables_free(aggregate->tables);
	g_free(aggregate->windows);
	g_ptr_array_unref(aggregate->notes);
	g_array_unref(aggregate->gaps);
	g_free(aggregate);
}
