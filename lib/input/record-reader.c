// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/input/capture-private.h"
#include "lib/input/frame-queue.h"
#include "lib/input/record-reader.h"

/*
 * kmt_input_reader_release() releases the pages of a file in steps of this
 * number of bytes.
 */
#define RELEASE_STEP_BYTES (4u << 20)

/* Alignment of released ranges in bytes: the size of a large page. If a range
 * ended inside a large page, the next access to the rest of that page would
 * read the complete page again. */
#define RELEASE_ALIGN_BYTES ((guintptr)2 << 20)

/*
 * Number of records per conversion buffer. The fuzzers use a smaller number
 * to test the buffer ends.
 */
#ifndef BUFFER_RECORDS
#define BUFFER_RECORDS 2048
#endif

/*
 * Maximum size of a buffer for a stream, in bytes, unless one record is larger.
 */
#define BUFFER_BYTES (BUFFER_RECORDS * KMEMTRACE_EVENT_SIZE_V1)

/*
 * Sizes in bytes of a buffer for the records of a mapped file, which the reader
 * copies by pread(). The buffers of all files together have SHARED_COPY_BYTES,
 * if that is not less than MIN_COPY_BYTES for each. A buffer of at most
 * MAX_COPY_BYTES remains in the processor's cache until the merge reads it.
 */
#define MAX_COPY_BYTES	  (32u << 10)
#define MIN_COPY_BYTES	  (16u << 10)
#define SHARED_COPY_BYTES (512u << 10)

struct KmtInputReader {
	KmtInputCpuFile *file;
	KmtInputFrameQueue *queue; /* frames of a compressed file, or NULL */
	guint64 next;		   /* index of the next record to return */
	guint64 released; /* number of bytes at the start of the file that were
			   * released, a multiple of RELEASE_STEP_BYTES */
	gboolean at_end;  /* the stream has no further records */
};

KmtInputReader *kmt_input_reader_new(KmtInputCpuFile *file)
{
	KmtInputReader *source = g_new0(KmtInputReader, 1);

	source->file = file;
	if (file->frames)
		source->queue = kmt_input_frame_queue_new(file);
	return source;
}

void kmt_input_reader_free(KmtInputReader *source)
{
	if (!source)
		return;
	kmt_input_frame_queue_free(source->queue);
	g_free(source);
}

static KmtInputBuffer *swapped_buffer(const KmtInputCpuFile *file,
				      guint64 first, guint64 n)
{
	KmtInputBuffer *buffer = kmt_input_buffer_new(n * file->record_size);

	kmt_input_swap_records(buffer->data,
			       file->map + first * file->record_size, n,
			       file->record_size);
	return buffer;
}

/* Return the number of records of a buffer for a mapped file. */
static guint64 n_copied_records(const KmtInputCpuFile *file)
{
	guint n_files = file->capture ? file->capture->files->len : 1;
	guint bytes = CLAMP(SHARED_COPY_BYTES / MAX(1, n_files), MIN_COPY_BYTES,
			    MAX_COPY_BYTES);

	return CLAMP(bytes / file->record_size, 1, BUFFER_RECORDS);
}

/*
 * Copy the next records of a mapped file into a buffer. pread() of a page takes
 * a third of the time in which the page is mapped, read for the first time, and
 * unmapped. Return FALSE if the records can
 * only be read from the mapping.
 */
static gboolean next_copy(KmtInputReader *source, KmtInputBatch *batch)
{
	const KmtInputCpuFile *file = source->file;
	guint64 n = MIN(file->n_records - source->next, n_copied_records(file));
	gsize size = n * file->record_size, done = 0;
	guint64 at;
	ssize_t got;

	if (!file->fd)
		return FALSE;
	at = (guint64)(file->map - (const guint8 *)file->mapping) +
	     source->next * file->record_size;
	batch->buffer = kmt_input_buffer_new(size);
	do {
		got = pread(file->fd, batch->buffer->data + done, size - done,
			    (off_t)(at + done));
		done += (gsize)MAX(got, 0);
	} while (done < size && (got > 0 || (got < 0 && errno == EINTR)));
	if (done < size) {
		kmt_input_buffer_unref(batch->buffer);
		return FALSE;
	}
	batch->records = batch->buffer->data;
	batch->n = n;
	batch->stride = file->record_size;
	return TRUE;
}

static guint64 decode_all(KmtInputCpuFile *file, guint8 *records, guint64 n)
{
	struct kmemtrace_event event;
	guint64 i;
	guint cpu;

	for (i = 0; i < n && kmt_input_record_stream_decode(file, &event, &cpu);
	     i++)
		memcpy(records + i * sizeof(event), &event, sizeof(event));
	return i;
}

static gboolean next_frame(KmtInputReader *source, KmtInputBatch *batch)
{
	do {
		batch->buffer =
			kmt_input_frame_queue_next(source->queue, &batch->n);
		if (!batch->buffer)
			return FALSE;
		/* The last frame can consist of an incomplete record. */
		if (!batch->n)
			kmt_input_buffer_unref(batch->buffer);
	} while (!batch->n);
	batch->records = batch->buffer->data;
	batch->stride = source->file->record_size;
	return TRUE;
}

static gboolean next_stream_batch(KmtInputReader *source, KmtInputBatch *batch)
{
	KmtInputCpuFile *file = source->file;
	guint64 room = MAX(1, BUFFER_BYTES / file->record_size);

	if (source->at_end)
		return FALSE;
	batch->buffer = kmt_input_buffer_new(room * file->record_size);
	batch->records = batch->buffer->data;
	batch->stride = file->record_size;
	if (file->stream->decoder.variant.layout != KMT_INPUT_LAYOUT_B) {
		batch->n = decode_all(file, batch->buffer->data, room);
	} else {
		batch->n = kmt_input_record_stream_read(
			file, batch->buffer->data, room);
		if (file->swapped)
			kmt_input_swap_records(batch->buffer->data,
					       batch->buffer->data, batch->n,
					       batch->stride);
	}
	source->at_end = batch->n < room;
	if (batch->n)
		return TRUE;
	kmt_input_buffer_unref(batch->buffer);
	return FALSE;
}

gboolean kmt_input_reader_next(KmtInputReader *source, KmtInputBatch *batch)
{
	const KmtInputCpuFile *file = source->file;
	guint64 left;

	if (source->queue)
		return next_frame(source, batch);
	if (file->stream)
		return next_stream_batch(source, batch);
	left = file->n_records - source->next;
	if (!left)
		return FALSE;
	if (file->swapped) {
		batch->n = MIN(left, BUFFER_RECORDS);
		batch->stride = file->record_size;
		batch->buffer = swapped_buffer(file, source->next, batch->n);
		batch->records = batch->buffer->data;
	} else if (!next_copy(source, batch)) {
		batch->n = left;
		batch->stride = file->record_size;
		batch->buffer = NULL;
		batch->records = file->map + source->next * file->record_size;
	}
	source->next += batch->n;
	return TRUE;
}

void kmt_input_reader_release(KmtInputReader *source, guint64 index)
{
	const KmtInputCpuFile *file = source->file;
	guint64 bytes = index * file->record_size / RELEASE_STEP_BYTES *
			RELEASE_STEP_BYTES;
	guintptr from, to;

	/*
	 * Other records than those of a mapped file are not in a mapping that
	 * could be released.
	 */
	if (bytes == source->released || !file->map)
		return;
	/* A file in a tar can begin at any offset of the mapping. Round the
	 * start up, because the bytes before the file belong to another tar
	 * member. */
	from = (guintptr)file->map;
	to = (from + bytes) & ~(RELEASE_ALIGN_BYTES - 1);
	from += source->released ? source->released : RELEASE_ALIGN_BYTES - 1;
	from &= ~(RELEASE_ALIGN_BYTES - 1);
	/* The pages remain valid: a later access reads them from the file
	 * again. */
	madvise((void *)from, to - from, MADV_DONTNEED);
	source->released = bytes;
}
