/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Content of a compressed cpu file that consists of independent zstd frames.
 * Each frame is decompressed when its records are read, so that the records can
 * be read in any order and several times, as those of a mapped file.
 */
#ifndef KMEMTRACE_INPUT_FRAMES_H
#define KMEMTRACE_INPUT_FRAMES_H

#include "lib/input/shared-buffer.h"
#include "lib/input/byte-stream.h"
#include "lib/input/capture.h"
#include "lib/input/frame-index.h"

struct KmtInputFrames {
	KmtInputFrameIndex *index;
	const guint8 *data; /* mapped file */
	KmtInputCpuFile *file;
	/* Protected by the lock of the pool: */
	guint n_damaged;       /* number of frames with is_damaged */
	guint64 damaged_bytes; /* size of their content */
	char *first_reason;    /* reason of the first damage; NULL if none */
};

/*
 * If kmt_input_frame_index_new() accepts the mapped content of file, and the
 * frames do not contain a tar, set file->frames and file->size, clear
 * file->map, and return TRUE. The mapping must stay valid. Otherwise return
 * FALSE and leave the file unchanged.
 */
gboolean kmt_input_frames_open(KmtInputCpuFile *file);
void kmt_input_frames_free(KmtInputFrames *frames);

/*
 * Decompress frame i into a new buffer, which the caller owns. If the frame is
 * damaged, fill the buffer with zeros, which are invalid records, and set
 * *reason to a static string; otherwise set *reason to NULL. Any thread may
 * call this function.
 */
KmtInputBuffer *kmt_input_frames_decompress(const KmtInputFrames *frames,
					    guint i, const char **reason);

/*
 * Record that frame i cannot be decompressed in the defect of the file, and
 * mark the capture as damaged. Any thread may call this function, any number of
 * times for a frame.
 */
void kmt_input_frames_note_damage(KmtInputFrames *frames, guint i,
				  const char *reason);

/*
 * Return a pointer to byte at of the content, and set *n to the number of bytes
 * that follow in the same frame. at must be less than file->size. Set *buffer
 * to a reference that the caller releases after the last access. The bytes have
 * the byte order of the file. The cache of the capture keeps the frame for
 * later calls. Any thread may call this function.
 */
const guint8 *kmt_input_frames_view(KmtInputFrames *frames, guint64 at,
				    gsize *n, KmtInputBuffer **buffer);

/* Return whether only the last frame may end within a record. */
gboolean kmt_input_frames_have_whole_records(const KmtInputFrames *frames,
					     guint record_size);

/*
 * Return a stream of the content, for records that must be read in order. The
 * stream takes over frames. The caller frees the stream before the file.
 */
KmtInputByteStream *kmt_input_frames_stream(KmtInputFrames *frames);

#endif
