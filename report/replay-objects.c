// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/replay-objects.h"
#include "lib/base/hash.h"
#include "lib/input/namespace.h"

#define FIRST_ENTRIES 1024

void kmt_replay_objects_init(KmtReplayObjects *objects)
{
	*objects = (KmtReplayObjects){
		.objects = g_array_new(FALSE, TRUE, sizeof(KmtReplayObject)),
		.entries = g_new0(KmtReplayEntry, FIRST_ENTRIES),
		.mask = FIRST_ENTRIES - 1,
		.seed = kmt_hash_seed(),
	};
}

void kmt_replay_objects_clear(KmtReplayObjects *objects)
{
	g_array_unref(objects->objects);
	g_free(objects->free_slots);
	g_free(objects->entries);
}

static KmtReplayObject *object_at(const KmtReplayObjects *objects, guint32 slot)
{
	return &g_array_index(objects->objects, KmtReplayObject, slot);
}

static guint32 hash_of(const KmtReplayObjects *objects, guint64 ptr)
{
	return (guint32)kmt_hash(objects->seed, ptr);
}

/* Return whether two objects have the same address and allocation. */
static gboolean is_same(const KmtReplayObject *a, const KmtReplayObject *b)
{
	return a->ptr == b->ptr && a->alloc_time == b->alloc_time &&
	       a->class_id == b->class_id && a->alloc_file == b->alloc_file &&
	       kmt_input_namespace_of(a->kind) ==
		       kmt_input_namespace_of(b->kind);
}

/* Put an entry into the table, which has room. */
static void insert(KmtReplayObjects *objects, KmtReplayEntry entry)
{
	guint32 i = entry.hash & objects->mask;

	while (objects->entries[i].slot_plus_1)
		i = (i + 1) & objects->mask;
	objects->entries[i] = entry;
}

static void grow(KmtReplayObjects *objects)
{
	g_autofree KmtReplayEntry *old = objects->entries;
	guint32 n = objects->mask + 1, i;

	objects->mask = 2 * n - 1;
	objects->entries = g_new0(KmtReplayEntry, 2 * (gsize)n);
	for (i = 0; i < n; i++)
		if (old[i].slot_plus_1)
			insert(objects, old[i]);
}

/* Add a slot to the array of the objects. The array of the free slots grows
 * with it, so that a free stores its slot without a call. A GArray of free
 * slots took 60 instructions for each event. */
static guint32 add_slot(KmtReplayObjects *objects)
{
	guint32 slot = objects->objects->len;

	g_array_set_size(objects->objects, slot + 1);
	if (slot == objects->max_free) {
		objects->max_free = MAX(2 * slot, FIRST_ENTRIES);
		objects->free_slots = g_renew(guint32, objects->free_slots,
					      objects->max_free);
	}
	return slot;
}

/* Return a slot without a live object. */
static guint32 take_slot(KmtReplayObjects *objects)
{
	return objects->n_free ? objects->free_slots[--objects->n_free]
			       : add_slot(objects);
}

guint32 kmt_replay_objects_add(KmtReplayObjects *objects,
			       const KmtReplayObject *object)
{
	guint32 slot = take_slot(objects);
	const KmtReplayEntry entry = {hash_of(objects, object->ptr), slot + 1};

	*object_at(objects, slot) = *object;
	object_at(objects, slot)->is_live = TRUE;
	if (++objects->n_live > objects->mask / 3 * 2)
		grow(objects);
	insert(objects, entry);
	return slot;
}

guint32 kmt_replay_objects_find(const KmtReplayObjects *objects,
				const KmtReplayObject *key)
{
	guint32 hash = hash_of(objects, key->ptr), i = hash & objects->mask;

	for (; objects->entries[i].slot_plus_1; i = (i + 1) & objects->mask) {
		guint32 slot = objects->entries[i].slot_plus_1 - 1;

		if (objects->entries[i].hash == hash &&
		    is_same(object_at(objects, slot), key))
			return slot;
	}
	return KMT_REPLAY_NO_SLOT;
}

/* Remove entry i: move back each later entry of the run that a search would not
 * find beyond the gap. */
static void remove_entry(KmtReplayObjects *objects, guint32 i)
{
	guint32 next = i;

	for (;;) {
		const KmtReplayEntry *entry;

		next = (next + 1) & objects->mask;
		entry = &objects->entries[next];
		if (!entry->slot_plus_1)
			break;
		/* The distances are modulo the size of the table. */
		if (((next - entry->hash) & objects->mask) <
		    ((next - i) & objects->mask))
			continue;
		objects->entries[i] = *entry;
		i = next;
	}
	objects->entries[i].slot_plus_1 = 0;
}

void kmt_replay_objects_remove(KmtReplayObjects *objects, guint32 slot)
{
	KmtReplayObject *object = object_at(objects, slot);
	guint32 i = hash_of(objects, object->ptr) & objects->mask;

	while (objects->entries[i].slot_plus_1 != slot + 1)
		i = (i + 1) & objects->mask;
	remove_entry(objects, i);
	object->is_live = FALSE;
	objects->free_slots[objects->n_free++] = slot;
	objects->n_live--;
}
