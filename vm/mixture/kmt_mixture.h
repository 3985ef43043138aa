/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the files of kmt_mixture share. */
#ifndef KMT_MIXTURE_H
#define KMT_MIXTURE_H

#include <linux/seq_file.h>
#include <linux/types.h>

#include "kmt_compat.h"

/* Bytes of an object of the module's own cache. */
#define MIXTURE_CACHE_BYTES 200

/* An object, with the data that its worker needs to free and count it. */
struct mixture_object {
	void *memory;
	/* Requested bytes; 0: the object is of mixture_cache. */
	u32 bytes;
	u32 cpu;
};

/* Counts of one kind of object. */
struct mixture_counts {
	u64 allocs;
	u64 bytes;
	/* Sum of ksize(), which mixture_cache does not have with SLOB. */
	u64 usable_bytes;
	u64 frees;
	u64 freed_bytes;
	u64 freed_usable_bytes;
	u64 cross_cpu_frees;
};

/* A source of objects, which one task uses at a time. */
struct mixture_stream {
	/* State of the pseudo-random numbers. */
	u32 state;
	struct mixture_counts kmalloc;
	struct mixture_counts cache;
};

extern struct kmem_cache *mixture_cache;

/* Start a stream whose numbers depend on the seed alone. */
void mixture_stream_init(struct mixture_stream *stream, u32 seed);
/* Return the next pseudo-random number of a stream. */
u32 mixture_random(struct mixture_stream *stream);
/*
 * Allocate an object of a pseudo-random size. Returns 0 or -ENOMEM. Context:
 * the task is bound to a CPU; sleeps.
 */
int mixture_alloc(struct mixture_stream *stream, struct mixture_object *object);
/* Free an object, if there is one. Context: the task is bound to a CPU. */
void mixture_free(struct mixture_stream *stream, struct mixture_object *object);
/* Add the counts of a stream to @kmalloc and @cache. */
void mixture_add(const struct mixture_stream *stream,
		 struct mixture_counts *kmalloc, struct mixture_counts *cache);

/* Return 0 or a negative errno. Sleeps. */
int mixture_workers_init(void);
/* Free all objects of the workers. */
void mixture_workers_exit(void);
/* Run a command of a worker. Returns 0 or a negative errno. Sleeps. */
int mixture_worker_run(const char *command, unsigned long worker);
/* Add the counts of all workers. */
void mixture_workers_add(struct mixture_counts *kmalloc,
			 struct mixture_counts *cache);

/* Start the streams of the queue. */
void mixture_queue_init(void);
/* Free the objects in the queue. */
void mixture_queue_exit(void);
/* Put @n objects into the queue. Returns 0 or a negative errno. Sleeps. */
int mixture_produce(unsigned long n);
/* Free @n objects from the queue. Returns 0 or a negative errno. Sleeps. */
int mixture_consume(unsigned long n);
/* Add the counts of both ends of the queue. */
void mixture_queue_add(struct mixture_counts *kmalloc,
		       struct mixture_counts *cache);

/* Run each measurement @rounds times. Returns 0 or a negative errno. Sleeps. */
int mixture_cost_run(unsigned long rounds);
/* Print the names of the measurements in their order. */
void mixture_cost_show(struct seq_file *m);

#endif
