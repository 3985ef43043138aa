// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the live objects of a call site.
 *
 * A hash table in parts, each with a lock of its own.  Within a part, collisions
 * are resolved by linear probing.  A removed object leaves no mark for a deleted entry,
 * because the objects behind the removed object move up.
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

/*
 * Minimum and maximum number of objects that a table is made for.  For each object the
 * table has at least 1.5 entries of 16 bytes.
 */
#define KMEMTRACE_HELD_MIN		(1U << 13)
#define KMEMTRACE_HELD_MAX		(1U << 18)
/* Size of the smallest object of kmalloc(), in bytes. */
#define KMEMTRACE_HELD_OBJECT_MIN	8

struct kmemtrace_held_object {
	u64	key;	/* kmemtrace_held_key(); 0: the entry is free */
	u64	bytes;	/* size of the object */
};

struct kmemtrace_held_part {
	/*
	 * Protects the other members and the objects of this part.  A leaf lock, which
	 * the writer acquires.  An arch_spinlock_t, because the writer disables
	 * interrupts by raw_local_irq_save(), which lockdep does not see.
	 */
	arch_spinlock_t			lock;
	unsigned int			used;		/* entries that are not free */
	u64				unfollowed;	/* allocations without room */
	struct kmemtrace_held_object	*objects;
} ____cacheline_aligned_in_smp;

struct kmemtrace_held {
	unsigned int			bits;	/* log2 of the entries of a part */
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
kmemtrace_held_part(struct kmemtrace_held *held, u64 key, unsigned int *index)
{
	u64 hash = hash_64(key, KMEMTRACE_HELD_PARTS_BITS + held->bits);

	*index = hash & ((1U << held->bits) - 1);
	return &held->parts[hash >> held->bits];
}
NOKPROBE_SYMBOL(kmemtrace_held_part);

/*
 * Return the index of the entry of @key, or of the free entry where @key would be
 * added.  The part always has a free entry.  @index: where the search begins.
 */
static unsigned int kmemtrace_held_find(const struct kmemtrace_held *held,
					const struct kmemtrace_held_part *part,
					u64 key, unsigned int index)
{
	unsigned int mask = (1U << held->bits) - 1;

	while (part->objects[index].key && part->objects[index].key != key)
		index = (index + 1) & mask;
	return index;
}
NOKPROBE_SYMBOL(kmemtrace_held_find);

s64 kmemtrace_held_add(struct kmemtrace_held *held, u64 key, size_t bytes)
{
	struct kmemtrace_held_object *object;
	struct kmemtrace_held_part *part;
	unsigned int index;
	s64 more = 0;

	part = kmemtrace_held_part(held, key, &index);
	arch_spin_lock(&part->lock);
	object = &part->objects[kmemtrace_held_find(held, part, key, index)];
	if (object->key) {
		/* The free of the former object at this address was not counted. */
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

/*
 * Free the entry with the index @free, whose object was removed, by moving up those
 * objects behind it that would otherwise not be found.
 */
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
	unsigned int index;
	s64 bytes = 0;

	part = kmemtrace_held_part(held, key, &index);
	arch_spin_lock(&part->lock);
	index = kmemtrace_held_find(held, part, key, index);
	if (part->objects[index].key) {
		bytes = part->objects[index].bytes;
		part->used--;
		kmemtrace_held_close(held, part, index);
	}
	arch_spin_unlock(&part->lock);
	return -bytes;
}
NOKPROBE_SYMBOL(kmemtrace_held_remove);

struct kmemtrace_held_stats
kmemtrace_held_stats(struct kmemtrace_held *held)
{
	struct kmemtrace_held_stats figures = { .objects = 0 };
	unsigned int i;

	for (i = 0; i < KMEMTRACE_HELD_PARTS; i++) {
		figures.objects += READ_ONCE(held->parts[i].used);
		figures.unfollowed += READ_ONCE(held->parts[i].unfollowed);
	}
	return figures;
}
