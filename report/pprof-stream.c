// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <zlib.h>

#include "report/pprof-stream.h"

/* Number of bytes that are compressed at once. */
#define CHUNK_BYTES 32768
/* The window of 32 KiB, with the header of gzip instead of zlib. */
#define GZIP_WINDOW_BITS (15 + 16)
#define GZIP_MEMORY	 8

struct KmtPprofStream {
	/* Receives the parts. protobuf-c passes its address to append(), so
	 * this field must be the first. */
	ProtobufCBuffer buffer;
	FILE *out;
	z_stream gzip;
	GByteArray *plain;   /* bytes to be compressed */
	GHashTable *strings; /* char * -> number */
	GPtrArray *in_order; /* char *: strings by number, owned */
};

/* Compress the bytes of stream->plain into the file. @flush is that of
 * deflate(). */
static void compress_plain(KmtPprofStream *stream, int flush)
{
	guint8 packed[CHUNK_BYTES];

	stream->gzip.next_in = stream->plain->data;
	stream->gzip.avail_in = stream->plain->len;
	do {
		stream->gzip.next_out = packed;
		stream->gzip.avail_out = sizeof(packed);
		deflate(&stream->gzip, flush);
		fwrite(packed, 1, sizeof(packed) - stream->gzip.avail_out,
		       stream->out);
	} while (stream->gzip.avail_out == 0);
	g_byte_array_set_size(stream->plain, 0);
}

static void append(ProtobufCBuffer *buffer, size_t n, const uint8_t *data)
{
	KmtPprofStream *stream = (KmtPprofStream *)buffer;

	while (n) {
		guint part = (guint)MIN(n, CHUNK_BYTES);

		g_byte_array_append(stream->plain, data, part);
		if (stream->plain->len >= CHUNK_BYTES)
			compress_plain(stream, Z_NO_FLUSH);
		data += part;
		n -= part;
	}
}

KmtPprofStream *kmt_pprof_stream_new(FILE *out)
{
	KmtPprofStream *stream = g_new0(KmtPprofStream, 1);

	stream->buffer.append = append;
	stream->out = out;
	stream->plain = g_byte_array_new();
	stream->in_order = g_ptr_array_new_with_free_func(g_free);
	stream->strings = g_hash_table_new(g_str_hash, g_str_equal);
	if (deflateInit2(&stream->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			 GZIP_WINDOW_BITS, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		g_error("out of memory"); /* the only possible reason */
	kmt_pprof_stream_string(stream, "");
	return stream;
}

void kmt_pprof_stream_free(KmtPprofStream *stream)
{
	if (!stream)
		return;
	deflateEnd(&stream->gzip);
	g_byte_array_unref(stream->plain);
	g_hash_table_unref(stream->strings);
	g_ptr_array_unref(stream->in_order);
	g_free(stream);
}

gint64 kmt_pprof_stream_string(KmtPprofStream *stream, const char *text)
{
	gpointer number;
	char *copy;

	if (g_hash_table_lookup_extended(stream->strings, text, NULL, &number))
		return GPOINTER_TO_UINT(number);
	copy = g_strdup(text);
	g_hash_table_insert(stream->strings, copy,
			    GUINT_TO_POINTER(stream->in_order->len));
	g_ptr_array_add(stream->in_order, copy);
	return stream->in_order->len - 1;
}

void kmt_pprof_stream_add(KmtPprofStream *stream, const KmtPprof__Profile *part)
{
	kmt_pprof__profile__pack_to_buffer(part, &stream->buffer);
}

void kmt_pprof_stream_end(KmtPprofStream *stream)
{
	KmtPprof__Profile strings = KMT_PPROF__PROFILE__INIT;

	strings.n_string_table = stream->in_order->len;
	strings.string_table = (char **)stream->in_order->pdata;
	kmt_pprof_stream_add(stream, &strings);
	compress_plain(stream, Z_FINISH);
}
