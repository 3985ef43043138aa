/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that come one after the other: from a pipe, from memory, or unpacked
 * from either (lib/input/archive.h).
 */
#ifndef KMEMTRACE_INPUT_BYTE_STREAM_H
#define KMEMTRACE_INPUT_BYTE_STREAM_H

#include <glib.h>

typedef struct KmtInputByteStream KmtInputByteStream;

/* Where they come from; for those who add another such place. */
struct KmtInputByteStream {
	/* Up to n further bytes, at least one; 0 at the end, or with defect
	 * set. */
	gsize (*pull)(KmtInputByteStream *bytes, guint8 *to, gsize n);
	void (*close)(KmtInputByteStream *bytes);
	char *defect;	    /* why they ended before their end, or NULL */
	GByteArray *peeked; /* peeked at, from peeked_offset on not read yet */
	gsize peeked_offset;
};

/* Takes fd.  Not fit for a file that is written on. */
KmtInputByteStream *kmt_input_byte_stream_new_fd(int fd);
/* data must live longer. */
KmtInputByteStream *kmt_input_byte_stream_new_memory(const guint8 *data,
						     gsize n);
void kmt_input_byte_stream_free(KmtInputByteStream *bytes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputByteStream, kmt_input_byte_stream_free)

/* Waits until there are n.  Less than n: that is the end, or there is a
 * defect. */
gsize kmt_input_byte_stream_read(KmtInputByteStream *bytes, void *to, gsize n);

/*
 * The next *n bytes, without taking them.  *n becomes less at the end only.
 * Valid until the next call.
 */
const guint8 *kmt_input_byte_stream_peek(KmtInputByteStream *bytes, gsize *n);

/* "broken off" of read(2) and its like, as a sentence without a full stop. */
void kmt_input_byte_stream_set_defect(KmtInputByteStream *bytes,
				      const char *format, ...)
	G_GNUC_PRINTF(2, 3);

#endif
