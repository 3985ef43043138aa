// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/capture-private.h"

gboolean kmt_input_capture_is_lossy(const KmtInputCapture *capture)
{
	return capture->has_blind_spots || capture->unlisted_files > 0 ||
	       kmt_input_capture_has_lost(capture);
}

gboolean kmt_input_capture_has_lost(const KmtInputCapture *capture)
{
	return (capture->has_overruns && capture->overruns > 0) ||
	       capture->incomplete || capture->missing_files > 0 ||
	       capture->shortened || capture->damaged || capture->reports_loss;
}

char *kmt_input_capture_snapshot(const KmtInputCapture *capture)
{
	return capture->meta ? g_key_file_get_string(capture->meta, "snapshot",
						     "why", NULL)
			     : NULL;
}

gboolean kmt_input_capture_is_truncated(const KmtInputCapture *capture)
{
	return capture->meta && !capture->complete && !capture->imported;
}

/*
 * Return the directory that contains all files of the capture, or NULL if the
 * files are in several directories. The caller frees the string.
 */
static char *common_directory(const KmtInputCapture *capture)
{
	g_autofree char *common = NULL;
	guint i;

	if (capture->directory)
		return g_strdup(capture->directory);
	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];
		g_autofree char *dir = g_path_get_dirname(file->path);

		if (!common)
			common = g_steal_pointer(&dir);
		else if (strcmp(common, dir) != 0)
			return NULL;
	}
	return g_steal_pointer(&common);
}

char *kmt_input_capture_path(const KmtInputCapture *capture, const char *name)
{
	g_autofree char *dir = common_directory(capture);
	g_autofree char *path = NULL;

	if (capture->tar)
		return kmt_input_tar_path(capture->tar, name);
	if (!dir)
		return NULL;
	path = g_build_filename(dir, name, NULL);
	/* Accept only a regular file, because opening a FIFO would block. */
	return g_file_test(path, G_FILE_TEST_IS_REGULAR)
		       ? g_steal_pointer(&path)
		       : NULL;
}

/*
 * Add a note if the table name is not a regular file, or if the table is
 * missing and is_listed. effect: the consequence of a missing table.
 */
static void note_bad_table(KmtInputCapture *capture, const char *directory,
			   const char *name, const char *effect,
			   gboolean is_listed)
{
	g_autofree char *found = kmt_input_capture_path(capture, name);
	g_autofree char *path = NULL, *reason = NULL;

	if (found)
		return;
	if (capture->tar) {
		path = g_strdup_printf("%s:%s", directory, name);
	} else {
		path = g_build_filename(directory, name, NULL);
		reason = kmt_input_bad_type_reason(path);
	}
	if (reason)
		kmt_input_capture_add_note(capture, "cannot read %s: %s; %s",
					   path, reason, effect);
	else if (is_listed)
		kmt_input_capture_add_note(
			capture,
			"%s is missing, although kmemtrace.meta lists it; %s; "
			"copy the file again if possible",
			path, effect);
}

void kmt_input_note_bad_tables(KmtInputCapture *capture)
{
	static const struct {
		const char *name, *effect;
	} tables[] = {
		{"kallsyms", "without other symbols, call sites have no names"},
		{"modules", "the ends of modules are unknown, so that an "
			    "address behind a module may have a name of it"},
		{"info", "no figure depends on it"},
		{"caches", "caches have no names, and their numbers are not "
			   "checked"},
		{"tasks", "tasks have no names, and pids are not checked"},
		{"cgroups", "the cgroups of tasks are unknown"},
		{"marks", "annotations have no names, and their values are not "
			  "checked"},
		{"stacks", "call stacks are unknown and not checked"},
		{"tags", "addresses of allocation tags have no names"},
		{"slabinfo", "the slabs of caches are unknown"},
	};
	g_autofree char *directory = common_directory(capture);
	g_auto(GStrv) files = kmt_input_capture_listed_files(capture);
	guint i;

	for (i = 0; directory && i < G_N_ELEMENTS(tables); i++)
		note_bad_table(
			capture, directory, tables[i].name, tables[i].effect,
			files && g_strv_contains((const char *const *)files,
						 tables[i].name));
}

char *kmt_input_capture_display_path(const KmtInputCapture *capture,
				     const char *path)
{
	char *name =
		capture->tar ? kmt_input_tar_display_path(capture, path) : NULL;

	return name ? name : g_strdup(path);
}

static char *defect_text(const KmtInputCpuFile *file)
{
	if (file->frames)
		return g_strdup_printf("%s cannot be read completely: %s; the "
				       "records of this part are missing; copy "
				       "the file again if possible",
				       file->path, file->defect);
	return g_strdup_printf("%s cannot be read to its end: %s; the "
			       "records after that position are missing; "
			       "copy the file again if possible",
			       file->path, file->defect);
}

GPtrArray *kmt_input_capture_warnings(const KmtInputCapture *capture)
{
	GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
	guint i;

	for (i = 0; i < capture->notes->len; i++)
		g_ptr_array_add(warnings, g_strdup(capture->notes->pdata[i]));
	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		if (file->defect)
			g_ptr_array_add(warnings, defect_text(file));
	}
	return warnings;
}
