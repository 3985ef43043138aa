// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <linux/perf_event.h>

#include "import/import.h"
#include "import/perf-stream.h"
#include "import/perf-zstd.h"

/*
 * Upper bound for the decompressed size of a record. perf compresses at most
 * one buffer of a CPU at a time, and a header has 16 bits for the compressed
 * size. A longer result is damage.
 */
#define MAX_BYTES ((gsize)64 * 1024 * 1024)

/*
 * Exclusive upper bounds for the record types of the kernel and of perf,
 * including future versions. perf's own types begin with KMT_PERF_USER_ATTR.
 */
#define END_OF_KERNEL_TYPES 40
#define END_OF_USER_TYPES   128

struct KmtPerfStream {
	KmtByteSpan bytes;	       /* unread bytes of the file */
	const KmtPerfLayouts *layouts; /* not owned; may be NULL */
	KmtPerfZstd *zstd; /* NULL before the first compressed record */
	/* Decompressed bytes. Bytes before "consumed" were returned. */
	GByteArray *decompressed;
	gsize consumed;
};

gboolean kmt_perf_stream_is_type(guint32 type)
{
	return (type > 0 && type < END_OF_KERNEL_TYPES) ||
	       (type >= KMT_PERF_USER_ATTR && type < END_OF_USER_TYPES);
}

KmtPerfStream *kmt_perf_stream_new(KmtByteSpan bytes,
				   const KmtPerfLayouts *layouts)
{
	KmtPerfStream *stream = g_new0(KmtPerfStream, 1);

	stream->bytes = bytes;
	stream->layouts = layouts;
	stream->decompressed = g_byte_array_new();
	return stream;
}

void kmt_perf_stream_free(KmtPerfStream *stream)
{
	if (!stream)
		return;
	kmt_perf_zstd_free(stream->zstd);
	g_byte_array_unref(stream->decompressed);
	g_free(stream);
}

/*
 * Consume a record at the start of b. Returns FALSE if b does not begin with a
 * complete record.
 */
static gboolean consume_record(const KmtPerfStream *s, KmtByteSpan *b,
			       KmtPerfRecord *record)
{
	struct perf_event_header header;
	KmtByteSpan rest = *b;
	KmtByteSpan size;
	guint64 n_more = 0;

	if (b->left < sizeof(header))
		return FALSE;
	memcpy(&header, b->next, sizeof(header));
	if (header.size < sizeof(header) ||
	    !kmt_byte_span_consume(&rest, header.size))
		return FALSE;
	record->type = header.type;
	record->body.next = b->next + sizeof(header);
	record->body.left = header.size - sizeof(header);
	size = record->body;
	/* If the body is a sample, the type in the header is damaged. With type
	 * 0, the record has no payload and is not decompressed. */
	if (header.type != PERF_RECORD_SAMPLE && s->layouts &&
	    kmt_perf_layouts_is_sample(s->layouts, record->body))
		record->type = header.type = 0;
	if (header.type == KMT_PERF_USER_AUXTRACE)
		n_more = kmt_byte_span_64(&size);
	else if (header.type == KMT_PERF_USER_TRACING_DATA)
		n_more = kmt_byte_span_32(&size);
	record->payload = (KmtByteSpan){rest.next, n_more};
	if (!kmt_byte_span_consume(&rest, n_more))
		return FALSE;
	*b = rest;
	return TRUE;
}

/* Append the content of a compressed record to s->decompressed. */
static gboolean decompress(KmtPerfStream *s, const KmtPerfRecord *record,
			   GError **error)
{
	KmtByteSpan body = record->body;

	if (!s->zstd)
		s->zstd = kmt_perf_zstd_new(error);
	if (!s->zstd)
		return FALSE;
	if (record->type == KMT_PERF_USER_COMPRESSED2) {
		guint64 n = kmt_byte_span_64(&body);

		if (n > body.left)
			return kmt_import_fail(
				error,
				"it is damaged: a compressed record is shorter "
				"than its size field: record again");
		body.left = n;
	}
	g_byte_array_remove_range(s->decompressed, 0, (guint)s->consumed);
	s->consumed = 0;
	return s->decompressed->len > MAX_BYTES
		       ? kmt_import_fail(error, "it is damaged: its compressed "
						"records do not end: record "
						"again")
		       : kmt_perf_zstd_append(s->zstd, body.next, body.left,
					      MAX_BYTES, s->decompressed,
					      error);
}

/*
 * Consume a record from the decompressed bytes. A record may begin in one
 * compressed record and end in the next one.
 */
static gboolean consume_decompressed(KmtPerfStream *s, KmtPerfRecord *record)
{
	KmtByteSpan b;

	if (s->consumed == s->decompressed->len)
		return FALSE;
	b = (KmtByteSpan){s->decompressed->data + s->consumed,
			  s->decompressed->len - s->consumed};
	if (!consume_record(s, &b, record))
		return FALSE;
	s->consumed = s->decompressed->len - b.left;
	return TRUE;
}

/*
 * Return whether the next decompressed record is invalid regardless of the
 * bytes that follow.
 */
static gboolean is_decompressed_damaged(const KmtPerfStream *s)
{
	struct perf_event_header header;

	if (s->decompressed->len - s->consumed < sizeof(header))
		return FALSE;
	memcpy(&header, s->decompressed->data + s->consumed, sizeof(header));
	return header.size < sizeof(header) ||
	       !kmt_perf_stream_is_type(header.type);
}

gboolean kmt_perf_stream_is_cut_off(const KmtPerfStream *s)
{
	return s->consumed < s->decompressed->len;
}

gboolean kmt_perf_stream_next(KmtPerfStream *s, gboolean return_compressed,
			      KmtPerfRecord *record, GError **error)
{
	if (consume_decompressed(s, record))
		return TRUE;
	while (!is_decompressed_damaged(s) &&
	       consume_record(s, &s->bytes, record)) {
		if (return_compressed ||
		    (record->type != KMT_PERF_USER_COMPRESSED &&
		     record->type != KMT_PERF_USER_COMPRESSED2))
			return TRUE;
		if (!decompress(s, record, error))
			return FALSE;
		if (consume_decompressed(s, record))
			return TRUE;
	}
	if (is_decompressed_damaged(s))
		return kmt_import_fail(
			error, "it is damaged: a compressed record contains no "
			       "record of perf: record again");
	if (kmt_byte_span_ok(&s->bytes) && s->bytes.left == 0)
		return FALSE;
	return kmt_import_fail(error, "it is damaged: a record is longer than "
				      "the rest of the file: record again");
}
