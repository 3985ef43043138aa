// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/import.h"
#include "import/perf-data.h"
#include "import/perf-file.h"
#include "import/perf-stream.h"

#define TRACING_MAGIC "\027\010\104tracing"

#define FORMATS_CUT_OFF                                                        \
	"its formats of tracepoints are cut off: copy it again, or record "    \
	"again"

/* File name that perf stores before the name of a kernel symbol. */
#define KERNEL_PREFIX "[kernel.kallsyms]"

/*
 * File with the header in a directory of perf record --threads. The files of
 * the threads have this name and a number.
 */
#define MAIN_NAME "data"

/* Entry of a thread map that stands for all tasks. */
#define ALL_TASKS G_MAXUINT64

struct KmtPerfData {
	KmtPerfFile *header_file;
	GPtrArray *threads; /* GMappedFile */
	KmtPerfStream *stream;
	guint next_thread;	   /* index in threads of the file to read after
				    * stream */
	gboolean cut_off_reported; /* CUT_OFF was returned for stream */
	guint page_bytes, long_bytes;
	char *release, *machine, *version, *build_id;
	GStrv command;
	KmtByteSpan formats; /* see kmt_import_read_formats() */
};

/*
 * Read the header of the tracing data and find the formats of tracepoints. A
 * trace.dat file begins with the same header.
 */
static gboolean read_tracing_data(KmtPerfData *d, GError **error)
{
	KmtByteSpan b = d->header_file->features[KMT_PERF_FEATURE_TRACING_DATA];
	const guint8 *magic;
	guint32 n;

	if (!kmt_byte_span_ok(&b))
		return kmt_import_fail(
			error, "it has no tracepoints: use perf record -a "
			       "-e 'kmem:*'");
	magic = kmt_byte_span_consume(&b, strlen(TRACING_MAGIC));
	if (magic && memcmp(magic, TRACING_MAGIC, strlen(TRACING_MAGIC)) != 0)
		return kmt_import_fail(error,
				       "its formats of tracepoints have an "
				       "invalid header: record again");
	kmt_byte_span_string(&b); /* version */
	/* Skip the byte order, which is that of the file. */
	kmt_byte_span_consume(&b, 1);
	magic = kmt_byte_span_consume(&b, 1);
	d->long_bytes = magic ? *magic : 0;
	d->page_bytes = kmt_byte_span_32(&b);
	/* Skip header_page and header_event. */
	for (guint i = 0; i < 2; i++) {
		kmt_byte_span_string(&b);
		kmt_byte_span_consume(&b, kmt_byte_span_64(&b));
	}
	/* Skip the formats of ftrace's own events. */
	for (n = kmt_byte_span_32(&b); n && kmt_byte_span_ok(&b); n--)
		kmt_byte_span_consume(&b, kmt_byte_span_64(&b));
	d->formats = b;
	if (kmt_byte_span_ok(&b) && d->page_bytes && !(d->page_bytes & 511) &&
	    (d->long_bytes == 4 || d->long_bytes == 8))
		return TRUE;
	return kmt_import_fail(error, FORMATS_CUT_OFF);
}

gboolean kmt_perf_data_formats(const KmtPerfData *d, KmtImportFormatFunc func,
			       gpointer user, GError **error)
{
	return kmt_import_read_formats(d->formats, FORMATS_CUT_OFF, func, user,
				       error);
}

/* Return whether path is a directory that perf record --threads created. */
static gboolean is_thread_directory(const char *path)
{
	g_autofree char *main = g_build_filename(path, MAIN_NAME, NULL);

	return g_file_test(path, G_FILE_TEST_IS_DIR) &&
	       g_file_test(main, G_FILE_TEST_IS_REGULAR);
}

static void unref_mapping(gpointer data)
{
	g_mapped_file_unref(data);
}

/* Map the files of the threads: data.0, data.1, and so on. */
static gboolean open_threads(KmtPerfData *d, const char *directory,
			     GError **error)
{
	for (guint i = 0;; i++) {
		g_autofree char *name = g_strdup_printf(MAIN_NAME ".%u", i);
		g_autofree char *path = g_build_filename(directory, name, NULL);
		GMappedFile *file;

		if (!g_file_test(path, G_FILE_TEST_EXISTS))
			break;
		file = g_mapped_file_new(path, FALSE, error);
		if (!file)
			return FALSE;
		g_ptr_array_add(d->threads, file);
	}
	return d->threads->len > 0 ||
	       kmt_import_fail(error, "the directory has no files of threads "
				      "(data.0, data.1, ...): copy all of it");
}

KmtPerfData *kmt_perf_data_open(const char *path, GError **error)
{
	g_autoptr(KmtPerfData) d = g_new0(KmtPerfData, 1);
	gboolean is_directory = is_thread_directory(path);
	g_autofree char *main =
		is_directory ? g_build_filename(path, MAIN_NAME, NULL)
			     : g_strdup(path);

	d->threads = g_ptr_array_new_with_free_func(unref_mapping);
	d->header_file = kmt_perf_file_open(main, error);
	if (!d->header_file || !read_tracing_data(d, error))
		return NULL;
	if (is_directory && !open_threads(d, path, error))
		return NULL;
	if (!is_directory &&
	    kmt_byte_span_ok(
		    &d->header_file->features[KMT_PERF_FEATURE_DIRECTORY])) {
		kmt_import_fail(error,
				"it is one file of a directory that perf "
				"record --threads created: name the directory");
		return NULL;
	}
	d->release =
		kmt_perf_file_text(d->header_file, KMT_PERF_FEATURE_RELEASE);
	d->machine =
		kmt_perf_file_text(d->header_file, KMT_PERF_FEATURE_MACHINE);
	d->version =
		kmt_perf_file_text(d->header_file, KMT_PERF_FEATURE_VERSION);
	d->build_id = kmt_perf_file_build_id(d->header_file);
	d->command = kmt_perf_file_command(d->header_file);
	kmt_perf_data_rewind(d);
	return g_steal_pointer(&d);
}

void kmt_perf_data_free(KmtPerfData *d)
{
	if (!d)
		return;
	kmt_perf_stream_free(d->stream);
	kmt_perf_file_free(d->header_file);
	g_ptr_array_unref(d->threads);
	g_free(d->release);
	g_free(d->machine);
	g_free(d->version);
	g_free(d->build_id);
	g_strfreev(d->command);
	g_free(d);
}

void kmt_perf_data_rewind(KmtPerfData *d)
{
	kmt_perf_stream_free(d->stream);
	d->stream = kmt_perf_stream_new(d->header_file->records,
					d->header_file->layouts);
	d->next_thread = 0;
	d->cut_off_reported = FALSE;
}

guint kmt_perf_data_page_bytes(const KmtPerfData *d)
{
	return d->page_bytes;
}

guint kmt_perf_data_cpus(const KmtPerfData *d)
{
	KmtByteSpan bytes = d->header_file->features[KMT_PERF_FEATURE_CPUS];

	return kmt_byte_span_32(&bytes);
}

guint kmt_perf_data_online(const KmtPerfData *d)
{
	KmtByteSpan bytes = d->header_file->features[KMT_PERF_FEATURE_CPUS];

	kmt_byte_span_32(&bytes);
	return kmt_byte_span_32(&bytes);
}

guint kmt_perf_data_long_bytes(const KmtPerfData *d)
{
	return d->long_bytes;
}

const char *kmt_perf_data_release(const KmtPerfData *d)
{
	return d->release;
}

const char *kmt_perf_data_machine(const KmtPerfData *d)
{
	return d->machine;
}

const char *kmt_perf_data_version(const KmtPerfData *d)
{
	return d->version;
}

const char *kmt_perf_data_clock(const KmtPerfData *d)
{
	return kmt_byte_span_ok(
		       &d->header_file->features[KMT_PERF_FEATURE_CLOCKID])
		       ? "perf -k"
		       : NULL;
}

const char *kmt_perf_data_build_id(const KmtPerfData *d)
{
	return d->build_id;
}

const char *const *kmt_perf_data_command(const KmtPerfData *d)
{
	return (const char *const *)d->command;
}

const struct KmtPerfLayouts *kmt_perf_data_layouts(const KmtPerfData *d)
{
	return d->header_file->layouts;
}

gboolean kmt_perf_data_is_threaded(const KmtPerfData *d)
{
	return d->threads->len > 0;
}

/*
 * Return the number of tasks in a thread map, or 0 if the only entry of the map
 * stands for all tasks.
 */
static guint64 count_tasks(KmtByteSpan body)
{
	guint64 n = kmt_byte_span_64(&body);

	return n == 1 && kmt_byte_span_64(&body) == ALL_TASKS ? 0 : n;
}

static gboolean is_damaged(const KmtPerfRecord *record, gboolean is_complete)
{
	if (record->type == PERF_RECORD_LOST ||
	    record->type == PERF_RECORD_LOST_SAMPLES)
		return !is_complete;
	return !kmt_perf_stream_is_type(record->type);
}

/*
 * Convert a record to *entry. Returns FALSE if the import does not use the
 * record or the record is too short.
 */
static gboolean parse_record(KmtPerfData *d, const KmtPerfRecord *record,
			     KmtPerfEntry *entry)
{
	KmtByteSpan b = record->body;

	/* Records that perf itself writes, not the kernel, have no trailer. */
	if (record->type < KMT_PERF_USER_ATTR)
		kmt_perf_layouts_trailer(d->header_file->layouts, b, entry);
	switch (record->type) {
	case PERF_RECORD_LOST:
		entry->kind = KMT_PERF_ENTRY_LOST;
		kmt_byte_span_64(&b);
		entry->number = kmt_byte_span_64(&b);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		entry->kind = KMT_PERF_ENTRY_LOST_SAMPLES;
		entry->number = kmt_byte_span_64(&b);
		break;
	case PERF_RECORD_COMM:
		entry->kind = KMT_PERF_ENTRY_COMM;
		kmt_byte_span_32(&b);
		entry->pid = kmt_byte_span_32(&b);
		entry->name = kmt_byte_span_string(&b);
		break;
	case PERF_RECORD_MMAP:
		entry->kind = KMT_PERF_ENTRY_KERNEL;
		/* Skip pid and tid, the address, and the length; the address of
		 * the symbol follows. */
		kmt_byte_span_64(&b);
		kmt_byte_span_64(&b);
		kmt_byte_span_64(&b);
		entry->number = kmt_byte_span_64(&b);
		entry->name = kmt_byte_span_string(&b);
		if (!entry->name ||
		    !g_str_has_prefix(entry->name, KERNEL_PREFIX "_"))
			return FALSE;
		entry->name += strlen(KERNEL_PREFIX);
		break;
	case KMT_PERF_USER_THREAD_MAP:
		entry->kind = KMT_PERF_ENTRY_TASKS;
		entry->number = count_tasks(b);
		break;
	case KMT_PERF_USER_ROUND:
		entry->kind = KMT_PERF_ENTRY_ROUND;
		break;
	default:
		return FALSE;
	}
	return kmt_byte_span_ok(&b);
}

gboolean kmt_perf_data_next_file(KmtPerfData *d)
{
	GMappedFile *file;
	KmtByteSpan bytes;

	if (d->next_thread == d->threads->len)
		return FALSE;
	file = d->threads->pdata[d->next_thread++];
	bytes.next = (const guint8 *)g_mapped_file_get_contents(file);
	bytes.left = g_mapped_file_get_length(file);
	/* GMappedFile returns a NULL pointer for an empty file. */
	if (!bytes.next)
		bytes.next = (const guint8 *)"";
	kmt_perf_stream_free(d->stream);
	d->stream = kmt_perf_stream_new(bytes, d->header_file->layouts);
	d->cut_off_reported = FALSE;
	return TRUE;
}

gboolean kmt_perf_data_next(KmtPerfData *d, KmtPerfEntry *entry, GError **error)
{
	GError *problem = NULL;
	KmtPerfRecord record;
	gboolean is_complete;

	while (kmt_perf_stream_next(d->stream, FALSE, &record, &problem)) {
		*entry = (KmtPerfEntry){0};
		if (record.type == PERF_RECORD_SAMPLE) {
			if (!kmt_perf_layouts_sample(d->header_file->layouts,
						     record.body, entry))
				entry->kind = KMT_PERF_ENTRY_DAMAGED;
			return TRUE;
		}
		is_complete = parse_record(d, &record, entry);
		if (is_damaged(&record, is_complete))
			entry->kind = KMT_PERF_ENTRY_DAMAGED;
		if (is_complete || entry->kind == KMT_PERF_ENTRY_DAMAGED)
			return TRUE;
	}
	if (problem) {
		g_propagate_error(error, problem);
		return FALSE;
	}
	if (kmt_perf_stream_is_cut_off(d->stream) && !d->cut_off_reported) {
		d->cut_off_reported = TRUE;
		*entry = (KmtPerfEntry){.kind = KMT_PERF_ENTRY_CUT_OFF};
		return TRUE;
	}
	*entry = (KmtPerfEntry){.kind = KMT_PERF_ENTRY_FILE};
	return kmt_perf_data_next_file(d);
}
