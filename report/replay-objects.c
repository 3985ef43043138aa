// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/replay-objects.h"
#include "lib/base/hash.h"
#include "lib/input/namespace.h"

#define FIRST_ENTRIES 1024

void kmt_replay_objects_init(KmtReplayObjects *objects)
{
	*objects = (KmtReplayObjects){
		.entries = g_new0(KmtReplayEntry, FIRST_ENTRIES),
		.mask = FIRST_ENTRIES - 1,
		.free_slots = g_array_new(FALSE, FALSE, sizeof(guint32)),
		.seed = kmt_hash_seed(),
	};
}

void kmt_replay_objects_clear(KmtReplayObjects *objects)
{
	g_free(objects->entries);
	g_array_unref(objects->free_slots);
}

/* Return the index at which the search for an address begins. */
static guint32 home_of(const KmtReplayObjects *objects, guint64 ptr,
		       guint space)
{
	return (guint32)kmt_hash(objects->seed, ptr + space) & objects->mask;
}

/* Return the index of the entry of an address, or of the unused entry at which
 * the search ended. */
static guint32 find_entry(const KmtReplayObjects *objects, guint64 ptr,
			  guint space)
{
	guint32 i = home_of(objects, ptr, space);

	while (objects->entries[i].slot_plus_1 &&
	       (objects->entries[i].ptr != ptr ||
		objects->entries[i].space != space))
		i = (i + 1) & objects->mask;
	return i;
}

static void grow(KmtReplayObjects *objects)
{
	g_autofree KmtReplayEntry *old = objects->entries;
	guint32 n = objects->mask + 1, i;

	objects->mask = 2 * n - 1;
	objects->entries = g_new0(KmtReplayEntry, 2 * (gsize)n);
	for (i = 0; i < n; i++)
		if (old[i].slot_plus_1)
			objects->entries[find_entry(objects, old[i].ptr,
						    old[i].space)] = old[i];
}

guint32 kmt_replay_objects_find(const KmtReplayObjects *objects, guint64 ptr,
				guint type)
{
	guint32 i = find_entry(objects, ptr, kmt_input_namespace_of(type));

	return objects->entries[i].slot_plus_1 - 1;
}

guint32 kmt_replay_objects_add(KmtReplayObjects *objects, guint64 ptr,
			       guint type)
{
	guint space = kmt_input_namespace_of(type);
	GArray *free_slots = objects->free_slots;
	guint32 slot = objects->n_slots;

	if (free_slots->len) {
		slot = g_array_index(free_slots, guint32, free_slots->len - 1);
		g_array_set_size(free_slots, free_slots->len - 1);
	} else {
		objects->n_slots++;
	}
	if (++objects->n_live > objects->mask / 3 * 2)
		grow(objects);
	objects->entries[find_entry(objects, ptr, space)] =
		(KmtReplayEntry){ptr, slot + 1, space};
	return slot;
}

/* Close the gap at entry i: move back each later entry of the run that a search
 * would not find beyond the gap. */
static void close_gap(KmtReplayObjects *objects, guint32 i)
{
	guint32 next = i;

	for (;;) {
		const KmtReplayEntry *entry;
		guint32 home;

		next = (next + 1) & objects->mask;
		entry = &objects->entries[next];
		if (!entry->slot_plus_1)
			break;
		home = home_of(objects, entry->ptr, entry->space);
		/* The distances are modulo the size of the table. */
		if (((next - home) & objects->mask) <
		    ((next - i) & objects->mask))
			continue;
		objects->entries[i] = *entry;
		i = next;
	}
	objects->entries[i].slot_plus_1 = 0;
}

guint32 kmt_replay_objects_remove(KmtReplayObjects *objects, guint64 ptr,
				  guint type)
{
	guint32 i = find_entry(objects, ptr, kmt_input_namespace_of(type));
	guint32 slot = objects->entries[i].slot_plus_1 - 1;

	if (slot == KMT_REPLAY_NO_SLOT)
		return slot;
	close_gap(objects, i);
	g_array_append_val(objects->free_slots, slot);
	objects->n_live--;
	return slot;
}
