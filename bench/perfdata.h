/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A perf.data file with tracepoints: their formats and their samples. */
#ifndef KMEMTRACE_BENCH_PERFDATA_H
#define KMEMTRACE_BENCH_PERFDATA_H

#include <glib.h>

/* Where a field lies in the raw data of a tracepoint; size 0: it has none. */
typedef struct {
	guint offset;
	guint size;
} PerfField;

typedef struct {
	guint64 ip;
	gint64 time; /* ns */
	guint cpu;
	guint id; /* of the tracepoint */
	const guint8 *raw;
	guint raw_size;
} PerfSample;

typedef struct PerfData PerfData;

PerfData *perf_data_open(const char *path, GError **error);
void perf_data_free(PerfData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PerfData, perf_data_free)

/* The id of a tracepoint, -1: it is not in this file. */
gint perf_data_event_id(const PerfData *data, const char *name);
PerfField perf_data_field(const PerfData *data, const char *event,
			  const char *field);

/*
 * The next sample in the order of the file.  FALSE: the end, or an error. Those
 * of a CPU are in the order in which it wrote them; one that an interrupt wrote
 * may come before one with an earlier time.
 */
gboolean perf_data_next(PerfData *data, PerfSample *sample, GError **error);

/* Samples that perf lost, once perf_data_next() has returned FALSE. */
guint64 perf_data_lost(const PerfData *data);

/* A field of a sample; 0 where it is not. */
guint64 perf_sample_field(const PerfSample *sample, PerfField field);

#endif
