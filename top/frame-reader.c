// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/frame-reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Size of a buffer in bytes, unless a frame is larger. */
#define BUFFER_BYTES (512u << 10)

/* Offset of the first byte in a buffer, so that bytes at a multiple of
 * KMT_STREAM_ALIGN of the stream are aligned in memory. */
#define FIRST_BYTE                                                             \
	(KMT_STREAM_ALIGN - sizeof(KmtInputBuffer) % KMT_STREAM_ALIGN)

struct KmtTopFrameReader {
	int fd;
	char *name;
	gboolean has_header;
	gboolean at_end; /* no byte follows those in the buffer */
	KmtStreamHeader header;
	guint64 sequence; /* of the next frame */
	KmtInputBuffer *buffer;
	gsize size;	 /* bytes of buffer->data */
	gsize from, end; /* bytes that no frame has returned yet */
};

GQuark kmt_top_error_quark(void)
{
	return g_quark_from_static_string("kmemtrace-top");
}

KmtTopFrameReader *kmt_top_frame_reader_new(int fd, const char *name)
{
	KmtTopFrameReader *reader = g_new0(KmtTopFrameReader, 1);

	reader->fd = fd;
	reader->name = g_strdup(name);
	reader->size = BUFFER_BYTES;
	reader->buffer = kmt_input_buffer_new(reader->size);
	reader->from = reader->end = FIRST_BYTE;
	return reader;
}

void kmt_top_frame_reader_free(KmtTopFrameReader *reader)
{
	if (!reader)
		return;
	kmt_input_buffer_unref(reader->buffer);
	g_free(reader->name);
	g_free(reader);
}

const KmtStreamHeader *
kmt_top_frame_reader_header(const KmtTopFrameReader *reader)
{
	return reader->has_header ? &reader->header : NULL;
}

void kmt_top_frame_reader_set_damaged(const KmtTopFrameReader *reader,
				      GError **error, const char *what)
{
	g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_DAMAGED,
		    "%s is damaged at frame %" G_GUINT64_FORMAT ": %s",
		    reader->name, reader->sequence ? reader->sequence - 1 : 0,
		    what);
}

/* ---- bytes ---- */

/* Continue in another buffer with room for at least n bytes after from. */
static void replace_buffer(KmtTopFrameReader *reader, gsize n)
{
	gsize left = reader->end - reader->from;
	gsize size = MAX(BUFFER_BYTES, FIRST_BYTE + n);
	KmtInputBuffer *buffer = kmt_input_buffer_new(size);

	memcpy(buffer->data + FIRST_BYTE, reader->buffer->data + reader->from,
	       left);
	kmt_input_buffer_unref(reader->buffer);
	reader->buffer = buffer;
	reader->size = size;
	reader->from = FIRST_BYTE;
	reader->end = FIRST_BYTE + left;
}

/* Return the bytes that the next frame needs, as far as they are known. */
static gsize wanted_bytes(const KmtTopFrameReader *reader)
{
	KmtStreamFrame head;

	if (!reader->has_header)
		return sizeof(KmtStreamHeader);
	if (reader->end - reader->from < sizeof(head))
		return sizeof(head);
	memcpy(&head, reader->buffer->data + reader->from, sizeof(head));
	return sizeof(head) + MIN(head.length, KMT_STREAM_PAYLOAD_MAX) +
	       KMT_STREAM_ALIGN;
}

gboolean kmt_top_frame_reader_fill(KmtTopFrameReader *reader, GError **error)
{
	gsize wanted = wanted_bytes(reader);
	gssize n;

	if (reader->size - reader->from < wanted || reader->end == reader->size)
		replace_buffer(reader, wanted);
	do {
		n = read(reader->fd, reader->buffer->data + reader->end,
			 reader->size - reader->end);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return TRUE;
	if (n < 0) {
		g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_READ,
			    "cannot read %s: %s", reader->name,
			    g_strerror(errno));
		return FALSE;
	}
	reader->at_end = n == 0;
	reader->end += (gsize)n;
	return TRUE;
}

/* ---- header and frames ---- */

static gboolean check_header(KmtTopFrameReader *reader, GError **error)
{
	const KmtStreamHeader *h = &reader->header;

	if (memcmp(h->magic, KMT_STREAM_MAGIC, sizeof(h->magic)) != 0) {
		g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_DAMAGED,
			    "%s is not a stream of kmemtraced --stream",
			    reader->name);
		return FALSE;
	}
	if (h->byte_order != KMT_STREAM_BYTE_ORDER ||
	    h->version != KMT_STREAM_VERSION ||
	    h->abi_version > KMEMTRACE_ABI_VERSION) {
		g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_VERSION,
			    "%s has another byte order or a newer version than "
			    "this program reads; use the kmemtrace-top of the "
			    "kmemtraced that wrote it, on such a machine",
			    reader->name);
		return FALSE;
	}
	if (h->header_bytes < sizeof(*h) ||
	    h->header_bytes > BUFFER_BYTES / 2 ||
	    h->header_bytes % KMT_STREAM_ALIGN ||
	    h->frame_bytes != sizeof(KmtStreamFrame) ||
	    (h->record_bytes != KMEMTRACE_EVENT_SIZE_V1 &&
	     h->record_bytes != KMEMTRACE_EVENT_SIZE_V2 &&
	     h->record_bytes != KMEMTRACE_EVENT_SIZE_V2S)) {
		kmt_top_frame_reader_set_damaged(reader, error,
						 "the header is invalid");
		return FALSE;
	}
	return TRUE;
}

static KmtTopFrameResult missing(const KmtTopFrameReader *reader,
				 GError **error)
{
	if (!reader->at_end)
		return KMT_TOP_FRAME_NONE;
	if (reader->from == reader->end && reader->has_header)
		return KMT_TOP_FRAME_END;
	g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_DAMAGED,
		    "%s ends within %s: the writer was interrupted, or the "
		    "stream was copied incompletely",
		    reader->name,
		    reader->has_header ? "a frame" : "the header");
	return KMT_TOP_FRAME_ERROR;
}

/* Return KMT_TOP_FRAME if the header is there and valid. */
static KmtTopFrameResult take_header(KmtTopFrameReader *reader, GError **error)
{
	const guint8 *data = reader->buffer->data + reader->from;
	gsize n = reader->end - reader->from;

	if (reader->has_header)
		return KMT_TOP_FRAME;
	if (n < sizeof(reader->header))
		return missing(reader, error);
	memcpy(&reader->header, data, sizeof(reader->header));
	if (!check_header(reader, error))
		return KMT_TOP_FRAME_ERROR;
	if (n < reader->header.header_bytes)
		return missing(reader, error);
	reader->from += reader->header.header_bytes;
	reader->has_header = TRUE;
	return KMT_TOP_FRAME;
}

static gboolean check_frame(KmtTopFrameReader *reader,
			    const KmtStreamFrame *head, GError **error)
{
	const char *what = NULL;

	if (head->length > KMT_STREAM_PAYLOAD_MAX)
		what = "the frame is too long";
	else if (head->sequence != reader->sequence)
		what = "frames before it are missing";
	else if (head->type == KMT_STREAM_RECORDS &&
		 head->length % reader->header.record_bytes)
		what = "it ends within a record";
	reader->sequence++;
	if (what)
		kmt_top_frame_reader_set_damaged(reader, error, what);
	return !what;
}

KmtTopFrameResult kmt_top_frame_reader_next(KmtTopFrameReader *reader,
					    KmtTopFrame *frame, GError **error)
{
	KmtTopFrameResult result = take_header(reader, error);
	gsize n = reader->end - reader->from, padded;

	if (result != KMT_TOP_FRAME)
		return result;
	if (n < sizeof(frame->head))
		return missing(reader, error);
	memcpy(&frame->head, reader->buffer->data + reader->from,
	       sizeof(frame->head));
	padded = ((gsize)frame->head.length + KMT_STREAM_ALIGN - 1) /
		 KMT_STREAM_ALIGN * KMT_STREAM_ALIGN;
	if (frame->head.length <= KMT_STREAM_PAYLOAD_MAX &&
	    n < sizeof(frame->head) + padded)
		return missing(reader, error);
	if (!check_frame(reader, &frame->head, error))
		return KMT_TOP_FRAME_ERROR;
	frame->buffer = reader->buffer;
	frame->payload =
		reader->buffer->data + reader->from + sizeof(frame->head);
	reader->from += sizeof(frame->head) + padded;
	return KMT_TOP_FRAME;
}
