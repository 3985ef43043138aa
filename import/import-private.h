/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of an import, shared by import.c, import-records.c and import-finish.c.
 */
#ifndef KMEMTRACE_IMPORT_IMPORT_PRIVATE_H
#define KMEMTRACE_IMPORT_IMPORT_PRIVATE_H

#include "import/import.h"
#include "import/import-stacks.h"
#include "lib/tracepoints/learned-names.h"

/* The largest time there is: all may be written. */
#define END_OF_TIME G_MAXINT64

/* A CPU's file, and its records that are not written yet. */
typedef struct {
	KmtCaptureCpuWriter *sink;
	GArray *waiting;    /* of struct kmemtrace_event_v2s */
	gboolean unordered; /* those are not by time */
	gint64 last_ns;	    /* of the last one written */
	guint64 records;    /* written, those of losses among them */
	guint64 lost;	    /* events, by records of losses */
	guint64 total_lost; /* if has_total; or KMT_IMPORT_LOST_UNKNOWN */
	gboolean has_total;
} ImportCpu;

struct KmtImport {
	KmtCaptureWriter *output;
	guint abi_version; /* of the records */
	guint record_bytes;
	GKeyFile *meta;
	GPtrArray *cpus; /* of ImportCpu, NULL where is none */
	KmtTracepointTables *names;
	GArray *call_sites; /* of guint64, the first n_unique sorted */
	guint n_unique;
	guint64 last_site;
	guint64 *points;       /* events of each of kmt_tracepoint_names */
	const char **unusable; /* of each: why it has no record, or NULL */
	guint64 total_lost;
	KmtImportKernel kernel;
	gboolean has_kallsyms;
	const KmtImportSymbolFiles *symbol_files;
	KmtImportStacks *stacks; /* NULL: the records have none */
	gint64 allowed_ns;	 /* all up to here may be written */
	gint64 written_ns;	 /* what allowed_ns was at the last pass */
	gboolean has_files;	 /* the size of a record cannot change */
	guint64 n_waiting;	 /* records, of all CPUs */
	guint64 n_news;		 /* records since the last pass */
	guint n_wide_holes;	 /* see MAX_WIDE_HOLES */
	guint machine_cpus;	 /* that it can have, as the user said, or 0 */
	GPtrArray *gaps;	 /* char *: of this file */
	GPtrArray *reasons;	 /* char *: why only a part was recorded */
	GPtrArray *notes;	 /* char *: to be printed */
	gboolean not_placed;	 /* a loss has no record */
	KmtImportWatch *watch;	 /* or NULL */
	guint32 first_pid;
	gboolean several_pids;
	KmtImportFigures figures;
};

/* Write the waiting records of all CPUs up to time, in order. */
gboolean kmt_import_write_up_to(KmtImport *import, gint64 time, GError **error);

/* Set *error for a failed write of cpu<n>.out; code: a negative errno value. */
gboolean kmt_import_set_write_error(const KmtImport *import, guint cpu,
				    int code, GError **error);

#endif
