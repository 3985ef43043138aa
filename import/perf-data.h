/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a perf recording with tracepoints: a file, or a directory that perf
 * record --threads created. The files are mapped, so a process that truncates a
 * file during the import causes SIGBUS.
 */
#ifndef KMEMTRACE_IMPORT_PERF_DATA_H
#define KMEMTRACE_IMPORT_PERF_DATA_H

#include "import/format-section.h"

/*
 * Kinds of entries. The comments name the fields of KmtPerfEntry that are valid
 * for a kind.
 */
typedef enum {
	KMT_PERF_ENTRY_SAMPLE,	     /* tracepoint: cpu, time, data, chain */
	KMT_PERF_ENTRY_OTHER_SAMPLE, /* sample of any other event */
	KMT_PERF_ENTRY_LOST, /* events lost by a CPU: cpu, time, number */
	KMT_PERF_ENTRY_LOST_SAMPLES, /* id, number: lost samples of the event id
				      * since perf started */
	KMT_PERF_ENTRY_COMM,	     /* new name of a task: pid, time, name */
	KMT_PERF_ENTRY_KERNEL,	/* kernel symbol: name, number: its address */
	KMT_PERF_ENTRY_TASKS,	/* number: recorded tasks, 0: all */
	KMT_PERF_ENTRY_ROUND,	/* perf has read all buffers once more */
	KMT_PERF_ENTRY_FILE,	/* the next file of a directory begins */
	KMT_PERF_ENTRY_CUT_OFF, /* the last records of the file are missing */
	KMT_PERF_ENTRY_DAMAGED, /* a record that cannot be read */
} KmtPerfEntryKind;

/*
 * An entry of a recording. The pointers are valid until the next entry is read.
 */
typedef struct {
	KmtPerfEntryKind kind;
	guint cpu;
	guint32 pid;
	gint64 time; /* ns; 0 if the record has no time */
	guint64 id;  /* event ID; 0 if the record has none */
	guint64 number;
	const char *name;
	const guint8 *data;
	gsize n_bytes;
	KmtByteSpan chain; /* u64 words, see perf_event_open(2) */
} KmtPerfEntry;

typedef struct KmtPerfData KmtPerfData;

/*
 * Open the recording at path; free it with kmt_perf_data_free(), which accepts
 * NULL. Returns NULL and sets *error if the recording cannot be used at all.
 */
KmtPerfData *kmt_perf_data_open(const char *path, GError **error);
void kmt_perf_data_free(KmtPerfData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtPerfData, kmt_perf_data_free)

/*
 * Properties of the recorded machine; 0 or NULL if the file does not contain
 * the property. The strings belong to data.
 */
guint kmt_perf_data_page_bytes(const KmtPerfData *data);
guint kmt_perf_data_cpus(const KmtPerfData *data);   /* present CPUs */
guint kmt_perf_data_online(const KmtPerfData *data); /* online CPUs */
guint kmt_perf_data_long_bytes(const KmtPerfData *data);
const char *kmt_perf_data_release(const KmtPerfData *data);
const char *kmt_perf_data_machine(const KmtPerfData *data);
const char *
kmt_perf_data_version(const KmtPerfData *data);		  /* version of perf */
const char *kmt_perf_data_clock(const KmtPerfData *data); /* NULL: perf's
							   * default clock */
const char *
kmt_perf_data_build_id(const KmtPerfData *data); /* kernel, hexadecimal */

/*
 * Return the NULL-terminated command line of perf, or NULL. It belongs to data.
 */
const char *const *kmt_perf_data_command(const KmtPerfData *data);

/*
 * Return the event attributes of the recording, which belong to data; see
 * import/perf-layout.h.
 */
const struct KmtPerfLayouts *kmt_perf_data_layouts(const KmtPerfData *data);

/*
 * Return whether the records are in one file per thread, which contains no
 * KMT_PERF_ENTRY_ROUND.
 */
gboolean kmt_perf_data_is_threaded(const KmtPerfData *data);

/*
 * Call func for the format file of each tracepoint. Returns FALSE with *error
 * set if func fails or the formats are cut off.
 */
gboolean kmt_perf_data_formats(const KmtPerfData *data,
			       KmtImportFormatFunc func, gpointer user,
			       GError **error);

/*
 * Read the next entry in file order. Returns FALSE at the end, and FALSE with
 * *error set after an error. Entries of a CPU may be in any order between two
 * KMT_PERF_ENTRY_ROUND. Entries after a second KMT_PERF_ENTRY_ROUND are later
 * than entries before the first one.
 */
gboolean kmt_perf_data_next(KmtPerfData *data, KmtPerfEntry *entry,
			    GError **error);

/*
 * Continue with the next file of the directory after an error. Returns FALSE if
 * no file is left.
 */
gboolean kmt_perf_data_next_file(KmtPerfData *data);

/* Restart with the first entry. */
void kmt_perf_data_rewind(KmtPerfData *data);

#endif
