// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/libzstd.h"
#include "lib/input/frame-index.h"

void kmt_input_frame_index_free(KmtInputFrameIndex *index)
{
	if (!index)
		return;
	g_array_unref(index->frames);
	g_free(index);
}

guint kmt_input_frame_index_find(const KmtInputFrameIndex *index, guint64 at)
{
	guint first = 0, n = index->frames->len;

	/* Invariant: frame first begins at or before at, frame first + n after
	 * at. */
	while (n > 1) {
		guint half = n / 2;

		if (kmt_input_frame_index_get(index, first + half)->at <= at) {
			first += half;
			n -= half;
		} else {
			n = half;
		}
	}
	return first;
}

void kmt_input_unmap_range(const guint8 *data, gsize from, gsize to)
{
	guintptr page = (guintptr)sysconf(_SC_PAGESIZE);
	guintptr begin = ((guintptr)data + from + page - 1) / page * page;
	guintptr end = ((guintptr)data + to) / page * page;

	if (begin < end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

#ifdef HAVE_LIBZSTD

/*
 * Maximum number of positions after damaged parts at which a header is tried,
 * so that the time is proportional to the file size for hostile data, too.
 */
#define MAX_TRIES 64

typedef struct {
	const KmtLibzstd *lib;
	const guint8 *data;
	gsize n;
	guint tries; /* number of tries after damaged parts */
} HeaderReader;

/* Result of reading a header. */
typedef enum {
	HEADER_OK,
	HEADER_INVALID, /* there is no complete frame */
	HEADER_FOREIGN, /* a frame whose content size is unknown or too large */
} HeaderResult;

static HeaderResult read_header(const HeaderReader *r, gsize at,
				KmtInputFrame *frame)
{
	gsize size =
		r->lib->ZSTD_findFrameCompressedSize(r->data + at, r->n - at);
	unsigned long long content;

	if (r->lib->ZSTD_isError(size))
		return HEADER_INVALID;
	content = r->lib->ZSTD_getFrameContentSize(r->data + at, size);
	if (content > KMT_INPUT_MAX_FRAME_BYTES || size > G_MAXUINT32)
		return HEADER_FOREIGN;
	*frame = (KmtInputFrame){.packed_at = at,
				 .packed_size = (guint32)size,
				 .size = (guint32)content};
	return HEADER_OK;
}

/*
 * Return the position of the next frame with content after a damaged part that
 * begins at @at, or the size of the file if there is none.
 */
static gsize find_next(HeaderReader *r, gsize at)
{
	static const guint8 magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	const guint8 *found;
	KmtInputFrame frame;

	while ((found = memmem(r->data + at + 1, r->n - at - 1, magic,
			       sizeof(magic)))) {
		at = (gsize)(found - r->data);
		if (r->tries++ == MAX_TRIES)
			break;
		if (read_header(r, at, &frame) == HEADER_OK && frame.size)
			return at;
	}
	return r->n;
}

static gboolean add_frames(KmtInputFrameIndex *index, HeaderReader *r)
{
	gsize at = 0, unmapped = 0, next;
	KmtInputFrame frame;

	while (at < r->n) {
		if (at - unmapped >= KMT_INPUT_UNMAP_STEP_BYTES) {
			kmt_input_unmap_range(r->data, unmapped, at);
			unmapped = at;
		}
		switch (read_header(r, at, &frame)) {
		case HEADER_OK:
			at += frame.packed_size;
			if (!frame.size)
				continue;
			frame.at = index->size;
			index->size += frame.size;
			g_array_append_val(index->frames, frame);
			break;
		case HEADER_INVALID:
			if (!at)
				return FALSE;
			next = find_next(r, at);
			if (!index->damaged_bytes)
				index->damaged_at = at;
			index->damaged_bytes += next - at;
			at = next;
			break;
		case HEADER_FOREIGN:
			return FALSE;
		}
	}
	return at > 0;
}

KmtInputFrameIndex *kmt_input_frame_index_new(const guint8 *data, gsize n)
{
	HeaderReader reader = {
		.lib = kmt_libzstd_get(NULL), .data = data, .n = n};
	g_autoptr(KmtInputFrameIndex) index = NULL;

	if (!reader.lib)
		return NULL;
	index = g_new0(KmtInputFrameIndex, 1);
	index->frames = g_array_new(FALSE, FALSE, sizeof(KmtInputFrame));
	return add_frames(index, &reader) ? g_steal_pointer(&index) : NULL;
}

#else

KmtInputFrameIndex *kmt_input_frame_index_new(const guint8 *data, gsize n)
{
	return NULL;
}

#endif
