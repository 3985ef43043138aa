/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds a capture from a recording of another tool.
 *
 * A reader adds events in any order. The import sorts the records of each CPU
 * by time and writes them. All functions must be called from one thread.
 */
#ifndef KMEMTRACE_IMPORT_IMPORT_H
#define KMEMTRACE_IMPORT_IMPORT_H

#include "import/watch.h"
#include "lib/capture/capture-writer.h"
#include "lib/tracepoints/kmem-events.h"

#define KMT_IMPORT_ERROR (kmt_import_error_quark())

/* Return the error domain; use the macro KMT_IMPORT_ERROR. */
GQuark kmt_import_error_quark(void);

/* Error codes of KMT_IMPORT_ERROR. */
typedef enum {
	KMT_IMPORT_ERROR_INPUT, /* the input cannot be read or is invalid */
	KMT_IMPORT_ERROR_NO_LIBRARY, /* a required library was not compiled in,
				      * or cannot be loaded */
} KmtImportError;

/*
 * Set *error to an error of the input and return FALSE. message describes the
 * problem and what the user can do.
 */
gboolean kmt_import_fail(GError **error, const char *message);

/* Upper bound for the number of CPUs. No kernel supports as many. */
#define KMT_IMPORT_MAX_CPUS 65536

/* The group of kmemtrace.meta with the keys that do not concern one CPU. */
#define KMT_IMPORT_GROUP "capture"

typedef struct KmtImport KmtImport;

/*
 * Files from which the names of the recorded kernel may come. The strings are
 * not owned.
 */
typedef struct {
	const char *kallsyms;	  /* from the user, or NULL */
	const char *modules;	  /* from the user, or NULL */
	const char *proc;	  /* mount point of procfs */
	const char *sys;	  /* mount point of sysfs */
	const char *build_id_dir; /* perf's cache; NULL: ~/.debug */
} KmtImportSymbolFiles;

/* Counters of an import, for messages to the user. */
typedef struct {
	guint64 records;    /* memory events with a record */
	guint64 no_memory;  /* failed or empty allocations, frees of NULL */
	guint64 duplicates; /* events left out, see kmalloc-pairs.h */
	guint64 other;	    /* events other than usable memory events */
	/* Records whose time was raised to that of the CPU's previous record.
	 */
	guint64 backwards;
	guint64 lost;	    /* events that the recorder lost */
	gboolean lost_more; /* an unknown number more was lost */
	/* Reasons why only a part was recorded; NULL-terminated, owned by the
	 * import. */
	const char *const *incomplete;
	/* The recorder does not report whether events were lost. */
	gboolean not_reported;
	gboolean damaged; /* a part of the input cannot be read */
	/* Sentences for the user; NULL-terminated, owned by the import. */
	const char *const *notes;
	guint cpus; /* CPUs with an event or a loss */
} KmtImportFigures;

/*
 * A memory event that a reader adds to an import. The pointers need to be valid
 * only during kmt_import_add().
 */
typedef struct {
	guint point; /* index in kmt_tracepoint_names */
	guint cpu;
	guint32 pid;
	guint8 common_flags; /* KMT_TRACEPOINT_COMMON_... bits */
	const char *cache;   /* name of the event's cache, or NULL */
	/* Return addresses, the innermost first, from the call site on. */
	const guint64 *stack;
	guint n_stack;
	struct kmemtrace_event record; /* version 1 part of the record */
} KmtImportEvent;

/*
 * Create an import that writes to output, which the caller owns. abi_version is
 * the version of the records: 1, which has no tasks and no loss records, or 2.
 * Free the import with kmt_import_free(), which accepts NULL.
 */
KmtImport *kmt_import_new(KmtCaptureWriter *output, guint abi_version);
void kmt_import_free(KmtImport *import);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtImport, kmt_import_free)

/*
 * Set the files from which names of the kernel may come. The caller owns files,
 * which must outlive import.
 */
void kmt_import_set_symbol_files(KmtImport *import,
				 const KmtImportSymbolFiles *files);
const KmtImportSymbolFiles *kmt_import_symbol_files(const KmtImport *import);

/*
 * Report progress to watch, which the caller owns. NULL disables the reports.
 */
void kmt_import_set_watch(KmtImport *import, KmtImportWatch *watch);

/* Report progress. A reader calls the function while it has no event to add. */
void kmt_import_tick(KmtImport *import);

/* Set the number of possible CPUs of the recorded machine; 0: unknown. */
void kmt_import_set_cpus(KmtImport *import, guint cpus);
guint kmt_import_cpus(const KmtImport *import);

/*
 * Write stacks into the records. The call has no effect if the records are of
 * version 1, or after the import opened its first output file.
 */
void kmt_import_set_stacks(KmtImport *import);

/*
 * Return the key file of kmemtrace.meta, to which a reader adds keys about its
 * file. import owns the key file.
 */
GKeyFile *kmt_import_meta(KmtImport *import);

/*
 * Add an event. The record waits in memory until kmt_import_advance() or
 * kmt_import_finish() writes it. Returns FALSE and sets *error if the CPU is
 * not below KMT_IMPORT_MAX_CPUS; so do the other functions that take a CPU and
 * an error.
 */
gboolean kmt_import_add(KmtImport *import, const KmtImportEvent *event,
			GError **error);

/* Record that the recorder does not report whether events were lost. */
void kmt_import_set_losses_not_reported(KmtImport *import);

/*
 * Record that a CPU lost n_events between its previous record and time (ns),
 * and add them to the total. n_events 0 means that the number is unknown: the
 * total becomes unknown, and no loss record is written.
 */
gboolean kmt_import_add_counted_loss(KmtImport *import, guint cpu,
				     guint64 n_events, gint64 time,
				     GError **error);

/*
 * Record a gap in a CPU's events, which ends at time (ns). The gap begins at
 * the CPU's previous record, or at first if the CPU has no record yet. n_events
 * 0 means that the number is unknown. The function does not add n_events to the
 * total number of lost events; kmt_import_set_cpu_lost() does.
 */
gboolean kmt_import_add_loss(KmtImport *import, guint cpu, guint64 n_events,
			     gint64 first, gint64 time, GError **error);

/*
 * Record a gap that ends at time (ns) on each CPU seen so far, because the CPU
 * of the missing events is unknown. If a file has very many such gaps, later
 * gaps get no record.
 */
void kmt_import_add_loss_on_all_cpus(KmtImport *import, gint64 time);

#define KMT_IMPORT_LOST_UNKNOWN G_MAXUINT64

/*
 * Set the total number of events that a CPU lost, including the events in its
 * gaps. KMT_IMPORT_LOST_UNKNOWN: the number is not known.
 */
gboolean kmt_import_set_cpu_lost(KmtImport *import, guint cpu, guint64 n_events,
				 GError **error);

/*
 * Record that a part of the input cannot be read: the key "complete" of
 * kmemtrace.meta becomes false.
 */
void kmt_import_set_damaged(KmtImport *import);

/* Add a sentence that the program prints at the end. */
void kmt_import_add_note(KmtImport *import, const char *note);

/*
 * Declare that all events up to time (ns) were added. The import writes the
 * records of these events when enough new records wait, so one call per event
 * costs little more than one call per batch. G_MAXINT64 writes all waiting
 * records; after this, the events of a CPU that has no record yet may have any
 * time. Returns FALSE and sets *error if a write fails.
 */
gboolean kmt_import_advance(KmtImport *import, gint64 time, GError **error);

/*
 * Set the total number of events that the recorder lost, including those of
 * kmt_import_add_counted_loss() and kmt_import_set_cpu_lost(). A number below
 * the sum of these is ignored.
 */
void kmt_import_set_lost(KmtImport *import, guint64 n_events);

/* Record that events were lost and the file does not contain their number. */
void kmt_import_set_lost_unknown(KmtImport *import);

/*
 * Return the number of memory events so far: those with a record, and those of
 * kmt_import_count_no_memory().
 */
guint64 kmt_import_memory_events(const KmtImport *import);

/*
 * Count an event without a record. The first function is for an event that
 * describes no memory (see kmt_tracepoint_convert()), the second one for an
 * event of a tracepoint that the import does not use.
 */
void kmt_import_count_no_memory(KmtImport *import, guint point);
void kmt_import_count_other(KmtImport *import);

/*
 * Count an event of a tracepoint whose events cannot be converted. why is the
 * reason, which follows the tracepoint's name in the key not_seen, as in
 * "kmem:mm_page_alloc, REASON". The string must outlive import.
 */
void kmt_import_count_unusable(KmtImport *import, guint point, const char *why);

/* Field of the page tracepoints before Linux 4.1. */
#define KMT_IMPORT_PAGE_FIELD "page"
#define KMT_IMPORT_WHY_PAGE_FIELD                                              \
	"which has the address of struct page instead of the page's "          \
	"number (Linux before 4.1)"

/*
 * Add a gap to the key not_seen: a phrase that names information missing from
 * the file.
 */
void kmt_import_add_gap(KmtImport *import, const char *gap);

/*
 * Add a reason why the recorder recorded only a part of the events, for the key
 * "incomplete" of kmemtrace.meta. The reason names the option of the recorder
 * if this option is known. A duplicate reason is ignored.
 */
void kmt_import_add_incomplete(KmtImport *import, const char *reason);

/* Return whether all records belong to one task, and set *pid to this task. */
gboolean kmt_import_only_task(const KmtImport *import, guint32 *pid);

/* Record that a task has this name from time (ns) on. */
void kmt_import_name_task(KmtImport *import, guint32 pid, gint64 time,
			  const char *name);

/*
 * Return the IDs (guint32) of the tasks without a name, except task 0. The
 * caller releases the array with g_array_unref().
 */
GArray *kmt_import_unnamed_tasks(const KmtImport *import);

/*
 * Write the waiting records, the tables, and kmemtrace.meta, and fill in
 * *figures. Returns FALSE and sets *error if a write fails or kmt_import_add()
 * added no event.
 */
gboolean kmt_import_finish(KmtImport *import, KmtImportFigures *figures,
			   GError **error);

/*
 * Identity of the recorded kernel. This machine runs the recorded boot if its
 * build ID and the address of symbol are the same.
 */
typedef struct {
	char *build_id;	 /* in hexadecimal, owned; or NULL */
	char *symbol;	 /* name of a kernel symbol, owned; or NULL */
	guint64 address; /* address of symbol in the recorded boot */
} KmtImportKernel;

/*
 * Return the identity of the recorded kernel, which a reader fills in with
 * allocated strings. import owns the result and the strings.
 */
KmtImportKernel *kmt_import_kernel(KmtImport *import);

/*
 * Write text as the file kallsyms of the capture. Returns FALSE and sets *error
 * if the write fails.
 */
gboolean kmt_import_set_kallsyms(KmtImport *import, const char *text,
				 GError **error);

/*
 * Find the kernel functions that report one allocation twice (see
 * kmalloc-pairs.h) in text, a kallsyms that the input contains. Without this
 * call, or if text has no addresses, the import searches
 * kmt_import_symbols_text() when it needs the addresses of these functions.
 */
void kmt_import_find_inner_functions(KmtImport *import, const char *text);

/* Return whether kmt_import_set_kallsyms() was called. */
gboolean kmt_import_has_kallsyms(const KmtImport *import);

/*
 * Readers of the file formats. Each reader imports a complete recording. A
 * reader whose library was not compiled in or cannot be loaded fails with
 * KMT_IMPORT_ERROR_NO_LIBRARY.
 */
/*
 * paths is NULL-terminated: one file, one directory of perf record --threads,
 * or the files or directories of one perf record --switch-output in any order.
 */
gboolean kmt_import_perf_data(KmtImport *import, const char *const *paths,
			      GError **error);
/*
 * buffer is the name of a tracing instance; NULL selects the first buffer with
 * memory events.
 */
gboolean kmt_import_trace_dat(KmtImport *import, const char *path,
			      const char *buffer, GError **error);

/* path is a directory that is a trace or has traces in subdirectories. */
gboolean kmt_import_ctf(KmtImport *import, const char *path, GError **error);

#endif
