// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "trace/source.h"

/* Bytes that are given back at a time. */
#define RELEASE (4u << 20)

/* Records converted at a time. */
#define PIECE_RECORDS 2048

struct KmtSource {
	const KmtCpuFile *file;
	guint64 next;	  /* record */
	guint64 released; /* bytes, a multiple of RELEASE */
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

KmtSource *kmt_source_new(const KmtCpuFile *file)
{
	KmtSource *source = g_new0(KmtSource, 1);

	source->file = file;
	return source;
}

void kmt_source_free(KmtSource *source)
{
	g_free(source);
}

static KmtPiece *swapped_piece(const KmtCpuFile *file, guint64 first, guint64 n)
{
	KmtPiece *piece =
		g_malloc(sizeof(KmtPiece) + n * sizeof(struct kmemtrace_event));
	const guint8 *from = file->map + first * file->record_size;
	guint64 i;

	piece->refs = 1;
	for (i = 0; i < n; i++) {
		struct kmemtrace_event event;

		memcpy(&event, from + i * file->record_size, sizeof(event));
		kmt_event_swap(&event);
		memcpy(piece->data + i * sizeof(event), &event, sizeof(event));
	}
	return piece;
}

gboolean kmt_source_next(KmtSource *source, KmtRun *run)
{
	const KmtCpuFile *file = source->file;
	guint64 left = file->n_records - source->next;

	if (!left)
		return FALSE;
	if (file->swapped) {
		run->n = MIN(left, PIECE_RECORDS);
		run->stride = sizeof(struct kmemtrace_event);
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

	if (bytes == source->released)
		return;
	/* What is asked for again is read again. */
	madvise((void *)(file->map + source->released),
		bytes - source->released, MADV_DONTNEED);
	source->released = bytes;
}
