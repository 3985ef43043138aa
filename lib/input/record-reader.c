// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/input/record-reader.h"

/* Bytes that are given back at a time. */
#define RELEASE (4u << 20)

/* Few pages are larger.  Of one that is given back in part, all comes back with
 * the next access to the rest, and stays. */
#define RELEASE_ALIGN ((guintptr)2 << 20)

/* Records converted at a time; the tests take few. */
#ifndef PIECE_RECORDS
#define PIECE_RECORDS 2048
#endif

/* Of a stream. */
#define PIECE_BYTES (PIECE_RECORDS * KMEMTRACE_EVENT_SIZE_V1)

struct KmtSource {
	KmtCpuFile *file;
	guint64 next;	  /* record */
	guint64 released; /* bytes, a multiple of RELEASE */
	gboolean at_end;  /* of a stream */
};

KmtPiece *kmt_piece_ref(KmtPiece *piece)
{
	g_atomic_int_inc(&piece->refs);
	return piece;
}

void kmt_piece_unref(KmtPiece *piece)
{
	if (piece && g_atomic_int_dec_and_test(&piece->refs))
		g_free(piece);
}

KmtSource *kmt_source_new(KmtCpuFile *file)
{
	KmtSource *source = g_new0(KmtSource, 1);

	source->file = file;
	return source;
}

void kmt_source_free(KmtSource *source)
{
	g_free(source);
}

static KmtPiece *piece_new(guint64 n, guint record_size)
{
	KmtPiece *piece = g_malloc(sizeof(KmtPiece) + n * record_size);

	piece->refs = 1;
	return piece;
}

/* All of a record that has a meaning, in the host's byte order. */
static void swap_record(guint8 *to, const guint8 *from, guint record_size)
{
	struct kmemtrace_event_v2 event;
	struct kmemtrace_event_v2s newest;
	guint32 stack;

	if (record_size < sizeof(event)) {
		memcpy(&event.v1, from, sizeof(event.v1));
		kmt_event_swap(&event.v1);
		memcpy(to, &event.v1, sizeof(event.v1));
		return;
	}
	memcpy(&event, from, sizeof(event));
	kmt_event_swap(&event.v1);
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

static KmtPiece *swapped_piece(const KmtCpuFile *file, guint64 first, guint64 n)
{
	KmtPiece *piece = piece_new(n, file->record_size);
	const guint8 *from = file->map + first * file->record_size;
	guint64 i;

	for (i = 0; i < n; i++)
		swap_record(piece->data + i * file->record_size,
			    from + i * file->record_size, file->record_size);
	return piece;
}

static void swap_all(guint8 *records, guint64 n, guint stride)
{
	for (; n; n--, records += stride)
		swap_record(records, records, stride);
}

static guint64 decode_all(KmtCpuFile *file, guint8 *records, guint64 n)
{
	struct kmemtrace_event event;
	guint64 i;
	guint cpu;

	for (i = 0; i < n && kmt_stream_decode(file, &event, &cpu); i++)
		memcpy(records + i * sizeof(event), &event, sizeof(event));
	return i;
}

static gboolean next_of_stream(KmtSource *source, KmtRun *run)
{
	KmtCpuFile *file = source->file;
	guint64 room = MAX(1, PIECE_BYTES / file->record_size);

	if (source->at_end)
		return FALSE;
	run->piece = piece_new(room, file->record_size);
	run->records = run->piece->data;
	run->stride = file->record_size;
	if (file->stream->decoder.variant.layout != KMT_LAYOUT_B) {
		run->n = decode_all(file, run->piece->data, room);
	} else {
		run->n = kmt_stream_read(file, run->piece->data, room);
		if (file->swapped)
			swap_all(run->piece->data, run->n, run->stride);
	}
	source->at_end = run->n < room;
	if (run->n)
		return TRUE;
	kmt_piece_unref(run->piece);
	return FALSE;
}

gboolean kmt_source_next(KmtSource *source, KmtRun *run)
{
	const KmtCpuFile *file = source->file;
	guint64 left;

	if (file->stream)
		return next_of_stream(source, run);
	left = file->n_records - source->next;
	if (!left)
		return FALSE;
	if (file->swapped) {
		run->n = MIN(left, PIECE_RECORDS);
		run->stride = file->record_size;
		run->piece = swapped_piece(file, source->next, run->n);
		run->records = run->piece->data;
	} else {
		run->n = left;
		run->stride = file->record_size;
		run->piece = NULL;
		run->records = file->map + source->next * file->record_size;
	}
	source->next += run->n;
	return TRUE;
}

void kmt_source_release(KmtSource *source, guint64 index)
{
	const KmtCpuFile *file = source->file;
	guint64 bytes = index * file->record_size / RELEASE * RELEASE;
	guintptr from, to;

	/* A stream has no map, and may have gone on. */
	if (bytes == source->released || file->stream)
		return;
	/* In a tar files begin anywhere, and what is before is not ours. */
	from = (guintptr)file->map;
	to = (from + bytes) & ~(RELEASE_ALIGN - 1);
	from += source->released ? source->released : RELEASE_ALIGN - 1;
	from &= ~(RELEASE_ALIGN - 1);
	/* What is asked for again is read again. */
	madvise((void *)from, to - from, MADV_DONTNEED);
	source->released = bytes;
}
