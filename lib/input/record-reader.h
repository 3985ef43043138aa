/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sequential reader of one cpu file. All records have the byte order of this
 * host.
 *
 * The reader reads or converts the records into buffers of at most 2048
 * records. If a mapped file already has this byte order but no descriptor, the
 * reader returns pointers into the mapping instead. For a file of frames, each
 * batch is a frame.
 */
#ifndef KMEMTRACE_INPUT_RECORD_READER_H
#define KMEMTRACE_INPUT_RECORD_READER_H

#include "lib/input/shared-buffer.h"
#include "lib/input/record-stream.h"

/*
 * A batch of n records that are stride bytes apart. The records are in buffer,
 * or in the mapped file if buffer is NULL.
 */
typedef struct {
	const guint8 *records;
	guint64 n;
	guint stride;
	KmtInputBuffer *buffer; /* a reference that the caller owns, or NULL */
} KmtInputBatch;

/*
 * Read position in one cpu file. Only one thread at a time may use a reader,
 * with the exception of kmt_input_reader_release().
 */
typedef struct KmtInputReader KmtInputReader;

/*
 * Create a reader at the first record of file, which must outlive the reader. A
 * stream can have only one reader. The caller frees the reader.
 */
KmtInputReader *kmt_input_reader_new(KmtInputCpuFile *file);
void kmt_input_reader_free(KmtInputReader *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputReader, kmt_input_reader_free)

/*
 * Store the next records of the file in *batch. The caller releases
 * batch->buffer with kmt_input_buffer_unref(). At the end of the file, return
 * FALSE and leave *batch undefined. A read error also ends the file and is
 * recorded in file->defect.
 */
gboolean kmt_input_reader_next(KmtInputReader *source, KmtInputBatch *batch);

/*
 * Release mapped pages that contain only records before index, in steps of
 * several megabytes; the kernel may then reuse the memory. The function does
 * nothing for a stream and a file of frames. One other thread may run
 * kmt_input_reader_next() at the same time.
 */
void kmt_input_reader_release(KmtInputReader *source, guint64 index);

#endif
