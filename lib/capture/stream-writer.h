/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a stream (stream-format.h) to a pipe, a socket, or a file.
 *
 * Reader threads write records: kmt_stream_writer_records() blocks until the
 * other side has accepted the whole frame, under a lock that one thread holds
 * at a time. A slow reader of the stream therefore blocks the threads, and the
 * kernel counts the events for which its buffers have no room.
 *
 * The main thread must react to signals, so it never waits for the lock:
 * kmt_stream_writer_post() appends a frame to a queue, and writes as much of
 * the queue as the other side accepts at once. The next thread that writes
 * records first writes the rest of the queue. The order of the frames is that
 * of their sequence.
 *
 * After an error the writer discards all frames; the first error remains.
 */
#ifndef KMEMTRACE_CAPTURE_STREAM_WRITER_H
#define KMEMTRACE_CAPTURE_STREAM_WRITER_H

#include <glib.h>

#include "lib/capture/stream-format.h"

typedef struct kmt_stream_writer KmtStreamWriter;

/*
 * Create a writer for the open descriptor fd, which the caller keeps open until
 * kmt_stream_writer_free(). SIGPIPE must be ignored. Return NULL and set an
 * error if fd is not open for writing or is a terminal.
 */
KmtStreamWriter *kmt_stream_writer_new(int fd, GError **error);

/* Free the writer. Frames in the queue are lost. NULL is ignored. */
void kmt_stream_writer_free(KmtStreamWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtStreamWriter, kmt_stream_writer_free)

/*
 * Write the header, before all frames. The caller sets the properties of the
 * records and of the machine in *header, the writer sets the other fields.
 */
void kmt_stream_writer_begin(KmtStreamWriter *writer,
			     const KmtStreamHeader *header);

/*
 * Write n_bytes of complete records of a CPU, in one or more frames. Any thread
 * may call the function. Return 0, or the negative errno of the first error.
 */
int kmt_stream_writer_records(KmtStreamWriter *writer, guint cpu,
			      const guint8 *records, gsize n_bytes);

/*
 * Append a frame with a payload of two parts, head and rest. Main thread only.
 * n_head + n_rest is at most KMT_STREAM_PAYLOAD_MAX.
 */
void kmt_stream_writer_post(KmtStreamWriter *writer, KmtStreamType type,
			    const void *head, gsize n_head, const void *rest,
			    gsize n_rest);

/*
 * Append the frames of the table name with the n_bytes of text, of which the
 * reader has the first n_kept bytes. Main thread only.
 */
void kmt_stream_writer_post_table(KmtStreamWriter *writer, const char *name,
				  const char *text, gsize n_bytes,
				  gsize n_kept);

/*
 * Write the rest of the queue. Wait until the other side has accepted it, but
 * not after interrupt_fd has become readable, unless interrupt_fd is -1. Return
 * 0, -EINTR, or the negative errno of the first error. Main thread only, while
 * no other thread writes records or after kmt_stream_writer_cancel().
 */
int kmt_stream_writer_flush(KmtStreamWriter *writer, int interrupt_fd);

/*
 * Write as much of the queue as the other side accepts at once, unless another
 * thread writes records. That thread then writes the queue, or the next call
 * does.
 */
void kmt_stream_writer_push(KmtStreamWriter *writer);

/*
 * Return the descriptor that is ready for output when
 * kmt_stream_writer_push() can write a part of the queue, or -1 if the queue is
 * empty or another thread writes it.
 */
int kmt_stream_writer_poll_fd(KmtStreamWriter *writer);

/* Set the error -ECANCELED, and wake the thread that waits for the other
 * side. The stream may end within a frame. */
void kmt_stream_writer_cancel(KmtStreamWriter *writer);

/* Return the negative errno of the first error, or 0. */
int kmt_stream_writer_error(const KmtStreamWriter *writer);

#endif
