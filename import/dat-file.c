// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <stdio.h>

#include "import/dat-file.h"
#include "import/dat-options.h"
#include "import/dat-cpu-ranges.h"
#include "import/import.h"
#include "import/unpack.h"

#define MAGIC "\027\010\104tracing"

/*
 * Versions of the trace.dat format. VERSION_SECTIONS is the first version with
 * sections, and the last supported version. Versions below VERSION_OLDEST are
 * read as VERSION_OLDEST.
 */
#define VERSION_SECTIONS 7
#define VERSION_OLDEST	 6

/*
 * Upper bound for the uncompressed size of a compressed section. The symbols of
 * any kernel need less.
 */
#define MAX_SECTION_BYTES (256U << 20)

/* Upper bound for the number of option sections. A longer chain is a loop. */
#define MAX_OPTION_SECTIONS 256

/* Upper bound for the number of buffers in a file. */
#define MAX_BUFFERS 1024

#define SECTION_PACKED 1

/*
 * Size of a CPU's entry in the table of version 6: offset and size, 8 bytes
 * each.
 */
#define TABLE_ENTRY_BYTES 16

static gboolean fail_truncated(GError **error, const char *where)
{
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
		    "it is cut off or damaged within %s: copy it again, or "
		    "record again",
		    where);
	return FALSE;
}

static KmtByteSpan bytes_from(const KmtDatFile *dat, guint64 offset)
{
	KmtByteSpan b = {dat->bytes, dat->size};

	kmt_byte_span_consume(&b, offset);
	return b;
}

static void buffer_free(gpointer data)
{
	KmtDatBuffer *buffer = data;

	g_free(buffer->name);
	g_free(buffer->clock);
	g_array_unref(buffer->cpus);
	g_hash_table_unref(buffer->stats);
	g_free(buffer);
}

/*
 * Append a buffer to dat. Returns NULL if the file already has MAX_BUFFERS
 * buffers.
 */
static KmtDatBuffer *add_buffer(KmtDatFile *dat, const char *name)
{
	KmtDatBuffer *buffer;

	if (dat->buffers->len == MAX_BUFFERS)
		return NULL;
	buffer = g_new0(KmtDatBuffer, 1);
	buffer->name = g_strdup(name);
	buffer->page_bytes = dat->page_bytes;
	buffer->cpus = g_array_new(FALSE, FALSE, sizeof(KmtDatCpu));
	buffer->stats = g_hash_table_new_full(g_direct_hash, g_direct_equal,
					      NULL, g_free);
	g_ptr_array_add(dat->buffers, buffer);
	return buffer;
}

/* ---- header ---- */

/*
 * Parse offset and size of a field in a line such as "field: local_t commit;
 * offset:8;       size:8;".
 */
static gboolean find_page_field(const char *text, const char *name,
				guint *offset, guint *size)
{
	g_autofree char *wanted = g_strconcat(" ", name, ";", NULL);
	const char *found = strstr(text, wanted);

	return found && sscanf(found + strlen(wanted), " offset:%u; size:%u;",
			       offset, size) == 2;
}

/* Read the header_page file of the recorded tracefs and skip header_event. */
static gboolean read_page_header(KmtDatFile *dat, KmtByteSpan *b,
				 GError **error)
{
	const char *name = kmt_byte_span_string(b);
	guint64 n = kmt_byte_span_64(b);
	const guint8 *bytes = kmt_byte_span_consume(b, n);
	KmtDatPageHeader *header = &dat->page_header;
	g_autofree char *text = NULL;
	guint data_bytes;

	if (!bytes || g_strcmp0(name, "header_page") != 0)
		return fail_truncated(error, "the description of its pages");
	text = g_strndup((const char *)bytes, n);
	if (!find_page_field(text, "commit", &header->commit_offset,
			     &header->commit_bytes) ||
	    !find_page_field(text, "data", &header->data_offset, &data_bytes) ||
	    (header->commit_bytes != 4 && header->commit_bytes != 8) ||
	    header->commit_offset < 8 ||
	    header->commit_offset > header->data_offset ||
	    header->data_offset - header->commit_offset <
		    header->commit_bytes ||
	    header->data_offset > 64)
		return kmt_import_fail(error,
				       "its description of the pages of the "
				       "ring buffer cannot be parsed: record "
				       "again with a newer trace-cmd");
	kmt_byte_span_string(b);
	kmt_byte_span_consume(b, kmt_byte_span_64(b));
	return kmt_byte_span_ok(b) ||
	       fail_truncated(error, "the description of its events");
}

static gboolean read_version(KmtDatFile *dat, KmtByteSpan *b, GError **error)
{
	const char *text;
	guint64 version;
	const guint8 *sizes;

	kmt_byte_span_consume(b, strlen(MAGIC));
	text = kmt_byte_span_string(b);
	sizes = kmt_byte_span_consume(b, 2);
	dat->page_bytes = kmt_byte_span_32(b);
	if (!kmt_byte_span_ok(b))
		return fail_truncated(error, "its header");
	if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT32, &version,
					NULL) ||
	    version > VERSION_SECTIONS) {
		g_set_error(
			error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			"its version %.16s is not supported by "
			"kmemtrace-import: convert it first, with trace-cmd "
			"convert --file-version 6 -i FILE -o plain.dat",
			text);
		return FALSE;
	}
	/* Files of versions before 6 have the layout of version 6; their
	 * kernels were older than 3.0. */
	dat->version = MAX((guint)version, VERSION_OLDEST);
	if (sizes[0] != (G_BYTE_ORDER == G_BIG_ENDIAN))
		return kmt_import_fail(
			error, "it comes from a machine with the other byte "
			       "order: import it on such a machine");
	dat->long_bytes = sizes[1];
	if (dat->page_bytes == 0 || dat->page_bytes & 511 ||
	    dat->page_bytes > 1U << 20)
		return kmt_import_fail(
			error,
			"its header has no valid page size: record again");
	return TRUE;
}

/* ---- sections of version 7 ---- */

/*
 * Return the content of the section at offset; dat owns the memory. The
 * returned span is not ok if the header of the section is not within the file
 * or the section cannot be decompressed. If the file ends within an
 * uncompressed section, the span contains only the bytes up to the end of the
 * file.
 */
static KmtByteSpan read_section(KmtDatFile *dat, guint64 offset, guint16 *flags)
{
	KmtByteSpan none = {NULL, 0}, b = bytes_from(dat, offset);
	const guint8 *head = kmt_byte_span_consume(&b, 8);
	guint64 n = kmt_byte_span_64(&b);
	guint32 n_packed, n_unpacked;
	const guint8 *packed;
	guint8 *memory;

	if (!kmt_byte_span_ok(&b))
		return none;
	memcpy(flags, head + 2, sizeof(*flags));
	if (!(*flags & SECTION_PACKED)) {
		b.left = MIN(b.left, n);
		return b;
	}
	n_packed = kmt_byte_span_32(&b);
	n_unpacked = kmt_byte_span_32(&b);
	packed = kmt_byte_span_consume(&b, n_packed);
	if (!packed || n_unpacked > MAX_SECTION_BYTES)
		return none;
	memory = g_try_malloc(MAX(n_unpacked, 1));
	if (!memory)
		return none;
	g_ptr_array_add(dat->unpacked, memory);
	if (!kmt_unpack_block(dat->packing, packed, n_packed, memory,
			      n_unpacked))
		return none;
	return (KmtByteSpan){memory, n_unpacked};
}

static gboolean read_option_sections(KmtDatFile *dat, KmtDatOptions *options,
				     guint64 offset, GError **error)
{
	for (guint n = 0; offset; n++) {
		guint16 flags;
		KmtByteSpan b = read_section(dat, offset, &flags);

		if (n == MAX_OPTION_SECTIONS || !kmt_byte_span_ok(&b) ||
		    !kmt_dat_options_read(options, dat, &b, &offset))
			return fail_truncated(error, "its options");
	}
	return TRUE;
}

static KmtByteSpan consume_bytes(KmtByteSpan *b, guint64 n)
{
	const guint8 *bytes = kmt_byte_span_consume(b, n);

	return (KmtByteSpan){bytes, bytes ? n : 0};
}

/*
 * Read the tables of function and task names. A missing table is no error,
 * because a capture without names is still useful.
 */
static void read_name_sections(KmtDatFile *dat, const KmtDatOptions *options)
{
	guint16 flags;
	KmtByteSpan b;

	if (options->kallsyms) {
		b = read_section(dat, options->kallsyms, &flags);
		dat->kallsyms = consume_bytes(&b, kmt_byte_span_32(&b));
	}
	if (options->tasks) {
		b = read_section(dat, options->tasks, &flags);
		dat->tasks = consume_bytes(&b, kmt_byte_span_64(&b));
	}
}

static gboolean read_buffer_flags(KmtDatFile *dat, GError **error)
{
	for (guint i = 0; i < dat->buffers->len; i++) {
		KmtDatBuffer *buffer = dat->buffers->pdata[i];
		guint16 flags;
		KmtByteSpan b = bytes_from(dat, buffer->section);

		kmt_byte_span_consume(&b, 2);
		if (!kmt_byte_span_consume(&b, 2))
			return fail_truncated(error,
					      "the header of its events");
		memcpy(&flags, b.next - 2, sizeof(flags));
		buffer->packed = flags & SECTION_PACKED;
	}
	return TRUE;
}

static gboolean read_version_7(KmtDatFile *dat, KmtDatOptions *options,
			       KmtByteSpan *b, const char *path, GError **error)
{
	const char *packing = kmt_byte_span_string(b);
	guint64 offset;
	guint16 flags;
	KmtByteSpan header;

	kmt_byte_span_string(b);
	offset = kmt_byte_span_64(b);
	if (!kmt_byte_span_ok(b))
		return fail_truncated(error, "its header");
	dat->packing = g_strdup(packing);
	if (!kmt_unpack_is_supported(packing, path, error) ||
	    !read_option_sections(dat, options, offset, error))
		return FALSE;
	header = read_section(dat, options->page_header, &flags);
	if (!read_page_header(dat, &header, error))
		return FALSE;
	dat->formats = read_section(dat, options->formats, &flags);
	if (!options->formats || !kmt_byte_span_ok(&dat->formats))
		return fail_truncated(error, "its formats of tracepoints");
	read_name_sections(dat, options);
	return read_buffer_flags(dat, error);
}

/* ---- version 6: the same content as version 7, in a fixed order ---- */

/*
 * Skip the formats of all event systems; kmt_dat_file_formats() reads them
 * later.
 */
static void skip_formats(KmtByteSpan *b)
{
	guint32 n_systems = kmt_byte_span_32(b);

	while (n_systems-- && kmt_byte_span_ok(b)) {
		guint32 n;

		kmt_byte_span_string(b);
		n = kmt_byte_span_32(b);
		while (n-- && kmt_byte_span_ok(b))
			kmt_byte_span_consume(b, kmt_byte_span_64(b));
	}
}

static gboolean read_metadata(KmtDatFile *dat, KmtByteSpan *b, GError **error)
{
	guint32 n;

	if (!read_page_header(dat, b, error))
		return FALSE;
	/* Skip the formats of ftrace's own events. */
	for (n = kmt_byte_span_32(b); n && kmt_byte_span_ok(b); n--)
		kmt_byte_span_consume(b, kmt_byte_span_64(b));
	dat->formats = *b;
	skip_formats(b);
	if (!kmt_byte_span_ok(b))
		return fail_truncated(error, "its formats of tracepoints");
	dat->kallsyms = consume_bytes(b, kmt_byte_span_32(b));
	consume_bytes(b, kmt_byte_span_32(b));
	dat->tasks = consume_bytes(b, kmt_byte_span_64(b));
	return kmt_byte_span_ok(b) ||
	       fail_truncated(error, "its tables of names");
}

static gboolean read_cpu_table(KmtDatFile *dat, KmtDatBuffer *buffer,
			       KmtByteSpan *b)
{
	guint n_cpus = dat->n_cpus;

	/* Bound the number of table entries by the file size: overlapping
	 * tables could need far more memory than the file. */
	dat->n_table_entries += n_cpus;
	if (dat->n_table_entries > dat->size / TABLE_ENTRY_BYTES)
		return FALSE;
	for (guint i = 0; i < n_cpus && kmt_byte_span_ok(b); i++) {
		KmtDatCpu cpu = {.cpu = i};

		cpu.offset = kmt_byte_span_64(b);
		cpu.size = kmt_byte_span_64(b);
		g_array_append_val(buffer->cpus, cpu);
	}
	return kmt_byte_span_ok(b);
}

/*
 * Read the type of the data that follows, then the table of CPUs. A buffer of a
 * latency tracer contains only text and has no table.
 */
static gboolean read_table(KmtDatFile *dat, KmtDatBuffer *buffer,
			   KmtByteSpan *b, GError **error)
{
	const guint8 *kind = kmt_byte_span_consume(b, 10);

	if (kind && memcmp(kind, "latency", 7) == 0) {
		buffer->is_text = TRUE;
		return TRUE;
	}
	if (!kind || memcmp(kind, "flyrecord", 9) != 0 ||
	    !read_cpu_table(dat, buffer, b))
		return fail_truncated(error, "the table of its events");
	return TRUE;
}

static gboolean read_version_6(KmtDatFile *dat, KmtDatOptions *options,
			       KmtByteSpan *b, GError **error)
{
	KmtByteSpan lookahead;
	const guint8 *kind;
	KmtDatBuffer *top = add_buffer(dat, "");

	if (!read_metadata(dat, b, error))
		return FALSE;
	dat->n_cpus = kmt_byte_span_32(b);
	lookahead = *b;
	kind = kmt_byte_span_consume(&lookahead, 10);
	if (kind && memcmp(kind, "options", 7) == 0) {
		*b = lookahead;
		if (!kmt_dat_options_read(options, dat, b, NULL))
			return fail_truncated(error, "its options");
	}
	if (!kmt_byte_span_ok(b) || dat->n_cpus > KMT_IMPORT_MAX_CPUS)
		return fail_truncated(error, "its options");
	if (!read_table(dat, top, b, error))
		return FALSE;
	for (guint i = 1; i < dat->buffers->len; i++) {
		KmtDatBuffer *buffer = dat->buffers->pdata[i];
		KmtByteSpan table = bytes_from(dat, buffer->section);

		if (!read_table(dat, buffer, &table, error))
			return FALSE;
	}
	return TRUE;
}

/* ---- the file ---- */

KmtDatFile *kmt_dat_file_open(const char *path, GError **error)
{
	g_autoptr(KmtDatFile) dat = g_new0(KmtDatFile, 1);
	g_auto(KmtDatOptions) options = {0};
	KmtByteSpan b;

	dat->buffers = g_ptr_array_new_with_free_func(buffer_free);
	dat->unpacked = g_ptr_array_new_with_free_func(g_free);
	dat->file = g_mapped_file_new(path, FALSE, error);
	if (!dat->file)
		return NULL;
	dat->bytes = (const guint8 *)g_mapped_file_get_contents(dat->file);
	dat->size = g_mapped_file_get_length(dat->file);
	b = bytes_from(dat, 0);
	if (!read_version(dat, &b, error))
		return NULL;
	options.add_buffer = add_buffer;
	if (!(dat->version >= VERSION_SECTIONS
		      ? read_version_7(dat, &options, &b, path, error)
		      : read_version_6(dat, &options, &b, error)))
		return NULL;
	kmt_dat_options_apply(&options, dat);
	if (!kmt_dat_ranges_check(dat, error))
		return NULL;
	return g_steal_pointer(&dat);
}

void kmt_dat_file_free(KmtDatFile *dat)
{
	if (!dat)
		return;
	if (dat->file)
		g_mapped_file_unref(dat->file);
	g_ptr_array_unref(dat->buffers);
	g_ptr_array_unref(dat->unpacked);
	g_free(dat->packing);
	g_free(dat->uname);
	g_free(dat->recorder);
	g_free(dat);
}

gboolean kmt_dat_file_formats(const KmtDatFile *dat, KmtImportFormatFunc func,
			      gpointer user, GError **error)
{
	return kmt_import_read_formats(
		dat->formats,
		"it is cut off or damaged within its formats of tracepoints: "
		"copy it again, or record again",
		func, user, error);
}
