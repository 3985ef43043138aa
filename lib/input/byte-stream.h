/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sequential stream of bytes. The source is a file descriptor, memory, or, in
 * lib/input/archive.h, the decompressed content of another stream or a member
 * of a tar.
 */
#ifndef KMEMTRACE_INPUT_BYTE_STREAM_H
#define KMEMTRACE_INPUT_BYTE_STREAM_H

#include <glib.h>

typedef struct KmtInputByteStream KmtInputByteStream;

/*
 * Base of all streams. An implementation embeds this struct as its first member
 * and sets pull; close may be NULL. One thread at a time may use a stream.
 */
struct KmtInputByteStream {
	/* Read up to n bytes into to and return the number of bytes read.
	 * Return 0 at the end; also return 0, with defect set, on an error. */
	gsize (*pull)(KmtInputByteStream *bytes, guint8 *to, gsize n);
	void (*close)(KmtInputByteStream *bytes);
	char *defect;	    /* reason why the stream ended early, or NULL */
	GByteArray *peeked; /* buffer of bytes that were pulled for a peek; the
			     * bytes from peeked_offset on are not read yet */
	gsize peeked_offset;
};

/*
 * Create a stream that reads the descriptor fd. The stream owns fd and closes
 * it when the stream is freed. If fd is a regular file, the file must not grow
 * while the stream exists. The caller frees the stream.
 */
KmtInputByteStream *kmt_input_byte_stream_new_fd(int fd);
/*
 * Create a stream that reads n bytes at data. data must outlive the stream. The
 * caller frees the stream.
 */
KmtInputByteStream *kmt_input_byte_stream_new_memory(const guint8 *data,
						     gsize n);
void kmt_input_byte_stream_free(KmtInputByteStream *bytes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputByteStream, kmt_input_byte_stream_free)

/* Read n bytes into to, and block until they are available. Return the number
 * of bytes read. The number is less than n only at the end of the stream or
 * after a defect. */
gsize kmt_input_byte_stream_read(KmtInputByteStream *bytes, void *to, gsize n);

/*
 * Return a pointer to the next *n bytes without consuming them. If fewer than
 * *n bytes remain, set *n to the number of remaining bytes. The pointer is
 * valid until the next call for the same stream.
 */
const guint8 *kmt_input_byte_stream_peek(KmtInputByteStream *bytes, gsize *n);

/*
 * Set or replace the defect of a stream, formatted as by printf(). The text is
 * a clause without a full stop, such as "the file is truncated". After a
 * defect, a stream returns only the bytes that were already peeked.
 */
void kmt_input_byte_stream_set_defect(KmtInputByteStream *bytes,
				      const char *format, ...)
	G_GNUC_PRINTF(2, 3);

#endif
