/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slots of the live objects of a replay: a hash table from the address and
 * namespace of an object to its slot, and a list of free slots. Not
 * thread-safe.
 */
#ifndef KMEMTRACE_REPORT_REPLAY_OBJECTS_H
#define KMEMTRACE_REPORT_REPLAY_OBJECTS_H

#include <glib.h>

/* Not a slot. */
#define KMT_REPLAY_NO_SLOT G_MAXUINT32

typedef struct {
	guint64 ptr;
	guint32 slot_plus_1; /* 0: the entry is unused */
	guint32 space;	     /* KmtInputNamespace */
} KmtReplayEntry;

typedef struct {
	KmtReplayEntry *entries; /* mask + 1 entries */
	guint32 mask;
	guint32 n_live;
	guint32 n_slots;    /* slots that were ever used */
	GArray *free_slots; /* guint32; the last freed slot is used first */
	guint64 seed;
} KmtReplayObjects;

void kmt_replay_objects_init(KmtReplayObjects *objects);
void kmt_replay_objects_clear(KmtReplayObjects *objects);

/* Return the slot of an address, or KMT_REPLAY_NO_SLOT. type is an enum
 * kmemtrace_type_id. */
guint32 kmt_replay_objects_find(const KmtReplayObjects *objects, guint64 ptr,
				guint type);

/* Return the slot of a new object. No object with this address and namespace
 * may be live. */
guint32 kmt_replay_objects_add(KmtReplayObjects *objects, guint64 ptr,
			       guint type);

/* Remove an object, and return the slot that it had, or KMT_REPLAY_NO_SLOT if
 * no such object is live. */
guint32 kmt_replay_objects_remove(KmtReplayObjects *objects, guint64 ptr,
				  guint type);

#endif
