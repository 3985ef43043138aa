/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture that is made of what another tool recorded.
 *
 * A reader of its files hands over events, in any order that it has; each CPU's
 * records are written by time.  One thread.
 */
#ifndef KMEMTRACE_IMPORT_IMPORT_H
#define KMEMTRACE_IMPORT_IMPORT_H

#include "import/watch.h"
#include "lib/capture/capture-writer.h"
#include "lib/tracepoints/kmem-events.h"

#define KMT_IMPORT_ERROR (kmt_import_error_quark())
GQuark kmt_import_error_quark(void);

typedef enum {
	KMT_IMPORT_ERROR_INPUT,	     /* it cannot be read, or makes no sense */
	KMT_IMPORT_ERROR_NO_LIBRARY, /* built without what reads it */
} KmtImportError;

/* FALSE and an error of the input; what says what to do as well. */
gboolean kmt_import_fail(GError **error, const char *what);

/* More than any kernel has. */
#define KMT_IMPORT_MAX_CPUS 65536

/* The group of kmemtrace.meta that most keys are in. */
#define KMT_IMPORT_GROUP "capture"

typedef struct KmtImport KmtImport;

/* Where names of the recorded kernel may come from. */
typedef struct {
	const char *kallsyms; /* files that the user gave, or NULL */
	const char *modules;
	const char *proc;	  /* where procfs is mounted */
	const char *sys;	  /* and sysfs */
	const char *build_id_dir; /* perf's cache; NULL: ~/.debug */
} KmtImportSymbolFiles;

/* Figures of an import, for its messages. */
typedef struct {
	guint64 records;    /* events of memory */
	guint64 no_memory;  /* failed allocations, frees of nothing */
	guint64 other;	    /* events of other tracepoints */
	guint64 backwards;  /* times that a CPU's clock went back */
	guint64 lost;	    /* events that the recorder lost */
	gboolean lost_more; /* further events were lost, without a number */
	/* Why only a part was recorded; NULL-terminated, owned by import. */
	const char *const *incomplete;
	/* The recorder does not report whether events were lost. */
	gboolean not_reported;
	gboolean damaged; /* a part of the input cannot be read */
	/* Sentences for the user; NULL-terminated, owned by import. */
	const char *const *notes;
	guint cpus;
} KmtImportFigures;

/* An event of memory. */
typedef struct {
	guint point; /* index in kmt_tracepoint_names */
	guint cpu;
	guint32 pid;
	guint8 common_flags; /* KMT_TRACEPOINT_COMMON_... */
	const char *cache;   /* the name of its cache, or NULL */
	/* Return addresses, the innermost first, from the call site on. */
	const guint64 *stack;
	guint n_stack;
	struct kmemtrace_event record; /* of version 1 */
} KmtImportEvent;

/*
 * output stays the caller's.  abi_version of the records: 1, which has no tasks
 * and no places of losses, or 2.
 */
KmtImport *kmt_import_new(KmtCaptureWriter *output, guint abi_version);
void kmt_import_free(KmtImport *import);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtImport, kmt_import_free)

/* files stays the caller's, as long as import. */
void kmt_import_set_symbol_files(KmtImport *import,
				 const KmtImportSymbolFiles *files);
const KmtImportSymbolFiles *kmt_import_symbol_files(const KmtImport *import);

/* Report progress to watch, which the caller frees; NULL: to none. */
void kmt_import_set_watch(KmtImport *import, KmtImportWatch *watch);

/* Report progress of a reader that has no event to add. */
void kmt_import_tick(KmtImport *import);

/* Set the number of CPUs that the recorded machine can have; 0: not known. */
void kmt_import_set_cpus(KmtImport *import, guint cpus);
guint kmt_import_cpus(const KmtImport *import);

/*
 * Records have stacks, unless they are of version 1, or some have been written
 * without.
 */
void kmt_import_set_stacks(KmtImport *import);

/* kmemtrace.meta, to which a reader adds keys about its file. */
GKeyFile *kmt_import_meta(KmtImport *import);

/*
 * Add an event.  FALSE and an error: a record cannot be written, or the number
 * of the CPU is beyond KMT_IMPORT_MAX_CPUS; so also in the functions below.
 */
gboolean kmt_import_add(KmtImport *import, const KmtImportEvent *event,
			GError **error);

/* The recorder does not report whether events were lost. */
void kmt_import_set_losses_not_reported(KmtImport *import);

/*
 * Record a loss of n_events of a CPU between its record before and that time;
 * 0: their number is not known.
 */
gboolean kmt_import_add_lost(KmtImport *import, guint cpu, guint64 n_events,
			     gint64 time, GError **error);

/*
 * Events of a CPU are missing at this place: up to that time, since the CPU's
 * record before, or since first if the CPU has no record yet.  n_events 0:
 * their number is not known.  The total comes from kmt_import_set_cpu_lost().
 */
gboolean kmt_import_add_loss(KmtImport *import, guint cpu, guint64 n_events,
			     gint64 first, gint64 time, GError **error);

/*
 * The same at each CPU that has records, where the CPU of the missing events is
 * not known.  A file with very many such places has no record of a loss at the
 * later ones.
 */
void kmt_import_add_loss_on_all_cpus(KmtImport *import, gint64 time);

#define KMT_IMPORT_LOST_UNKNOWN G_MAXUINT64

/* All events that a CPU lost, at its holes and elsewhere. */
gboolean kmt_import_set_cpu_lost(KmtImport *import, guint cpu, guint64 n_events,
				 GError **error);

/* A part of the input cannot be read: the capture is not complete. */
void kmt_import_set_damaged(KmtImport *import);

/* A sentence that main prints at the end. */
void kmt_import_add_note(KmtImport *import, const char *note);

/*
 * All events up to that time have come.  They are written when enough of them
 * wait, so that a call for each event costs no more than a call for many.
 * G_MAXINT64 writes all that waits; events that follow may have any time.
 */
gboolean kmt_import_advance(KmtImport *import, gint64 time, GError **error);

/* Events that were lost somewhere, so many in all, those above among them. */
void kmt_import_set_lost(KmtImport *import, guint64 n_events);

/* Events were lost, and the file does not say how many. */
void kmt_import_set_lost_unknown(KmtImport *import);

/* Events of memory so far, those that are no record among them. */
guint64 kmt_import_seen(const KmtImport *import);

/* An event that is no record: of no memory, of something else. */
void kmt_import_count_no_memory(KmtImport *import, guint point);
void kmt_import_count_other(KmtImport *import);

/*
 * An event of a tracepoint that no record can be made of, as not_seen names it:
 * "kmem:mm_page_alloc, " and why, a text that lives on.
 */
void kmt_import_count_unusable(KmtImport *import, guint point, const char *why);

/* Before Linux 4.1. */
#define KMT_IMPORT_PAGE_FIELD "page"
#define KMT_IMPORT_WHY_PAGE_FIELD                                              \
	"which gives the address of struct page in place of the page's "       \
	"number "                                                              \
	"(Linux before 4.1)"

/* Something that this file does not tell, in words, as in not_seen. */
void kmt_import_add_gap(KmtImport *import, const char *gap);

/*
 * The recorder recorded only a part of the events, for that reason, in words
 * for "incomplete" of kmemtrace.meta.  The reason names the option of the
 * recorder.  A reason that was added before is ignored.
 */
void kmt_import_add_incomplete(KmtImport *import, const char *reason);

/* Whether all records are of one task, and of which one. */
gboolean kmt_import_only_task(const KmtImport *import, guint32 *pid);

/* A task has that name from that time on. */
void kmt_import_name_task(KmtImport *import, guint32 pid, gint64 time,
			  const char *name);

/* Tasks without a name, of guint32, and call sites, of guint64, sorted. */
GArray *kmt_import_unnamed_tasks(const KmtImport *import);
GArray *kmt_import_call_sites(KmtImport *import);

/*
 * Writes what is left, and the tables.  FALSE and an error also if there was no
 * event of memory.
 */
gboolean kmt_import_finish(KmtImport *import, KmtImportFigures *figures,
			   GError **error);

/* Which kernel it was, so that this machine can tell whether it runs it. */
typedef struct {
	char *build_id; /* in hexadecimal, or NULL */
	char *symbol;	/* one that was at that address, or NULL */
	guint64 address;
} KmtImportKernel;

KmtImportKernel *kmt_import_kernel(KmtImport *import);

/* kallsyms of the capture is this text. */
gboolean kmt_import_set_kallsyms(KmtImport *import, const char *text,
				 GError **error);
gboolean kmt_import_has_kallsyms(const KmtImport *import);

/*
 * Readers: each imports all of a file.  Those of what this program was built
 * without fail.
 */
/* paths: one, or the files of perf record --switch-output, in any order. */
gboolean kmt_import_perf_data(KmtImport *import, const char *const *paths,
			      GError **error);
/* buffer: the name of an instance, NULL: the one that has the events. */
gboolean kmt_import_trace_dat(KmtImport *import, const char *path,
			      const char *buffer, GError **error);
gboolean kmt_import_ctf(KmtImport *import, const char *path, GError **error);

#endif
