/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the figures of a report can be kept by, as numbers: a key is a call
 * site with the kind of memory and, if they are asked for, CPU, node, gfp
 * flags, and whom it was for; a size is what was requested with what was
 * allocated.  A key with a size is an allocation class: the one number that the
 * entry of a live object has.
 */
#ifndef KMEMTRACE_MATCH_KEYS_H
#define KMEMTRACE_MATCH_KEYS_H

#include "lib/input/capture.h"
#include "lib/match/intern.h"
#include "lib/input/name-tables.h"

typedef enum {
	KMT_MATCH_KEY_CPU = 1 << 0,
	KMT_MATCH_KEY_NODE = 1 << 1,
	KMT_MATCH_KEY_GFP = 1 << 2,
	/* Of version 2 of the record: */
	KMT_MATCH_KEY_PID = 1 << 3,
	KMT_MATCH_KEY_COMM = 1 << 4,
	KMT_MATCH_KEY_CACHE = 1 << 5,
	KMT_MATCH_KEY_CONTEXT = 1 << 6,
	KMT_MATCH_KEY_STACK = 1 << 7,
	KMT_MATCH_KEY_OWNER = KMT_MATCH_KEY_PID | KMT_MATCH_KEY_COMM |
			      KMT_MATCH_KEY_CACHE | KMT_MATCH_KEY_CONTEXT |
			      KMT_MATCH_KEY_STACK,
	KMT_MATCH_KEY_PHASE = 1 << 16,
} KmtMatchKeyParts;

/* What is asked for often is found in the first try, in a table where each
 * class has one place. */
#define KMT_MATCH_CLASS_CACHE_BITS 11

typedef struct {
	guint64 call_site;
	guint64 word; /* the second one of a key; all bits: empty */
	guint64 bytes_req;
	guint64 bytes_alloc;
	guint32 class_id;
} KmtMatchClassSlot;

/* One thread at a time asks for numbers; who was handed a number may read what
 * it stands for meanwhile. */
typedef struct {
	KmtMatchKeyParts parts; /* beyond call site and kind */
	KmtMatchIntern *keys;
	KmtMatchIntern *sizes;
	KmtMatchIntern *classes; /* pairs of key and size */
	/* NULL where parts need none: */
	KmtMatchIntern *flags;	/* pairs of node with owner, and gfp flags */
	KmtMatchIntern *owners; /* pairs of pid, cache and context, and name */
	KmtMatchIntern *phases; /* pairs of owner and phase */
	KmtMatchIntern
		*stacks; /* pairs of owner and stack, in place of owners */
	/* private: */
	const KmtInputCapture *capture;
	const KmtInputTables *tables;
	const gint64 *starts; /* of phases but the first, n_starts */
	guint n_starts;
	guint phase; /* of the last record */
	KmtMatchClassSlot cache[1 << KMT_MATCH_CLASS_CACHE_BITS];
} KmtMatchKeys;

/* tables: whose records have an owner, or NULL; these must live as long. */
KmtMatchKeys *kmt_match_keys_new(KmtMatchKeyParts parts,
				 const KmtInputCapture *capture,
				 const KmtInputTables *tables);
void kmt_match_keys_free(KmtMatchKeys *keys);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatchKeys, kmt_match_keys_free)

/*
 * For KMT_MATCH_KEY_PHASE: phases of the capture, by when each begins but the
 * first, 0; in their order.  starts must live as long.
 */
void kmt_match_keys_set_phases(KmtMatchKeys *keys, const gint64 *starts,
			       guint n);

typedef struct {
	guint64 call_site;
	guint8 type;  /* enum kmemtrace_type_id */
	guint16 file; /* the allocating CPU's; 0 if parts lacks it */
	gint32 node;  /* asked for; likewise */
	guint64 gfp_flags;
	/* Whom it was for; FALSE, and all 0, if parts or the records lack it.
	 */
	gboolean has_owner;
	guint32 pid;
	guint16 cache;	  /* KMEMTRACE_CACHE_NONE: none */
	guint16 context;  /* KMEMTRACE_FLAG_HARDIRQ, _SOFTIRQ or 0 */
	guint32 stack;	  /* KMEMTRACE_STACK_NONE: none */
	const char *comm; /* of any bytes; NULL: not known */
	guint32 phase;	  /* in which it was allocated; 0 if parts lacks it */
} KmtMatchKey;

/* The key of an allocation class. */
KmtMatchKey kmt_match_keys_of_class(const KmtMatchKeys *keys, guint32 class_id);

/* Pointer to the call site of an allocation class, valid as long as keys. */
static inline const guint64 *
kmt_match_keys_site_of_class(const KmtMatchKeys *keys, guint32 class_id)
{
	guint32 key = (guint32)kmt_match_intern_pair(keys->classes, class_id)
			      ->word[0];

	return &kmt_match_intern_pair(keys->keys, key)->word[0];
}

/* The call site of an allocation class. */
static inline guint64 kmt_match_keys_call_site(const KmtMatchKeys *keys,
					       guint32 class_id)
{
	return *kmt_match_keys_site_of_class(keys, class_id);
}

typedef struct {
	guint64 req, alloc;
} KmtMatchSize;

/* Its size. */
KmtMatchSize kmt_match_keys_size_of_class(const KmtMatchKeys *keys,
					  guint32 class_id);

/* Private: the second word of a key that has more than call site and kind, and
 * what kmt_match_keys_class() does with what the front lacks. */
guint64 kmt_match_keys_second_word(KmtMatchKeys *keys,
				   const KmtInputRawEvent *event, guint16 file);
guint32 kmt_match_keys_find_class(KmtMatchKeys *keys, KmtMatchClassSlot *front,
				  const KmtInputRawEvent *event, guint64 word);

/* The allocation class of what event, an ALLOC of capture->files[file],
 * allocates.  parts are those of keys. */
static inline guint32 kmt_match_keys_class(KmtMatchKeys *keys,
					   KmtMatchKeyParts parts,
					   const KmtInputRawEvent *event,
					   guint16 file)
{
	guint64 word = event->type_id, hash;
	KmtMatchClassSlot *front;

	if (G_UNLIKELY(parts))
		word |= kmt_match_keys_second_word(keys, event, file);
	/* A class that is found slowly is all that a bad hash does. */
	hash = (event->call_site +
		(event->bytes_req ^ word) *
			G_GUINT64_CONSTANT(0xd6e8feb86659fd93)) *
	       G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	front = &keys->cache[hash >> (64 - KMT_MATCH_CLASS_CACHE_BITS)];
	if (G_LIKELY(front->call_site == event->call_site &&
		     front->bytes_req == event->bytes_req &&
		     front->bytes_alloc == event->bytes_alloc &&
		     front->word == word))
		return front->class_id;
	return kmt_match_keys_find_class(keys, front, event, word);
}

#endif
