/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables caches and tasks of a capture, as far as events tell them. */
#ifndef KMEMTRACE_TRACEPOINTS_LEARNED_NAMES_H
#define KMEMTRACE_TRACEPOINTS_LEARNED_NAMES_H

#include <glib.h>

typedef struct KmtTracepointTables KmtTracepointTables;

KmtTracepointTables *kmt_tracepoint_tables_new(void);
void kmt_tracepoint_tables_free(KmtTracepointTables *names);

/*
 * The number of a cache, KMEMTRACE_CACHE_NONE if it is not known which of the
 * caches by that name it is.  bytes_alloc is 0 in a free.
 */
guint16 kmt_tracepoint_tables_cache(KmtTracepointTables *names,
				    const char *name, guint64 bytes_req,
				    guint64 bytes_alloc);

/* A record is of this task. */
void kmt_tracepoint_tables_add_task(KmtTracepointTables *names, guint32 pid);

/* The task has that name from that time on. */
void kmt_tracepoint_tables_set_task(KmtTracepointTables *names, guint32 pid,
				    gint64 time, const char *name);

/* Its name, as of now; NULL: none is known.  It belongs to names. */
const char *kmt_tracepoint_tables_task(const KmtTracepointTables *names,
				       guint32 pid);

/* The name that it has now was another one all the time. */
void kmt_tracepoint_tables_correct_task(KmtTracepointTables *names, guint32 pid,
					const char *name);

/*
 * So many names are not known that tasks had up to that time, which the table
 * then says.
 */
void kmt_tracepoint_tables_drop_tasks(KmtTracepointTables *names, guint64 n,
				      gint64 until);

/* The pids, as guint32, of tasks that were seen and have no name. */
GArray *kmt_tracepoint_tables_unnamed_tasks(const KmtTracepointTables *names);

/*
 * The tables' texts; NULL if no cache or task has a name, unless always is set.
 * A task without a name is called by its number, with a colon before it.
 */
char *kmt_tracepoint_tables_caches_text(const KmtTracepointTables *names,
					gboolean always);
char *kmt_tracepoint_tables_tasks_text(const KmtTracepointTables *names,
				       gboolean always);

#endif
