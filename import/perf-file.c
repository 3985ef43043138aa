// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <linux/perf_event.h>

#include "import/import.h"
#include "import/perf-file.h"
#include "import/perf-stream.h"

/* The first word of a file, in this machine's byte order and in the other. */
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define MAGIC	      "PERFILE2"
#define MAGIC_SWAPPED "2ELIFREP"
#else
#define MAGIC	      "2ELIFREP"
#define MAGIC_SWAPPED "PERFILE2"
#endif

/*
 * Size of the header of a recording written to a pipe. The header of a file is
 * larger.
 */
#define PIPE_HEADER_BYTES 16

/* Size of a build ID with its padding, and without. */
#define BUILD_ID_BYTES	   24
#define MAX_BUILD_ID_BYTES 20

#define KERNEL_NAME "[kernel.kallsyms]"

typedef struct {
	guint64 offset;
	guint64 size;
} Section;

typedef struct {
	char magic[8];
	guint64 size;
	guint64 attr_size;
	Section attrs;
	Section data;
	Section event_types;
	guint64 features[KMT_PERF_N_FEATURES / 64];
} FileHeader;

static KmtByteSpan all_bytes(const KmtPerfFile *f)
{
	return (KmtByteSpan){
		(const guint8 *)g_mapped_file_get_contents(f->file),
		g_mapped_file_get_length(f->file)};
}

/*
 * Return the bytes of a section. The span is not ok if the section is not
 * within the file.
 */
static KmtByteSpan section(const KmtPerfFile *f, Section s)
{
	KmtByteSpan bytes = all_bytes(f);

	kmt_byte_span_consume(&bytes, s.offset);
	if (s.size > bytes.left)
		bytes.next = NULL;
	bytes.left = s.size;
	return bytes;
}

/*
 * Read the table of feature sections. The table follows the records and is
 * sorted by feature.
 */
static gboolean read_features(KmtPerfFile *f, const FileHeader *header,
			      GError **error)
{
	KmtByteSpan all = all_bytes(f);
	KmtByteSpan table = section(
		f, (Section){header->data.offset + header->data.size, 0});

	table.left = table.next ? all.left - (gsize)(table.next - all.next) : 0;
	for (guint i = 0; i < KMT_PERF_N_FEATURES; i++) {
		Section s;

		if (!(header->features[i / 64] >> i % 64 & 1))
			continue;
		s.offset = kmt_byte_span_64(&table);
		s.size = kmt_byte_span_64(&table);
		f->features[i] = section(f, s);
		if (!kmt_byte_span_ok(&table) ||
		    !kmt_byte_span_ok(&f->features[i]))
			return kmt_import_fail(
				error, "it is cut off behind its samples: "
				       "copy it again, or record again");
	}
	return TRUE;
}

static gboolean fail_events(GError **error)
{
	return kmt_import_fail(error, "its list of events is damaged: record "
				      "again");
}

/*
 * Read the list of events. An entry is a perf_event_attr and the section with
 * the event's IDs.
 */
static gboolean read_events(KmtPerfFile *f, const FileHeader *header,
			    GError **error)
{
	KmtByteSpan list = section(f, header->attrs);
	guint64 step = header->attr_size;
	guint64 n = step ? header->attrs.size / step : 0;

	if (step < PERF_ATTR_SIZE_VER0 + sizeof(Section) || n == 0 ||
	    !kmt_byte_span_ok(&list))
		return fail_events(error);
	while (n--) {
		KmtByteSpan attr = {list.next, step - sizeof(Section)};
		KmtByteSpan entry = {kmt_byte_span_consume(&list, step), step};
		KmtByteSpan ids;
		Section s;

		kmt_byte_span_consume(&entry, attr.left);
		s.offset = kmt_byte_span_64(&entry);
		s.size = kmt_byte_span_64(&entry);
		ids = section(f, s);
		if (!kmt_byte_span_ok(&ids))
			return kmt_import_fail(
				error, "its list of events is cut off: "
				       "copy it again, or record again");
		if (!kmt_perf_layouts_add(f->layouts, attr, ids,
					  all_bytes(f).left, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean read_file(KmtPerfFile *f, GError **error)
{
	KmtByteSpan b = all_bytes(f);
	const guint8 *p = kmt_byte_span_consume(&b, sizeof(FileHeader));
	FileHeader header;

	if (!p)
		return kmt_import_fail(
			error, "it is cut off within its header: copy it "
			       "again, or record again");
	memcpy(&header, p, sizeof(header));
	f->records = section(f, header.data);
	if (!header.data.size)
		return kmt_import_fail(
			error,
			"perf record was killed before it ended, or is still "
			"running: record again, and end it with Ctrl+C");
	if (!kmt_byte_span_ok(&f->records))
		return kmt_import_fail(
			error, "it is cut off within its samples, and the "
			       "formats of tracepoints behind them are "
			       "missing: copy it again, or record again");
	return read_events(f, &header, error) &&
	       read_features(f, &header, error);
}

/*
 * Read an event of a recording from a pipe: an attr of the size stated in the
 * attr, then the IDs of the event.
 */
static gboolean read_pipe_event(KmtPerfFile *f, KmtByteSpan body,
				GError **error)
{
	KmtByteSpan attr = body, size = body;

	kmt_byte_span_32(&size);
	attr.left = kmt_byte_span_32(&size);
	if (!kmt_byte_span_consume(&body, attr.left) ||
	    attr.left < PERF_ATTR_SIZE_VER0)
		return fail_events(error);
	return kmt_perf_layouts_add(f->layouts, attr, body, all_bytes(f).left,
				    error);
}

/*
 * Read a record that replaces a part of the header in a recording from a pipe.
 */
static gboolean read_pipe_record(KmtPerfFile *f, KmtPerfRecord *record,
				 GError **error)
{
	KmtByteSpan *features = f->features;
	guint64 number;

	switch (record->type) {
	case KMT_PERF_USER_ATTR:
		return read_pipe_event(f, record->body, error);
	case KMT_PERF_USER_TRACING_DATA:
		features[KMT_PERF_FEATURE_TRACING_DATA] = record->payload;
		return TRUE;
	case KMT_PERF_USER_FEATURE:
		number = kmt_byte_span_64(&record->body);
		if (number < KMT_PERF_N_FEATURES)
			features[number] = record->body;
		return TRUE;
	default:
		return TRUE;
	}
}

static gboolean read_pipe(KmtPerfFile *f, GError **error)
{
	g_autoptr(KmtPerfStream) stream = NULL;
	GError *problem = NULL;
	KmtPerfRecord record;

	f->records = all_bytes(f);
	kmt_byte_span_consume(&f->records, PIPE_HEADER_BYTES);
	stream = kmt_perf_stream_new(f->records, NULL);
	while (kmt_perf_stream_next(stream, TRUE, &record, &problem))
		if (!read_pipe_record(f, &record, error))
			return FALSE;
	/* Damage behind the list of events is found again when the samples are
	 * read. */
	if (problem && kmt_perf_layouts_count(f->layouts) > 0 &&
	    kmt_byte_span_ok(&f->features[KMT_PERF_FEATURE_TRACING_DATA]))
		g_clear_error(&problem);
	if (problem) {
		g_propagate_error(error, problem);
		return FALSE;
	}
	return kmt_perf_layouts_count(f->layouts) > 0 || fail_events(error);
}

static gboolean read_head(KmtPerfFile *f, GError **error)
{
	KmtByteSpan b = all_bytes(f);
	const guint8 *magic = kmt_byte_span_consume(&b, strlen(MAGIC));
	gboolean ok;

	if (magic && memcmp(magic, MAGIC_SWAPPED, strlen(MAGIC)) == 0)
		return kmt_import_fail(
			error, "it comes from a machine with the other byte "
			       "order: import it on such a machine");
	if (!magic || memcmp(magic, MAGIC, strlen(MAGIC)) != 0)
		return kmt_import_fail(error, "it is not a perf.data");
	f->layouts = kmt_perf_layouts_new();
	ok = kmt_byte_span_64(&b) == PIPE_HEADER_BYTES ? read_pipe(f, error)
						       : read_file(f, error);
	return ok && kmt_perf_layouts_finish(f->layouts, error);
}

KmtPerfFile *kmt_perf_file_open(const char *path, GError **error)
{
	g_autoptr(KmtPerfFile) f = g_new0(KmtPerfFile, 1);

	f->file = g_mapped_file_new(path, FALSE, error);
	return f->file && read_head(f, error) ? g_steal_pointer(&f) : NULL;
}

void kmt_perf_file_free(KmtPerfFile *f)
{
	if (!f)
		return;
	if (f->file)
		g_mapped_file_unref(f->file);
	kmt_perf_layouts_free(f->layouts);
	g_free(f);
}

/*
 * Consume a string: its length, then the text, padded with zeros. Returns NULL
 * if the bytes do not suffice.
 */
static const guint8 *consume_text(KmtByteSpan *bytes, guint32 *length)
{
	*length = kmt_byte_span_32(bytes);
	return kmt_byte_span_consume(bytes, *length);
}

char *kmt_perf_file_text(const KmtPerfFile *f, guint feature)
{
	KmtByteSpan bytes = f->features[feature];
	guint32 length;
	const guint8 *text = consume_text(&bytes, &length);

	return text && length ? g_strndup((const char *)text, length) : NULL;
}

GStrv kmt_perf_file_command(const KmtPerfFile *f)
{
	KmtByteSpan bytes = f->features[KMT_PERF_FEATURE_COMMAND];
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	guint32 n = kmt_byte_span_32(&bytes);

	if (!kmt_byte_span_ok(&bytes))
		return NULL;
	while (n--) {
		guint32 length;
		const guint8 *text = consume_text(&bytes, &length);

		if (!text)
			return NULL;
		g_ptr_array_add(words, g_strndup((const char *)text, length));
	}
	g_ptr_array_add(words, NULL);
	return (GStrv)g_ptr_array_free(g_steal_pointer(&words), FALSE);
}

static char *hexadecimal(const guint8 *bytes, guint n)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < n; i++)
		g_string_append_printf(text, "%02x", bytes[i]);
	return g_string_free(text, FALSE);
}

/* The feature is a list of records: a pid, a build ID, and a file name. */
char *kmt_perf_file_build_id(const KmtPerfFile *f)
{
	KmtByteSpan bytes = f->features[KMT_PERF_FEATURE_BUILD_ID];
	struct perf_event_header header;

	while (kmt_byte_span_ok(&bytes)) {
		const guint8 *p = kmt_byte_span_consume(&bytes, sizeof(header));
		KmtByteSpan entry = {0};
		const guint8 *id;
		const char *name;

		if (!p)
			break;
		memcpy(&header, p, sizeof(header));
		if (header.size < sizeof(header))
			break;
		entry.left = header.size - sizeof(header);
		entry.next = kmt_byte_span_consume(&bytes, entry.left);
		kmt_byte_span_32(&entry);
		id = kmt_byte_span_consume(&entry, BUILD_ID_BYTES);
		name = kmt_byte_span_string(&entry);
		if (name && strcmp(name, KERNEL_NAME) == 0)
			return hexadecimal(
				id, id[MAX_BUILD_ID_BYTES] &&
						    id[MAX_BUILD_ID_BYTES] <=
							    MAX_BUILD_ID_BYTES
					    ? id[MAX_BUILD_ID_BYTES]
					    : MAX_BUILD_ID_BYTES);
	}
	return NULL;
}
