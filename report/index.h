/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table of the numbers of entries that its user keeps in an array: 5 to
 * 11 bytes for each entry, where a GHashTable with keys of its own takes 40 and
 * more.  One thread.
 */
#ifndef KMEMTRACE_REPORT_INDEX_H
#define KMEMTRACE_REPORT_INDEX_H

#include <glib.h>

#define KMT_INDEX_NONE G_MAXUINT32

/* The hash of entry number, of which all bits are good. */
typedef guint64 (*KmtIndexHash)(gconstpointer user, guint32 number);
/* Whether entry number has this key. */
typedef gboolean (*KmtIndexEqual)(gconstpointer user, guint32 number,
				  gconstpointer key);

typedef struct {
	KmtIndexHash hash;
	KmtIndexEqual equal;
	guint32 n;
	/* private: */
	guint32 mask;	/* slots - 1 */
	guint32 *slots; /* numbers + 1; 0: empty */
} KmtIndex;

void kmt_index_init(KmtIndex *index, KmtIndexHash hash, KmtIndexEqual equal);
void kmt_index_clear(KmtIndex *index);

/* The number of the entry with key, whose hash is given; or KMT_INDEX_NONE. */
guint32 kmt_index_find(const KmtIndex *index, gconstpointer user, guint64 hash,
		       gconstpointer key);
/* Adds entry index->n, which user has already, under its hash. */
void kmt_index_add(KmtIndex *index, gconstpointer user, guint64 hash);

#endif
