/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of tasks where the kernel keeps no table of them: from /proc, and
 * from the tracepoints of tasks that come and that change their name.
 */
#ifndef KMEMTRACED_TASK_NAMES_H
#define KMEMTRACED_TASK_NAMES_H

#include "lib/tracepoints/task-events.h"

/* That a CPU told of, the last ones; one thread at a time. */
typedef struct {
	GArray *array; /* of KmtTracepointTaskChange */
	guint64 n_dropped;
	gint64 dropped_until;
} KmtdTaskChanges;

/* How many of a CPU are kept. */
#define KMTD_TASK_CHANGES_MAX 65536

void kmtd_task_changes_init(KmtdTaskChanges *changes);
void kmtd_task_changes_clear(KmtdTaskChanges *changes);
void kmtd_task_changes_add(KmtdTaskChanges *changes,
			   const KmtTracepointTaskChange *change);

/* The rest is the main thread's. */
typedef struct kmtd_task_names KmtdTaskNames;

/* proc: where procfs is mounted. */
KmtdTaskNames *kmtd_task_names_new(const char *proc);
void kmtd_task_names_free(KmtdTaskNames *names);

/* The names that tasks have right before tracing begins, and when it ended. */
void kmtd_task_names_begin(KmtdTaskNames *names);
void kmtd_task_names_end(KmtdTaskNames *names);

/*
 * At the end, with the changes, of KmtdTaskChanges *.  is_exact: these are all
 * that there were; else what a task is called at the end counts for more, and
 * the table says that names up to last_ns are missing.
 */
void kmtd_task_names_merge(KmtdTaskNames *names, const GPtrArray *changes,
			   gboolean is_exact, gint64 last_ns);

/* The table as it is now, newly allocated; NULL: no name is known. */
char *kmtd_task_names_text(const KmtdTaskNames *names);

#endif
