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
	KMT_STEP_NONE,
	KMT_STEP_ALLOC,
	KMT_STEP_FREE,
} KmtStepOp;

/* What merging says of a record, then what matching does. */
typedef struct {
	const KmtRawEvent *event;
	gint64 now; /* merged time, ns */
	union {
		guint64 hash; /* of the address, before matching */
		gint64 born;  /* FREE: merged time of the allocation, ns */
	};
	guint32 lot; /* of the object, see lib/match/keys.h */
	union {
		struct {
			guint16 file; /* index in capture->files */
			guint8 op;    /* KmtStepOp */
			guint8 type; /* of the record: enum kmemtrace_type_id */
		};
		guint32 key; /* all three */
	};
	guint16 place;	   /* number in its block */
	guint16 born_file; /* FREE: file of the allocation */
	guint8 remote;	   /* ALLOC: of a node that is not the CPU's */
	guint8 cross;	   /* FREE: born_file is not file */
} KmtItem;
G_STATIC_ASSERT(sizeof(KmtItem) == 40 || sizeof(void *) < 8);

/* The tests take few, so that much happens across blocks. */
#ifndef KMT_BLOCK_RECORDS
#define KMT_BLOCK_RECORDS 2048
#endif
G_STATIC_ASSERT(KMT_BLOCK_RECORDS <= 1 << 16);

/* Those of a block, of all shards, in merged order.  Both lie together, as each
 * further address would be one too many for the processor's registers. */
typedef struct {
	KmtItem *items[KMT_BLOCK_RECORDS];
	KmtItem *allocs[KMT_BLOCK_RECORDS]; /* of them, the ALLOCs */
} KmtOrder;

/* Its owner sets order, items and next for each block, kmt_merge_fill()
 * counts. */
typedef struct {
	guint64 seed; /* of the hash, odd */
	guint n_shards;
	guint n, n_allocs; /* of order */
	KmtOrder *order;
	KmtItem *items; /* of the only shard: they are in merged order */
	KmtItem **next; /* of several, where the next one of each goes */
} KmtOutlet;

/* All are those of items, in any block: nobody writes that down again. */
static inline void kmt_order_is(KmtOrder *order, KmtItem *items)
{
	guint i;

	for (i = 0; i < KMT_BLOCK_RECORDS; i++)
		order->items[i] = &items[i];
}

/* Which shard has an address. */
static inline guint kmt_shard_of(guint n_shards, guint64 hash)
{
	guint64 left = hash & ((1 << KMT_OBJ_HASH_LEFT) - 1);

	return (guint)(left * n_shards >> KMT_OBJ_HASH_LEFT);
}

/* All that is needed of a record, so that nobody has to look at it again. */
static inline void kmt_outlet_put(KmtOutlet *o, const KmtRawEvent *event,
				  gint64 now, guint file)
{
	guint64 hash = kmt_obj_hash(o->seed, event->ptr, event->type_id);
	KmtItem *item = o->items + o->n;

	if (o->n_shards > 1) {
		item = o->next[kmt_shard_of(o->n_shards, hash)]++;
		o->order->items[o->n] = item;
	}
	item->event = event;
	item->now = now;
	item->hash = hash;
	item->file = (guint16)file;
	item->op = event->event_id;
	item->type = event->type_id;
	item->place = (guint16)o->n;
	item->remote = item->cross = FALSE;
	o->n++;
	/* No branch: which it is cannot be foretold. */
	o->order->allocs[o->n_allocs] = item;
	o->n_allocs += item->op & 1;
}

#endif
