/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of one cpu file, from the first to the last, in this host's byte
 * order.  What can be read where it lies is; the rest is read or converted
 * buffer by buffer.
 */
#ifndef KMEMTRACE_INPUT_RECORD_READER_H
#define KMEMTRACE_INPUT_RECORD_READER_H

#include "lib/input/record-stream.h"

/* Memory for a buffer.  The count is atomic: any thread may take or drop a
 * reference. */
typedef struct {
	gint refs;
	guint8 data[];
} KmtInputBuffer;

KmtInputBuffer *kmt_input_buffer_ref(KmtInputBuffer *buffer);
void kmt_input_buffer_unref(KmtInputBuffer *buffer);

/* n records, stride bytes apart, in buffer or, if that is NULL, in the file. */
typedef struct {
	const guint8 *records;
	guint64 n;
	guint stride;
	KmtInputBuffer *buffer; /* a reference of whoever asked for the batch */
} KmtInputBatch;

typedef struct KmtInputReader KmtInputReader;

/* A file that is a stream has one source in its life. */
KmtInputReader *kmt_input_reader_new(KmtInputCpuFile *file);
void kmt_input_reader_free(KmtInputReader *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputReader, kmt_input_reader_free)

/* The next ones; FALSE at the end. */
gboolean kmt_input_reader_next(KmtInputReader *source, KmtInputBatch *batch);

/*
 * Nobody looks at the records before this index any more.  May be called while
 * another thread is in kmt_input_reader_next().
 */
void kmt_input_reader_release(KmtInputReader *source, guint64 index);

#endif
