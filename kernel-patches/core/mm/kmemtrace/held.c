// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: what a call site holds.
 *
 * A hash table in parts, each with a lock of its own.  Within a part an object is
 * at its place or at the next free one after it, cyclically; who is removed
 * leaves no mark, since those behind it move up.
 */

#include <linux/cache.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "held.h"

#define KMEMTRACE_HELD_PARTS_BITS	6
#define KMEMTRACE_HELD_PARTS		(1U << KMEMTRACE_HELD_PARTS_BITS)

/* Objects that are followed: at 16 bytes each, and half as many again. */
#define KMEMTRACE_HELD_MIN		(1U << 13)
#define KMEMTRACE_HELD_MAX		(1U << 18)
/* The smallest object that there can be. */
#define KMEMTRACE_HELD_OBJECT_MIN	8

struct kmemtrace_held_object {
	u64	key;	/* 0: free */
	u64	bytes;
};

struct kmemtrace_held_part {
	/*
	 * Not a lock that lockdep knows: the writer takes it, which has
	 * interrupts off without telling.
	 */
	arch_spinlock_t			lock;
	unsigned int			used;
	u64				unfollowed;
	struct kmemtrace_held_object	*objects;
} ____cacheline_aligned_in_smp;

struct kmemtrace_held {
	unsigned int			bits;	/* of the places of a part */
	struct kmemtrace_held_object	*objects;	/* of all parts */
	struct kmemtrace_held_part	parts[KMEMTRACE_HELD_PARTS];
};

struct kmemtrace_held *kmemtrace_held_alloc(u64 bytes)
{
	u64 n = clamp_t(u64, bytes / KMEMTRACE_HELD_OBJECT_MIN,
			KMEMTRACE_HELD_MIN, KMEMTRACE_HELD_MAX);
	struct kmemtrace_held *held;
	unsigned int i;

	held = kvzalloc(sizeof(*held), GFP_KERNEL);
	if (!held)
		return NULL;
	held->bits = ilog2(roundup_pow_of_two(n + n / 2)) -
		     KMEMTRACE_HELD_PARTS_BITS;
	held->objects = kvcalloc(KMEMTRACE_HELD_PARTS << held->bits,
				 sizeof(*held->objects), GFP_KERNEL);
	if (!held->objects) {
		kvfree(held);
		return NULL;
	}
	for (i = 0; i < KMEMTRACE_HELD_PARTS; i++) {
		held->parts[i].lock =
			(arch_spinlock_t)__ARCH_SPIN_LOCK_UNLOCKED;
		held->parts[i].objects = held->objects + (i << held->bits);
	}
	return held;
}

void kmemtrace_held_free(struct kmemtrace_held *held)
{
	if (!held)
		return;
	kvfree(held->objects);
	kvfree(held);
}

void kmemtrace_held_clear(struct kmemtrace_held *held)
{
	unsigned int i;

	for (i = 0; i < KMEMTRACE_HELD_PARTS; i++) {
		struct kmemtrace_held_part *part = &held->parts[i];

		part->used = 0;
		part->unfollowed = 0;
		memset(part->objects, 0, sizeof(*part->objects) << held->bits);
		cond_resched();
	}
}

static struct kmemtrace_held_part *
kmemtrace_held_part(struct kmemtrace_held *held, u64 key, unsigned int *place)
{
	u64 hash = hash_64(key, KMEMTRACE_HELD_PARTS_BITS + held->bits);

	*place = hash & ((1U << held->bits) - 1);
	return &held->parts[hash >> held->bits];
}
NOKPROBE_SYMBOL(kmemtrace_held_part);

/* Where key is, or the free place where it would be: there always is one. */
static unsigned int kmemtrace_held_find(const struct kmemtrace_held *held,
					const struct kmemtrace_held_part *part,
					u64 key, unsigned int place)
{
	unsigned int mask = (1U << held->bits) - 1;

	while (part->objects[place].key && part->objects[place].key != key)
		place = (place + 1) & mask;
	return place;
}
NOKPROBE_SYMBOL(kmemtrace_held_find);

s64 kmemtrace_held_add(struct kmemtrace_held *held, u64 key, size_t bytes)
{
	struct kmemtrace_held_object *object;
	struct kmemtrace_held_part *part;
	unsigned int place;
	s64 more = 0;

	part = kmemtrace_held_part(held, key, &place);
	arch_spin_lock(&part->lock);
	object = &part->objects[kmemtrace_held_find(held, part, key, place)];
	if (object->key) {
		/* Its free was not seen. */
		more = (s64)bytes - (s64)object->bytes;
		object->bytes = bytes;
	} else if (part->used < (1U << held->bits) - (1U << held->bits) / 8) {
		part->used++;
		object->key = key;
		object->bytes = bytes;
		more = bytes;
	} else {
		part->unfollowed++;
	}
	arch_spin_unlock(&part->lock);
	return more;
}
NOKPROBE_SYMBOL(kmemtrace_held_add);

/* Moves up who is behind a place that has become free, if that is nearer. */
static void kmemtrace_held_close(struct kmemtrace_held *held,
				 struct kmemtrace_held_part *part,
				 unsigned int free)
{
	unsigned int mask = (1U << held->bits) - 1;
	unsigned int i = free, home;

	for (;;) {
		i = (i + 1) & mask;
		if (!part->objects[i].key)
			break;
		kmemtrace_held_part(held,
				    part->objects[i].key, &home);
		if (((i - home) & mask) < ((i - free) & mask))
			continue;
		part->objects[free] = part->objects[i];
		free = i;
	}
	part->objects[free].key = 0;
}
NOKPROBE_SYMBOL(kmemtrace_held_close);

s64 kmemtrace_held_remove(struct kmemtrace_held *held, u64 key)
{
	struct kmemtrace_held_part *part;
	unsigned int place;
	s64 bytes = 0;

	part = kmemtrace_held_part(held, key, &place);
	arch_spin_lock(&part->lock);
	place = kmemtrace_held_find(held, part, key, place);
	if (part->objects[place].key) {
		bytes = part->objects[place].bytes;
		part->used--;
		kmemtrace_held_close(held, part, place);
	}
	arch_spin_unlock(&part->lock);
	return -bytes;
}
NOKPROBE_SYMBOL(kmemtrace_held_remove);

struct kmemtrace_held_figures
kmemtrace_held_figures(struct kmemtrace_held *held)
{
	struct kmemtrace_held_figures figures = { .objects = 0 };
	unsigned int i;

	for (i = 0; i < KMEMTRACE_HELD_PARTS; i++) {
		figures.objects += READ_ONCE(held->parts[i].used);
		figures.unfollowed += READ_ONCE(held->parts[i].unfollowed);
	}
	return figures;
}
