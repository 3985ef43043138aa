/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the tables "caches" and "tasks" of a capture from names in events, and
 * from task names of other sources. The functions are not thread-safe.
 */
#ifndef KMEMTRACE_TRACEPOINTS_LEARNED_NAMES_H
#define KMEMTRACE_TRACEPOINTS_LEARNED_NAMES_H

#include <glib.h>

typedef struct KmtTracepointTables KmtTracepointTables;

/*
 * Create empty tables; free them with kmt_tracepoint_tables_free(), which
 * accepts NULL.
 */
KmtTracepointTables *kmt_tracepoint_tables_new(void);
void kmt_tracepoint_tables_free(KmtTracepointTables *names);

/*
 * Return the number of a cache, which is added if it is new. bytes_req and
 * bytes_alloc are the sizes of the allocation; bytes_alloc is 0 for a free.
 * Caches of one name are distinguished by bytes_alloc. Return
 * KMEMTRACE_CACHE_NONE if no number is left, and for a free if several caches
 * have this name.
 */
guint16 kmt_tracepoint_tables_cache(KmtTracepointTables *names,
				    const char *name, guint64 bytes_req,
				    guint64 bytes_alloc);

/* Add a task to the table because a record belongs to it. */
void kmt_tracepoint_tables_add_task(KmtTracepointTables *names, guint32 pid);

/*
 * Record that a task has this name from time (ns) on. An earlier name becomes a
 * former name that is valid until time.
 */
void kmt_tracepoint_tables_set_task(KmtTracepointTables *names, guint32 pid,
				    gint64 time, const char *name);

/*
 * Return the current name of a task, or NULL if it is unknown. The string
 * belongs to names.
 */
const char *kmt_tracepoint_tables_task(const KmtTracepointTables *names,
				       guint32 pid);

/*
 * Replace the current name of a task. The replaced name was never valid, so it
 * does not become a former name.
 */
void kmt_tracepoint_tables_correct_task(KmtTracepointTables *names, guint32 pid,
					const char *name);

/*
 * Record that n task names up to the time until (ns) were lost. The table of
 * tasks reports both values.
 */
void kmt_tracepoint_tables_drop_tasks(KmtTracepointTables *names, guint64 n,
				      gint64 until);

/*
 * Return the pids (guint32) of tasks without a known name, except pid 0. The
 * caller releases the array with g_array_unref().
 */
GArray *kmt_tracepoint_tables_unnamed_tasks(const KmtTracepointTables *names);

/*
 * Return the text of a table, which the caller frees. If no cache or task has a
 * name, the result is NULL unless always is set. A task without a name appears
 * as its pid with a leading colon.
 */
char *kmt_tracepoint_tables_caches_text(const KmtTracepointTables *names,
					gboolean always);
char *kmt_tracepoint_tables_tasks_text(const KmtTracepointTables *names,
				       gboolean always);

/* The same for the table "cgroups", if the names of the tasks are the paths of
 * their control groups; never with always. */
char *kmt_tracepoint_tables_cgroups_text(const KmtTracepointTables *names);

#endif
