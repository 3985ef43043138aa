/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of one CPU: a thread, pinned to that CPU, that reads the records from
 * the source and writes them to cpu<n>.out.
 *
 * The main thread makes all calls. The order of the calls for a reader is: new,
 * start, stop (or gone), wait for finished, join, check and the counters, free.
 * A reader is started only once.
 */
#ifndef KMEMTRACED_CPU_READER_H
#define KMEMTRACED_CPU_READER_H

#include <glib.h>
#include <stdatomic.h>

#include "lib/capture/cpu-file-writer.h"
#include "kmemtraced/event-source.h"

typedef struct kmtd_reader KmtdReader;

/*
 * Create a reader for @cpu. It takes ownership of @stream, the stream of the
 * CPU, and of @writer, even on failure. The reader adds 1 to the eventfd
 * @notify_fd whenever the main thread has something to check: the thread has
 * drained the stream, cannot write, or has ended. @notify_fd must outlive the
 * reader. Return NULL and set an error on failure.
 */
KmtdReader *kmtd_reader_new(KmtdCpuStream *stream, guint cpu,
			    guint record_bytes, KmtCaptureCpuWriter *writer,
			    int notify_fd, GError **error);

/* Stop and join the thread if it runs, and free the reader. NULL is ignored. */
void kmtd_reader_free(KmtdReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdReader, kmtd_reader_free)

/* Start the thread. Return FALSE and set an error on failure. */
gboolean kmtd_reader_start(KmtdReader *reader, GError **error);

/*
 * Wake the thread to read the present records, even if they are fewer than the
 * amount at which the kernel wakes a reader. If the buffer is mapped, records
 * in an incomplete sub-buffer are only counted (kmtd_reader_bytes_seen()). A
 * stream with read_at_end is not read.
 */
void kmtd_reader_poll(KmtdReader *reader);

/*
 * Result of kmtd_reader_request_tick(). Times are in the clock of the records.
 */
typedef struct {
	gint64 last_ns; /* of the last record so far; G_MININT64: no record */
	/* No record before this time is held back, or left in the kernel. */
	gint64 settled_ns;
} KmtdReaderTick;

/*
 * For a writer with a sink: wake the thread to read all present records, also
 * those in an incomplete sub-buffer, and pass them to the sink. If there are
 * too many to be in time, the thread passes only a part of them. @number is
 * above that of the previous request, which must be done. The thread subtracts
 * 1 from *n_pending, and notifies @notify_fd if the result is 0. n_pending must
 * outlive the reader.
 */
void kmtd_reader_request_tick(KmtdReader *reader, guint64 number,
			      atomic_uint *n_pending);

/*
 * Return whether the request @number is done, or will never be done because the
 * thread has ended. *tick is set in both cases.
 */
gboolean kmtd_reader_tick_done(const KmtdReader *reader, guint64 number,
			       KmtdReaderTick *tick);

/* Read and write all remaining records, and end. Tracing must be off. */
void kmtd_reader_stop(KmtdReader *reader);

/*
 * Read and write all remaining records, and end with an error, because the file
 * of the CPU disappeared.
 */
void kmtd_reader_gone(KmtdReader *reader);

/* Stop waiting for the disk. Unwritten records count as unsaved. */
void kmtd_reader_abandon(KmtdReader *reader);

/*
 * Return whether the thread has read all records that were present when the
 * thread started, or has ended. A stream with read_at_end is read only if
 * tracing was off.
 */
gboolean kmtd_reader_drained(const KmtdReader *reader);

/* Return whether the thread has ended, so that join does not wait. */
gboolean kmtd_reader_finished(const KmtdReader *reader);

/*
 * Return whether a write failed. The thread continues to read and discards the
 * records, so that the next kmemtraced does not take them for a trace that was
 * left for it. The writer counts the unsaved bytes for the message.
 */
gboolean kmtd_reader_cannot_write(const KmtdReader *reader);

/*
 * Wait for the end of the thread. Return FALSE if there is no thread, or if an
 * earlier call has waited for it.
 */
gboolean kmtd_reader_join(KmtdReader *reader);

/*
 * Call after join. Return FALSE and set an error if the records could not be
 * read completely.
 */
gboolean kmtd_reader_check(const KmtdReader *reader, GError **error);

/* Return the number of the CPU. */
guint kmtd_reader_cpu(const KmtdReader *reader);

/* Return the number of bytes read so far. May be called at any time. */
guint64 kmtd_reader_bytes_read(const KmtdReader *reader);

/*
 * Return the number of bytes read so far, including records that were seen but
 * are still in the kernel. May be called at any time.
 */
guint64 kmtd_reader_bytes_seen(const KmtdReader *reader);

/*
 * Return the writer of the CPU file, for its counters, and after join to sync
 * it. It belongs to @reader.
 */
KmtCaptureCpuWriter *kmtd_reader_file_writer(KmtdReader *reader);

#endif
