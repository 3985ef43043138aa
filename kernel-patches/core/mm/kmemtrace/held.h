/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: the live objects of a call site, in a table of fixed size.
 *
 * A free does not name the call site of the allocation, so the objects have to be
 * stored.  Objects for which the table has no room are counted as unfollowed.  They
 * are missing from the sum, which is then too small and never too large.
 */
#ifndef _MM_KMEMTRACE_HELD_H
#define _MM_KMEMTRACE_HELD_H

#include <linux/types.h>

#include <uapi/linux/kmemtrace_abi.h>

struct kmemtrace_held;

struct kmemtrace_held_figures {
	u64	objects;
	u64	unfollowed;	/* allocations since the table was cleared */
};

/*
 * Return the key of an object.  A slab object and a page may have the same address,
 * and so may the physical address of a page of highmem, so the low three bits of
 * the key hold the address namespace.  The three high bits of the address, which
 * the shift drops, are equal for all other addresses of the kernel.  The key is
 * never 0, because @ptr is not.
 */
static inline u64 kmemtrace_held_key(u64 ptr, u8 type_id)
{
	u64 space = type_id <= KMEMTRACE_TYPE_CACHE ? 0 : type_id & 7;

	if (IS_ENABLED(CONFIG_HIGHMEM) && ptr & KMEMTRACE_PTR_PHYSICAL)
		space = 5;
	return ptr << 3 | space;
}

/*
 * Allocate a table that has room for objects of @bytes in total, unless the objects
 * are many and small.  Return NULL if there is no memory.  Sleeps.
 */
struct kmemtrace_held *kmemtrace_held_alloc(u64 bytes);
void kmemtrace_held_free(struct kmemtrace_held *held);

/* Remove all objects.  Context: no CPU adds or removes.  May sleep. */
void kmemtrace_held_clear(struct kmemtrace_held *held);

/*
 * Add an object that was allocated, or remove an object that is about to be freed.
 * Return the change of the sum of all bytes in the table; 0 also for an object that
 * does not fit into the table, or is not in the table.  Context: any but NMI,
 * interrupts off.
 */
s64 kmemtrace_held_add(struct kmemtrace_held *held, u64 key, size_t bytes);
s64 kmemtrace_held_remove(struct kmemtrace_held *held, u64 key);

struct kmemtrace_held_figures
kmemtrace_held_figures(struct kmemtrace_held *held);

#endif /* _MM_KMEMTRACE_HELD_H */
