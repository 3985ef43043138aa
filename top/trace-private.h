/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of a trace that trace.c, trace-capture.c, and trace-snapshot.c share.
 */
#ifndef KMEMTRACE_TOP_TRACE_PRIVATE_H
#define KMEMTRACE_TOP_TRACE_PRIVATE_H

#include "top/cost.h"
#include "top/frame-reader.h"
#include "top/raw-capture.h"
#include "top/table-directory.h"
#include "top/trace.h"

typedef struct {
	KmtInputBatch batch; /* with a reference of its buffer */
	guint64 position;    /* KmtTopTrace.bytes when it arrived */
} QueuedBatch;

/* The records of a CPU that the merge has not received yet. */
typedef struct {
	GArray *batches; /* array of QueuedBatch */
	guint next;	 /* index of the next batch */
} CpuQueue;

/* The state at the last snapshot, with which an interval begins. */
typedef struct {
	KmtTopCounts *counts;
	gint64 time_ns; /* as kmt_top_trace_time() */
	guint64 lost;
	KmtTopCost cost;
} IntervalStart;

struct KmtTopTrace {
	char *input;
	KmtTopTraceOptions options; /* strings only during the first step */
	char *vmlinux, *source_tree, *debug_directory;
	KmtTopFrameReader *reader;
	KmtTopTables *tables;
	gboolean tables_changed, symbols_changed;
	/* NULL before the first frame that is no table: */
	KmtInputCapture *capture;
	KmtTopNames *names;
	KmtTopTally *tally;
	CpuQueue *queues;   /* one for each file */
	GHashTable *files;  /* number of the CPU -> its queue's index */
	guint64 bytes;	    /* of all frames so far */
	guint64 next_check; /* value of bytes at which the queues are checked */
	GArray *counters;   /* array of KmtStreamCounters, the last ones */
	KmtStreamTick tick;
	gint64 start_ns; /* monotonic time at which the trace began */
	gboolean has_tick, has_end, finished;
	guint64 late_records; /* see KmtTopHeader */
	char *end_reason;
	IntervalStart before;
	KmtTopCapture *raw;
	gboolean raw_stops; /* raw waits for the next tables, and has no
			     * further records */
	KmtTopCaptureState raw_state;
	char *raw_path;
	char *raw_error;
	guint64 raw_bytes;
};

/* Return the number of lost events; *unknown is set to whether the number of
 * other losses is unknown. */
guint64 kmt_top_trace_losses(const KmtTopTrace *trace, gboolean *unknown);

/* Begin a raw capture in trace->raw_path. */
void kmt_top_trace_begin_capture(KmtTopTrace *trace);
/* Complete the raw capture, if there is one, with the tables of this moment. */
void kmt_top_trace_finish_capture(KmtTopTrace *trace);
/* End the raw capture, which has failed. */
void kmt_top_trace_fail_capture(KmtTopTrace *trace, const GError *error);

#endif
