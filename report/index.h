/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table that maps keys to the numbers of entries that the caller stores.
 * Once the table has grown, an entry takes 5 to 11 bytes; a GHashTable with
 * separate keys takes 40 or more. Not thread-safe.
 */
#ifndef KMEMTRACE_REPORT_INDEX_H
#define KMEMTRACE_REPORT_INDEX_H

#include <glib.h>

#define KMT_INDEX_NONE G_MAXUINT32

/* Return the hash of entry @number. All bits must be well distributed. */
typedef guint64 (*KmtIndexHash)(gconstpointer user, guint32 number);
/* Return whether entry @number has @key. */
typedef gboolean (*KmtIndexEqual)(gconstpointer user, guint32 number,
				  gconstpointer key);

/* A hash table of the entries 0 to n - 1. */
typedef struct {
	KmtIndexHash hash;
	KmtIndexEqual equal;
	guint32 n;
	/* Private: */
	guint32 mask;	/* number of slots minus 1 */
	guint32 *slots; /* entry number plus 1; 0: empty */
} KmtIndex;

/*
 * Make @index an empty table. The caller frees its memory with
 * kmt_index_clear().
 */
void kmt_index_init(KmtIndex *index, KmtIndexHash hash, KmtIndexEqual equal);
void kmt_index_clear(KmtIndex *index);

/* Return the number of the entry with @key and @hash, or KMT_INDEX_NONE. */
guint32 kmt_index_find(const KmtIndex *index, gconstpointer user, guint64 hash,
		       gconstpointer key);
/*
 * Add entry number index->n. The caller has already stored the entry with its
 * key; @hash is the hash of that key.
 */
void kmt_index_add(KmtIndex *index, gconstpointer user, guint64 hash);

#endif
