/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pipeline event, which is a record on its way through the pipeline, and the
 * queues into which the merge sorts the events by shard.
 */
#ifndef KMEMTRACE_MATCH_SHARD_QUEUE_H
#define KMEMTRACE_MATCH_SHARD_QUEUE_H

#include "lib/input/record-head.h"

/* The effect of a record that can be decided at once, as nearly every record
 * can. The values of ALLOC and FREE equal those of enum kmemtrace_event_id. */
typedef enum {
	KMT_MATCH_STEP_NONE,
	KMT_MATCH_STEP_ALLOC,
	KMT_MATCH_STEP_FREE,
	/* A DEFER, which is never decided at once. No entry has the flags 14 -
	 * 1, which kmt_match_fast_path() would require. */
	KMT_MATCH_STEP_DEFER = 14,
} KmtMatchStep;

/*
 * This bit of op marks an ALLOC whose remote flag is set, until it is matched.
 * No entry has the flags op - 1, so kmt_match_fast_path() refuses the ALLOC and
 * need not read the flag of each event, which takes 2 instructions.
 */
#define KMT_MATCH_OP_REMOTE 0x80

/* A pipeline event: filled by the merge, then updated by the matcher. */
typedef struct {
	const KmtInputRawEvent *event;
	gint64 now; /* merged time, ns */
	union {
		guint64 hash;	   /* before matching: hash of the address */
		gint64 alloc_time; /* after matching, FREE: merged time of the
				    * allocation in ns */
	};
	guint32 class_id; /* allocation class of the object; see
			   * lib/match/keys.h */
	union {
		struct {
			guint16 file; /* index in capture->files; a file
				       * has the records of one CPU, so file
				       * identifies the CPU */
			union {
				struct {
					guint8 op;   /* KmtMatchStep */
					guint8 type; /* enum kmemtrace_type_id
						      * of the record; after
						      * matching, of the
						      * object */
				};
				guint16 op_and_type; /* both in the order of
						      * bytes of a record */
			};
		};
		guint32 state; /* the three fields in one word */
	};
	guint16 index;	    /* index in the block */
	guint16 alloc_file; /* FREE: file index of the allocation, valid after
			     * matching */
	union {
		guint8 remote; /* ALLOC: memory of another node than the CPU's
				* was requested */
		guint8 cross;  /* FREE: alloc_file differs from file, so another
				* CPU allocated the object */
		guint8 flag;   /* remote of an ALLOC or cross of a FREE; FALSE
				* in other events */
	};
} KmtMatchEvent;
G_STATIC_ASSERT(sizeof(KmtMatchEvent) == 40 || sizeof(void *) < 8);
/* op_and_type is a copy of the first two bytes of a record. */
G_STATIC_ASSERT(G_STRUCT_OFFSET(struct kmemtrace_event, event_id) == 0 &&
		G_STRUCT_OFFSET(struct kmemtrace_event, type_id) == 1);

/*
 * Largest number of records in a block. report-small and the fuzzers use
 * smaller blocks, so that the records of one object are often in different
 * blocks.
 */
#ifndef KMT_MATCH_BLOCK_RECORDS
#define KMT_MATCH_BLOCK_RECORDS 2048
#endif
G_STATIC_ASSERT(KMT_MATCH_BLOCK_RECORDS <= 1 << 16);

/* Pointers to one block's events across all shards, in merge order. Both arrays
 * are in one struct, because a separate pointer would exceed the processor's
 * registers in the merge loop. */
typedef struct {
	KmtMatchEvent *items[KMT_MATCH_BLOCK_RECORDS];
	KmtMatchEvent
		*allocs[KMT_MATCH_BLOCK_RECORDS]; /* the ALLOCs among items */
} KmtMatchOrder;

/* The merge's output for one block. The owner sets order, items and next before
 * each block; kmt_match_merge_fill() counts the events. */
typedef struct {
	guint64 seed; /* hash seed, odd */
	guint n_shards;
	guint n, n_allocs; /* number of events and of ALLOCs in order */
	KmtMatchOrder *order;
	KmtMatchEvent *items; /* with one shard: its events, which are in merge
			       * order */
	KmtMatchEvent **next; /* with several shards: the next free event of
			       * each shard */
} KmtMatchShardQueue;

/*
 * Initialise order and the indexes of items for a single shard: event i is
 * items[i] in every block, so neither changes.
 */
static inline void kmt_match_order_init_identity(KmtMatchOrder *order,
						 KmtMatchEvent *items)
{
	guint i;

	for (i = 0; i < KMT_MATCH_BLOCK_RECORDS; i++) {
		order->items[i] = &items[i];
		items[i].index = (guint16)i;
	}
}

/* Return the shard of an address. */
static inline guint kmt_match_shard_of(guint n_shards, guint64 hash)
{
	guint64 left = hash & ((1 << KMT_INPUT_HASH_SPARE_BITS) - 1);

	return (guint)(left * n_shards >> KMT_INPUT_HASH_SPARE_BITS);
}

/* The end of a queue, which a loop that appends records keeps in registers. */
typedef struct {
	guint64 seed;
	KmtMatchEvent *item;   /* with one shard: the next free event */
	KmtMatchEvent **alloc; /* the next free element of order->allocs */
	guint64 n;	       /* with several shards: the number of events */
} KmtMatchQueueEnd;

static inline KmtMatchQueueEnd
kmt_match_shard_queue_end(const KmtMatchShardQueue *queue)
{
	return (KmtMatchQueueEnd){queue->seed, queue->items + queue->n,
				  queue->order->allocs + queue->n_allocs,
				  queue->n};
}

static inline void kmt_match_shard_queue_set_end(KmtMatchShardQueue *queue,
						 const KmtMatchQueueEnd *end,
						 gboolean one_shard)
{
	queue->n = (guint)(one_shard ? (guint64)(end->item - queue->items)
				     : end->n);
	queue->n_allocs = (guint)(end->alloc - queue->order->allocs);
}

/*
 * Append a usable record of file at the end of the queue. Copy the fields that
 * the later stages need of most records, so that they rarely read the record
 * itself. one_shard: whether queue has one shard; a constant in each loop.
 */
static inline __attribute__((always_inline)) void
kmt_match_shard_queue_put(KmtMatchShardQueue *queue, KmtMatchQueueEnd *end,
			  const KmtInputRawEvent *event, gint64 now, guint file,
			  gboolean one_shard)
{
	guint64 hash =
		kmt_input_address_hash(end->seed, event->ptr, event->type_id);
	KmtMatchEvent *item = end->item;
	guint16 op_and_type;

	memcpy(&op_and_type, event, sizeof(op_and_type));
	if (!one_shard) {
		item = queue->next[kmt_match_shard_of(queue->n_shards, hash)]++;
		item->index = (guint16)end->n;
		queue->order->items[end->n++] = item;
	}
	item->event = event;
	item->now = now;
	item->hash = hash;
	item->file = (guint16)file;
	/* Keep the compiler from combining this store and the next one, because
	 * the combination takes 2 instructions more than the two stores. */
	__asm__("" : "+m"(item->file));
	/* op of a DEFER: see mark_defers(). */
	item->op_and_type = op_and_type;
	item->flag = FALSE;
	/* Without a branch, because the event type cannot be predicted. */
	*end->alloc = item;
	end->alloc += GUINT16_FROM_LE(op_and_type) & 1;
	end->item++;
}

#endif
