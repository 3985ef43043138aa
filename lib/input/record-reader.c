// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>
#include <sys/mman.h>

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

struct KmtInputReader {
	KmtInputCpuFile *file;
	guint64 next;	  /* index of the next record to return */
	guint64 released; /* number of bytes at the start of the file that were
			   * released, a multiple of RELEASE_STEP_BYTES */
	gboolean at_end;  /* the stream has no further records */
};

KmtInputBuffer *kmt_input_buffer_ref(KmtInputBuffer *buffer)
{
	g_atomic_int_inc(&buffer->refs);
	return buffer;
}

void kmt_input_buffer_unref(KmtInputBuffer *buffer)
{
	if (buffer && g_atomic_int_dec_and_test(&buffer->refs))
		g_free(buffer);
}

KmtInputReader *kmt_input_reader_new(KmtInputCpuFile *file)
{
	KmtInputReader *source = g_new0(KmtInputReader, 1);

	source->file = file;
	return source;
}

void kmt_input_reader_free(KmtInputReader *source)
{
	g_free(source);
}

static KmtInputBuffer *buffer_new(guint64 n, guint record_size)
{
	KmtInputBuffer *buffer =
		g_malloc(sizeof(KmtInputBuffer) + n * record_size);

	buffer->refs = 1;
	return buffer;
}

/*
 * Copy the known fields of a record and convert them to the byte order of this
 * host. to and from may be equal; if they are not, bytes beyond the known
 * fields remain undefined.
 */
static void swap_record(guint8 *to, const guint8 *from, guint record_size)
{
	struct kmemtrace_event_v2 event;
	struct kmemtrace_event_v2s newest;
	guint32 stack;

	if (record_size < sizeof(event)) {
		memcpy(&event.v1, from, sizeof(event.v1));
		kmt_input_swap_event(&event.v1);
		memcpy(to, &event.v1, sizeof(event.v1));
		return;
	}
	memcpy(&event, from, sizeof(event));
	kmt_input_swap_event(&event.v1);
	event.pid = GUINT32_SWAP_LE_BE(event.pid);
	event.cache = GUINT16_SWAP_LE_BE(event.cache);
	event.flags = GUINT16_SWAP_LE_BE(event.flags);
	memcpy(to, &event, sizeof(event));
	if (record_size < sizeof(newest))
		return;
	memcpy(&newest, from, sizeof(newest));
	stack = GUINT32_SWAP_LE_BE(newest.stack);
	memcpy(to + offsetof(struct kmemtrace_event_v2s, stack), &stack,
	       sizeof(stack));
}

static KmtInputBuffer *swapped_buffer(const KmtInputCpuFile *file,
				      guint64 first, guint64 n)
{
	KmtInputBuffer *buffer = buffer_new(n, file->record_size);
	const guint8 *from = file->map + first * file->record_size;
	guint64 i;

	for (i = 0; i < n; i++)
		swap_record(buffer->data + i * file->record_size,
			    from + i * file->record_size, file->record_size);
	return buffer;
}

static void swap_all(guint8 *records, guint64 n, guint stride)
{
	for (; n; n--, records += stride)
		swap_record(records, records, stride);
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

static gboolean next_stream_batch(KmtInputReader *source, KmtInputBatch *batch)
{
	KmtInputCpuFile *file = source->file;
	guint64 room = MAX(1, BUFFER_BYTES / file->record_size);

	if (source->at_end)
		return FALSE;
	batch->buffer = buffer_new(room, file->record_size);
	batch->records = batch->buffer->data;
	batch->stride = file->record_size;
	if (file->stream->decoder.variant.layout != KMT_INPUT_LAYOUT_B) {
		batch->n = decode_all(file, batch->buffer->data, room);
	} else {
		batch->n = kmt_input_record_stream_read(
			file, batch->buffer->data, room);
		if (file->swapped)
			swap_all(batch->buffer->data, batch->n, batch->stride);
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
	} else {
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
	 * The records of a stream are not in a mapping that could be released.
	 */
	if (bytes == source->released || file->stream)
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
