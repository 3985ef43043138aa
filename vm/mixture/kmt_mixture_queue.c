// SPDX-License-Identifier: GPL-2.0-only
/* A queue from a producer to a consumer, which frees on another CPU. */
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "kmt_mixture.h"

/* A power of two. */
#define QUEUE_LENGTH 512
/* Wake the other side after so many objects, because a wake-up costs much more.
 */
#define QUEUE_BATCH 128

static struct mixture_object queue[QUEUE_LENGTH];
/* Numbers of objects that were put into and taken out of the queue. */
static unsigned long queue_put, queue_taken;
static DECLARE_WAIT_QUEUE_HEAD(queue_wait);
static struct mixture_stream producer, consumer;

void mixture_queue_init(void)
{
	mixture_stream_init(&producer, 101);
	mixture_stream_init(&consumer, 102);
}

static void consume_one(void)
{
	mixture_free(&consumer, &queue[queue_taken % QUEUE_LENGTH]);
	/* Pairs with the acquire in room_in_queue(): the slot is empty. */
	smp_store_release(&queue_taken, queue_taken + 1);
}

void mixture_queue_exit(void)
{
	while (queue_taken != queue_put)
		consume_one();
}

/* Return how many objects the producer may put into the queue. */
static unsigned long room_in_queue(void)
{
	/* Pairs with the release in consume_one(). */
	return QUEUE_LENGTH - (queue_put - smp_load_acquire(&queue_taken));
}

/* Return how many objects the consumer may take out of the queue. */
static unsigned long queue_filled(void)
{
	/* Pairs with the release in mixture_produce(). */
	return smp_load_acquire(&queue_put) - queue_taken;
}

int mixture_produce(unsigned long n)
{
	unsigned long batch;
	int err;

	while (n) {
		err = wait_event_killable(queue_wait,
					  room_in_queue() >= QUEUE_BATCH);
		if (err)
			return err;
		for (batch = min_t(unsigned long, n, QUEUE_BATCH); batch;
		     batch--, n--) {
			err = mixture_alloc(&producer,
					    &queue[queue_put % QUEUE_LENGTH]);
			if (err)
				return err;
			/* Pairs with the acquire in queue_filled(). */
			smp_store_release(&queue_put, queue_put + 1);
		}
		wake_up(&queue_wait);
	}
	return 0;
}

int mixture_consume(unsigned long n)
{
	unsigned long batch;
	int err;

	while (n) {
		batch = min_t(unsigned long, n, QUEUE_BATCH);
		err = wait_event_killable(queue_wait, queue_filled() >= batch);
		if (err)
			return err;
		for (n -= batch; batch; batch--)
			consume_one();
		wake_up(&queue_wait);
	}
	return 0;
}

void mixture_queue_add(struct mixture_counts *kmalloc,
		       struct mixture_counts *cache)
{
	mixture_add(&producer, kmalloc, cache);
	mixture_add(&consumer, kmalloc, cache);
}
