/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that groups.c, group-values.c and html-*.c share. */
#ifndef KMEMTRACE_REPORT_GROUPS_PRIVATE_H
#define KMEMTRACE_REPORT_GROUPS_PRIVATE_H

#include "report/groups.h"

/* Value of KMT_BY_PID for records without a task. */
#define NO_PID G_MAXUINT64

/* Number of 64-bit words in an entry of KmtGroups.sources. */
#define KMT_GROUPS_SOURCE_WORDS 4

/* Return the number of words in the key of a group: its kind, its values, and
 * its tag if has_tags. */
static inline guint kmt_groups_n_words(const KmtGroups *groups)
{
	return groups->options.by->n + 1 + (groups->has_tags ? 1 : 0);
}

/* Return the key of group @number: its kind, its values, and its tag if
 * has_tags. */
static inline const guint64 *kmt_groups_key(const KmtGroups *groups,
					    guint32 number)
{
	return &groups->keys[number / KMT_GROUPS_CHUNK]
			    [number % KMT_GROUPS_CHUNK *
			     kmt_groups_n_words(groups)];
}

/* Return the seeded hash of @n words. */
static inline guint64 kmt_groups_hash(const KmtGroups *groups,
				      const guint64 *words, guint n)
{
	guint64 hash = groups->seed;
	guint i;

	for (i = 0; i < n; i++)
		hash = kmt_hash(hash, words[i]);
	return hash;
}

/*
 * Return call chain @number. The pointer is valid until the next chain is
 * added.
 */
static inline const KmtChain *kmt_groups_chain_at(const KmtGroups *groups,
						  guint64 number)
{
	return &g_array_index(groups->chains, KmtChain, number);
}

/* Return the call site of a key. */
static inline KmtSymSite kmt_groups_key_site(const KmtGroups *groups,
					     const KmtMatchKey *key)
{
	return kmt_symbolizer_alloc_site(groups->options.symbolizer,
					 key->call_site, key->tag_time);
}

/*
 * Return the stack of a class. If the stack is not recorded or not in the
 * table, the chain is the call site alone.
 */
KmtChain kmt_groups_chain_of(const KmtGroups *groups, guint32 class_id,
			     const KmtMatchKey *key);

/*
 * Return the value of a class in one dimension: a number, or the index of a
 * text or a call chain that @groups stores.
 */
guint64 kmt_groups_value_of(KmtGroups *groups, KmtDimension dimension,
			    guint32 class_id, const KmtMatchKey *key,
			    guint64 bytes_alloc);

#endif
