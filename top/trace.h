/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace that a stream contains: its records, counted up to the last tick,
 * its names, its losses, and the raw capture that is written from it. One
 * thread uses a trace; its snapshots belong to any thread.
 */
#ifndef KMEMTRACE_TOP_TRACE_H
#define KMEMTRACE_TOP_TRACE_H

#include "lib/capture/stream-format.h"
#include "top/top-snapshot.h"

typedef struct KmtTopTrace KmtTopTrace;

typedef struct {
	const char *name;  /* of the stream, for messages */
	const char *input; /* for KmtTopHeader.input */
	guint64 max_objects;
	gint64 clock_tolerance_ns;
	KmtTopNamesOptions names;
} KmtTopTraceOptions;

typedef enum {
	KMT_TOP_STEP_TICK,  /* the records before a tick were counted */
	KMT_TOP_STEP_WAIT,  /* the descriptor must become readable */
	KMT_TOP_STEP_END,   /* the end frame was read, and nothing follows */
	KMT_TOP_STEP_ERROR, /* *error is set; nothing more can be read */
} KmtTopStep;

/* fd stays open when the trace is freed. */
KmtTopTrace *kmt_top_trace_new(int fd, const KmtTopTraceOptions *options,
			       GError **error);
void kmt_top_trace_free(KmtTopTrace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopTrace, kmt_top_trace_free)

/*
 * Process the frames that were read, up to a tick. After KMT_TOP_STEP_WAIT,
 * call kmt_top_trace_fill() once when the descriptor is readable. After
 * KMT_TOP_STEP_END or KMT_TOP_STEP_ERROR, all records were counted.
 */
KmtTopStep kmt_top_trace_step(KmtTopTrace *trace, GError **error);
gboolean kmt_top_trace_fill(KmtTopTrace *trace, GError **error);

/* Return whether a tick was read. Before the first tick there is no snapshot.
 */
gboolean kmt_top_trace_has_begun(const KmtTopTrace *trace);
/* Return the time of the last tick since the beginning of the trace, in ns. */
gint64 kmt_top_trace_time(const KmtTopTrace *trace);

/* Return a snapshot, whose interval begins with the last one. The caller has a
 * reference. */
KmtTopSnapshot *kmt_top_trace_snapshot(KmtTopTrace *trace);

/* The trace has ended without an end frame, for this reason. */
void kmt_top_trace_set_ended(KmtTopTrace *trace, const char *reason);

/* Begin and end a raw capture, which is complete with the next tables of the
 * stream; the header of later snapshots has the result. */
void kmt_top_trace_start_capture(KmtTopTrace *trace, const char *path);
void kmt_top_trace_stop_capture(KmtTopTrace *trace);
/* Return whether a raw capture is not complete yet. */
gboolean kmt_top_trace_has_capture(const KmtTopTrace *trace);
/* Begin a raw capture with the first record. path may be NULL. */
void kmt_top_trace_set_capture(KmtTopTrace *trace, const char *path);

#endif
