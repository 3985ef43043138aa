/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the event source "ftrace", and the operations that the files
 * ftrace-*.c implement.
 */
#ifndef KMEMTRACED_FTRACE_PRIVATE_H
#define KMEMTRACED_FTRACE_PRIVATE_H

#include "kmemtraced/event-source.h"
#include "kmemtraced/interference.h"
#include "kmemtraced/online-cpus.h"
#include "kmemtraced/ring-page.h"
#include "kmemtraced/task-cgroups.h"
#include "kmemtraced/task-names.h"
#include "kmemtraced/tracefs-instance.h"

/* The source. */
typedef struct {
	KmtdSource source;
	KmtdInstance *instance;
	KmtdRingFormat *format;
	KmtdInterference *interference; /* NULL until tracing is switched on */
	KmtdTaskNames *names;
	KmtdTaskCgroups *cgroups;
	gboolean names_complete; /* every change of a task's name is recorded */
	KmtdOwnTasks tasks;
	char *clock;
	KmtdOnlineCpus *cpus;
	GPtrArray *streams; /* of KmtdFtraceStream *: the streams that exist */
	gint *pids;
	guint n_pids;
	gboolean children;
	gboolean keep_own;
	gboolean prepared; /* the instance exists */
	char *proc;
	guint64 buffer_kb; /* see KmtdSourceOptions */
	void (*warning)(const char *text);
} KmtdFtrace;

/* The stream of one CPU. */
typedef struct {
	KmtdCpuStream base;
	KmtdFtrace *ftrace;
	guint cpu;
	gboolean caught_up; /* the page read last was the end of the buffer */
	gint64 held_ns; /* time of the held record at the last settled_until */
	guint8 *page;
	KmtdTaskChanges changes;
	KmtdRing ring;
} KmtdFtraceStream;

/*
 * Set ftrace->clock to the best trace clock of this kernel. The caller has
 * opened the instance.
 */
void kmtd_ftrace_choose_clock(KmtdFtrace *ftrace);

/*
 * Report interference if another program has cleared or read one of the
 * buffers, after the streams have been read to their end.
 */
void kmtd_ftrace_compare_counts(KmtdFtrace *ftrace);

/* Create and set up the instance: KmtdSourceClass.prepare. */
gboolean kmtd_ftrace_prepare(KmtdSource *source, GError **error);

/* Count the lost events of all CPUs: KmtdSourceClass.total_overruns. */
gboolean kmtd_ftrace_total_overruns(KmtdSource *source, guint64 *n_events,
				    GError **error);

/* Count the lost events of each CPU: KmtdSourceClass.overruns. */
GHashTable *kmtd_ftrace_overruns(KmtdSource *source, GError **error);

/* Open the stream of a CPU: KmtdSourceClass.open_cpu. */
KmtdCpuStream *kmtd_ftrace_open_cpu(KmtdSource *source, guint cpu,
				    GError **error);

/* Write the keys that are known at the start: KmtdSourceClass.describe. */
void kmtd_ftrace_describe(KmtdSource *source, GKeyFile *meta);

/*
 * Merge the task names, and write the keys that are known at the end:
 * KmtdSourceClass.conclude.
 */
gboolean kmtd_ftrace_conclude(KmtdSource *source, GKeyFile *meta,
			      GError **error);

/* Return the table of task names: KmtdSourceClass.table. */
char *kmtd_ftrace_table(KmtdSource *source, const char *name);

#endif
