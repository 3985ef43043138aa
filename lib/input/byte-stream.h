/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sequential stream of bytes: from a pipe, from memory, or decompressed from
 * either (lib/input/archive.h).
 */
#ifndef KMEMTRACE_INPUT_BYTE_STREAM_H
#define KMEMTRACE_INPUT_BYTE_STREAM_H

#include <glib.h>

typedef struct KmtInputByteStream KmtInputByteStream;

/* A stream. Implementations embed this struct and set pull and close. */
struct KmtInputByteStream {
	/* Read up to n bytes into to. Return the number of bytes, at least one;
	 * 0 at the end, or with defect set on an error. */
	gsize (*pull)(KmtInputByteStream *bytes, guint8 *to, gsize n);
	void (*close)(KmtInputByteStream *bytes);
	char *defect;	    /* why the stream ended early, or NULL */
	GByteArray *peeked; /* bytes read ahead; unread from peeked_offset on */
	gsize peeked_offset;
};

/*
 * Return a stream that reads fd and closes it at the end. A regular file must
 * not grow meanwhile.
 */
KmtInputByteStream *kmt_input_byte_stream_new_fd(int fd);
/* Return a stream of n bytes of memory. data must outlive the stream. */
KmtInputByteStream *kmt_input_byte_stream_new_memory(const guint8 *data,
						     gsize n);
void kmt_input_byte_stream_free(KmtInputByteStream *bytes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputByteStream, kmt_input_byte_stream_free)

/* Read n bytes; wait for them if necessary. Return the number of bytes, which
 * is less than n at the end or after a defect. */
gsize kmt_input_byte_stream_read(KmtInputByteStream *bytes, void *to, gsize n);

/*
 * Return the next *n bytes without consuming them. *n is reduced only at the
 * end. The pointer is valid until the next call.
 */
const guint8 *kmt_input_byte_stream_peek(KmtInputByteStream *bytes, gsize *n);

/*
 * Set the defect of a stream: a clause without a full stop, such as "the file
 * is truncated". Later calls are ignored.
 */
void kmt_input_byte_stream_set_defect(KmtInputByteStream *bytes,
				      const char *format, ...)
	G_GNUC_PRINTF(2, 3);

#endif
