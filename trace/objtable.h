/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses that the matcher has something to remember about: the live
 * ones, and the closed ones that it saw lately.  A hash table of one cache line
 * per address.  Internal to trace/.
 */
#ifndef KMEMTRACE_OBJTABLE_H
#define KMEMTRACE_OBJTABLE_H

#include "trace/hash.h"
#include "trace/match.h"

enum {
	KMT_ENTRY_USED = 1 << 0,
	KMT_ENTRY_LIVE = 1 << 1,    /* object is live */
	KMT_ENTRY_PENDING = 1 << 2, /* records wait for a decision */
	/* What the first record of the address says about the time before it
	 * may be wrong; see match.c. */
	KMT_ENTRY_MAYBE_LIVE = 1 << 3,
	KMT_ENTRY_MAYBE_FREE = 1 << 4,
	KMT_ENTRY_UNCONFIRMED = 1 << 5, /* no other CPU seen near so far */
	/* Live only if a FREE was another's, whose own may be lost. */
	KMT_ENTRY_MAYBE_FREED = 1 << 6,
};

/* In other_delta_ns: no record from another CPU in memory. */
#define KMT_DELTA_NONE G_MAXUINT32

/*
 * Besides the object: when the last record of the address was, on which CPU,
 * and how long before that the last one of any other CPU was.  That is all it
 * takes to say whether a record may have been passed by one of another CPU.
 */
typedef struct {
	KmtObject object; /* if not LIVE: ptr and type only */
	gint64 last_ts;
	guint32 other_delta_ns;
	guint16 last_file;
	guint8 flags;
	guint8 unconfirmed; /* records since UNCONFIRMED was set */
} KmtEntry;
G_STATIC_ASSERT(sizeof(KmtEntry) == 64);

typedef struct {
	KmtEntry *entries;
	guint64 mask; /* entries - 1 */
	guint64 used; /* with KMT_ENTRY_USED */
	guint64 seed; /* of the hash */
} KmtObjTable;

void kmt_obj_table_init(KmtObjTable *table);
void kmt_obj_table_clear(KmtObjTable *table);

/* An address and its space as one key.  Type PAGES is a space of its own. */
static inline guint64 kmt_obj_hash(const KmtObjTable *table, guint64 ptr,
				   gboolean pages)
{
	return kmt_hash(table->seed,
			ptr ^ (pages ? G_GUINT64_CONSTANT(0x5bd1e995) : 0));
}

/* The entry of an address, or the unused one where it would go. */
static inline KmtEntry *kmt_obj_find(const KmtObjTable *table, guint64 ptr,
				     gboolean pages)
{
	guint64 i = kmt_obj_hash(table, ptr, pages) & table->mask;
	KmtEntry *e;

	for (;;) {
		e = &table->entries[i];
		if (!(e->flags & KMT_ENTRY_USED) ||
		    (e->object.ptr == ptr &&
		     (e->object.type == KMEMTRACE_TYPE_PAGES) == pages))
			return e;
		i = (i + 1) & table->mask;
	}
}

/*
 * Makes room for one more entry: drops the entries that are closed, wait for
 * nothing and had their last record between forget_from and forget_to, then
 * grows if that was not enough.  Pointers to entries are void after it.
 */
void kmt_obj_table_make_room(KmtObjTable *table, gint64 forget_from,
			     gint64 forget_to);

static inline gboolean kmt_obj_table_full(const KmtObjTable *table)
{
	return table->used * 8 >= table->mask * 5;
}

#endif
