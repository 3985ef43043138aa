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
#define KMT_CAPTURE_CPU_WRITER_CHUNK_BYTES	 28672
#define KMT_CAPTURE_CPU_WRITER_CHUNK_STACK_BYTES 36864

static inline gsize kmt_capture_cpu_writer_chunk_bytes(gsize record_bytes)
{
	return KMT_CAPTURE_CPU_WRITER_CHUNK_BYTES % record_bytes == 0
		       ? KMT_CAPTURE_CPU_WRITER_CHUNK_BYTES
		       : KMT_CAPTURE_CPU_WRITER_CHUNK_STACK_BYTES;
}

/* Bytes that a locked sink can hold: 1 MB, rounded to chunks of either size. */
#define KMT_CAPTURE_CPU_WRITER_BUFFER_BYTES                                    \
	(36 * KMT_CAPTURE_CPU_WRITER_CHUNK_BYTES)
G_STATIC_ASSERT(KMT_CAPTURE_CPU_WRITER_BUFFER_BYTES %
			KMT_CAPTURE_CPU_WRITER_CHUNK_STACK_BYTES ==
		0);

typedef enum {
	/* KMT_CAPTURE_CPU_WRITER_BUFFER_BYTES, touched and locked before
	   tracing begins. */
	KMT_CAPTURE_CPU_WRITER_LOCKED,
	/* Two chunks, and no O_DIRECT: nothing is traced meanwhile. */
	KMT_CAPTURE_CPU_WRITER_SMALL,
} KmtCaptureCpuWriterMemory;

typedef struct kmt_capture_cpu_writer KmtCaptureCpuWriter;

/*
 * Creates name, which must not exist, with mode 0600.  record_bytes divides
 * kmt_capture_cpu_writer_chunk_bytes() of it.  batch_bytes:
 * kmt_capture_cpu_writer_flush() leaves less than that in memory and does not
 * write before as much is there; it matters only where chunks are written past
 * the page cache.
 */
KmtCaptureCpuWriter *
kmt_capture_cpu_writer_new(int dir_fd, const char *name, gsize record_bytes,
			   gsize batch_bytes, KmtCaptureCpuWriterMemory memory,
			   GError **error);

/* Closes the file.  What was not flushed is lost. */
void kmt_capture_cpu_writer_free(KmtCaptureCpuWriter *sink);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCaptureCpuWriter, kmt_capture_cpu_writer_free)

/* Where the next bytes are to be put, and how many fit: 1 record at least. */
void *kmt_capture_cpu_writer_room(KmtCaptureCpuWriter *sink, gsize *n_bytes);

/*
 * Says that n_bytes were put there.  Writes when the memory is full.  As the
 * next two: 0, or the negative errno of the write that failed now or earlier.
 */
int kmt_capture_cpu_writer_add(KmtCaptureCpuWriter *sink, gsize n_bytes);

/*
 * Both at once, for bytes that are somewhere else: whole blocks of whole
 * records are written from there, without a copy.
 */
int kmt_capture_cpu_writer_append(KmtCaptureCpuWriter *sink, const void *from,
				  gsize n_bytes);

/*
 * Takes the last n_bytes away again, whole records, from memory or from the
 * file.  What counts as unsaved does so no more.
 */
int kmt_capture_cpu_writer_take_back(KmtCaptureCpuWriter *sink, gsize n_bytes);

/* Writes what is to be written before waiting for more. */
int kmt_capture_cpu_writer_flush(KmtCaptureCpuWriter *sink);

/* Writes all that is left.  A part of a record counts as unsaved. */
int kmt_capture_cpu_writer_finish(KmtCaptureCpuWriter *sink);

/* Takes no more: what is in memory and what comes counts as unsaved. */
void kmt_capture_cpu_writer_discard(KmtCaptureCpuWriter *sink);

/* Waits until what was written is on the disk.  0 or a negative errno. */
int kmt_capture_cpu_writer_sync(KmtCaptureCpuWriter *sink);

/* Negative errno of the write that failed, or 0. */
int kmt_capture_cpu_writer_error(const KmtCaptureCpuWriter *sink);

/* Bytes in the file. */
guint64 kmt_capture_cpu_writer_written(const KmtCaptureCpuWriter *sink);

/* Bytes that were given and did not get to the file. */
guint64 kmt_capture_cpu_writer_unsaved(const KmtCaptureCpuWriter *sink);

#endif
