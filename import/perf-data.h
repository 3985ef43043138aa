/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a perf recording with tracepoints: a file, or a directory that perf
 * record --threads created. The files are mapped, so a process that truncates a
 * file during the import causes SIGBUS.
 */
#ifndef KMEMTRACE_IMPORT_PERF_DATA_H
#define KMEMTRACE_IMPORT_PERF_DATA_H

#include "import/byte-span.h"

typedef enum {
	PERF_ENTRY_SAMPLE,	 /* tracepoint: cpu, time, data, chain */
	PERF_ENTRY_OTHER_SAMPLE, /* sample of any other event */
	PERF_ENTRY_LOST,	 /* events lost by a CPU: cpu, time, number */
	PERF_ENTRY_LOST_SAMPLES, /* id, number: total at the file's end */
	PERF_ENTRY_COMM,	 /* new name of a task: pid, time, name */
	PERF_ENTRY_KERNEL,	 /* kernel symbol: name, number: its address */
	PERF_ENTRY_TASKS,	 /* number: recorded tasks, 0: all */
	PERF_ENTRY_ROUND,	 /* perf has read all buffers once more */
	PERF_ENTRY_FILE,	 /* the next file of a directory begins */
	PERF_ENTRY_CUT_OFF,	 /* the last records of the file are missing */
	PERF_ENTRY_DAMAGED,	 /* a record that cannot be read */
} PerfEntryKind;

/*
 * An entry of a recording. The pointers are valid until the next entry is read.
 */
typedef struct {
	PerfEntryKind kind;
	guint cpu;
	guint32 pid;
	gint64 time; /* ns; 0 if the record has no time */
	guint64 id;  /* event ID; 0 if the record has none */
	guint64 number;
	const char *name;
	const guint8 *data;
	gsize n_bytes;
	KmtByteSpan chain; /* u64 words, see perf_event_open(2) */
} PerfEntry;

typedef struct PerfData PerfData;

PerfData *perf_data_open(const char *path, GError **error);
void perf_data_free(PerfData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PerfData, perf_data_free)

/*
 * Properties of the recorded machine; 0 or NULL if the file does not contain
 * the property. The strings belong to data.
 */
guint perf_data_page_bytes(const PerfData *data);
guint perf_data_cpus(const PerfData *data);   /* possible CPUs */
guint perf_data_online(const PerfData *data); /* online CPUs */
guint perf_data_long_bytes(const PerfData *data);
const char *perf_data_release(const PerfData *data);
const char *perf_data_machine(const PerfData *data);
const char *perf_data_version(const PerfData *data);  /* version of perf */
const char *perf_data_clock(const PerfData *data);    /* NULL: perf's default
						       * clock */
const char *perf_data_build_id(const PerfData *data); /* kernel, hexadecimal */

/*
 * Return the NULL-terminated command line of perf, or NULL. It belongs to data.
 */
const char *const *perf_data_command(const PerfData *data);

/*
 * Return the event attributes of the recording, which belong to data; see
 * import/perf-layout.h.
 */
const struct PerfLayouts *perf_data_layouts(const PerfData *data);

/*
 * Return whether the records are in one file per thread, which contains no
 * PERF_ENTRY_ROUND.
 */
gboolean perf_data_is_threaded(const PerfData *data);

/*
 * Call the function call for each format file of a tracepoint. The strings are
 * valid during the call. If call returns FALSE with *error set, the iteration
 * stops and returns FALSE.
 */
typedef gboolean (*PerfFormatFunc)(gpointer user, const char *system,
				   const char *name, const char *text,
				   GError **error);
gboolean perf_data_formats(const PerfData *data, PerfFormatFunc call,
			   gpointer user, GError **error);

/*
 * Read the next entry in file order. Returns FALSE at the end, and FALSE with
 * *error set after an error. Entries of a CPU may be in any order between two
 * PERF_ENTRY_ROUND. Entries after a second PERF_ENTRY_ROUND are later than
 * entries before the first one.
 */
gboolean perf_data_next(PerfData *data, PerfEntry *entry, GError **error);

/*
 * Continue with the next file of the directory after an error. Returns FALSE if
 * no file is left.
 */
gboolean perf_data_skip_file(PerfData *data);

/* Restart with the first entry. */
void perf_data_rewind(PerfData *data);

#endif
