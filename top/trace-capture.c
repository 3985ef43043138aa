// SPDX-License-Identifier: GPL-2.0-or-later
/* The raw capture of a trace. */
#include "config.h"

#include "top/trace-private.h"

#include "lib/base/printable.h"

static KmtTopLosses losses_of(const KmtTopTrace *trace)
{
	return (KmtTopLosses){
		(const KmtStreamCounters *)(gpointer)trace->counters->data,
		trace->counters->len};
}

void kmt_top_trace_fail_capture(KmtTopTrace *trace, const GError *error)
{
	trace->raw_state = KMT_TOP_CAPTURE_FAILED;
	g_free(trace->raw_error);
	trace->raw_error = kmt_printable(error->message);
	g_clear_pointer(&trace->raw, kmt_top_capture_free);
}

void kmt_top_trace_begin_capture(KmtTopTrace *trace)
{
	const KmtTopLosses losses = losses_of(trace);
	g_autoptr(GError) error = NULL;

	g_clear_pointer(&trace->raw_error, g_free);
	trace->raw_bytes = 0;
	if (!trace->tally || trace->finished)
		g_set_error_literal(&error, KMT_TOP_ERROR, KMT_TOP_ERROR_FILE,
				    "the trace has ended");
	else
		trace->raw =
			kmt_top_capture_new(trace->raw_path, trace->tables,
					    trace->capture, &losses, &error);
	if (trace->raw)
		trace->raw_state = KMT_TOP_CAPTURE_RUNNING;
	else
		kmt_top_trace_fail_capture(trace, error);
}

void kmt_top_trace_start_capture(KmtTopTrace *trace, const char *path)
{
	kmt_top_trace_finish_capture(trace);
	kmt_top_trace_set_capture(trace, path);
	kmt_top_trace_begin_capture(trace);
}

void kmt_top_trace_set_capture(KmtTopTrace *trace, const char *path)
{
	g_free(trace->raw_path);
	trace->raw_path = g_strdup(path);
}

void kmt_top_trace_finish_capture(KmtTopTrace *trace)
{
	const KmtTopLosses losses = losses_of(trace);
	g_autoptr(GError) error = NULL;

	if (!trace->raw)
		return;
	trace->raw_stops = FALSE;
	trace->raw_bytes = kmt_top_capture_bytes(trace->raw);
	if (!kmt_top_capture_finish(trace->raw, &losses, &error)) {
		kmt_top_trace_fail_capture(trace, error);
		return;
	}
	trace->raw_state = KMT_TOP_CAPTURE_COMPLETE;
	g_clear_pointer(&trace->raw, kmt_top_capture_free);
}

/* The tables are complete only up to their last update, which precedes
 * counters.
 */
void kmt_top_trace_stop_capture(KmtTopTrace *trace)
{
	trace->raw_stops = trace->raw != NULL;
	if (trace->finished)
		kmt_top_trace_finish_capture(trace);
}

gboolean kmt_top_trace_has_capture(const KmtTopTrace *trace)
{
	return trace->raw != NULL;
}
