// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "kmemtraced/proc-tasks.h"
#include "kmemtraced/task-names.h"
#include "lib/tracepoints/learned-names.h"

struct kmtd_task_names {
	char *proc;
	KmtTracepointTables *names;
	GHashTable *at_end; /* pid to name, read after tracing ended */
};

/* ---- changes on one CPU ---- */

void kmtd_task_changes_init(KmtdTaskChanges *changes)
{
	changes->array =
		g_array_new(FALSE, FALSE, sizeof(KmtTracepointTaskChange));
	changes->n_dropped = 0;
	changes->dropped_until = 0;
}

void kmtd_task_changes_clear(KmtdTaskChanges *changes)
{
	g_clear_pointer(&changes->array, g_array_unref);
}

/*
 * Drop the older half of the changes at once, because each call has to move the
 * remaining changes to the start of the array.
 */
static void drop_half(KmtdTaskChanges *changes)
{
	guint n = changes->array->len / 2;

	changes->n_dropped += n;
	changes->dropped_until =
		g_array_index(changes->array, KmtTracepointTaskChange, n - 1)
			.time;
	g_array_remove_range(changes->array, 0, n);
}

void kmtd_task_changes_add(KmtdTaskChanges *changes,
			   const KmtTracepointTaskChange *change)
{
	if (changes->array->len >= KMTD_TASK_CHANGES_MAX)
		drop_half(changes);
	g_array_append_vals(changes->array, change, 1);
}

/* ---- /proc ---- */

/*
 * Shorten a name from /proc to the name that the tracepoints report. /proc of
 * newer kernels shows the full name of a kernel thread, and for a worker also
 * its current or last work.
 */
static void shorten(char *name)
{
	if (g_str_has_prefix(name, "kworker/") &&
	    !g_str_has_prefix(name, "kworker/R-"))
		name[strcspn(name, "+-")] = '\0';
	if (strlen(name) >= KMT_TASK_NAME_BYTES)
		name[KMT_TASK_NAME_BYTES - 1] = '\0';
}

static void seen_at_start(gpointer user, guint32 tgid, guint32 pid, char *name)
{
	KmtdTaskNames *names = user;

	shorten(name);
	kmt_tracepoint_tables_correct_task(names->names, pid, name);
}

static void seen_at_end(gpointer user, guint32 tgid, guint32 pid, char *name)
{
	KmtdTaskNames *names = user;

	shorten(name);
	g_hash_table_insert(names->at_end, GUINT_TO_POINTER(pid),
			    g_strdup(name));
}

/* ---- all CPUs ---- */

KmtdTaskNames *kmtd_task_names_new(const char *proc)
{
	KmtdTaskNames *names = g_new0(KmtdTaskNames, 1);

	names->proc = g_strdup(proc);
	names->names = kmt_tracepoint_tables_new();
	names->at_end = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return names;
}

void kmtd_task_names_free(KmtdTaskNames *names)
{
	if (!names)
		return;
	kmt_tracepoint_tables_free(names->names);
	g_hash_table_unref(names->at_end);
	g_free(names->proc);
	g_free(names);
}

void kmtd_task_names_begin(KmtdTaskNames *names)
{
	kmtd_proc_tasks_read(names->proc, "comm", seen_at_start, names);
}

void kmtd_task_names_end(KmtdTaskNames *names)
{
	kmtd_proc_tasks_read(names->proc, "comm", seen_at_end, names);
}

static gint compare_times(gconstpointer a, gconstpointer b)
{
	const KmtTracepointTaskChange *ca =
		*(KmtTracepointTaskChange *const *)a;
	const KmtTracepointTaskChange *cb =
		*(KmtTracepointTaskChange *const *)b;

	return (ca->time > cb->time) - (ca->time < cb->time);
}

static void apply(KmtTracepointTables *names,
		  const KmtTracepointTaskChange *change)
{
	const char *before = kmt_tracepoint_tables_task(names, change->pid);

	/* The task changed its name after /proc was read and before its first
	 * event, or an earlier change is missing. */
	if (change->renamed && g_strcmp0(before, change->old_name) != 0)
		kmt_tracepoint_tables_correct_task(names, change->pid,
						   change->old_name);
	kmt_tracepoint_tables_set_task(names, change->pid, change->time,
				       change->name);
}

static void apply_all(KmtdTaskNames *names, const GPtrArray *changes)
{
	g_autoptr(GPtrArray) sorted = g_ptr_array_new();

	for (guint i = 0; i < changes->len; i++) {
		const KmtdTaskChanges *cpu = changes->pdata[i];

		kmt_tracepoint_tables_drop_tasks(names->names, cpu->n_dropped,
						 cpu->dropped_until);
		for (guint j = 0; j < cpu->array->len; j++)
			g_ptr_array_add(sorted,
					&g_array_index(cpu->array,
						       KmtTracepointTaskChange,
						       j));
	}
	g_ptr_array_sort(sorted, compare_times);
	for (guint i = 0; i < sorted->len; i++)
		apply(names->names, sorted->pdata[i]);
}

void kmtd_task_names_merge(KmtdTaskNames *names, const GPtrArray *changes,
			   gboolean is_exact, gint64 last_ns)
{
	GHashTableIter iter;
	gpointer pid, name;
	guint64 n_missed = 0;

	apply_all(names, changes);
	g_hash_table_iter_init(&iter, names->at_end);
	while (g_hash_table_iter_next(&iter, &pid, &name)) {
		const char *known = kmt_tracepoint_tables_task(
			names->names, GPOINTER_TO_UINT(pid));

		if (known && (is_exact || strcmp(known, name) == 0))
			continue;
		n_missed += known != NULL;
		kmt_tracepoint_tables_correct_task(names->names,
						   GPOINTER_TO_UINT(pid), name);
	}
	kmt_tracepoint_tables_drop_tasks(names->names, n_missed,
					 MAX(last_ns, 0));
}

char *kmtd_task_names_text(const KmtdTaskNames *names)
{
	return kmt_tracepoint_tables_tasks_text(names->names, FALSE);
}
