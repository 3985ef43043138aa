/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects the names of tasks for a kernel that keeps no table of them. The
 * sources are /proc and the tracepoints of tasks that start or change their
 * name.
 */
#ifndef KMEMTRACED_TASK_NAMES_H
#define KMEMTRACED_TASK_NAMES_H

#include "lib/tracepoints/task-events.h"

/*
 * The latest name changes on one CPU. One thread at a time may use a
 * KmtdTaskChanges.
 */
typedef struct {
	GArray *array;	      /* of KmtTracepointTaskChange */
	guint64 n_dropped;    /* changes dropped at the limit */
	gint64 dropped_until; /* time of the last dropped change, in ns */
} KmtdTaskChanges;

/* Maximum number of changes stored for a CPU. */
#define KMTD_TASK_CHANGES_MAX 65536

/* Initialise *changes to an empty list. */
void kmtd_task_changes_init(KmtdTaskChanges *changes);

/* Free the list of *changes. */
void kmtd_task_changes_clear(KmtdTaskChanges *changes);

/*
 * Add a change. If the limit is reached, the older half is dropped and counted.
 */
void kmtd_task_changes_add(KmtdTaskChanges *changes,
			   const KmtTracepointTaskChange *change);

/* The names of all tasks. Only the main thread may use a KmtdTaskNames. */
typedef struct kmtd_task_names KmtdTaskNames;

/* Create an empty set of names. @proc is the mount point of procfs. */
KmtdTaskNames *kmtd_task_names_new(const char *proc);

/* Free @names. NULL is ignored. */
void kmtd_task_names_free(KmtdTaskNames *names);

/* Read the names from /proc. Call directly before tracing is switched on. */
void kmtd_task_names_begin(KmtdTaskNames *names);

/* Read the names from /proc again. Call after tracing was switched off. */
void kmtd_task_names_end(KmtdTaskNames *names);

/*
 * Merge the changes of all CPUs (@changes, of KmtdTaskChanges *) after the
 * recording. @is_exact: no change is missing. Otherwise the name that /proc had
 * at the end replaces a different merged name, and the table notes that names
 * up to @last_ns are missing.
 */
void kmtd_task_names_merge(KmtdTaskNames *names, const GPtrArray *changes,
			   gboolean is_exact, gint64 last_ns);

/*
 * Return the current text of the table, newly allocated, or NULL if no name is
 * known.
 */
char *kmtd_task_names_text(const KmtdTaskNames *names);

#endif
