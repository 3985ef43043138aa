/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a file cpu<n>.out or a table through a buffer.
 *
 * During a recording, each allocation that the kernel makes for a write is an
 * event of the trace, so writing must cause as few allocations as possible. The
 * buffer is therefore allocated once and aligned, and whole chunks are written
 * with O_DIRECT, which bypasses the page cache. The rest of the data is written
 * through the page cache, as is all data of a small buffer and all data on file
 * systems without O_DIRECT.
 *
 * Between two calls, the file contains only complete records. After a failed
 * write, the file is truncated to complete records; the writer then accepts no
 * more data and counts further data as unsaved.
 *
 * Only the function new allocates memory, which free releases. One thread
 * may write at a time; any thread may read the counters.
 */
#ifndef KMEMTRACE_CAPTURE_CPU_FILE_WRITER_H
#define KMEMTRACE_CAPTURE_CPU_FILE_WRITER_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/capture/cpu-sink.h"

/*
 * Multiples of both the record size and the block size: lcm(56, 64, 4096), and
 * for records of 72 bytes lcm(72, 4096).
 */
#define KMT_CAPTURE_CPU_WRITER_CHUNK_BYTES	 28672
#define KMT_CAPTURE_CPU_WRITER_CHUNK_STACK_BYTES 36864

static inline gsize kmt_capture_cpu_writer_chunk_bytes(gsize record_bytes)
{
	return KMT_CAPTURE_CPU_WRITER_CHUNK_BYTES % record_bytes == 0
		       ? KMT_CAPTURE_CPU_WRITER_CHUNK_BYTES
		       : KMT_CAPTURE_CPU_WRITER_CHUNK_STACK_BYTES;
}

/* Bytes of a locked buffer: 1 MB, rounded to a multiple of both chunk sizes. */
#define KMT_CAPTURE_CPU_WRITER_BUFFER_BYTES                                    \
	(36 * KMT_CAPTURE_CPU_WRITER_CHUNK_BYTES)
G_STATIC_ASSERT(KMT_CAPTURE_CPU_WRITER_BUFFER_BYTES %
			KMT_CAPTURE_CPU_WRITER_CHUNK_STACK_BYTES ==
		0);

/* Upper bound of the size of a record. */
#define KMT_CAPTURE_RECORD_BYTES_MAX 256

typedef enum {
	/* A buffer of KMT_CAPTURE_CPU_WRITER_BUFFER_BYTES, populated by the
	 * function new and locked in memory if the limits permit. The file is
	 * written with O_DIRECT if the file system supports it. */
	KMT_CAPTURE_CPU_WRITER_LOCKED,
	/* A buffer of two chunks, and a file without O_DIRECT, for a program
	 * that is not traced. */
	KMT_CAPTURE_CPU_WRITER_SMALL,
} KmtCaptureCpuWriterMemory;

typedef struct kmt_capture_cpu_writer KmtCaptureCpuWriter;

/*
 * Create the file name with mode 0600 in the directory dir_fd; the file must
 * not exist. record_bytes must divide
 * kmt_capture_cpu_writer_chunk_bytes(record_bytes).
 * With O_DIRECT, kmt_capture_cpu_writer_flush() does not write before
 * batch_bytes are buffered. Return NULL and set an error on failure.
 */
KmtCaptureCpuWriter *
kmt_capture_cpu_writer_new(int dir_fd, const char *name, gsize record_bytes,
			   gsize batch_bytes, KmtCaptureCpuWriterMemory memory,
			   GError **error);

/*
 * Create a writer that passes the records of a CPU to @sink. The function takes
 * over @sink, even on failure. The buffer has room for batch_bytes at least,
 * and for kmt_capture_cpu_writer_sink_capacity(). Return NULL and set an error
 * on failure.
 */
KmtCaptureCpuWriter *kmt_capture_cpu_writer_new_sink(
	KmtCaptureCpuSink *sink, gsize record_bytes, gsize batch_bytes,
	KmtCaptureCpuWriterMemory memory, GError **error);

/* Return the bytes that the first buffer of a writer with a sink has. */
gsize kmt_capture_cpu_writer_sink_capacity(gsize record_bytes,
					   gsize batch_bytes);

/* Close the file and free the writer. Data in the buffer is lost. */
void kmt_capture_cpu_writer_free(KmtCaptureCpuWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCaptureCpuWriter, kmt_capture_cpu_writer_free)

/*
 * Return the place for the next bytes in the buffer. *n_bytes is set to the
 * free bytes, rounded down to complete records, but to at least 1.
 */
void *kmt_capture_cpu_writer_room(KmtCaptureCpuWriter *writer, gsize *n_bytes);

/*
 * Add n_bytes that the caller has stored at kmt_capture_cpu_writer_room(). If
 * the buffer is then full, it is written to the file. This function and append,
 * take_back, flush, and finish return 0, or the negative errno of the first
 * failed write.
 */
int kmt_capture_cpu_writer_add(KmtCaptureCpuWriter *writer, gsize n_bytes);

/*
 * Prepare a writer with a sink for calls of append that add n_bytes in total:
 * these records stay in the buffer, so that take_back can remove them until the
 * next flush. The function has no effect on a writer of a file.
 */
int kmt_capture_cpu_writer_reserve(KmtCaptureCpuWriter *writer, gsize n_bytes);

/*
 * Add the n_bytes of complete records at from. The function writes the records
 * to the file without a copy to the buffer if O_DIRECT is off, or if n_bytes is
 * at least batch_bytes and address, size, and position in the file are aligned.
 */
int kmt_capture_cpu_writer_append(KmtCaptureCpuWriter *writer, const void *from,
				  gsize n_bytes);

/*
 * Remove the last n_bytes that were added, which are complete records. The
 * function first subtracts up to n_bytes from the number of unsaved bytes, then
 * removes the rest from the end of the buffer, then from the end of the file.
 */
int kmt_capture_cpu_writer_take_back(KmtCaptureCpuWriter *writer,
				     gsize n_bytes);

/*
 * Write records before the caller waits for more records. With O_DIRECT, the
 * function writes all complete chunks once batch_bytes are buffered; without
 * O_DIRECT, it writes all complete records. A sink receives the records if they
 * reach its batch_bytes, or if the first record is older than its max_age_us.
 */
int kmt_capture_cpu_writer_flush(KmtCaptureCpuWriter *writer);

/*
 * Pass all buffered records to the sink, however few they are. For a writer
 * with a sink only.
 */
int kmt_capture_cpu_writer_flush_all(KmtCaptureCpuWriter *writer);

/*
 * Set whether the sink may wait for compression. If on, the source of the
 * records cannot lose records while the writer waits, for example because
 * tracing is off.
 */
void kmt_capture_cpu_writer_take_time(KmtCaptureCpuWriter *writer, bool on);

/*
 * Return the milliseconds until the buffered records are too old, so that a
 * flush passes the records to the sink. Return -1 if the buffer has no records
 * or the sink does not limit their age.
 */
int kmt_capture_cpu_writer_wait_ms(const KmtCaptureCpuWriter *writer);

/* Write all remaining complete records. An incomplete one counts as unsaved. */
int kmt_capture_cpu_writer_finish(KmtCaptureCpuWriter *writer);

/*
 * Let the sink drop the records that it has received and not yet written, so
 * that the thread that writes does not wait for the sink any longer. That
 * thread then calls kmt_capture_cpu_writer_discard(). Any thread may call this
 * function.
 */
void kmt_capture_cpu_writer_abandon(KmtCaptureCpuWriter *writer);

/* Stop writing: buffered bytes and all further bytes count as unsaved. */
void kmt_capture_cpu_writer_discard(KmtCaptureCpuWriter *writer);

/*
 * Wait until the written bytes are on the disk. Return 0 or a negative errno. A
 * file that cannot be synced is not an error.
 */
int kmt_capture_cpu_writer_sync(KmtCaptureCpuWriter *writer);

/* Return the negative errno of the failed write, or 0. */
int kmt_capture_cpu_writer_error(const KmtCaptureCpuWriter *writer);

/* Return the number of bytes of records in the file, uncompressed. */
guint64 kmt_capture_cpu_writer_written(const KmtCaptureCpuWriter *writer);

/*
 * Return the number of added bytes that will never be written to the file.
 * Bytes in the buffer do not count.
 */
guint64 kmt_capture_cpu_writer_unsaved(const KmtCaptureCpuWriter *writer);

/* Return the size of the file in bytes. */
guint64 kmt_capture_cpu_writer_file_bytes(const KmtCaptureCpuWriter *writer);

/*
 * Set the figures of a compressed file and return TRUE. Return FALSE if the
 * file is not compressed.
 */
gboolean kmt_capture_cpu_writer_frames(const KmtCaptureCpuWriter *writer,
				       KmtCaptureCpuFrames *frames);

/* Return the id of the thread that compresses the records; 0: none. */
pid_t kmt_capture_cpu_writer_thread(const KmtCaptureCpuWriter *writer);

#endif
