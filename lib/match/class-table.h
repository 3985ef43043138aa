/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for allocation classes. A class is a call site with the kind of
 * memory, the number of the other values of its key (see keys.h), and the
 * requested and the allocated bytes. Each new class gets the next number; the
 * first number is 0.
 *
 * One thread at a time may look up classes, which may add them. Another thread
 * may read a class whose number it received from that thread by a synchronising
 * operation, such as a lock or an acquire load.
 */
#ifndef KMEMTRACE_MATCH_CLASS_TABLE_H
#define KMEMTRACE_MATCH_CLASS_TABLE_H

#include <string.h>

#include "lib/base/hash.h"
#include "lib/input/capture.h"

/* Width of the number of a class in bits, and log2 of the number of classes in
 * a chunk. The fuzzers use smaller values. */
#ifndef KMT_MATCH_CLASS_BITS
#define KMT_MATCH_CLASS_BITS 32
#endif
#ifndef KMT_MATCH_CLASS_CHUNK_BITS
#define KMT_MATCH_CLASS_CHUNK_BITS 12
#endif
#define KMT_MATCH_CLASS_CHUNK (1u << KMT_MATCH_CLASS_CHUNK_BITS)
#define KMT_MATCH_CLASS_MAX   ((guint32)((1ull << KMT_MATCH_CLASS_BITS) - 2))

typedef struct {
	guint64 call_site;
	/* The first eight bytes of a usual ALLOC of the class: event id, kind,
	 * size of the record, and no requested node. 0: no class. */
	guint64 head;
	guint64 seeded_req; /* bytes_req ^ KmtMatchClassTable.req_seed, because
			     * a lookup has no other use for bytes_req */
	guint64 bytes_alloc;
	guint32 number;
	guint32 values; /* number of the other values of the key */
} KmtMatchClass;

/* An open-addressing table of pointers to classes. A lookup usually reads one
 * slot and one class. */
typedef struct {
	const KmtMatchClass **array; /* of a power of two of slots; an empty
				      * slot points to a class with the head 0
				      */
	guint64 shift;		     /* 64 - log2 of the number of slots */
} KmtMatchClassSlots;

/* The classes are stored in chunks, which never move. */
typedef struct {
	KmtMatchClass *chunks[1u << (KMT_MATCH_CLASS_BITS -
				     KMT_MATCH_CLASS_CHUNK_BITS)];
	guint32 n;
	guint64 req_seed;
	/* Private: */
	KmtMatchClassSlots slots;
	guint64 site_seed, values_factor, factor; /* factors are odd */
	guint event_size; /* size of the usual record in bytes */
} KmtMatchClassTable;

/* Create an empty table of classes of ALLOCs whose size is usually event_size
 * bytes. */
KmtMatchClassTable *kmt_match_class_table_new(guint event_size);
/* Free a table with all classes; NULL is allowed. */
void kmt_match_class_table_free(KmtMatchClassTable *table);

/*
 * Return the number of the class of an ALLOC whose key has the given number of
 * values; add the class if it is new.
 */
guint32 kmt_match_class_table_get(KmtMatchClassTable *table,
				  const KmtInputRawEvent *event,
				  guint32 values);

/*
 * Private: return the hash of a class; its upper bits select a slot. A file can
 * choose all properties, but not those that collide: the product depends on two
 * seeds, and for a fixed product the rest is a multiplicative hash of
 * bytes_alloc with a random factor. Classes that differ only in the kind
 * collide, but there are few kinds.
 */
static inline guint64 kmt_match_class_hash(const KmtMatchClassTable *table,
					   guint64 call_site, guint32 values,
					   guint64 seeded_req,
					   guint64 bytes_alloc)
{
	guint64 seed = table->site_seed + values * table->values_factor;

	return (kmt_hash_product(call_site ^ seed, seeded_req) + bytes_alloc) *
	       table->factor;
}

/*
 * Return the class of an ALLOC whose key has no other values, or NULL if the
 * class is not in its first slot, the size of the record is not usual, or the
 * record requests a node; then call kmt_match_class_table_get(). slots must
 * equal table->slots; a copy of the caller stays in registers. On x86-64, this
 * takes 22 instructions. On the capture of a boot, 99 % of the ALLOCs need no
 * other lookup.
 */
static inline const KmtMatchClass *
kmt_match_class_table_peek(const KmtMatchClassTable *table,
			   KmtMatchClassSlots slots,
			   const KmtInputRawEvent *event)
{
	guint64 seeded_req = event->bytes_req ^ table->req_seed, head;
	guint64 hash = kmt_match_class_hash(table, event->call_site, 0,
					    seeded_req, event->bytes_alloc);
	const KmtMatchClass *found = slots.array[hash >> slots.shift];

	/* One comparison covers the kind, the size, and the node. */
	memcpy(&head, event, sizeof(head));
	return G_LIKELY(found->call_site == event->call_site) &&
			       G_LIKELY(found->head == head) &&
			       G_LIKELY(found->seeded_req == seeded_req) &&
			       G_LIKELY(found->bytes_alloc ==
					event->bytes_alloc)
		       ? found
		       : NULL;
}

/* Return the kind of a class, an enum kmemtrace_type_id. */
static inline guint8 kmt_match_class_type(const KmtMatchClass *found)
{
	struct kmemtrace_event event;

	memcpy(&event, &found->head, sizeof(found->head));
	return event.type_id;
}

/*
 * Return the class of a number that kmt_match_class_table_get() returned. The
 * pointer is valid until the table is freed.
 */
static inline const KmtMatchClass *
kmt_match_class_of_number(const KmtMatchClassTable *table, guint32 number)
{
	return &table->chunks[number >> KMT_MATCH_CLASS_CHUNK_BITS]
			     [number % KMT_MATCH_CLASS_CHUNK];
}

#endif
