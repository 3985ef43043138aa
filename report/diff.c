// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/diff-private.h"

#include <string.h>

void kmt_diff_free(KmtDiff *diff)
{
	if (!diff)
		return;
	kmt_diff_splits_free(diff->splits);
	g_ptr_array_unref(diff->captures);
	g_ptr_array_unref(diff->lines);
	g_ptr_array_unref(diff->warnings);
	kmt_arena_free(diff->arena);
	g_string_chunk_free(diff->strings);
	g_free(diff);
}

/* Allocate the values of the cells of each kind, one for each capture. */
static void prepare_kinds(KmtDiff *diff)
{
	guint n = diff->n_base + diff->n_new, n_fields = diff->fields->len;
	guint i, j;

	for (i = 0; i < KMT_N_KINDS; i++) {
		KmtDiffCell *cells = kmt_arena_alloc0(
			diff->arena, n_fields * sizeof(*cells));
		KmtFigure *values = kmt_arena_alloc0(
			diff->arena, (gsize)n_fields * n * sizeof(*values));

		for (j = 0; j < n_fields; j++)
			cells[j].values = values + (gsize)j * n;
		diff->kinds[i].kind = (KmtKind)i;
		diff->kinds[i].cells = cells;
	}
}

static guint count_paths(const char *const *paths)
{
	return paths ? g_strv_length((char **)paths) : 0;
}

static KmtDiff *new_diff(const KmtPlan *plan, guint n_base, guint n_new)
{
	KmtDiff *diff = g_new0(KmtDiff, 1);

	diff->plan = plan;
	diff->by = &plan->by;
	diff->fields = plan->fields;
	diff->n_base = n_base;
	diff->n_new = n_new;
	diff->splits = kmt_diff_splits_new(n_base, n_new);
	diff->captures = g_ptr_array_new();
	diff->lines = g_ptr_array_new();
	diff->warnings = g_ptr_array_new_with_free_func(g_free);
	diff->arena = kmt_arena_new();
	diff->strings = g_string_chunk_new(1 << 16);
	prepare_kinds(diff);
	return diff;
}

gboolean kmt_diff_is_pipe(const char *path, struct stat *status)
{
	if (stat(strcmp(path, "-") == 0 ? "/dev/stdin" : path, status) != 0)
		return FALSE;
	return S_ISFIFO(status->st_mode) || S_ISSOCK(status->st_mode);
}

/* Return FALSE with an error if one of the paths is a pipe that @first names,
 * too, beside @path itself. */
static gboolean check_pipe(const char *const *first, const char *const *path,
			   GError **error)
{
	struct stat status, other;

	if (!kmt_diff_is_pipe(*path, &status))
		return TRUE;
	for (; *first; first++) {
		if (first == path || !kmt_diff_is_pipe(*first, &other) ||
		    status.st_dev != other.st_dev ||
		    status.st_ino != other.st_ino)
			continue;
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_READ,
			    "%s: a pipe can be read only once, and the "
			    "comparison has it twice: store the capture in a "
			    "file",
			    *path);
		return FALSE;
	}
	return TRUE;
}

/* Check all paths of both sides. */
static gboolean check_pipes(const char *const *base, const char *const *new,
			    GError **error)
{
	const char *const *path;

	for (path = base; *path; path++)
		if (!check_pipe(base, path, error) ||
		    !check_pipe(new, path, error))
			return FALSE;
	for (path = new; *path; path++)
		if (!check_pipe(new, path, error))
			return FALSE;
	return TRUE;
}

/* Read a capture and add its groups to the rows. An error names the capture. */
static gboolean read_capture(KmtDiffRows *rows, KmtCaptureReport *report,
			     const char *path, const char *program,
			     GError **error)
{
	const char *const operands[] = {path, NULL};

	if (kmt_capture_report_read(report, operands, program, error))
		return kmt_diff_rows_add(rows, report, path, error);
	if (error && !g_strrstr((*error)->message, path))
		g_prefix_error(error, "%s: ", path);
	return FALSE;
}

static gboolean read_captures(KmtDiffRows *rows, KmtCaptureReport *report,
			      const char *const *paths, const char *program,
			      GError **error)
{
	for (; *paths; paths++)
		if (!read_capture(rows, report, *paths, program, error))
			return FALSE;
	return TRUE;
}

KmtDiff *kmt_diff_read(KmtCaptureReport *report, const char *const *base,
		       const char *const *new, const char *program,
		       GError **error)
{
	guint n_base = count_paths(base), n_new = count_paths(new);
	g_autoptr(KmtDiffRows) rows = NULL;
	g_autoptr(KmtDiff) diff = NULL;

	if (!n_base || !n_new || n_base + n_new > G_MAXUINT16) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "a comparison needs one capture or more on each "
			    "side, and at most %u on both",
			    G_MAXUINT16);
		return NULL;
	}
	if (!check_pipes(base, new, error))
		return NULL;
	diff = new_diff(&report->plan, n_base, n_new);
	rows = kmt_diff_rows_new(diff);
	report->is_base = TRUE;
	if (!read_captures(rows, report, base, program, error))
		return NULL;
	report->is_base = FALSE;
	if (!read_captures(rows, report, new, program, error))
		return NULL;
	kmt_diff_match_rows(rows);
	kmt_diff_guess(diff);
	kmt_diff_compute_cells(diff);
	kmt_diff_add_warnings(diff);
	return g_steal_pointer(&diff);
}
