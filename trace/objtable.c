// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/objtable.h"

/* A power of two.  The tests take a small one, to make it forget often. */
#ifndef FIRST_ENTRIES
#define FIRST_ENTRIES 4096
#endif
#define HUGE_PAGE (2u << 20)

static KmtEntry *entries_new(guint64 n)
{
	gsize size = n * sizeof(KmtEntry);
	gsize align = size >= HUGE_PAGE ? HUGE_PAGE : sizeof(KmtEntry);
	void *p = aligned_alloc(align, size);

	if (!p)
		g_error("out of memory: %" G_GSIZE_FORMAT " bytes", size);
	/* Random access over a large table is bound by the TLB. */
	if (align == HUGE_PAGE)
		madvise(p, size, MADV_HUGEPAGE);
	memset(p, 0, size);
	return p;
}

void kmt_obj_table_init(KmtObjTable *table)
{
	table->entries = entries_new(FIRST_ENTRIES);
	table->mask = FIRST_ENTRIES - 1;
	table->used = 0;
	table->seed = kmt_hash_seed();
}

void kmt_obj_table_clear(KmtObjTable *table)
{
	free(table->entries);
	table->entries = NULL;
}

static gboolean may_forget(const KmtEntry *e, gint64 from, gint64 to)
{
	return !(e->flags & (KMT_ENTRY_LIVE | KMT_ENTRY_PENDING)) &&
	       e->last_ts >= from && e->last_ts < to;
}

void kmt_obj_table_make_room(KmtObjTable *table, gint64 forget_from,
			     gint64 forget_to)
{
	KmtEntry *old = table->entries;
	guint64 n_old = table->mask + 1;
	guint64 keep = 0;
	guint64 i;

	for (i = 0; i < n_old; i++) {
		if ((old[i].flags & KMT_ENTRY_USED) &&
		    !may_forget(&old[i], forget_from, forget_to))
			keep++;
	}
	/* Half of the room must be free afterwards, or we are back at once. */
	while (keep * 16 >= table->mask * 5)
		table->mask = table->mask * 2 + 1;
	table->entries = entries_new(table->mask + 1);
	table->used = keep;
	for (i = 0; i < n_old; i++) {
		if ((old[i].flags & KMT_ENTRY_USED) &&
		    !may_forget(&old[i], forget_from, forget_to))
			*kmt_obj_find(table, old[i].object.ptr,
				      old[i].object.type ==
					      KMEMTRACE_TYPE_PAGES) = old[i];
	}
	free(old);
}
