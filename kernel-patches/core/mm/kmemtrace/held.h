/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: a table of fixed size with the live objects of a call site.
 *
 * A trigger compares the sum of the bytes of these objects with a limit.  The record of
 * a free does not contain the call site of the allocation, so the objects have to be
 * stored.  An object that does not fit into the table is counted as unfollowed, and is
 * missing from the sum, so the sum may be too small.  An object whose free was refused
 * (see guard.h) or switched off stays in the table, so the sum may also be too large.
 *
 * The table is divided into parts.  Each part has a spinlock that protects its objects
 * and its counts.  kmemtrace_held_add() and kmemtrace_held_remove() acquire the lock;
 * kmemtrace_held_clear() and kmemtrace_held_stats() do not.  The locks are leaves.
 */
#ifndef _MM_KMEMTRACE_HELD_H
#define _MM_KMEMTRACE_HELD_H

#include <linux/types.h>

#include <uapi/linux/kmemtrace_abi.h>

struct kmemtrace_held;

struct kmemtrace_held_stats {
	u64	objects;	/* objects in the table */
	u64	unfollowed;	/* allocations without room since the last clear */
};

/*
 * Return the key of an object.  @ptr: address in the record, not 0.  @type_id:
 * KMEMTRACE_TYPE_... of the record.  Any context.
 *
 * Slab objects, pages, per-CPU memory and vmalloc areas are separate address
 * namespaces: a slab object and a page may have the same address.  The low three bits
 * of the key hold the namespace.  The shift drops the three high bits of the address,
 * which are equal for all addresses of a namespace; the physical addresses of pages of
 * highmem have a namespace of their own.  The key is never 0, because the address is
 * not 0.
 */
static inline u64 kmemtrace_held_key(u64 ptr, u8 type_id)
{
	u64 namespace = type_id <= KMEMTRACE_TYPE_CACHE ? 0 : type_id & 7;

	if (IS_ENABLED(CONFIG_HIGHMEM) && ptr & KMEMTRACE_PTR_PHYSICAL)
		namespace = 5;
	return ptr << 3 | namespace;
}

/*
 * Allocate an empty table for objects of @bytes bytes in total.  The number of entries
 * has an upper limit, so the table may be too small for many small objects.  Return
 * the table, which kmemtrace_held_free() frees, or NULL if there is no memory.  Sleeps.
 */
struct kmemtrace_held *kmemtrace_held_alloc(u64 bytes);

/* Free a table, which may be NULL.  May sleep. */
void kmemtrace_held_free(struct kmemtrace_held *held);

/* Remove all objects.  Context: no CPU adds or removes objects.  May sleep. */
void kmemtrace_held_clear(struct kmemtrace_held *held);

/*
 * Add an object of @bytes bytes that was allocated, or replace the object with the same
 * key.  Return the change of the sum of all bytes in the table, or 0 if the object does
 * not fit into the table.  Context: any but NMI, in a guarded section or in the writing
 * of a record, so that a nested event is refused before it acquires the lock.
 */
s64 kmemtrace_held_add(struct kmemtrace_held *held, u64 key, size_t bytes);

/*
 * Remove an object that is about to be freed.  Return the change of the sum of all
 * bytes in the table, which is 0 if the object is not in the table, and otherwise
 * negative.  Context: any but NMI, in a guarded section or in the writing of a record.
 */
s64 kmemtrace_held_remove(struct kmemtrace_held *held, u64 key);

/* Return the statistics of a table.  Any context. */
struct kmemtrace_held_stats
kmemtrace_held_stats(struct kmemtrace_held *held);

#endif /* _MM_KMEMTRACE_HELD_H */
