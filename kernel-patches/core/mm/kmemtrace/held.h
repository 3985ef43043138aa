/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: what a call site holds: its live objects, in a table of a size that
 * is fixed when it is made.
 *
 * A free does not say who allocated, so the objects have to be known.  Those
 * that the table has no room for are counted as not followed: they are not in
 * the sum, which is then too small and never too large.
 */
#ifndef _MM_KMEMTRACE_HELD_H
#define _MM_KMEMTRACE_HELD_H

#include <linux/types.h>

#include <uapi/linux/kmemtrace_abi.h>

struct kmemtrace_held;

struct kmemtrace_held_figures {
	u64	objects;
	u64	unfollowed;	/* allocations, since it was cleared */
};

/*
 * A slab object and a page may have the same address, and so may the physical
 * one of a page of highmem.  The three bits that are lost are the same for all
 * addresses of the kernel but for these.  Never 0, as ptr is not.
 */
static inline u64 kmemtrace_held_key(u64 ptr, u8 type_id)
{
	u64 space = type_id <= KMEMTRACE_TYPE_CACHE ? 0 : type_id & 7;

	if (IS_ENABLED(CONFIG_HIGHMEM) && ptr & KMEMTRACE_PTR_PHYSICAL)
		space = 5;
	return ptr << 3 | space;
}

/*
 * Room for the objects that it takes to hold this much, unless they are many and
 * small.  NULL: no memory.  Sleeps.
 */
struct kmemtrace_held *kmemtrace_held_alloc(u64 bytes);
void kmemtrace_held_free(struct kmemtrace_held *held);

/* Context: nobody adds or removes.  May sleep. */
void kmemtrace_held_clear(struct kmemtrace_held *held);

/*
 * Enter an object that was allocated, or remove one that is about to be freed.
 * Return by how much the bytes of all objects in the table change; 0 also for an
 * object that the table has no room for, or does not have.  Any context but NMI,
 * interrupts off.
 */
s64 kmemtrace_held_add(struct kmemtrace_held *held, u64 key, size_t bytes);
s64 kmemtrace_held_remove(struct kmemtrace_held *held, u64 key);

struct kmemtrace_held_figures
kmemtrace_held_figures(struct kmemtrace_held *held);

#endif /* _MM_KMEMTRACE_HELD_H */
