// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "kmemtraced/cgroup-paths.h"
#include "kmemtraced/task-cgroups.h"
#include "lib/capture/error.h"

typedef struct {
	char *const *globs;
	GPtrArray *paths; /* of char * */
} Search;

static void add_if_matching(guint64 id, const char *path, gpointer data)
{
	Search *search = data;

	for (char *const *glob = search->globs; *glob; glob++)
		if (g_pattern_match_simple(*glob, path)) {
			g_ptr_array_add(search->paths, g_strdup(path));
			return;
		}
}

static gint compare(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static gboolean is_below(const char *path, const char *above)
{
	gsize n = strlen(above);

	return g_str_equal(above, "/") ||
	       (strncmp(path, above, n) == 0 && path[n] == '/');
}

/* The paths are sorted, so a cgroup comes before those below it. */
static gboolean is_below_any(const char *path, const GPtrArray *paths)
{
	for (guint i = 0; i < paths->len; i++)
		if (is_below(path, paths->pdata[i]))
			return TRUE;
	return FALSE;
}

static char *escape(const char *path)
{
	GString *text = g_string_new(NULL);

	for (const char *c = path; *c; c++)
		if (g_ascii_isgraph(*c) && *c != ',' && *c != '\\')
			g_string_append_c(text, *c);
		else
			g_string_append_printf(text, "\\%03o", (guchar)*c);
	return g_string_free(text, FALSE);
}

char **kmtd_cgroup_paths(const char *proc, char *const *globs, GError **error)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) upper = g_ptr_array_new();
	KmtdTaskCgroups *cgroups = kmtd_task_cgroups_new(proc);
	Search search = {globs, all};
	gboolean is_mounted = kmtd_task_cgroups_read(cgroups);
	char **result;

	kmtd_task_cgroups_foreach(cgroups, add_if_matching, &search);
	kmtd_task_cgroups_free(cgroups);
	g_ptr_array_sort(all, compare);
	for (guint i = 0; i < all->len; i++)
		if (!is_below_any(all->pdata[i], upper))
			g_ptr_array_add(upper, all->pdata[i]);
	if (!is_mounted) {
		g_set_error(error, KMT_DAEMON_ERROR,
			    KMT_DAEMON_ERROR_NO_CGROUPS,
			    "cannot select cgroups: cgroup v2 is not mounted");
		return NULL;
	}
	if (upper->len == 0 || upper->len > KMTD_CGROUP_PATHS_MAX) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_CGROUPS,
			    "--cgroup selects %u cgroups that are not below "
			    "another one, but this kernel's kmemtrace needs 1 "
			    "to %d",
			    upper->len, KMTD_CGROUP_PATHS_MAX);
		return NULL;
	}
	result = g_new0(char *, upper->len + 1);
	for (guint i = 0; i < upper->len; i++)
		result[i] = escape(upper->pdata[i]);
	return result;
}
