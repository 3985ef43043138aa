/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record on its way through the pipeline, and where merging puts it: to those
 * of the shard of its address.
 */
#ifndef KMEMTRACE_MATCH_SHARD_QUEUE_H
#define KMEMTRACE_MATCH_SHARD_QUEUE_H

#include "lib/input/capture.h"
#include "lib/input/namespace.h"

/* What matching makes of a record that is certain at once, as nearly every one
 * is.  The numbers are those of enum kmemtrace_event_id. */
typedef enum {
	KMT_MATCH_STEP_NONE,
	KMT_MATCH_STEP_ALLOC,
	KMT_MATCH_STEP_FREE,
} KmtMatchStep;

/* What merging says of a record, then what matching does. */
typedef struct {
	const KmtInputRawEvent *event;
	gint64 now; /* merged time, ns */
	union {
		guint64 hash;	   /* of the address, before matching */
		gint64 alloc_time; /* FREE: merged time of the allocation, ns */
	};
	guint32 class_id; /* of the object, see lib/match/keys.h */
	union {
		struct {
			guint16 file; /* index in capture->files */
			guint8 op;    /* KmtMatchStep */
			guint8 type; /* of the record: enum kmemtrace_type_id */
		};
		guint32 state; /* all three */
	};
	guint16 index;	    /* number in its block */
	guint16 alloc_file; /* FREE: file of the allocation */
	guint8 remote;	    /* ALLOC: of a node that is not the CPU's */
	guint8 cross;	    /* FREE: alloc_file is not file */
} KmtMatchEvent;
G_STATIC_ASSERT(sizeof(KmtMatchEvent) == 40 || sizeof(void *) < 8);

/* The tests take few, so that much happens across blocks. */
#ifndef KMT_MATCH_BLOCK_RECORDS
#define KMT_MATCH_BLOCK_RECORDS 2048
#endif
G_STATIC_ASSERT(KMT_MATCH_BLOCK_RECORDS <= 1 << 16);

/* Those of a block, of all shards, in merged order.  Both lie together, as each
 * further address would be one too many for the processor's registers. */
typedef struct {
	KmtMatchEvent *items[KMT_MATCH_BLOCK_RECORDS];
	KmtMatchEvent
		*allocs[KMT_MATCH_BLOCK_RECORDS]; /* of them, the ALLOCs */
} KmtMatchOrder;

/* Its owner sets order, items and next for each block, kmt_match_merge_fill()
 * counts. */
typedef struct {
	guint64 seed; /* of the hash, odd */
	guint n_shards;
	guint n, n_allocs; /* of order */
	KmtMatchOrder *order;
	KmtMatchEvent *items; /* of the only shard: they are in merged order */
	KmtMatchEvent **next; /* of several, where the next one of each goes */
} KmtMatchShardQueue;

/* All are those of items, in any block: nobody writes that down again. */
static inline void kmt_match_order_init_identity(KmtMatchOrder *order,
						 KmtMatchEvent *items)
{
	guint i;

	for (i = 0; i < KMT_MATCH_BLOCK_RECORDS; i++)
		order->items[i] = &items[i];
}

/* Which shard has an address. */
static inline guint kmt_match_shard_of(guint n_shards, guint64 hash)
{
	guint64 left = hash & ((1 << KMT_INPUT_HASH_SPARE_BITS) - 1);

	return (guint)(left * n_shards >> KMT_INPUT_HASH_SPARE_BITS);
}

/* All that is needed of a record, so that nobody has to look at it again. */
static inline void kmt_match_shard_queue_put(KmtMatchShardQueue *o,
					     const KmtInputRawEvent *event,
					     gint64 now, guint file)
{
	guint64 hash =
		kmt_input_address_hash(o->seed, event->ptr, event->type_id);
	KmtMatchEvent *item = o->items + o->n;

	if (o->n_shards > 1) {
		item = o->next[kmt_match_shard_of(o->n_shards, hash)]++;
		o->order->items[o->n] = item;
	}
	item->event = event;
	item->now = now;
	item->hash = hash;
	item->file = (guint16)file;
	item->op = event->event_id;
	item->type = event->type_id;
	item->index = (guint16)o->n;
	item->remote = item->cross = FALSE;
	o->n++;
	/* No branch: which it is cannot be foretold. */
	o->order->allocs[o->n_allocs] = item;
	o->n_allocs += item->op & 1;
}

#endif
