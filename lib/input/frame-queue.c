// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/capture-private.h"
#include "lib/input/frame-pool.h"
#include "lib/input/frame-queue.h"

/*
 * Maximum number of frames in a queue. kmt_input_read_ahead_begin() limits
 * the frames of all queues.
 */
#define MAX_AHEAD 16

/* A frame that another thread decompresses or has decompressed. */
typedef struct {
	gboolean is_ready;
	KmtInputBuffer *buffer; /* valid if is_ready; the queue owns a reference
				 */
	const char *reason;	/* valid if is_ready: reason of the damage, or
				 * NULL */
} QueuedFrame;

struct KmtInputFrameQueue {
	KmtInputFrames *frames;
	KmtInputFramePool *pool;
	guint record_size;
	gboolean swapped;
	gsize released; /* number of bytes at the start of the compressed file
			 * that were unmapped */
	/* Protected by the lock of the pool: */
	guint next;    /* number of the next frame to return */
	guint n_ahead; /* number of frames from next on in ahead */
	guint n_busy;  /* number of frames in ahead that threads decompress now
			*/
	QueuedFrame ahead[MAX_AHEAD]; /* frame i is ahead[i % MAX_AHEAD] */
	gint64 end_time; /* timestamp of the last record of the last frame that
			  * was decompressed */
};

KmtInputFrameQueue *kmt_input_frame_queue_new(KmtInputCpuFile *file)
{
	KmtInputFrameQueue *queue = g_new0(KmtInputFrameQueue, 1);

	queue->frames = file->frames;
	queue->pool = file->capture->frame_pool;
	queue->record_size = file->record_size;
	queue->swapped = file->swapped;
	queue->end_time = G_MININT64;
	g_mutex_lock(&queue->pool->lock);
	g_ptr_array_add(queue->pool->queues, queue);
	g_mutex_unlock(&queue->pool->lock);
	return queue;
}

void kmt_input_frame_queue_free(KmtInputFrameQueue *queue)
{
	KmtInputFramePool *pool;
	guint i;

	if (!queue)
		return;
	pool = queue->pool;
	g_mutex_lock(&pool->lock);
	g_ptr_array_remove_fast(pool->queues, queue);
	while (queue->n_busy)
		g_cond_wait(&pool->changed, &pool->lock);
	pool->n_ahead -= queue->n_ahead;
	g_mutex_unlock(&pool->lock);
	for (i = 0; i < queue->n_ahead; i++)
		kmt_input_buffer_unref(
			queue->ahead[(queue->next + i) % MAX_AHEAD].buffer);
	g_free(queue);
}

static guint n_frames(const KmtInputFrameQueue *queue)
{
	return queue->frames->index->frames->len;
}

static guint64 records_of(const KmtInputFrameQueue *queue, guint i)
{
	return kmt_input_frame_index_get(queue->frames->index, i)->size /
	       queue->record_size;
}

/*
 * Decompress frame i and convert the byte order. Small captures are in the
 * cache already, which has the byte order of the file.
 */
static QueuedFrame decompress(const KmtInputFrameQueue *queue, guint i)
{
	QueuedFrame frame = {.is_ready = TRUE};

	if (!queue->swapped)
		frame.buffer = kmt_input_frame_pool_lookup(queue->pool,
							   queue->frames, i);
	if (frame.buffer)
		return frame;
	frame.buffer =
		kmt_input_frames_decompress(queue->frames, i, &frame.reason);
	if (queue->swapped)
		kmt_input_swap_records(frame.buffer->data, frame.buffer->data,
				       records_of(queue, i),
				       queue->record_size);
	return frame;
}

/* Set end_time to that of frame i. The caller holds the lock. */
static void set_end_time(KmtInputFrameQueue *queue, guint i,
			 const KmtInputBuffer *buffer)
{
	struct kmemtrace_event event;
	guint64 n = records_of(queue, i);

	if (!n)
		return;
	memcpy(&event, buffer->data + (n - 1) * queue->record_size,
	       sizeof(event));
	queue->end_time = event.timestamp;
}

/* Unmap compressed data before byte end of the file. */
static void release(KmtInputFrameQueue *queue, gsize end)
{
	if (end - queue->released < KMT_INPUT_UNMAP_STEP_BYTES)
		return;
	kmt_input_unmap_range(queue->frames->data, queue->released, end);
	queue->released = end;
}

/* Take frame i from the queue. The caller holds the lock. */
static QueuedFrame take(KmtInputFrameQueue *queue, guint i)
{
	QueuedFrame *frame = &queue->ahead[i % MAX_AHEAD];

	while (!frame->is_ready)
		g_cond_wait(&queue->pool->changed, &queue->pool->lock);
	queue->n_ahead--;
	queue->pool->n_ahead--;
	queue->next++;
	return *frame;
}

KmtInputBuffer *kmt_input_frame_queue_next(KmtInputFrameQueue *queue,
					   guint64 *n_records)
{
	KmtInputFramePool *pool = queue->pool;
	QueuedFrame frame;
	guint i = queue->next;

	if (i == n_frames(queue))
		return NULL;
	g_mutex_lock(&pool->lock);
	if (queue->n_ahead) {
		frame = take(queue, i);
		g_mutex_unlock(&pool->lock);
	} else {
		queue->next++;
		g_mutex_unlock(&pool->lock);
		frame = decompress(queue, i);
		g_mutex_lock(&pool->lock);
		if (queue->n_ahead == 0)
			set_end_time(queue, i, frame.buffer);
		g_mutex_unlock(&pool->lock);
	}
	if (frame.reason)
		kmt_input_frames_note_damage(queue->frames, i, frame.reason);
	release(queue, (gsize)kmt_input_frame_index_get(queue->frames->index, i)
			       ->packed_at);
	*n_records = records_of(queue, i);
	return frame.buffer;
}

/*
 * Return the queue whose next frame will be needed first: the merge needs it
 * after the last record of the frame before. A queue whose last frame is being
 * decompressed comes after all others, because the time of its last record is
 * not known yet. Return NULL if no queue needs a frame. The caller holds the
 * lock.
 */
static KmtInputFrameQueue *most_urgent(const KmtInputFramePool *pool)
{
	KmtInputFrameQueue *best = NULL;
	guint i;

	for (i = 0; i < pool->queues->len; i++) {
		KmtInputFrameQueue *queue = pool->queues->pdata[i];

		if (queue->n_ahead == MAX_AHEAD ||
		    queue->next + queue->n_ahead == n_frames(queue))
			continue;
		if (!best || queue->n_busy < best->n_busy ||
		    (queue->n_busy == best->n_busy &&
		     queue->end_time < best->end_time))
			best = queue;
	}
	return best;
}

gboolean kmt_input_read_ahead_begin(const KmtInputCapture *capture,
				    guint max_frames, KmtInputReadAhead *job)
{
	KmtInputFramePool *pool = capture->frame_pool;
	KmtInputFrameQueue *queue = NULL;

	if (!pool)
		return FALSE;
	g_mutex_lock(&pool->lock);
	if (pool->n_ahead < max_frames)
		queue = most_urgent(pool);
	if (queue) {
		job->queue = queue;
		job->number = queue->next + queue->n_ahead++;
		queue->ahead[job->number % MAX_AHEAD].is_ready = FALSE;
		queue->n_busy++;
		pool->n_ahead++;
	}
	g_mutex_unlock(&pool->lock);
	return queue != NULL;
}

void kmt_input_read_ahead_run(const KmtInputReadAhead *job)
{
	KmtInputFrameQueue *queue = job->queue;
	KmtInputFramePool *pool = queue->pool;
	QueuedFrame frame = decompress(queue, job->number);

	g_mutex_lock(&pool->lock);
	queue->ahead[job->number % MAX_AHEAD] = frame;
	if (queue->next + queue->n_ahead == job->number + 1)
		set_end_time(queue, job->number, frame.buffer);
	queue->n_busy--;
	g_cond_broadcast(&pool->changed);
	g_mutex_unlock(&pool->lock);
}
