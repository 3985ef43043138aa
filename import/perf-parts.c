// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/perf-layout.h"
#include "import/perf-parts.h"

static void part_clear(gpointer data)
{
	KmtPerfPart *part = data;

	kmt_perf_data_free(part->data);
}

gboolean kmt_perf_is_damage(const GError *problem)
{
	return g_error_matches(problem, KMT_IMPORT_ERROR,
			       KMT_IMPORT_ERROR_INPUT);
}

static void set_kernel_symbol(KmtImportKernel *kernel,
			      const KmtPerfEntry *entry)
{
	if (kernel->symbol)
		return;
	kernel->symbol = g_strdup(entry->name);
	kernel->address = entry->number;
}

/*
 * Read the entries until the first sample and the kernel's symbol were found.
 * perf writes the information that samples depend on before the first sample,
 * or at the end with --tail-synthesize. In the second case the function reads
 * the complete file.
 */
static gboolean read_preamble(KmtPerfPart *part, KmtImportKernel *kernel,
			      guint64 *n_tasks, GError **error)
{
	GError *problem = NULL;
	KmtPerfEntry entry;
	gboolean found = FALSE;

	part->first_ns = G_MAXINT64;
	while (kmt_perf_data_next(part->data, &entry, &problem)) {
		if (entry.kind == KMT_PERF_ENTRY_SAMPLE && !found) {
			part->first_ns = entry.time;
			found = TRUE;
		} else if (entry.kind == KMT_PERF_ENTRY_KERNEL) {
			set_kernel_symbol(kernel, &entry);
		} else if (entry.kind == KMT_PERF_ENTRY_TASKS) {
			*n_tasks = entry.number;
		}
		if (found && kernel->symbol)
			break;
	}
	/* read_part() of perf-reader.c finds and reports the damage again. */
	if (problem && kmt_perf_is_damage(problem))
		g_clear_error(&problem);
	if (!problem)
		return TRUE;
	g_propagate_error(error, problem);
	return FALSE;
}

/*
 * Open a file of the recording. All files must belong to one recording, which
 * has one list of events.
 */
static gboolean open_part(GArray *parts, const char *path, GError **error)
{
	KmtPerfPart part = {.path = path,
			    .data = kmt_perf_data_open(path, error)};
	const KmtPerfData *first_data;

	if (!part.data)
		return FALSE;
	g_array_append_val(parts, part);
	first_data = g_array_index(parts, KmtPerfPart, 0).data;
	if (g_strcmp0(kmt_perf_data_release(part.data),
		      kmt_perf_data_release(first_data)) == 0 &&
	    kmt_perf_layouts_equal(kmt_perf_data_layouts(part.data),
				   kmt_perf_data_layouts(first_data)))
		return TRUE;
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
		    "it does not belong to the same recording as %s: import "
		    "them one by one",
		    g_array_index(parts, KmtPerfPart, 0).path);
	return FALSE;
}

static gint compare_parts(gconstpointer a, gconstpointer b)
{
	gint64 ta = ((const KmtPerfPart *)a)->first_ns;
	gint64 tb = ((const KmtPerfPart *)b)->first_ns;

	return (ta > tb) - (ta < tb);
}

GArray *kmt_perf_parts_open(const char *const *paths, KmtImportKernel *kernel,
			    guint64 *n_tasks, GError **error)
{
	g_autoptr(GArray) parts =
		g_array_new(FALSE, FALSE, sizeof(KmtPerfPart));
	gboolean several = paths[1] != NULL;

	g_array_set_clear_func(parts, part_clear);
	for (; *paths; paths++) {
		if (open_part(parts, *paths, error))
			continue;
		if (several)
			g_prefix_error(error, "%s: ", *paths);
		return NULL;
	}
	for (guint i = 0; i < parts->len; i++)
		if (!read_preamble(&g_array_index(parts, KmtPerfPart, i),
				   kernel, n_tasks, error))
			return NULL;
	g_array_sort(parts, compare_parts);
	kernel->build_id = g_strdup(kmt_perf_data_build_id(
		g_array_index(parts, KmtPerfPart, 0).data));
	return g_steal_pointer(&parts);
}
