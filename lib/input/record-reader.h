/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the records of one cpu file in order, in the byte order of this host.
 * Records of a mapped file in this byte order are returned without a copy;
 * others are read or converted buffer by buffer.
 */
#ifndef KMEMTRACE_INPUT_RECORD_READER_H
#define KMEMTRACE_INPUT_RECORD_READER_H

#include "lib/input/record-stream.h"

/* A buffer with a reference count. The count is atomic: any thread may acquire
 * or release a reference. */
typedef struct {
	gint refs;
	guint8 data[];
} KmtInputBuffer;

KmtInputBuffer *kmt_input_buffer_ref(KmtInputBuffer *buffer);
void kmt_input_buffer_unref(KmtInputBuffer *buffer);

/*
 * n records, stride bytes apart, in buffer; or in the mapped file if buffer is
 * NULL.
 */
typedef struct {
	const guint8 *records;
	guint64 n;
	guint stride;
	KmtInputBuffer *buffer; /* a reference that the caller owns */
} KmtInputBatch;

typedef struct KmtInputReader KmtInputReader;

/* Create a reader. A stream can have only one reader. */
KmtInputReader *kmt_input_reader_new(KmtInputCpuFile *file);
void kmt_input_reader_free(KmtInputReader *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputReader, kmt_input_reader_free)

/* Get the next batch. Return FALSE at the end. */
gboolean kmt_input_reader_next(KmtInputReader *source, KmtInputBatch *batch);

/*
 * Release the records before index: their pages may be unmapped. Another thread
 * may execute kmt_input_reader_next() at the same time.
 */
void kmt_input_reader_release(KmtInputReader *source, guint64 index);

#endif
