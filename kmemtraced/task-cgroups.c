// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <mntent.h>
#include <string.h>
#include <sys/stat.h>

#include "kmemtraced/proc-tasks.h"
#include "kmemtraced/task-cgroups.h"
#include "lib/tracepoints/learned-names.h"

struct kmtd_task_cgroups {
	char *proc;
	KmtTracepointTables *paths; /* the cgroup of each task, by time */
	GHashTable *by_id;	    /* guint64 * to the path of a cgroup */
	GHashTable *processes;	    /* pid of a task to the tgid */
};

KmtdTaskCgroups *kmtd_task_cgroups_new(const char *proc)
{
	KmtdTaskCgroups *cgroups = g_new0(KmtdTaskCgroups, 1);

	cgroups->proc = g_strdup(proc);
	cgroups->paths = kmt_tracepoint_tables_new();
	cgroups->by_id = g_hash_table_new_full(g_int64_hash, g_int64_equal,
					       g_free, g_free);
	cgroups->processes = g_hash_table_new(NULL, NULL);
	return cgroups;
}

void kmtd_task_cgroups_free(KmtdTaskCgroups *cgroups)
{
	if (!cgroups)
		return;
	kmt_tracepoint_tables_free(cgroups->paths);
	g_hash_table_unref(cgroups->by_id);
	g_hash_table_unref(cgroups->processes);
	g_free(cgroups->proc);
	g_free(cgroups);
}

/* ---- the start ---- */

/* Return the mount point of cgroup v2, newly allocated, or NULL. */
static char *find_mount(const char *proc)
{
	g_autofree char *path = g_build_filename(proc, "self", "mounts", NULL);
	FILE *mounts = setmntent(path, "r");
	const struct mntent *entry;
	char *found = NULL;

	while (mounts && !found && (entry = getmntent(mounts)))
		if (strcmp(entry->mnt_type, "cgroup2") == 0)
			found = g_strdup(entry->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return found;
}

/* Add the cgroup with this directory and path, and all below it. */
static void read_directory(KmtdTaskCgroups *cgroups, const char *directory,
			   const char *path)
{
	g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
	struct stat status;
	const char *name;

	if (!dir || stat(directory, &status) < 0)
		return;
	kmtd_task_cgroups_add(cgroups, status.st_ino, path);
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *below =
			g_build_filename(directory, name, NULL);
		g_autofree char *its_path = g_build_filename(path, name, NULL);

		if (g_file_test(below, G_FILE_TEST_IS_DIR))
			read_directory(cgroups, below, its_path);
	}
}

/* Take the line "0::PATH", which is that of cgroup v2, from the file cgroup. */
static void read_task(gpointer user, guint32 tgid, guint32 pid, char *text)
{
	KmtdTaskCgroups *cgroups = user;
	char *line = text, *next;

	g_hash_table_insert(cgroups->processes, GUINT_TO_POINTER(pid),
			    GUINT_TO_POINTER(tgid));
	for (; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (g_str_has_prefix(line, "0::"))
			kmt_tracepoint_tables_correct_task(cgroups->paths, pid,
							   line + 3);
	}
}

gboolean kmtd_task_cgroups_read(KmtdTaskCgroups *cgroups)
{
	g_autofree char *mount = find_mount(cgroups->proc);

	if (mount)
		read_directory(cgroups, mount, "/");
	kmtd_proc_tasks_read(cgroups->proc, "cgroup", read_task, cgroups);
	return mount != NULL;
}

void kmtd_task_cgroups_foreach(const KmtdTaskCgroups *cgroups,
			       void (*function)(guint64 id, const char *path,
						gpointer data),
			       gpointer data)
{
	GHashTableIter iter;
	gpointer id, path;

	g_hash_table_iter_init(&iter, cgroups->by_id);
	while (g_hash_table_iter_next(&iter, &id, &path))
		function(*(guint64 *)id, path, data);
}

/* ---- events ---- */

void kmtd_task_cgroups_add(KmtdTaskCgroups *cgroups, guint64 id,
			   const char *path)
{
	g_hash_table_insert(cgroups->by_id, g_memdup2(&id, sizeof(id)),
			    g_strdup(path));
}

/* The task is in a cgroup from @time on. @path: NULL if unknown. */
static void enter(KmtdTaskCgroups *cgroups, guint32 pid, const char *path,
		  gint64 time)
{
	if (path)
		kmt_tracepoint_tables_set_task(cgroups->paths, pid, time, path);
}

void kmtd_task_cgroups_fork(KmtdTaskCgroups *cgroups, guint32 parent,
			    guint32 tgid, guint32 pid, guint64 id, gint64 time)
{
	const char *path = g_hash_table_lookup(cgroups->by_id, &id);

	if (!path)
		path = kmt_tracepoint_tables_task(cgroups->paths, parent);
	g_hash_table_insert(cgroups->processes, GUINT_TO_POINTER(pid),
			    GUINT_TO_POINTER(tgid));
	enter(cgroups, pid, path, time);
}

void kmtd_task_cgroups_move(KmtdTaskCgroups *cgroups, guint32 pid,
			    gboolean whole, guint64 id, gint64 time)
{
	const char *path = g_hash_table_lookup(cgroups->by_id, &id);
	GHashTableIter iter;
	gpointer task, process;

	enter(cgroups, pid, path, time);
	g_hash_table_iter_init(&iter, cgroups->processes);
	while (whole && g_hash_table_iter_next(&iter, &task, &process))
		if (GPOINTER_TO_UINT(process) == pid)
			enter(cgroups, GPOINTER_TO_UINT(task), path, time);
}

char *kmtd_task_cgroups_text(const KmtdTaskCgroups *cgroups)
{
	return kmt_tracepoint_tables_cgroups_text(cgroups->paths);
}
