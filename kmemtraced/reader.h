/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One CPU's reader: a thread, pinned to that CPU, that takes the records out of
 * the source and puts them into cpu<n>.out.
 *
 * All calls are the main thread's.  The life of a reader: new, start, then stop
 * (or gone), finished, join, the results, free; after a join without an error
 * it may be started again.
 */
#ifndef KMEMTRACED_READER_H
#define KMEMTRACED_READER_H

#include <glib.h>

#include "lib/capture/cpu-file-writer.h"
#include "kmemtraced/event-source.h"

typedef struct kmt_reader KmtReader;

/*
 * Takes sink and feed, the records of the CPU.  Each time that something
 * happens which main has to look at (the thread has drained, cannot write, or
 * ended), 1 is added to the eventfd notify_fd, which must outlive the reader.
 */
KmtReader *kmt_reader_new(KmtFeed *feed, guint cpu, guint record_bytes,
			  KmtSink *sink, int notify_fd, GError **error);

/* Joins the thread if need be. */
void kmt_reader_free(KmtReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtReader, kmt_reader_free)

gboolean kmt_reader_start(KmtReader *reader, GError **error);

/*
 * Take what there is now, though it may be less than the kernel wakes a reader
 * for.
 */
void kmt_reader_look(KmtReader *reader);

/* Tracing is off: take what there is, write it, and end. */
void kmt_reader_stop(KmtReader *reader);

/* The CPU's file went away: likewise, and that is an error. */
void kmt_reader_gone(KmtReader *reader);

/* Do not wait for the disk any more: what is not written is unsaved. */
void kmt_reader_abandon(KmtReader *reader);

/* The thread has taken once all that there was, or ended. */
gboolean kmt_reader_drained(const KmtReader *reader);

/* The thread has nothing more to do; join will not wait. */
gboolean kmt_reader_finished(const KmtReader *reader);

/* The thread cannot write; it goes on, so that what is unsaved is counted. */
gboolean kmt_reader_cannot_write(const KmtReader *reader);

void kmt_reader_join(KmtReader *reader);

/* After join: FALSE and an error if not all that there was has been saved. */
gboolean kmt_reader_check(const KmtReader *reader, GError **error);

guint kmt_reader_cpu(const KmtReader *reader);

/* Bytes of records read so far; any time. */
guint64 kmt_reader_bytes_read(const KmtReader *reader);

/* And those that it has seen and not read yet. */
guint64 kmt_reader_bytes_seen(const KmtReader *reader);

/* The file that it writes: for its figures, and after join to sync it. */
KmtSink *kmt_reader_sink(KmtReader *reader);

#endif
