/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A perf.data file with tracepoints.  It is mapped: one that somebody shortens
 * raises SIGBUS.
 */
#ifndef KMEMTRACE_IMPORT_PERFDATA_H
#define KMEMTRACE_IMPORT_PERFDATA_H

#include <glib.h>

typedef enum {
	PERF_ENTRY_SAMPLE,	 /* of a tracepoint: cpu, time, data */
	PERF_ENTRY_OTHER_SAMPLE, /* of anything else */
	PERF_ENTRY_LOST,	 /* events lost by a CPU: cpu, time, number */
	PERF_ENTRY_LOST_SAMPLES, /* number of those of an event, at the end */
	PERF_ENTRY_COMM,	 /* a task has a new name: pid, time, name */
	PERF_ENTRY_KERNEL,	 /* the kernel's address, number, of a name */
	PERF_ENTRY_ROUND,	 /* perf has read all buffers once more */
} PerfEntryKind;

/* Of the file, until the next one. */
typedef struct {
	PerfEntryKind kind;
	guint cpu;
	guint32 pid;
	gint64 time; /* ns; 0 where the record has none */
	guint64 number;
	const char *name;
	const guint8 *data;
	gsize n_bytes;
} PerfEntry;

typedef struct PerfData PerfData;

PerfData *perf_data_open(const char *path, GError **error);
void perf_data_free(PerfData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PerfData, perf_data_free)

/* Of the machine that was recorded; 0 or NULL: it does not tell. */
guint perf_data_page_bytes(const PerfData *data);
guint perf_data_cpus(const PerfData *data); /* that it can have */
guint perf_data_long_bytes(const PerfData *data);
const char *perf_data_release(const PerfData *data);
const char *perf_data_machine(const PerfData *data);
const char *perf_data_version(const PerfData *data);  /* of perf */
const char *perf_data_clock(const PerfData *data);    /* NULL: perf's own */
const char *perf_data_build_id(const PerfData *data); /* of the kernel, hex */

/* Its formats: call(user, system, name, text of the format file). */
typedef gboolean (*PerfFormatFunc)(gpointer user, const char *system,
				   const char *name, const char *text,
				   GError **error);
gboolean perf_data_formats(const PerfData *data, PerfFormatFunc call,
			   gpointer user, GError **error);

/*
 * The next entry in the order of the file.  FALSE: the end, or an error.  Those
 * of a CPU may be in any order between two PERF_ENTRY_ROUND; behind the second
 * one all is later than what was before the first.
 */
gboolean perf_data_next(PerfData *data, PerfEntry *entry, GError **error);

#endif
