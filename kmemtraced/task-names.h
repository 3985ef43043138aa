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
	GArray *array; /* of KmtTaskChange */
	guint64 n_dropped;
	gint64 dropped_until;
} KmtTaskChanges;

/* How many of a CPU are kept. */
#define KMT_TASK_CHANGES_MAX 65536

void kmt_task_changes_init(KmtTaskChanges *changes);
void kmt_task_changes_clear(KmtTaskChanges *changes);
void kmt_task_changes_add(KmtTaskChanges *changes, const KmtTaskChange *change);

/* The rest is the main thread's. */
typedef struct kmt_task_names KmtTaskNames;

/* proc: where procfs is mounted. */
KmtTaskNames *kmt_task_names_new(const char *proc);
void kmt_task_names_free(KmtTaskNames *names);

/* The names that tasks have right before tracing begins, and when it ended. */
void kmt_task_names_begin(KmtTaskNames *names);
void kmt_task_names_end(KmtTaskNames *names);

/*
 * At the end, with the changes, of KmtTaskChanges *.  is_exact: these are all
 * that there were; else what a task is called at the end counts for more, and
 * the table says that names up to last_ns are missing.
 */
void kmt_task_names_merge(KmtTaskNames *names, const GPtrArray *changes,
			  gboolean is_exact, gint64 last_ns);

/* The table as it is now, newly allocated; NULL: no name is known. */
char *kmt_task_names_text(const KmtTaskNames *names);

#endif
