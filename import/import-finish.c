// SPDX-License-Identifier: GPL-2.0-or-later
/* End of an import: write the tables and kmemtrace.meta. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "import/import-private.h"
#include "import/import-stacks.h"
#include "lib/capture/error.h"
#include "lib/capture/meta.h"
#include "lib/tracepoints/learned-names.h"

#define META_FORMAT 1

static gboolean write_table(KmtImport *import, const char *name, char *text,
			    GError **error)
{
	G_GNUC_UNUSED g_autofree char *owned = text;

	return !text || kmt_capture_writer_write_table(import->output, name,
						       text, error);
}

static gboolean finish_cpu(KmtImport *import, guint number, GError **error)
{
	KmtImportCpu *cpu = import->cpus->pdata[number];
	g_autofree char *group = g_strdup_printf("cpu%u", number);
	KmtCaptureCpuFrames frames;
	int r;

	if (!cpu)
		return TRUE;
	r = kmt_capture_cpu_writer_finish(cpu->writer);
	if (r == 0)
		r = kmt_capture_cpu_writer_sync(cpu->writer);
	if (r < 0)
		return kmt_import_set_write_error(import, number, r, error);
	g_key_file_set_integer(import->meta, group, "node", -1);
	g_key_file_set_uint64(import->meta, group, "events", cpu->records);
	g_key_file_set_uint64(import->meta, group, "bytes",
			      kmt_capture_cpu_writer_written(cpu->writer));
	if (kmt_capture_cpu_writer_frames(cpu->writer, &frames))
		kmt_capture_meta_set_frames(import->meta, number, &frames);
	if (!import->figures.lost_more && !import->figures.not_reported)
		g_key_file_set_uint64(import->meta, group, "overruns",
				      cpu->has_total
					      ? MAX(cpu->total_lost, cpu->lost)
					      : cpu->lost);
	return TRUE;
}

/*
 * Write the keys "tracepoints", the names of the tracepoints with events, and
 * "not_seen", phrases that name what the capture lacks: events that no
 * tracepoint reports, unusable tracepoints, tracepoints without events unless
 * they are optional, and the gaps of this file.
 */
static void set_tracepoint_keys(KmtImport *import)
{
	g_autoptr(GPtrArray) recorded = g_ptr_array_new();
	g_autoptr(GPtrArray) not_seen = NULL;
	guint types = 0;

	for (guint i = 0; i < kmt_tracepoint_n_names; i++)
		if (import->point_events[i])
			types |= 1U << kmt_tracepoint_names[i].type_id;
	not_seen = kmt_tracepoints_not_seen(types);
	for (guint i = 0; import->stacks && i < not_seen->len; i++)
		if (g_str_equal(not_seen->pdata[i],
				KMT_TRACEPOINT_GAP_PAGE_CALLERS)) {
			g_free(not_seen->pdata[i]);
			not_seen->pdata[i] =
				g_strdup(KMT_TRACEPOINT_GAP_PAGE_NODES);
		}
	for (guint i = 0; i < kmt_tracepoint_n_names; i++) {
		const KmtTracepointName *name = &kmt_tracepoint_names[i];

		if (import->point_events[i])
			g_ptr_array_add(recorded, (gpointer)name->name);
		else if (import->unusable[i])
			g_ptr_array_add(not_seen,
					g_strdup_printf("%s:%s, %s",
							name->system,
							name->name,
							import->unusable[i]));
		else if (!name->optional)
			g_ptr_array_add(
				not_seen,
				g_strdup_printf(
					"%s:%s, which has no event in the file",
					name->system, name->name));
	}
	for (guint i = 0; i < import->gaps->len; i++)
		g_ptr_array_add(not_seen, g_strdup(import->gaps->pdata[i]));
	g_key_file_set_string_list(
		import->meta, KMT_IMPORT_GROUP, "tracepoints",
		(const char *const *)recorded->pdata, recorded->len);
	g_key_file_set_string_list(import->meta, KMT_IMPORT_GROUP, "not_seen",
				   (const char *const *)not_seen->pdata,
				   not_seen->len);
}

static void set_list(KmtImport *import, const char *key, const GPtrArray *list)
{
	if (list->len)
		g_key_file_set_string_list(import->meta, KMT_IMPORT_GROUP, key,
					   (const char *const *)list->pdata,
					   list->len);
}

/*
 * Write the number of lost events, or the key "losses" of kmemtrace(5) if the
 * number is not known. If the number is not known and a loss of unknown number
 * has no loss record, write neither.
 */
static void set_losses(KmtImport *import)
{
	if (!import->figures.lost_more && !import->figures.not_reported)
		g_key_file_set_uint64(import->meta, KMT_IMPORT_GROUP,
				      "overruns", import->figures.lost);
	else if (!import->figures.lost_more)
		g_key_file_set_string(import->meta, KMT_IMPORT_GROUP, "losses",
				      "not_reported");
	else if (!import->has_unplaced_loss)
		g_key_file_set_string(import->meta, KMT_IMPORT_GROUP, "losses",
				      "unnumbered");
}

static void fill_meta(KmtImport *import)
{
	GKeyFile *meta = import->meta;
	guint64 bytes = 0, events = 0;

	for (guint i = 0; i < import->cpus->len; i++) {
		const KmtImportCpu *cpu = import->cpus->pdata[i];

		if (cpu) {
			import->figures.duplicates += cpu->pairs.n_dropped;
			bytes += kmt_capture_cpu_writer_written(cpu->writer);
			events += cpu->records;
		}
	}
	g_key_file_set_integer(meta, KMT_IMPORT_GROUP, "format", META_FORMAT);
	g_key_file_set_integer(meta, KMT_IMPORT_GROUP, "abi_version",
			       (gint)import->abi_version);
	g_key_file_set_integer(meta, KMT_IMPORT_GROUP, "record_size",
			       (gint)import->record_bytes);
	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "byte_order",
			      G_BYTE_ORDER == G_LITTLE_ENDIAN ? "little"
							      : "big");
	g_key_file_set_string(meta, KMT_IMPORT_GROUP, "source", "import");
	g_key_file_set_string(meta, KMT_IMPORT_GROUP,
			      "kmemtrace_import_version", PACKAGE_VERSION);
	set_tracepoint_keys(import);
	set_list(import, "incomplete", import->reasons);
	g_key_file_set_integer(meta, KMT_IMPORT_GROUP, "cpus",
			       (gint)import->figures.cpus);
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "events", events);
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "bytes", bytes);
	import->figures.records -= import->figures.duplicates;
	set_losses(import);
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "kmalloc_duplicates",
			      import->figures.duplicates);
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "no_memory",
			      import->figures.no_memory);
	g_key_file_set_uint64(meta, KMT_IMPORT_GROUP, "other_events",
			      import->figures.other);
	g_key_file_set_boolean(meta, KMT_IMPORT_GROUP, "complete",
			       !import->figures.damaged);
}

gboolean kmt_import_finish(KmtImport *import, KmtImportFigures *figures,
			   GError **error)
{
	if (import->figures.records == 0)
		return kmt_import_fail(
			error, "it contains no memory event: record the "
			       "tracepoints of kmem, as in perf record -a -e "
			       "'kmem:*' or trace-cmd record -e kmem");
	import->figures.lost = MAX(import->figures.lost, import->total_lost);
	if (!kmt_import_write_up_to(import, END_OF_TIME, error))
		return FALSE;
	for (guint i = 0; i < import->cpus->len; i++)
		if (!finish_cpu(import, i, error))
			return FALSE;
	if (import->abi_version > 1 &&
	    (!write_table(
		     import, "caches",
		     kmt_tracepoint_tables_caches_text(import->names, TRUE),
		     error) ||
	     !write_table(import, "tasks",
			  kmt_tracepoint_tables_tasks_text(import->names, TRUE),
			  error) ||
	     (import->stacks &&
	      !write_table(import, "stacks",
			   kmt_import_stacks_text(import->stacks), error))))
		return FALSE;
	fill_meta(import);
	g_ptr_array_add(import->reasons, NULL);
	import->figures.incomplete =
		(const char *const *)import->reasons->pdata;
	g_ptr_array_add(import->notes, NULL);
	import->figures.notes = (const char *const *)import->notes->pdata;
	*figures = import->figures;
	return kmt_capture_writer_end_meta(import->output, import->meta,
					   import->figures.cpus, error) &&
	       kmt_capture_writer_sync(import->output, error);
}
