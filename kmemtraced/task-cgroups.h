/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects the control groups (cgroup v2) of tasks, for a kernel that keeps no
 * table of them. The sources are /proc, the mounted cgroup2, and events of the
 * recording. The functions are not thread-safe.
 */
#ifndef KMEMTRACED_TASK_CGROUPS_H
#define KMEMTRACED_TASK_CGROUPS_H

#include <glib.h>

typedef struct kmtd_task_cgroups KmtdTaskCgroups;

/* Create an empty set. @proc is the mount point of procfs. */
KmtdTaskCgroups *kmtd_task_cgroups_new(const char *proc);

/* Free @cgroups. NULL is ignored. */
void kmtd_task_cgroups_free(KmtdTaskCgroups *cgroups);

/*
 * Read the existing cgroups, and the cgroup of each task: directly before the
 * recording, or, if there are no events, after the recording. Return whether
 * cgroup v2 is mounted; otherwise the cgroups have no known ids.
 */
gboolean kmtd_task_cgroups_read(KmtdTaskCgroups *cgroups);

/* Call @function for each cgroup that is known. */
void kmtd_task_cgroups_foreach(const KmtdTaskCgroups *cgroups,
			       void (*function)(guint64 id, const char *path,
						gpointer data),
			       gpointer data);

/*
 * Events. Times are in ns. An @id is the kernel's number of a cgroup, which is
 * the inode number of the directory of the cgroup; 0: unknown.
 */

/* A cgroup was made. */
void kmtd_task_cgroups_add(KmtdTaskCgroups *cgroups, guint64 id,
			   const char *path);

/* The task @parent has made the task @pid of the process @tgid. */
void kmtd_task_cgroups_fork(KmtdTaskCgroups *cgroups, guint32 parent,
			    guint32 tgid, guint32 pid, guint64 id, gint64 time);

/* The task @pid, or with @whole each task of this process, was moved. */
void kmtd_task_cgroups_move(KmtdTaskCgroups *cgroups, guint32 pid,
			    gboolean whole, guint64 id, gint64 time);

/* Return the text of the table "cgroups", newly allocated, or NULL if no task
 * has a known cgroup. */
char *kmtd_task_cgroups_text(const KmtdTaskCgroups *cgroups);

#endif
