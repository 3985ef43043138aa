/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sequential reader of the frames of a file. Other threads can decompress the
 * next frames of all readers of a capture in advance; see
 * kmt_input_read_ahead_begin(). A reader decompresses a frame itself if no
 * other thread has begun to do so.
 */
#ifndef KMEMTRACE_INPUT_FRAME_QUEUE_H
#define KMEMTRACE_INPUT_FRAME_QUEUE_H

#include "lib/input/frames.h"

typedef struct KmtInputFrameQueue KmtInputFrameQueue;

/*
 * Create a reader at the first frame of file, which must outlive the reader.
 * The caller frees the reader, while no thread calls
 * kmt_input_frame_queue_next().
 */
KmtInputFrameQueue *kmt_input_frame_queue_new(KmtInputCpuFile *file);
void kmt_input_frame_queue_free(KmtInputFrameQueue *queue);

/*
 * Return the content of the next frame in the byte order of this host, and set
 * *n_records to the number of complete records in it. The caller releases the
 * buffer. Return NULL at the end. A damaged frame consists of zeros and is
 * recorded in the defect of the file.
 */
KmtInputBuffer *kmt_input_frame_queue_next(KmtInputFrameQueue *queue,
					   guint64 *n_records);

/* A frame to be decompressed in advance. */
typedef struct {
	KmtInputFrameQueue *queue;
	guint number; /* number of the frame in its file */
} KmtInputReadAhead;

/*
 * Choose the frame that the readers of a capture will need next, and return
 * TRUE. The caller must pass *job to kmt_input_read_ahead_run(), which
 * decompresses the frame, because a reader may wait for the frame. Return FALSE
 * if no reader needs a frame, or if max_frames frames are decompressed already.
 * Any thread may call these functions, while the readers exist.
 */
gboolean kmt_input_read_ahead_begin(const KmtInputCapture *capture,
				    guint max_frames, KmtInputReadAhead *job);
void kmt_input_read_ahead_run(const KmtInputReadAhead *job);

#endif
