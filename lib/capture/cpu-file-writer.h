/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file being written, with the memory in which its next bytes gather.
 *
 * Writing must cause as few allocations in the kernel as can be, since each is
 * an event of the trace that is being written.  So the memory is allocated once
 * and aligned, and whole chunks go to the disk past the page cache (O_DIRECT)
 * where the file system takes that; the rest, and everything on file systems
 * which do not, goes the ordinary way.
 *
 * Between two calls the file holds whole records and nothing else.  A failed
 * write is cut back to whole records; after it the sink takes no more, and
 * counts what it is given as unsaved.
 *
 * No call below but new and free allocates.  One thread at a time; the figures
 * may be read by any.
 */
#ifndef KMEMTRACE_CAPTURE_CPU_FILE_WRITER_H
#define KMEMTRACE_CAPTURE_CPU_FILE_WRITER_H

#include <glib.h>

/*
 * What is both whole records and whole blocks: lcm(56, 64, 4096), or, of
 * records of 72 bytes, lcm(72, 4096).
 */
#define KMT_SINK_CHUNK_BYTES	   28672
#define KMT_SINK_CHUNK_STACK_BYTES 36864

static inline gsize kmt_sink_chunk_bytes(gsize record_bytes)
{
	return KMT_SINK_CHUNK_BYTES % record_bytes == 0
		       ? KMT_SINK_CHUNK_BYTES
		       : KMT_SINK_CHUNK_STACK_BYTES;
}

/* Bytes that a locked sink can hold: 1 MB, rounded to chunks of either size. */
#define KMT_SINK_BUFFER_BYTES (36 * KMT_SINK_CHUNK_BYTES)
G_STATIC_ASSERT(KMT_SINK_BUFFER_BYTES % KMT_SINK_CHUNK_STACK_BYTES == 0);

typedef enum {
	/* KMT_SINK_BUFFER_BYTES, touched and locked before tracing begins. */
	KMT_SINK_LOCKED,
	/* Two chunks, and no O_DIRECT: nothing is traced meanwhile. */
	KMT_SINK_SMALL,
} KmtSinkMemory;

typedef struct kmt_sink KmtSink;

/*
 * Creates name, which must not exist, with mode 0600.  record_bytes divides
 * kmt_sink_chunk_bytes() of it.  batch_bytes: kmt_sink_flush() leaves less than
 * that in memory and does not write before as much is there; it matters only
 * where chunks are written past the page cache.
 */
KmtSink *kmt_sink_new(int dir_fd, const char *name, gsize record_bytes,
		      gsize batch_bytes, KmtSinkMemory memory, GError **error);

/* Closes the file.  What was not flushed is lost. */
void kmt_sink_free(KmtSink *sink);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSink, kmt_sink_free)

/* Where the next bytes are to be put, and how many fit: 1 record at least. */
void *kmt_sink_room(KmtSink *sink, gsize *n_bytes);

/*
 * Says that n_bytes were put there.  Writes when the memory is full.  As the
 * next two: 0, or the negative errno of the write that failed now or earlier.
 */
int kmt_sink_add(KmtSink *sink, gsize n_bytes);

/*
 * Both at once, for bytes that are somewhere else: whole blocks of whole
 * records are written from there, without a copy.
 */
int kmt_sink_append(KmtSink *sink, const void *from, gsize n_bytes);

/*
 * Takes the last n_bytes away again, whole records, from memory or from the
 * file.  What counts as unsaved does so no more.
 */
int kmt_sink_take_back(KmtSink *sink, gsize n_bytes);

/* Writes what is to be written before waiting for more. */
int kmt_sink_flush(KmtSink *sink);

/* Writes all that is left.  A part of a record counts as unsaved. */
int kmt_sink_finish(KmtSink *sink);

/* Takes no more: what is in memory and what comes counts as unsaved. */
void kmt_sink_discard(KmtSink *sink);

/* Waits until what was written is on the disk.  0 or a negative errno. */
int kmt_sink_sync(KmtSink *sink);

/* Negative errno of the write that failed, or 0. */
int kmt_sink_error(const KmtSink *sink);

/* Bytes in the file. */
guint64 kmt_sink_written(const KmtSink *sink);

/* Bytes that were given and did not get to the file. */
guint64 kmt_sink_unsaved(const KmtSink *sink);

#endif
