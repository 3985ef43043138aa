/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decompressed frames of all files of a capture that are in memory: a cache
 * of frames for random access, and the queues of frames that readers will need
 * next (lib/input/frame-queue.h).
 */
#ifndef KMEMTRACE_INPUT_FRAME_POOL_H
#define KMEMTRACE_INPUT_FRAME_POOL_H

#include "lib/input/shared-buffer.h"
#include "lib/input/capture.h"

/*
 * Number of frames in the cache. It must be at least 2, because the programs
 * read the first and the last record of a file in turns. The fuzzers use 2.
 */
#ifndef KMT_INPUT_CACHED_FRAMES
#define KMT_INPUT_CACHED_FRAMES 16
#endif

typedef struct {
	const KmtInputFrames *frames;
	guint number; /* number of the frame in frames */
	KmtInputBuffer *buffer;
} KmtInputCachedFrame;

struct KmtInputFramePool {
	GMutex lock;
	GCond changed; /* a frame of a queue was decompressed */
	/* Protected by the lock: */
	KmtInputCachedFrame cached[KMT_INPUT_CACHED_FRAMES]; /* the one that was
							      * used last comes
							      * first */
	guint n_cached;
	GPtrArray *queues; /* array of KmtInputFrameQueue, which the readers own
			    */
	guint n_ahead;	   /* number of frames in all queues */
};

KmtInputFramePool *kmt_input_frame_pool_new(void);
void kmt_input_frame_pool_free(KmtInputFramePool *pool);

/*
 * Return a reference to frame number of frames, or NULL if the cache does not
 * have the frame. The caller releases the reference.
 */
KmtInputBuffer *kmt_input_frame_pool_lookup(KmtInputFramePool *pool,
					    const KmtInputFrames *frames,
					    guint number);
/* Add a reference to a frame to the cache, instead of the frame that was not
 * used for the longest time. */
void kmt_input_frame_pool_add(KmtInputFramePool *pool,
			      const KmtInputFrames *frames, guint number,
			      KmtInputBuffer *buffer);

#endif
