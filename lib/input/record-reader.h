/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of one cpu file, from the first to the last, in this host's byte
 * order.  What can be read where it lies is; the rest is read or converted
 * piece by piece.
 */
#ifndef KMEMTRACE_INPUT_RECORD_READER_H
#define KMEMTRACE_INPUT_RECORD_READER_H

#include "lib/input/record-stream.h"

/* Memory for a piece.  The count is atomic: any thread may take or drop a
 * reference. */
typedef struct {
	gint refs;
	guint8 data[];
} KmtPiece;

KmtPiece *kmt_piece_ref(KmtPiece *piece);
void kmt_piece_unref(KmtPiece *piece);

/* n records, stride bytes apart, in piece or, if that is NULL, in the file. */
typedef struct {
	const guint8 *records;
	guint64 n;
	guint stride;
	KmtPiece *piece; /* a reference of whoever asked for the run */
} KmtRun;

typedef struct KmtSource KmtSource;

/* A file that is a stream has one source in its life. */
KmtSource *kmt_source_new(KmtCpuFile *file);
void kmt_source_free(KmtSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSource, kmt_source_free)

/* The next ones; FALSE at the end. */
gboolean kmt_source_next(KmtSource *source, KmtRun *run);

/*
 * Nobody looks at the records before this index any more.  May be called while
 * another thread is in kmt_source_next().
 */
void kmt_source_release(KmtSource *source, guint64 index);

#endif
