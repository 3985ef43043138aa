/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the frames of a stream (lib/capture/stream-format.h) from a descriptor,
 * without a copy of the records, and finds damage. The content of the payloads
 * other than their lengths is not checked.
 */
#ifndef KMEMTRACE_TOP_FRAME_READER_H
#define KMEMTRACE_TOP_FRAME_READER_H

#include "lib/capture/stream-format.h"
#include "lib/input/record-reader.h"

#define KMT_TOP_ERROR (kmt_top_error_quark())
GQuark kmt_top_error_quark(void);

typedef enum {
	KMT_TOP_ERROR_READ,    /* the stream could not be opened or read */
	KMT_TOP_ERROR_DAMAGED, /* the stream is truncated or invalid */
	KMT_TOP_ERROR_VERSION, /* the stream is valid, but not supported */
	KMT_TOP_ERROR_DAEMON,  /* kmemtraced could not be started, or failed */
	KMT_TOP_ERROR_FILE,    /* a file could not be written */
	KMT_TOP_ERROR_STOPPED, /* the user stopped the program */
} KmtTopError;

typedef struct KmtTopFrameReader KmtTopFrameReader;

/* A frame; payload and buffer are valid until the next frame is read. */
typedef struct {
	KmtStreamFrame head;
	const guint8 *payload;	/* head.length bytes */
	KmtInputBuffer *buffer; /* contains the payload; a caller that keeps
				 * the payload acquires a reference */
} KmtTopFrame;

typedef enum {
	KMT_TOP_FRAME,	     /* *frame is the next frame */
	KMT_TOP_FRAME_NONE,  /* no complete frame is there yet */
	KMT_TOP_FRAME_END,   /* the stream has ended after a frame */
	KMT_TOP_FRAME_ERROR, /* *error is set */
} KmtTopFrameResult;

/* fd stays open when the reader is freed. name is for messages. */
KmtTopFrameReader *kmt_top_frame_reader_new(int fd, const char *name);
void kmt_top_frame_reader_free(KmtTopFrameReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopFrameReader, kmt_top_frame_reader_free)

/*
 * Return the header of the stream, or NULL as long as it has not arrived.
 * kmt_top_frame_reader_next() returns no frame before.
 */
const KmtStreamHeader *
kmt_top_frame_reader_header(const KmtTopFrameReader *reader);

/* Read what the descriptor has, once. Call this function if
 * kmt_top_frame_reader_next() has returned KMT_TOP_FRAME_NONE, and the
 * descriptor is readable. Return FALSE and set *error on failure. */
gboolean kmt_top_frame_reader_fill(KmtTopFrameReader *reader, GError **error);

/* Find the next frame among the bytes that were read. */
KmtTopFrameResult kmt_top_frame_reader_next(KmtTopFrameReader *reader,
					    KmtTopFrame *frame, GError **error);

/* Set *error to the error of a stream that is invalid because of a frame. */
void kmt_top_frame_reader_set_damaged(const KmtTopFrameReader *reader,
				      GError **error, const char *what);

#endif
