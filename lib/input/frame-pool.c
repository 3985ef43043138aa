// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/frame-pool.h"

KmtInputFramePool *kmt_input_frame_pool_new(void)
{
	KmtInputFramePool *pool = g_new0(KmtInputFramePool, 1);

	g_mutex_init(&pool->lock);
	g_cond_init(&pool->changed);
	pool->queues = g_ptr_array_new();
	return pool;
}

void kmt_input_frame_pool_free(KmtInputFramePool *pool)
{
	guint i;

	if (!pool)
		return;
	for (i = 0; i < pool->n_cached; i++)
		kmt_input_buffer_unref(pool->cached[i].buffer);
	g_ptr_array_unref(pool->queues);
	g_mutex_clear(&pool->lock);
	g_cond_clear(&pool->changed);
	g_free(pool);
}

/* Move entry i of the cache to the start. */
static void move_to_front(KmtInputFramePool *pool, guint i)
{
	KmtInputCachedFrame entry = pool->cached[i];

	memmove(&pool->cached[1], &pool->cached[0], i * sizeof(entry));
	pool->cached[0] = entry;
}

KmtInputBuffer *kmt_input_frame_pool_lookup(KmtInputFramePool *pool,
					    const KmtInputFrames *frames,
					    guint number)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
		g_mutex_locker_new(&pool->lock);
	guint i;

	for (i = 0; i < pool->n_cached; i++) {
		if (pool->cached[i].frames != frames ||
		    pool->cached[i].number != number)
			continue;
		move_to_front(pool, i);
		return kmt_input_buffer_ref(pool->cached[0].buffer);
	}
	return NULL;
}

void kmt_input_frame_pool_add(KmtInputFramePool *pool,
			      const KmtInputFrames *frames, guint number,
			      KmtInputBuffer *buffer)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
		g_mutex_locker_new(&pool->lock);
	guint last = MIN(pool->n_cached, KMT_INPUT_CACHED_FRAMES - 1);

	if (pool->n_cached < KMT_INPUT_CACHED_FRAMES)
		pool->n_cached++;
	else
		kmt_input_buffer_unref(pool->cached[last].buffer);
	pool->cached[last] =
		(KmtInputCachedFrame){.frames = frames,
				      .number = number,
				      .buffer = kmt_input_buffer_ref(buffer)};
	move_to_front(pool, last);
}
