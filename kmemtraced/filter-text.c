// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "kmemtraced/filter-text.h"
#include "lib/capture/error.h"

static gboolean add_pids(GString *filter, const KmtdSourceOptions *options,
			 GError **error)
{
	for (guint i = 0; i < options->n_pids; i++) {
		g_autofree char *path = g_strdup_printf("%s/%d", options->proc,
							options->pids[i]);

		if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
			g_set_error(error, KMT_DAEMON_ERROR,
				    KMT_DAEMON_ERROR_PROCESS,
				    "there is no process %d", options->pids[i]);
			return FALSE;
		}
		g_string_append_printf(filter, "%s%d",
				       i ? "," : " pid=", options->pids[i]);
	}
	if (options->n_pids && options->children)
		g_string_append(filter, " children");
	return TRUE;
}

static void add_cgroups(GString *filter, char *const *globs)
{
	for (guint i = 0; globs && globs[i]; i++)
		g_string_append_printf(filter, "%s%s",
				       i ? "," : " cgroup=", globs[i]);
}

gboolean kmtd_filter_text(const KmtdSourceOptions *options, char **text,
			  GError **error)
{
	g_autoptr(GString) filter = g_string_new(options->filter);

	*text = NULL;
	if (!options->filter && !options->n_pids && !options->cgroups)
		return TRUE;
	if (!add_pids(filter, options, error))
		return FALSE;
	add_cgroups(filter, options->cgroups);
	*text = g_strstrip(g_string_free(g_steal_pointer(&filter), FALSE));
	return TRUE;
}

gboolean kmtd_filter_has_cgroup(const GPtrArray *globs, const char *path)
{
	g_autofree char *above = g_strdup(path);

	for (;;) {
		char *slash = strrchr(above, '/');

		for (guint i = 0; i < globs->len; i++)
			if (g_pattern_match_simple(globs->pdata[i], above))
				return TRUE;
		if (!slash || !slash[1])
			return FALSE;
		/* The root, whose path is "/", is above all other cgroups. */
		slash[slash == above] = '\0';
	}
}
