/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of perf with tracepoints: a file, or a directory that perf record
 * --threads made.  Files are mapped: one that is shortened meanwhile raises
 * SIGBUS.
 */
#ifndef KMEMTRACE_IMPORT_PERFDATA_H
#define KMEMTRACE_IMPORT_PERFDATA_H

#include "import/byte-span.h"

typedef enum {
	PERF_ENTRY_SAMPLE,	 /* of a tracepoint: cpu, time, data, chain */
	PERF_ENTRY_OTHER_SAMPLE, /* of anything else */
	PERF_ENTRY_LOST,	 /* events lost by a CPU: cpu, time, number */
	PERF_ENTRY_LOST_SAMPLES, /* number of those of an event id, at the end
				  */
	PERF_ENTRY_COMM,	 /* a task has a new name: pid, time, name */
	PERF_ENTRY_KERNEL,	 /* the kernel's address, number, of a name */
	PERF_ENTRY_TASKS,	 /* number: tasks that were recorded, 0: all */
	PERF_ENTRY_ROUND,	 /* perf has read all buffers once more */
	PERF_ENTRY_FILE,	 /* another file of the directory begins */
	PERF_ENTRY_CUT_OFF,	 /* the last records of the file are missing */
	PERF_ENTRY_DAMAGED,	 /* a record that cannot be read */
} PerfEntryKind;

/* Pointers are valid until the next entry is read. */
typedef struct {
	PerfEntryKind kind;
	guint cpu;
	guint32 pid;
	gint64 time; /* ns; 0 where the record has none */
	guint64 id;  /* of the event; 0 where the record has none */
	guint64 number;
	const char *name;
	const guint8 *data;
	gsize n_bytes;
	KmtByteSpan chain; /* u64 each, as perf_event_open(2) describes */
} PerfEntry;

typedef struct PerfData PerfData;

PerfData *perf_data_open(const char *path, GError **error);
void perf_data_free(PerfData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PerfData, perf_data_free)

/* Properties of the recorded machine; 0 or NULL: not in the file. */
guint perf_data_page_bytes(const PerfData *data);
guint perf_data_cpus(const PerfData *data);   /* that it can have */
guint perf_data_online(const PerfData *data); /* that were online */
guint perf_data_long_bytes(const PerfData *data);
const char *perf_data_release(const PerfData *data);
const char *perf_data_machine(const PerfData *data);
const char *perf_data_version(const PerfData *data);  /* of perf */
const char *perf_data_clock(const PerfData *data);    /* NULL: perf's own */
const char *perf_data_build_id(const PerfData *data); /* of the kernel, hex */

/* The command line of perf, or NULL. */
const char *const *perf_data_command(const PerfData *data);

/* Design of the recording; see import/perflayout.h. */
const struct PerfLayouts *perf_data_layouts(const PerfData *data);

/* Whether its records are in files of threads, without PERF_ENTRY_ROUND. */
gboolean perf_data_is_threaded(const PerfData *data);

/* Its formats: call(user, system, name, text of the format file). */
typedef gboolean (*PerfFormatFunc)(gpointer user, const char *system,
				   const char *name, const char *text,
				   GError **error);
gboolean perf_data_formats(const PerfData *data, PerfFormatFunc call,
			   gpointer user, GError **error);

/*
 * Reads the next entry in the order of the file.  FALSE: the end, or an error.
 * Entries of a CPU may be in any order between two PERF_ENTRY_ROUND.  All that
 * is behind the second one is later than what was before the first one.
 */
gboolean perf_data_next(PerfData *data, PerfEntry *entry, GError **error);

/*
 * After an error: continue with the next file of the directory.  FALSE: there
 * is none.
 */
gboolean perf_data_skip_file(PerfData *data);

/* Begins anew with the first entry. */
void perf_data_rewind(PerfData *data);

#endif
