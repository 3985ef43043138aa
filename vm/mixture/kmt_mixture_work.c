// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workers, which hold objects of many sizes and free some of them in an order
 * that leaves slabs partly used.
 */
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include "kmt_mixture.h"

#define WORKERS 4
/* A power of two, so that each odd step visits all slots. */
#define SLOTS	    8192
#define CHURN_STEPS (4 * SLOTS)
/* One object of the module's cache among this number of objects. */
#define CACHE_SHARE 8

/*
 * Requested bytes of kmalloc objects. The sizes lie on both sides of the
 * classes of kmalloc, and small ones are more frequent.
 */
static const u16 sizes[] = {
	8,   16,  24,  32,  32,	 40,  48,   56,	  64,	64,   72,
	80,  96,  96,  104, 120, 128, 136,  160,  192,	192,  232,
	256, 264, 320, 512, 520, 576, 1000, 1024, 2048, 3000,
};

struct mixture_worker {
	struct mutex mutex;
	struct mixture_stream stream;
	struct mixture_object *slots;
};

static struct mixture_worker workers[WORKERS];

void mixture_stream_init(struct mixture_stream *stream, u32 seed)
{
	memset(stream, 0, sizeof(*stream));
	stream->state = seed * 2654435761u + 1;
}

u32 mixture_random(struct mixture_stream *stream)
{
	/* The generator xorshift32, whose state is never 0. */
	stream->state ^= stream->state << 13;
	stream->state ^= stream->state >> 17;
	stream->state ^= stream->state << 5;
	return stream->state;
}

int mixture_alloc(struct mixture_stream *stream, struct mixture_object *object)
{
	u32 number = mixture_random(stream);
	struct mixture_counts *counts;

	if (number % CACHE_SHARE == 0) {
		counts = &stream->cache;
		object->bytes = 0;
		object->memory = kmem_cache_alloc(mixture_cache, GFP_KERNEL);
	} else {
		counts = &stream->kmalloc;
		object->bytes = sizes[(number >> 8) % ARRAY_SIZE(sizes)];
		object->memory = kmalloc(object->bytes, GFP_KERNEL);
	}
	if (!object->memory)
		return -ENOMEM;
	object->cpu = raw_smp_processor_id();
	counts->allocs++;
	counts->bytes += object->bytes ?: MIXTURE_CACHE_BYTES;
	counts->usable_bytes += object->bytes ? ksize(object->memory) : 0;
	return 0;
}

void mixture_free(struct mixture_stream *stream, struct mixture_object *object)
{
	struct mixture_counts *counts =
		object->bytes ? &stream->kmalloc : &stream->cache;

	if (!object->memory)
		return;
	counts->frees++;
	counts->freed_bytes += object->bytes ?: MIXTURE_CACHE_BYTES;
	counts->freed_usable_bytes += object->bytes ? ksize(object->memory) : 0;
	counts->cross_cpu_frees += object->cpu != raw_smp_processor_id();
	if (object->bytes)
		kfree(object->memory);
	else
		kmem_cache_free(mixture_cache, object->memory);
	object->memory = NULL;
}

static void add_counts(struct mixture_counts *sum,
		       const struct mixture_counts *counts)
{
	sum->allocs += counts->allocs;
	sum->bytes += counts->bytes;
	sum->usable_bytes += counts->usable_bytes;
	sum->frees += counts->frees;
	sum->freed_bytes += counts->freed_bytes;
	sum->freed_usable_bytes += counts->freed_usable_bytes;
	sum->cross_cpu_frees += counts->cross_cpu_frees;
}

void mixture_add(const struct mixture_stream *stream,
		 struct mixture_counts *kmalloc, struct mixture_counts *cache)
{
	add_counts(kmalloc, &stream->kmalloc);
	add_counts(cache, &stream->cache);
}

/* Allocate an object in each slot. */
static int worker_fill(struct mixture_worker *worker)
{
	unsigned int i;
	int err;

	for (i = 0; i < SLOTS; i++) {
		mixture_free(&worker->stream, &worker->slots[i]);
		err = mixture_alloc(&worker->stream, &worker->slots[i]);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

/* Replace objects in random slots, so that neighbours in a slab differ in age.
 */
static int worker_churn(struct mixture_worker *worker)
{
	struct mixture_object *object;
	unsigned int i;
	int err;

	for (i = 0; i < CHURN_STEPS; i++) {
		object =
			&worker->slots[mixture_random(&worker->stream) % SLOTS];
		mixture_free(&worker->stream, object);
		err = mixture_alloc(&worker->stream, object);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

/* Free three of four objects, spread over all slabs. */
static int worker_thin(struct mixture_worker *worker)
{
	unsigned int i, step = mixture_random(&worker->stream) | 1;

	for (i = 0; i < SLOTS; i++) {
		if (mixture_random(&worker->stream) % 4)
			mixture_free(&worker->stream,
				     &worker->slots[i * step % SLOTS]);
		cond_resched();
	}
	return 0;
}

static int worker_drop(struct mixture_worker *worker)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		mixture_free(&worker->stream, &worker->slots[i]);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct mixture_worker *worker);
} commands[] = {
	{"fill", worker_fill},
	{"churn", worker_churn},
	{"thin", worker_thin},
	{"drop", worker_drop},
};

int mixture_worker_run(const char *command, unsigned long worker)
{
	unsigned int i;
	int err;

	if (worker >= WORKERS)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(command, commands[i].name))
			break;
	if (i == ARRAY_SIZE(commands))
		return -EINVAL;
	mutex_lock(&workers[worker].mutex);
	err = commands[i].run(&workers[worker]);
	mutex_unlock(&workers[worker].mutex);
	return err;
}

void mixture_workers_add(struct mixture_counts *kmalloc,
			 struct mixture_counts *cache)
{
	unsigned int i;

	for (i = 0; i < WORKERS; i++) {
		mutex_lock(&workers[i].mutex);
		mixture_add(&workers[i].stream, kmalloc, cache);
		mutex_unlock(&workers[i].mutex);
	}
}

int mixture_workers_init(void)
{
	unsigned int i;

	for (i = 0; i < WORKERS; i++) {
		mutex_init(&workers[i].mutex);
		mixture_stream_init(&workers[i].stream, i + 1);
		workers[i].slots =
			vzalloc(array_size(SLOTS, sizeof(*workers[i].slots)));
		if (!workers[i].slots) {
			mixture_workers_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

void mixture_workers_exit(void)
{
	unsigned int i;

	for (i = 0; i < WORKERS; i++) {
		if (workers[i].slots)
			worker_drop(&workers[i]);
		vfree(workers[i].slots);
		workers[i].slots = NULL;
	}
}
