// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

typedef void (*SeenTask)(KmtdTaskNames *names, guint32 pid, const char *name);

/* Return the number in @name, or 0 if @name is not a number. */
static guint32 parse_pid(const char *name)
{
	guint64 n;

	return g_ascii_string_to_unsigned(name, 10, 1, G_MAXINT32, &n, NULL)
		       ? (guint32)n
		       : 0;
}

static DIR *open_folder(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !folder)
		close(fd);
	return folder;
}

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

/* Read the name of a thread. Return FALSE if the thread has ended or its name
 * cannot be read. */
static gboolean read_name(int folder, const char *tid, char *name, gsize n_name)
{
	g_autofree char *path = g_build_filename(tid, "comm", NULL);
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return FALSE;
	do
		n = read(fd, name, n_name - 1);
	while (n < 0 && errno == EINTR);
	close(fd);
	if (n <= 0)
		return FALSE;
	if (name[n - 1] == '\n')
		n--;
	name[n] = '\0';
	shorten(name);
	return TRUE;
}

static void read_process(KmtdTaskNames *names, int proc, const char *pid,
			 SeenTask seen)
{
	g_autofree char *path = g_build_filename(pid, "task", NULL);
	DIR *folder = open_folder(proc, path);
	const struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		guint32 tid = parse_pid(entry->d_name);
		char name[128];

		if (tid &&
		    read_name(dirfd(folder), entry->d_name, name, sizeof(name)))
			seen(names, tid, name);
	}
	closedir(folder);
}

/*
 * Call @seen for each thread in /proc. A thread that /proc does not show
 * remains without a name, which does not affect the other threads.
 */
static void read_all(KmtdTaskNames *names, SeenTask seen)
{
	DIR *proc = open_folder(AT_FDCWD, names->proc);
	const struct dirent *entry;

	if (!proc)
		return;
	while ((entry = readdir(proc)))
		if (parse_pid(entry->d_name))
			read_process(names, dirfd(proc), entry->d_name, seen);
	closedir(proc);
}

static void seen_at_start(KmtdTaskNames *names, guint32 pid, const char *name)
{
	kmt_tracepoint_tables_correct_task(names->names, pid, name);
}

static void seen_at_end(KmtdTaskNames *names, guint32 pid, const char *name)
{
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
	read_all(names, seen_at_start);
}

void kmtd_task_names_end(KmtdTaskNames *names)
{
	read_all(names, seen_at_end);
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
