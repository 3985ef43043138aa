// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/raw-capture.h"

#include <string.h>

#include "lib/capture/capture-writer.h"
#include "lib/capture/meta.h"
#include "lib/capture/names.h"
#include "top/frame-reader.h"

struct KmtTopCapture {
	KmtTopTables *tables;
	const KmtInputCapture *capture;
	KmtCaptureWriter *output;
	/* KmtCaptureCpuWriter of each file of capture; NULL: a CPU that is not
	 * in kmemtrace.meta and has no records. */
	GPtrArray *files;
	GKeyFile *meta;
	GHashTable *lost_before; /* CPU -> lost events, guint64 * */
	guint64 bytes;
};

static void note_losses(GHashTable *lost, const KmtTopLosses *losses)
{
	guint i;

	for (i = 0; i < losses->n; i++)
		g_hash_table_insert(
			lost, GUINT_TO_POINTER(losses->cpus[i].cpu),
			g_memdup2(&losses->cpus[i].lost, sizeof(guint64)));
}

/* Return a copy of the stream's kmemtrace.meta for a capture that begins now.
 * The size of the records is that of the files, because kmemtrace.meta of a
 * damaged stream may lack it. */
static GKeyFile *begin_meta(KmtTopTables *tables,
			    const KmtInputCapture *capture)
{
	const KmtInputCpuFile *first = capture->files->pdata[0];
	g_autofree char *text =
		g_key_file_to_data(kmt_top_tables_meta(tables), NULL, NULL);
	GKeyFile *meta = g_key_file_new();

	g_key_file_load_from_data(meta, text, strlen(text), G_KEY_FILE_NONE,
				  NULL);
	g_key_file_set_boolean(meta, "capture", "complete", FALSE);
	g_key_file_set_uint64(meta, "capture", "record_size",
			      first->record_size);
	g_key_file_remove_key(meta, "capture", "end_time", NULL);
	g_key_file_remove_key(meta, "capture", "overruns", NULL);
	/* The trace began before the capture. */
	g_key_file_set_boolean(meta, "capture", "was_enabled", TRUE);
	kmt_capture_meta_set_time(meta, "start_time");
	return meta;
}

/* Return the writer of a file, which is created if necessary, or NULL. */
static KmtCaptureCpuWriter *writer_of(KmtTopCapture *c, guint file,
				      GError **error)
{
	const KmtInputCpuFile *cpu = c->capture->files->pdata[file];

	if (!c->files->pdata[file])
		c->files->pdata[file] = kmt_capture_writer_small_cpu_file(
			c->output, cpu->cpu, cpu->record_size, error);
	return c->files->pdata[file];
}

/* Create the file of each CPU in kmemtrace.meta. */
static gboolean create_files(KmtTopCapture *c, GError **error)
{
	guint i;

	g_ptr_array_set_size(c->files, (int)c->capture->files->len);
	for (i = 0; i < c->files->len; i++) {
		const KmtInputCpuFile *file = c->capture->files->pdata[i];
		g_autofree char *group = g_strdup_printf("cpu%u", file->cpu);

		if (g_key_file_has_group(c->meta, group) &&
		    !writer_of(c, i, error))
			return FALSE;
	}
	return TRUE;
}

KmtTopCapture *kmt_top_capture_new(const char *path, KmtTopTables *tables,
				   const KmtInputCapture *capture,
				   const KmtTopLosses *losses, GError **error)
{
	static const KmtCaptureDirectoryOptions options = {0};
	KmtCaptureWriter *output =
		kmt_capture_writer_open(path, &options, error);
	KmtTopCapture *c;

	if (!output)
		return NULL;
	c = g_new0(KmtTopCapture, 1);
	c->tables = tables;
	c->capture = capture;
	c->output = output;
	c->files = g_ptr_array_new_with_free_func(
		(GDestroyNotify)kmt_capture_cpu_writer_free);
	c->lost_before =
		g_hash_table_new_full(g_direct_hash, NULL, NULL, g_free);
	note_losses(c->lost_before, losses);
	c->meta = begin_meta(tables, capture);
	if (kmt_capture_writer_write_meta(output, c->meta, capture->files->len,
					  error) &&
	    create_files(c, error))
		return c;
	kmt_capture_writer_undo(output);
	kmt_top_capture_free(c);
	return NULL;
}

void kmt_top_capture_free(KmtTopCapture *c)
{
	if (!c)
		return;
	g_ptr_array_unref(c->files);
	g_hash_table_unref(c->lost_before);
	g_key_file_unref(c->meta);
	kmt_capture_writer_close(c->output);
	g_free(c);
}

static gboolean check_write(const KmtTopCapture *c, guint file, int result,
			    GError **error)
{
	const KmtInputCpuFile *cpu = c->capture->files->pdata[file];

	if (result >= 0)
		return TRUE;
	g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_FILE,
		    "cannot write %s/cpu%u.out: %s",
		    kmt_capture_writer_path(c->output), cpu->cpu,
		    g_strerror(-result));
	return FALSE;
}

gboolean kmt_top_capture_add(KmtTopCapture *c, guint file,
			     const guint8 *records, gsize length,
			     GError **error)
{
	KmtCaptureCpuWriter *writer = writer_of(c, file, error);

	if (!writer)
		return FALSE;
	c->bytes += length;
	return check_write(
		c, file, kmt_capture_cpu_writer_append(writer, records, length),
		error);
}

guint64 kmt_top_capture_bytes(const KmtTopCapture *c)
{
	return c->bytes;
}

/* ---- end ---- */

static gboolean copy_tables(KmtTopCapture *c, GError **error)
{
	guint i;

	for (i = 0; kmt_capture_tables[i]; i++) {
		const char *name = kmt_capture_tables[i];
		g_autofree char *path = g_build_filename(
			kmt_top_tables_path(c->tables), name, NULL);
		g_autoptr(GError) reason = NULL;

		if (!kmt_capture_writer_copy_table(c->output, path, name, NULL,
						   &reason) &&
		    reason) {
			g_propagate_error(error, g_steal_pointer(&reason));
			return FALSE;
		}
	}
	return TRUE;
}

/* Return the events that a CPU lost since the beginning of the capture; *known
 * is set to FALSE if that is unknown. */
static guint64 lost_on(const KmtTopCapture *c, guint cpu,
		       const KmtTopLosses *losses, gboolean *known)
{
	const guint64 *before =
		g_hash_table_lookup(c->lost_before, GUINT_TO_POINTER(cpu));
	guint i;

	for (i = 0; i < losses->n; i++) {
		if (losses->cpus[i].cpu != cpu)
			continue;
		*known &= losses->cpus[i].is_lost_known != 0;
		return losses->cpus[i].lost - (before ? *before : 0);
	}
	return 0;
}

static gboolean finish_files(KmtTopCapture *c, const KmtTopLosses *losses,
			     guint64 *lost, gboolean *known, GError **error)
{
	guint i;

	for (i = 0; i < c->files->len; i++) {
		const KmtInputCpuFile *file = c->capture->files->pdata[i];
		KmtCaptureCpuWriter *writer = c->files->pdata[i];
		guint64 n = lost_on(c, file->cpu, losses, known);

		if (!writer) {
			*lost += n;
			continue;
		}
		if (!check_write(c, i, kmt_capture_cpu_writer_finish(writer),
				 error) ||
		    !check_write(c, i, kmt_capture_cpu_writer_sync(writer),
				 error))
			return FALSE;
		*lost += n;
		kmt_capture_meta_set_cpu(c->meta, file->cpu,
					 kmt_capture_cpu_writer_written(writer),
					 *known ? &n : NULL);
	}
	return TRUE;
}

/* Return whether kmemtraced writes a key before it knows the final value. */
static gboolean is_preliminary(const char *key)
{
	return g_str_equal(key, "not_seen") || g_str_equal(key, "task_names");
}

/*
 * Take over the keys of the stream's last kmemtrace.meta that describe the
 * recording as a whole and may have changed, such as events_off.
 */
static void update_meta(KmtTopCapture *c)
{
	GKeyFile *from = kmt_top_tables_meta(c->tables);
	g_auto(GStrv) keys = g_key_file_get_keys(from, "capture", NULL, NULL);
	guint i;

	for (i = 0; keys && keys[i]; i++) {
		g_autofree char *value =
			g_key_file_get_value(from, "capture", keys[i], NULL);

		if ((is_preliminary(keys[i]) ||
		     !g_key_file_has_key(c->meta, "capture", keys[i], NULL)) &&
		    strcmp(keys[i], "overruns") != 0 &&
		    strcmp(keys[i], "end_time") != 0)
			g_key_file_set_value(c->meta, "capture", keys[i],
					     value);
	}
}

gboolean kmt_top_capture_finish(KmtTopCapture *c, const KmtTopLosses *losses,
				GError **error)
{
	gboolean known = TRUE;
	guint64 lost = 0;

	if (!copy_tables(c, error) ||
	    !finish_files(c, losses, &lost, &known, error))
		return FALSE;
	update_meta(c);
	kmt_capture_meta_end(c->meta, c->bytes, known ? &lost : NULL, TRUE);
	return kmt_capture_writer_end_meta(c->output, c->meta,
					   c->capture->files->len, error) &&
	       kmt_capture_writer_sync(c->output, error) &&
	       kmt_capture_writer_publish(c->output, error);
}
