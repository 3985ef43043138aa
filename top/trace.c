// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/trace-private.h"

#include <string.h>

#include "lib/base/printable.h"

/*
 * Bytes of the stream during which a record may wait for a tick that covers it.
 * The records that wait are in memory. kmemtraced makes a tick every 200 ms.
 */
#define MAX_WAIT_BYTES (G_GUINT64_CONSTANT(2) << 30)
/* Bytes of the stream from check to check of all queues. */
#define CHECK_BYTES (64u << 20)

KmtTopTrace *kmt_top_trace_new(int fd, const KmtTopTraceOptions *options,
			       GError **error)
{
	g_autoptr(KmtTopTables) tables = kmt_top_tables_new(error);
	KmtTopTrace *trace;

	if (!tables)
		return NULL;
	trace = g_new0(KmtTopTrace, 1);
	trace->tables = g_steal_pointer(&tables);
	trace->options = *options;
	trace->input = g_strdup(options->input);
	trace->vmlinux = g_strdup(options->names.vmlinux);
	trace->source_tree = g_strdup(options->names.source_tree);
	trace->debug_directory = g_strdup(options->names.debug_directory);
	trace->options.names.vmlinux = trace->vmlinux;
	trace->options.names.source_tree = trace->source_tree;
	trace->options.names.debug_directory = trace->debug_directory;
	trace->reader = kmt_top_frame_reader_new(fd, options->name);
	trace->files = g_hash_table_new(g_direct_hash, NULL);
	trace->counters = g_array_new(FALSE, FALSE, sizeof(KmtStreamCounters));
	kmt_top_cost_measure(&trace->before.cost, 0);
	return trace;
}

static void free_queues(KmtTopTrace *trace)
{
	guint i, j;

	for (i = 0; trace->queues && i < trace->capture->files->len; i++) {
		CpuQueue *queue = &trace->queues[i];

		for (j = queue->next; j < queue->batches->len; j++)
			kmt_input_buffer_unref(
				g_array_index(queue->batches, QueuedBatch, j)
					.batch.buffer);
		g_array_unref(queue->batches);
	}
	g_free(trace->queues);
}

void kmt_top_trace_free(KmtTopTrace *trace)
{
	if (!trace)
		return;
	kmt_top_trace_finish_capture(trace);
	kmt_top_tally_free(trace->tally);
	free_queues(trace);
	kmt_top_names_free(trace->names);
	g_clear_pointer(&trace->capture, kmt_input_capture_free);
	kmt_top_counts_unref(trace->before.counts);
	kmt_top_frame_reader_free(trace->reader);
	kmt_top_tables_free(trace->tables);
	g_hash_table_unref(trace->files);
	g_array_unref(trace->counters);
	g_free(trace->input);
	g_free(trace->vmlinux);
	g_free(trace->source_tree);
	g_free(trace->debug_directory);
	g_free(trace->end_reason);
	g_free(trace->raw_path);
	g_free(trace->raw_error);
	g_free(trace);
}

/* ---- records ---- */

/*
 * Remove the batches that the merge has taken, if they are the majority. At the
 * rate of many frames per tick, a queue is never empty.
 */
static void trim_queue(CpuQueue *queue)
{
	if (queue->next <= queue->batches->len / 2)
		return;
	g_array_remove_range(queue->batches, 0, queue->next);
	queue->next = 0;
}

/* Pass the next records of a CPU to the merge, as KmtMatchNextBatch. */
static gboolean next_batch(gpointer user, guint file, KmtInputBatch *batch)
{
	KmtTopTrace *trace = user;
	CpuQueue *queue = &trace->queues[file];

	if (queue->next == queue->batches->len)
		return FALSE;
	*batch =
		g_array_index(queue->batches, QueuedBatch, queue->next++).batch;
	trim_queue(queue);
	return TRUE;
}

/* Count the records at the beginning of a batch that should have preceded the
 * last tick. */
static void count_late(KmtTopTrace *trace, const KmtInputBatch *batch)
{
	guint64 i;

	for (i = 0; trace->has_tick && i < batch->n; i++) {
		const KmtInputRawEvent *event =
			(const KmtInputRawEvent *)(batch->records +
						   i * batch->stride);

		if (event->timestamp > trace->tick.watermark)
			return;
		trace->late_records++;
	}
}

/* Fail if a record has waited too long for a tick. */
static gboolean check_queues(KmtTopTrace *trace, GError **error)
{
	guint i;

	if (trace->bytes < trace->next_check)
		return TRUE;
	trace->next_check = trace->bytes + CHECK_BYTES;
	for (i = 0; i < trace->capture->files->len; i++) {
		const CpuQueue *queue = &trace->queues[i];

		if (queue->next == queue->batches->len ||
		    trace->bytes - g_array_index(queue->batches, QueuedBatch,
						 queue->next)
					    .position <=
			    MAX_WAIT_BYTES)
			continue;
		kmt_top_frame_reader_set_damaged(
			trace->reader, error,
			"no tick covers the records of the last 2 GiB");
		return FALSE;
	}
	return TRUE;
}

static gboolean add_records(KmtTopTrace *trace, const KmtTopFrame *frame,
			    GError **error)
{
	const guint stride =
		kmt_top_frame_reader_header(trace->reader)->record_bytes;
	const QueuedBatch queued = {.batch = {.records = frame->payload,
					      .n = frame->head.length / stride,
					      .stride = stride,
					      .buffer = frame->buffer},
				    .position = trace->bytes};
	g_autoptr(GError) reason = NULL;
	gpointer found;
	guint file;

	if (!g_hash_table_lookup_extended(trace->files,
					  GUINT_TO_POINTER(frame->head.cpu),
					  NULL, &found)) {
		kmt_top_frame_reader_set_damaged(
			trace->reader, error,
			"its CPU is not in kmemtrace.meta");
		return FALSE;
	}
	if (!queued.batch.n)
		return TRUE;
	file = GPOINTER_TO_UINT(found);
	kmt_input_buffer_ref(queued.batch.buffer);
	count_late(trace, &queued.batch);
	g_array_append_val(trace->queues[file].batches, queued);
	if (trace->raw && !kmt_top_capture_add(trace->raw, file, frame->payload,
					       frame->head.length, &reason))
		kmt_top_trace_fail_capture(trace, reason);
	return TRUE;
}

/* ---- beginning and end ---- */

/* Open the tables before the first frame that is no table. */
static gboolean begin(KmtTopTrace *trace, GError **error)
{
	const KmtTopTallyOptions options = {
		.max_objects = trace->options.max_objects,
		.clock_tolerance_ns = trace->options.clock_tolerance_ns,
		.next_batch = next_batch,
		.user = trace,
	};
	guint i;

	if (!kmt_top_tables_meta(trace->tables)) {
		kmt_top_frame_reader_set_damaged(trace->reader, error,
						 "kmemtrace.meta is missing");
		return FALSE;
	}
	trace->capture = kmt_top_tables_open(
		trace->tables, kmt_top_frame_reader_header(trace->reader),
		error);
	if (!trace->capture)
		return FALSE;
	trace->queues = g_new0(CpuQueue, trace->capture->files->len);
	for (i = 0; i < trace->capture->files->len; i++) {
		const KmtInputCpuFile *file = trace->capture->files->pdata[i];

		trace->queues[i].batches =
			g_array_new(FALSE, FALSE, sizeof(QueuedBatch));
		g_hash_table_insert(trace->files, GUINT_TO_POINTER(file->cpu),
				    GUINT_TO_POINTER(i));
	}
	trace->names =
		kmt_top_names_new(trace->capture, &trace->options.names, error);
	if (!trace->names)
		return FALSE;
	trace->tables_changed = trace->symbols_changed = FALSE;
	trace->tally =
		kmt_top_tally_new(trace->capture, trace->names, &options);
	if (trace->raw_path)
		kmt_top_trace_begin_capture(trace);
	return TRUE;
}

static void refresh_names(KmtTopTrace *trace)
{
	if (!trace->tables_changed || !trace->names)
		return;
	kmt_top_names_refresh(trace->names, trace->symbols_changed);
	kmt_top_tally_forget_tasks(trace->tally);
	trace->tables_changed = trace->symbols_changed = FALSE;
}

/* Count all records that were read. No record follows. */
static void finish(KmtTopTrace *trace)
{
	if (trace->finished || !trace->tally)
		return;
	trace->finished = TRUE;
	refresh_names(trace);
	kmt_top_tally_finish(trace->tally);
	kmt_top_trace_finish_capture(trace);
}

void kmt_top_trace_set_ended(KmtTopTrace *trace, const char *reason)
{
	if (!trace->end_reason)
		trace->end_reason = kmt_printable(reason);
}

static void add_end(KmtTopTrace *trace, const KmtStreamEnd *end,
		    const guint8 *text, gsize length)
{
	static const char *const reasons[] = {
		[KMT_STREAM_END_STOPPED] = "stopped",
		[KMT_STREAM_END_TIME] = "the requested time has passed",
		[KMT_STREAM_END_COMMAND] = "the command has ended",
		[KMT_STREAM_END_SWITCHED] =
			"another program switched tracing off",
		[KMT_STREAM_END_FROZEN] =
			"the records of an earlier trace have ended",
		[KMT_STREAM_END_FAILED] = "kmemtraced has failed",
	};
	g_autofree char *detail = g_strndup((const char *)text, length);
	const char *reason = end->reason < G_N_ELEMENTS(reasons)
				     ? reasons[end->reason]
				     : NULL;

	trace->has_end = TRUE;
	kmt_top_trace_set_ended(trace, *detail	? detail
				       : reason ? reason
						: "the stream has ended");
}

/* ---- frames ---- */

static gboolean fail_short(const KmtTopTrace *trace, GError **error)
{
	kmt_top_frame_reader_set_damaged(trace->reader, error,
					 "the frame is too short");
	return FALSE;
}

static gboolean add_table(KmtTopTrace *trace, const KmtTopFrame *frame,
			  GError **error)
{
	const char *changed;

	if (!kmt_top_tables_add(trace->tables, frame->payload,
				frame->head.length, &changed, error))
		return FALSE;
	if (!changed)
		return TRUE;
	trace->tables_changed = TRUE;
	trace->symbols_changed |= !strcmp(changed, "kallsyms") ||
				  !strcmp(changed, "modules") ||
				  !strcmp(changed, "tags");
	return TRUE;
}

static guint64 add_saturated(guint64 a, guint64 b)
{
	guint64 sum;

	return __builtin_add_overflow(a, b, &sum) ? G_MAXUINT64 : sum;
}

guint64 kmt_top_trace_losses(const KmtTopTrace *trace, gboolean *unknown)
{
	const guint stride =
		kmt_top_frame_reader_header(trace->reader)->record_bytes;
	guint64 lost = 0;
	guint i;

	*unknown = FALSE;
	for (i = 0; i < trace->counters->len; i++) {
		const KmtStreamCounters *c =
			&g_array_index(trace->counters, KmtStreamCounters, i);

		*unknown |= !c->is_lost_known;
		lost = add_saturated(lost, c->lost);
		lost = add_saturated(lost, c->unsent / stride);
	}
	return lost;
}

static gboolean set_counters(KmtTopTrace *trace, const KmtTopFrame *frame,
			     GError **error)
{
	gboolean unknown;

	if (frame->head.length % sizeof(KmtStreamCounters))
		return fail_short(trace, error);
	g_array_set_size(trace->counters, 0);
	g_array_append_vals(trace->counters, frame->payload,
			    frame->head.length / sizeof(KmtStreamCounters));
	if (kmt_top_trace_losses(trace, &unknown) || unknown)
		kmt_match_online_note_loss(kmt_top_tally_online(trace->tally));
	if (trace->raw_stops)
		kmt_top_trace_finish_capture(trace);
	return TRUE;
}

static gboolean add_tick(KmtTopTrace *trace, const KmtTopFrame *frame,
			 GError **error)
{
	const KmtStreamHeader *header =
		kmt_top_frame_reader_header(trace->reader);

	if (frame->head.length < sizeof(trace->tick))
		return fail_short(trace, error);
	memcpy(&trace->tick, frame->payload, sizeof(trace->tick));
	refresh_names(trace);
	if (trace->tick.watermark != KMT_STREAM_WATERMARK_NONE)
		kmt_top_tally_advance(trace->tally, trace->tick.watermark);
	if (trace->has_tick)
		return TRUE;
	trace->has_tick = TRUE;
	trace->start_ns = (gint64)((guint64)trace->tick.monotonic_ns -
				   (guint64)header->tick_ms * 1000000);
	kmt_top_cost_measure(&trace->before.cost, trace->tick.cpu_ns);
	return TRUE;
}

static gboolean add_frame(KmtTopTrace *trace, const KmtTopFrame *frame,
			  GError **error)
{
	KmtStreamEnd end;

	trace->bytes += sizeof(frame->head) + frame->head.length;
	if (frame->head.type == KMT_STREAM_TABLE)
		return add_table(trace, frame, error);
	if (frame->head.type == KMT_STREAM_META)
		return kmt_top_tables_set_meta(trace->tables, frame->payload,
					       frame->head.length, error);
	if ((!trace->tally && !begin(trace, error)) ||
	    !check_queues(trace, error))
		return FALSE;
	switch (frame->head.type) {
	case KMT_STREAM_RECORDS:
		return add_records(trace, frame, error);
	case KMT_STREAM_COUNTERS:
		return set_counters(trace, frame, error);
	case KMT_STREAM_TICK:
		return add_tick(trace, frame, error);
	case KMT_STREAM_END:
		if (frame->head.length < sizeof(end))
			return fail_short(trace, error);
		memcpy(&end, frame->payload, sizeof(end));
		add_end(trace, &end, frame->payload + sizeof(end),
			frame->head.length - sizeof(end));
		return TRUE;
	default:
		return TRUE;
	}
}

static KmtTopStep end_of_stream(KmtTopTrace *trace, GError **error)
{
	finish(trace);
	if (trace->has_end)
		return KMT_TOP_STEP_END;
	kmt_top_frame_reader_set_damaged(
		trace->reader, error,
		"it ends without an end frame: the writer was killed, or the "
		"stream was copied incompletely");
	return KMT_TOP_STEP_ERROR;
}

KmtTopStep kmt_top_trace_step(KmtTopTrace *trace, GError **error)
{
	KmtTopFrame frame;

	while (!trace->has_end) {
		switch (kmt_top_frame_reader_next(trace->reader, &frame,
						  error)) {
		case KMT_TOP_FRAME_NONE:
			return KMT_TOP_STEP_WAIT;
		case KMT_TOP_FRAME_END:
			return end_of_stream(trace, error);
		case KMT_TOP_FRAME_ERROR:
			finish(trace);
			return KMT_TOP_STEP_ERROR;
		case KMT_TOP_FRAME:
			break;
		}
		if (!add_frame(trace, &frame, error)) {
			finish(trace);
			return KMT_TOP_STEP_ERROR;
		}
		if (frame.head.type == KMT_STREAM_TICK)
			return KMT_TOP_STEP_TICK;
	}
	return end_of_stream(trace, error);
}

gboolean kmt_top_trace_fill(KmtTopTrace *trace, GError **error)
{
	return kmt_top_frame_reader_fill(trace->reader, error);
}

gboolean kmt_top_trace_has_begun(const KmtTopTrace *trace)
{
	return trace->has_tick;
}

gint64 kmt_top_trace_time(const KmtTopTrace *trace)
{
	gint64 time;

	if (!trace->has_tick || __builtin_sub_overflow(trace->tick.monotonic_ns,
						       trace->start_ns, &time))
		return 0;
	return MAX(time, 0);
}
