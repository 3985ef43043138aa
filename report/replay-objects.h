/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live objects of a replay: their slots, and a hash table that finds an
 * object. Two objects may have the same address for a moment, if skewed clocks
 * put the FREE of the older one after the ALLOC of the newer one; the
 * properties of the allocation distinguish them. Not thread-safe.
 */
#ifndef KMEMTRACE_REPORT_REPLAY_OBJECTS_H
#define KMEMTRACE_REPORT_REPLAY_OBJECTS_H

#include "report/replay.h"

/* Not a slot. */
#define KMT_REPLAY_NO_SLOT G_MAXUINT32

/* An entry of the hash table. */
typedef struct {
	guint32 hash;	     /* of the address */
	guint32 slot_plus_1; /* 0: the entry is unused */
} KmtReplayEntry;

typedef struct {
	GArray *objects; /* KmtReplayObject by slot */
	guint32 n_live;
	/* Private: */
	guint32 *free_slots; /* the last freed slot is used first */
	guint32 n_free;
	guint32 max_free;	 /* size of the array; at least the number of
				  * slots */
	KmtReplayEntry *entries; /* mask + 1 entries */
	guint32 mask;
	guint64 seed;
} KmtReplayObjects;

void kmt_replay_objects_init(KmtReplayObjects *objects);
void kmt_replay_objects_clear(KmtReplayObjects *objects);

/* Add a live object, and return its slot. */
guint32 kmt_replay_objects_add(KmtReplayObjects *objects,
			       const KmtReplayObject *object);

/*
 * Return the slot of the live object with the address, namespace, time, class
 * and CPU of the allocation of *key; KMT_REPLAY_NO_SLOT if there is none.
 */
guint32 kmt_replay_objects_find(const KmtReplayObjects *objects,
				const KmtReplayObject *key);

/* Remove the live object of a slot. The object stays readable until the slot is
 * used again. */
void kmt_replay_objects_remove(KmtReplayObjects *objects, guint32 slot);

#endif
