// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/input/capture-private.h"
#include "lib/input/frame-pool.h"
#include "lib/input/name-tables.h"
#include "lib/input/record-stream.h"

void kmt_input_capture_free(KmtInputCapture *capture)
{
	if (!capture)
		return;
	g_ptr_array_unref(capture->files);
	kmt_input_frame_pool_free(capture->frame_pool);
	g_clear_pointer(&capture->meta, g_key_file_unref);
	g_clear_pointer(&capture->notes, g_ptr_array_unref);
	g_clear_pointer(&capture->tar, kmt_input_tar_free);
	g_free(capture->directory);
	g_free(capture);
}

static gint compare_cpu(gconstpointer a, gconstpointer b)
{
	const KmtInputCpuFile *fa = *(const KmtInputCpuFile *const *)a;
	const KmtInputCpuFile *fb = *(const KmtInputCpuFile *const *)b;

	return (fa->cpu > fb->cpu) - (fa->cpu < fb->cpu);
}

static guint file_hash(gconstpointer p)
{
	const KmtInputCpuFile *file = p;

	return g_int64_hash(&file->inode);
}

static gboolean file_equal(gconstpointer a, gconstpointer b)
{
	const KmtInputCpuFile *fa = a, *fb = b;

	return fa->device == fb->device && fa->inode == fb->inode;
}

/*
 * Return FALSE and set *error if two paths refer to the same file, because the
 * records of that file would be counted twice.
 */
static gboolean refuse_same_file(const KmtInputCapture *capture, GError **error)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(file_hash, file_equal);
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		KmtInputCpuFile *file = capture->files->pdata[i];
		const KmtInputCpuFile *other;

		if (!file->inode)
			continue;
		other = g_hash_table_lookup(seen, file);
		if (other) {
			g_set_error(error, KMT_INPUT_ERROR,
				    KMT_INPUT_ERROR_FORMAT,
				    "%s and %s are the same file, whose "
				    "records would count twice; omit one of "
				    "them",
				    other->path, file->path);
			return FALSE;
		}
		g_hash_table_add(seen, file);
	}
	return TRUE;
}

/*
 * Sort the files by CPU number and set their positions. If two files have the
 * same CPU number or are the same file, return FALSE and set *error.
 */
static gboolean order_files(KmtInputCapture *capture, GError **error)
{
	guint i;

	g_ptr_array_sort(capture->files, compare_cpu);
	if (!refuse_same_file(capture, error))
		return FALSE;
	for (i = 0; i < capture->files->len; i++) {
		KmtInputCpuFile *file = capture->files->pdata[i];
		const KmtInputCpuFile *before =
			i ? capture->files->pdata[i - 1] : NULL;

		file->position = i;
		if (!before || before->cpu != file->cpu)
			continue;
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_FORMAT,
			    "%s and %s are both files of CPU %u, so they do "
			    "not belong to one capture; read one capture at "
			    "a time",
			    before->path, file->path, file->cpu);
		return FALSE;
	}
	return TRUE;
}

/*
 * Return whether the matcher needs the times of the first or last records of
 * all files before the first record is processed. Then a stream must be copied
 * to a temporary file.
 */
static gboolean needs_last_records(const KmtInputCapture *capture)
{
	return kmt_input_capture_is_truncated(capture) || capture->continues;
}

static gboolean spool_streams(KmtInputCapture *capture, GError **error)
{
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		KmtInputCpuFile *file = capture->files->pdata[i];

		if (file->stream && !kmt_input_record_stream_spool(file, error))
			return FALSE;
	}
	return TRUE;
}

/*
 * Replace each file of layout D by one file per CPU, because a file of layout D
 * contains the records of all CPUs.
 */
static gboolean split_files(KmtInputCapture *capture, GError **error)
{
	g_autoptr(GPtrArray) whole = capture->files;
	guint i;

	capture->files =
		g_ptr_array_new_with_free_func(kmt_input_cpu_file_free);
	for (i = 0; i < whole->len; i++) {
		KmtInputCpuFile *file = whole->pdata[i];
		guint first = capture->files->len;

		if (!kmt_input_record_stream_split(capture, file, error))
			return FALSE;
		if (file->truncated_bytes)
			kmt_input_cpu_file_set_defect(
				file, "it ends within a record");
		if (first == capture->files->len)
			kmt_input_capture_add_file(capture, file->path,
						   file->cpu);
		if (file->defect)
			kmt_input_cpu_file_set_defect(
				capture->files->pdata[first], file->defect);
	}
	return order_files(capture, error);
}

/*
 * Count the records of all mapped files. The records of streams are counted
 * later, when they are read.
 */
static void count_records(KmtInputCapture *capture)
{
	guint i;

	capture->n_records = 0;
	for (i = 0; i < capture->files->len; i++) {
		KmtInputCpuFile *file = capture->files->pdata[i];

		if (capture->layout == KMT_INPUT_LAYOUT_B && !file->stream) {
			file->n_records = file->size / file->record_size;
			file->truncated_bytes = file->size % file->record_size;
		}
		capture->n_records += file->n_records;
	}
}

/* Return whether a record reports lost events. */
static gboolean is_loss(const struct kmemtrace_event *event,
			const KmtInputCpuFile *file)
{
	return event->event_size == file->record_size &&
	       kmt_input_is_loss(event, file->record_size) &&
	       kmt_input_loss_events(event);
}

/*
 * Return whether a file that is no stream has a record with this event id for
 * which is_wanted() returns TRUE.
 */
static gboolean has_record(const KmtInputCpuFile *file, guint8 event_id,
			   gboolean (*is_wanted)(const struct kmemtrace_event *,
						 const KmtInputCpuFile *))
{
	const guint size = file->record_size;
	guint64 first = 0;

	while (!file->stream && first < file->n_records) {
		g_autoptr(KmtInputBuffer) buffer = NULL;
		struct kmemtrace_event event;
		const guint8 *records;
		gsize n_bytes;
		guint64 i, n;

		records = kmt_input_cpu_file_view(file, first * size, &n_bytes,
						  &buffer);
		n = MIN(n_bytes / size, file->n_records - first);
		for (i = 0; i < n; i++, records += size) {
			if (G_LIKELY(*records != event_id))
				continue;
			kmt_input_cpu_file_get(file, first + i, &event);
			if (is_wanted(&event, file))
				return TRUE;
		}
		first += n;
	}
	return FALSE;
}

/*
 * Without the loss counters of the kernel, only LOST records show that events
 * were lost. Search the mapped files for a LOST record.
 */
static void find_recorded_loss(KmtInputCapture *capture)
{
	guint i;

	for (i = 0; !capture->has_overruns && !capture->reports_loss &&
		    capture->record_size >= KMEMTRACE_EVENT_SIZE_V2 &&
		    i < capture->files->len;
	     i++) {
		capture->reports_loss =
			has_record(capture->files->pdata[i],
				   KMEMTRACE_EVENT_LOST, is_loss);
		kmt_input_cpu_file_drop_pages(capture->files->pdata[i]);
	}
}

/*
 * Set may_defer. Without kmemtrace.meta, search the mapped files for a usable
 * DEFER record, and set kfree_of_caches if there is one: a DEFER record shows
 * that kfree() of the traced kernel frees objects of any cache.
 */
static void find_defers(KmtInputCapture *capture)
{
	guint i;

	capture->may_defer =
		capture->record_size >= KMEMTRACE_EVENT_SIZE_V2 &&
		(!capture->abi_version || capture->abi_version >= 3);
	for (i = 0; capture->may_defer && !capture->meta &&
		    !capture->kfree_of_caches && i < capture->files->len;
	     i++) {
		capture->kfree_of_caches = has_record(
			capture->files->pdata[i], KMEMTRACE_EVENT_DEFER,
			kmt_input_is_usable_defer);
		kmt_input_cpu_file_drop_pages(capture->files->pdata[i]);
	}
}

static gboolean read_formats(KmtInputCapture *capture,
			     const KmtInputOptions *options, GError **error)
{
	gboolean spool = options->random_access || needs_last_records(capture);

	/* Copy the streams to temporary files before the format detection. The
	 * detection is more reliable with a complete file than with the start
	 * of a stream. */
	if (spool && !spool_streams(capture, error))
		return FALSE;
	if (!kmt_input_format_resolve(capture, options->layout, error))
		return FALSE;
	if (capture->layout == KMT_INPUT_LAYOUT_D)
		return split_files(capture, error);
	return !spool || spool_streams(capture, error);
}

/*
 * Without kmemtrace.meta, add a note if the CPU numbers of the files of a
 * directory or tar have a gap. The cause is unknown: a file may be missing, or
 * the CPU was never online.
 */
static void note_missing(KmtInputCapture *capture)
{
	guint i;

	if (capture->meta || !capture->directory)
		return;
	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		if (file->cpu == i)
			continue;
		kmt_input_capture_add_note(
			capture,
			"CPU %u has no file, and without kmemtrace.meta it is "
			"unknown whether the file is missing; if so, every "
			"figure lacks the events of this CPU",
			i);
		return;
	}
}

KmtInputCapture *kmt_input_capture_open(const char *const *operands,
					const KmtInputOptions *options,
					GError **error)
{
	static const char *const here[] = {".", NULL};
	static const KmtInputOptions defaults;
	g_autoptr(KmtInputCapture) capture = g_new0(KmtInputCapture, 1);

	capture->files =
		g_ptr_array_new_with_free_func(kmt_input_cpu_file_free);
	capture->notes = g_ptr_array_new_with_free_func(g_free);
	if (!operands || !operands[0])
		operands = here;
	if (!kmt_input_open_operands(capture, operands, error) ||
	    !order_files(capture, error) ||
	    !kmt_input_meta_read(capture, error) ||
	    !read_formats(capture, options ? options : &defaults, error))
		return NULL;
	kmt_input_note_empty_files(capture);
	count_records(capture);
	kmt_input_meta_apply(capture);
	find_recorded_loss(capture);
	find_defers(capture);
	note_missing(capture);
	kmt_input_note_bad_tables(capture);
	return g_steal_pointer(&capture);
}
