/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of an import, shared by import.c, import-records.c, and
 * import-finish.c. */
#ifndef KMEMTRACE_IMPORT_IMPORT_PRIVATE_H
#define KMEMTRACE_IMPORT_IMPORT_PRIVATE_H

#include "import/import.h"
#include "import/import-stacks.h"
#include "lib/tracepoints/kmalloc-pairs.h"
#include "lib/tracepoints/learned-names.h"

/* The largest time; selects all records. */
#define END_OF_TIME G_MAXINT64

/* A CPU's output file and its records that are not written yet. */
typedef struct {
	KmtCaptureCpuWriter *writer;
	GArray *waiting;	  /* each a struct kmemtrace_event_v2s */
	KmtTracepointPairs pairs; /* records taken from waiting and not yet
				   * given to writer */
	gboolean unordered;	  /* waiting is not sorted by time */
	gint64 last_ns;		  /* time of the last written record */
	guint64 records;	  /* written records, including loss records */
	guint64 lost;		  /* sum of the lost events of all loss
				   * records */
	guint64 total_lost;	  /* argument of kmt_import_set_cpu_lost() */
	gboolean has_total;	  /* total_lost is set */
} KmtImportCpu;

struct KmtImport {
	KmtCaptureWriter *output;
	guint abi_version; /* version of the records, 1 or 2 */
	guint record_bytes;
	GKeyFile *meta;
	GPtrArray *cpus; /* KmtImportCpu *, indexed by CPU; NULL if unused */
	KmtTracepointTables *names;
	KmtTracepointInner inner; /* kernel functions that report one allocation
				   * twice */
	gboolean inner_was_read;  /* inner was read, or cannot be read */
	guint64 *point_events;	  /* events per index of kmt_tracepoint_names */
	const char **unusable;	  /* per index of kmt_tracepoint_names: why the
				   * events cannot be converted, or NULL */
	guint64 total_lost;	  /* argument of kmt_import_set_lost() */
	KmtImportKernel kernel;
	gboolean has_kallsyms;
	const KmtImportSymbolFiles *symbol_files;
	KmtImportStacks *stacks;    /* NULL: the records have no stacks */
	gint64 allowed_ns;	    /* records up to this time may be written */
	gint64 written_ns;	    /* value of allowed_ns when records were
				     * last written */
	gboolean has_files;	    /* a file is open: record_bytes is fixed */
	guint64 n_waiting;	    /* waiting records of all CPUs */
	guint64 n_new;		    /* records added since records were last
				     * written */
	guint n_losses_on_all_cpus; /* see MAX_LOSSES_ON_ALL_CPUS */
	guint machine_cpus;	    /* possible CPUs from --cpus, or 0 */
	GPtrArray *gaps;	    /* char *: phrases of
				     * kmt_import_add_gap() */
	GPtrArray *reasons; /* char *: reasons why only part was recorded */
	GPtrArray *notes;   /* char *: sentences for the user */
	gboolean has_unplaced_loss; /* a loss of unknown number has no loss
				     * record */
	KmtImportWatch *watch;	    /* not owned; may be NULL */
	guint32 first_pid;
	gboolean several_pids;
	KmtImportFigures figures;
};

/*
 * Write the waiting records of all CPUs up to time (ns), each CPU's records in
 * order of time. Returns FALSE and sets *error if a write fails.
 */
gboolean kmt_import_write_up_to(KmtImport *import, gint64 time, GError **error);

/*
 * Set *error for a failed write of cpu<n>.out and return FALSE. code is a
 * negative errno value.
 */
gboolean kmt_import_set_write_error(const KmtImport *import, guint cpu,
				    int code, GError **error);

#endif
