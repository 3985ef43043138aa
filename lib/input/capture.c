// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/capture-private.h"

gboolean kmt_capture_is_lossy(const KmtCapture *capture)
{
	return capture->gaps || kmt_capture_has_lost(capture);
}

gboolean kmt_capture_has_lost(const KmtCapture *capture)
{
	return (capture->has_overruns && capture->overruns > 0) ||
	       capture->incomplete || capture->missing_files > 0 ||
	       capture->shortened || capture->damaged || capture->tells_of_loss;
}

char *kmt_capture_snapshot(const KmtCapture *capture)
{
	return capture->meta ? g_key_file_get_string(capture->meta, "snapshot",
						     "why", NULL)
			     : NULL;
}

gboolean kmt_capture_is_cut_off(const KmtCapture *capture)
{
	return capture->meta && !capture->complete && !capture->imported;
}

/* The directory that all files share; NULL if there is none. */
static char *common_directory(const KmtCapture *capture)
{
	g_autofree char *common = NULL;
	guint i;

	if (capture->directory)
		return g_strdup(capture->directory);
	for (i = 0; i < capture->files->len; i++) {
		const KmtCpuFile *file = capture->files->pdata[i];
		g_autofree char *dir = g_path_get_dirname(file->path);

		if (!common)
			common = g_steal_pointer(&dir);
		else if (strcmp(common, dir) != 0)
			return NULL;
	}
	return g_steal_pointer(&common);
}

char *kmt_capture_path(const KmtCapture *capture, const char *name)
{
	g_autofree char *dir = common_directory(capture);
	g_autofree char *path = NULL;

	if (capture->tar)
		return kmt_tar_path(capture->tar, name);
	if (!dir)
		return NULL;
	path = g_build_filename(dir, name, NULL);
	/* A named pipe would keep its reader waiting. */
	return g_file_test(path, G_FILE_TEST_IS_REGULAR)
		       ? g_steal_pointer(&path)
		       : NULL;
}

char *kmt_capture_path_name(const KmtCapture *capture, const char *path)
{
	char *name = capture->tar ? kmt_tar_path_name(capture, path) : NULL;

	return name ? name : g_strdup(path);
}

static char *defect_text(const char *path, const char *defect)
{
	return g_strdup_printf("%s cannot be read to its end: %s; what comes "
			       "before that is used, what comes after is "
			       "missing; copy it again if you can",
			       path, defect);
}

GPtrArray *kmt_capture_warnings(const KmtCapture *capture)
{
	GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
	guint i;

	for (i = 0; i < capture->notes->len; i++)
		g_ptr_array_add(warnings, g_strdup(capture->notes->pdata[i]));
	for (i = 0; i < capture->files->len; i++) {
		const KmtCpuFile *file = capture->files->pdata[i];

		if (file->defect)
			g_ptr_array_add(warnings,
					defect_text(file->path, file->defect));
	}
	return warnings;
}
