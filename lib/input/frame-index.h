/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Positions of the zstd frames in a compressed cpu file. kmemtraced and
 * kmemtrace-import write files of independent frames with a known content size,
 * so that each frame can be decompressed alone, by any thread.
 */
#ifndef KMEMTRACE_INPUT_FRAME_INDEX_H
#define KMEMTRACE_INPUT_FRAME_INDEX_H

#include <glib.h>

/*
 * Maximum size of the content of a frame in bytes. A file with a larger frame
 * is read as a stream, so that a small file cannot claim much memory. The
 * fuzzers use a smaller number.
 */
#ifndef KMT_INPUT_MAX_FRAME_BYTES
#define KMT_INPUT_MAX_FRAME_BYTES ((gsize)4 << 20)
#endif

/* Mapped pages that were read are unmapped in steps of this number of bytes. */
#define KMT_INPUT_UNMAP_STEP_BYTES ((gsize)4 << 20)

/* A frame that has content. Positions and sizes are in bytes. */
typedef struct {
	guint64 packed_at; /* position in the file */
	guint64 at;	   /* position of the content in the content of the
			    * whole file */
	guint32 packed_size, size; /* size in the file, and of the content */
	gboolean is_damaged; /* the frame cannot be decompressed, according to
			      * kmt_input_frames_note_damage() */
} KmtInputFrame;

typedef struct {
	GArray *frames; /* array of KmtInputFrame, in file order */
	guint64 size;	/* size of the content of all frames in bytes */
	/* Parts of the file that contain no frame: position of the first one,
	 * and total size; size 0: none. */
	guint64 damaged_at, damaged_bytes;
} KmtInputFrameIndex;

/*
 * Read the headers of the n bytes at data, a mapped file, and decompress
 * nothing. Return NULL if the data does not begin with a frame, if the content
 * size of a frame is unknown or exceeds KMT_INPUT_MAX_FRAME_BYTES, or if
 * libzstd cannot be used.
 * Skippable frames have no content. After a part without a valid header, the
 * index continues with the next frame. The caller frees the index.
 */
KmtInputFrameIndex *kmt_input_frame_index_new(const guint8 *data, gsize n);
void kmt_input_frame_index_free(KmtInputFrameIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputFrameIndex, kmt_input_frame_index_free)

/*
 * Unmap the resident pages of data, a mapping, that contain only bytes from
 * @from to @to, so that the kernel can reuse the memory. A later access maps
 * the pages again.
 */
void kmt_input_unmap_range(const guint8 *data, gsize from, gsize to);

static inline KmtInputFrame *
kmt_input_frame_index_get(const KmtInputFrameIndex *index, guint i)
{
	return &g_array_index(index->frames, KmtInputFrame, i);
}

/* Return the number of the frame that contains byte at of the content, which
 * must be less than index->size. */
guint kmt_input_frame_index_find(const KmtInputFrameIndex *index, guint64 at);

#endif
