/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One CPU's reader: a thread, pinned to that CPU, that takes the records out of
 * the source and puts them into cpu<n>.out.
 *
 * All calls are the main thread's.  The life of a reader: new, start, then stop
 * (or gone), finished, join, the results, free; after a join without an error
 * it may be started again.
 */
#ifndef KMEMTRACED_CPU_READER_H
#define KMEMTRACED_CPU_READER_H

#include <glib.h>

#include "lib/capture/cpu-file-writer.h"
#include "kmemtraced/event-source.h"

typedef struct kmtd_reader KmtdReader;

/*
 * Takes sink and feed, the records of the CPU.  Each time that something
 * happens which main has to look at (the thread has drained, cannot write, or
 * ended), 1 is added to the eventfd notify_fd, which must outlive the reader.
 */
KmtdReader *kmtd_reader_new(KmtdCpuStream *feed, guint cpu, guint record_bytes,
			    KmtCaptureCpuWriter *sink, int notify_fd,
			    GError **error);

/* Joins the thread if need be. */
void kmtd_reader_free(KmtdReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdReader, kmtd_reader_free)

gboolean kmtd_reader_start(KmtdReader *reader, GError **error);

/*
 * Take what there is now, though it may be less than the kernel wakes a reader
 * for.
 */
void kmtd_reader_poll(KmtdReader *reader);

/* Tracing is off: take what there is, write it, and end. */
void kmtd_reader_stop(KmtdReader *reader);

/* The CPU's file went away: likewise, and that is an error. */
void kmtd_reader_gone(KmtdReader *reader);

/* Do not wait for the disk any more: what is not written is unsaved. */
void kmtd_reader_abandon(KmtdReader *reader);

/* The thread has taken once all that there was, or ended. */
gboolean kmtd_reader_drained(const KmtdReader *reader);

/* The thread has nothing more to do; join will not wait. */
gboolean kmtd_reader_finished(const KmtdReader *reader);

/* The thread cannot write; it goes on, so that what is unsaved is counted. */
gboolean kmtd_reader_cannot_write(const KmtdReader *reader);

void kmtd_reader_join(KmtdReader *reader);

/* After join: FALSE and an error if not all that there was has been saved. */
gboolean kmtd_reader_check(const KmtdReader *reader, GError **error);

guint kmtd_reader_cpu(const KmtdReader *reader);

/* Bytes of records read so far; any time. */
guint64 kmtd_reader_bytes_read(const KmtdReader *reader);

/* And those that it has seen and not read yet. */
guint64 kmtd_reader_bytes_seen(const KmtdReader *reader);

/* The file that it writes: for its figures, and after join to sync it. */
KmtCaptureCpuWriter *kmtd_reader_sink(KmtdReader *reader);

#endif
