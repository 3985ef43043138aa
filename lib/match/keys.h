/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for the properties of allocations.
 *
 * A key is a call site with the kind of memory and, if requested, the CPU,
 * node, gfp flags, owner (task, cgroup, cache, context, stack), phase (a span
 * of time; see kmt_match_keys_set_phases()), and validity of the allocation
 * tag. An allocation class is a key with the requested and the allocated bytes.
 * The entry of a live object stores the number of its allocation class.
 */
#ifndef KMEMTRACE_MATCH_KEYS_H
#define KMEMTRACE_MATCH_KEYS_H

#include "lib/input/capture.h"
#include "lib/input/name-tables.h"
#include "lib/match/class-table.h"
#include "lib/match/intern.h"

typedef enum {
	KMT_MATCH_KEY_CPU = 1 << 0,
	KMT_MATCH_KEY_NODE = 1 << 1,
	KMT_MATCH_KEY_GFP = 1 << 2,
	/* Parts of the owner, which need version 2 of the record or later: */
	KMT_MATCH_KEY_PID = 1 << 3,
	KMT_MATCH_KEY_COMM = 1 << 4,
	KMT_MATCH_KEY_CACHE = 1 << 5,
	KMT_MATCH_KEY_CONTEXT = 1 << 6,
	KMT_MATCH_KEY_STACK = 1 << 7,
	KMT_MATCH_KEY_CGROUP = 1 << 8,
	KMT_MATCH_KEY_OWNER = KMT_MATCH_KEY_PID | KMT_MATCH_KEY_COMM |
			      KMT_MATCH_KEY_CACHE | KMT_MATCH_KEY_CONTEXT |
			      KMT_MATCH_KEY_STACK | KMT_MATCH_KEY_CGROUP,
	KMT_MATCH_KEY_PHASE = 1 << 16,
	/* The time of the allocation, as far as the tag of the call site
	 * depends on it; see kmt_match_keys_set_tag_ends(). */
	KMT_MATCH_KEY_TAG = 1 << 17,
} KmtMatchKeyParts;

/* The allocation tag of a call site is invalid after this time. */
typedef struct {
	guint64 address;
	gint64 time; /* ns */
} KmtMatchTagEnd;

/*
 * Returns the name of a task at a time, in ns, or NULL if it is unknown. Equal
 * names have equal pointers, which are valid as long as the keys.
 */
typedef const char *(*KmtMatchTaskName)(gpointer user, guint32 pid,
					gint64 time);

/*
 * The values of all parts of a key; those of parts that are not requested, or
 * that an ALLOC of version 1 lacks, equal those of no_values in keys.c. The
 * fields have the meaning of those of KmtMatchKey.
 */
typedef struct {
	guint64 gfp_flags;
	gint64 tag_time;
	guint64 comm, cgroup; /* const char *, as a number for all hosts */
	guint32 pid, stack, phase;
	gint32 node;
	guint16 file, cache, context, has_owner;
} KmtMatchKeyValues;

/* The fields of a record on which the values depend. Fields that no part needs
 * have the values of no_values in keys.c. */
typedef struct {
	guint64 gfp_flags;
	guint64 owner; /* pid, cache, and context; see keys.c */
	guint32 stack;
	gint32 node;
	guint32 file;
	gboolean has_owner;
} KmtMatchKeySource;

/* A slot of a direct-mapped cache of KmtMatchKeys.values. */
typedef struct {
	KmtMatchKeySource source;
	KmtInputNameSpan span; /* times at which the source has these values;
				* empty in an unused slot */
	guint32 number;
} KmtMatchKeySlot;

/*
 * The tables that number classes and the values of their keys. Only one thread
 * at a time may call kmt_match_keys_class(), which may add a class.
 * Meanwhile, another thread may read the classes whose numbers it has received;
 * see class-table.h.
 */
typedef struct {
	KmtMatchKeyParts parts; /* parts of a key besides call site and kind */
	KmtMatchClassTable *classes;
	/* Private: */
	KmtMatchIntern *values; /* of KmtMatchKeyValues; entry 0 is no_values */
	KmtMatchKeySource mask; /* the bits of a source that parts needs */
	KmtMatchKeySlot *slots; /* array of 1 << slot_bits; NULL if parts is 0
				 */
	guint slot_bits;
	guint n_misses; /* lookups that missed since the slots were allocated */
	const KmtInputCapture *capture;
	const KmtInputTables *tables;
	const gint64 *starts; /* array of n_starts times in ns: the start of
			       * each phase except the first */
	guint n_starts;
	const KmtMatchTagEnd *tag_ends; /* array of n_tag_ends */
	guint n_tag_ends;
	gint64 last_tag_end;	    /* the latest time in tag_ends */
	KmtMatchTaskName task_name; /* replaces tables; NULL: none */
	gpointer task_name_user;
} KmtMatchKeys;

/*
 * Create empty tables for a capture. tables resolves the owners of the records;
 * if tables is NULL, the parts of KMT_MATCH_KEY_OWNER are dropped. capture and
 * tables must outlive the keys.
 */
KmtMatchKeys *kmt_match_keys_new(KmtMatchKeyParts parts,
				 const KmtInputCapture *capture,
				 const KmtInputTables *tables);
/* Free the keys with all numbers; NULL is allowed. */
void kmt_match_keys_free(KmtMatchKeys *keys);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatchKeys, kmt_match_keys_free)

/*
 * For KMT_MATCH_KEY_PHASE: set the phases. starts[i] is the timestamp in ns at
 * which phase i + 1 begins, ascending; phase 0 begins with the capture. The
 * timestamp of a record, not its merged time, selects the phase. starts must
 * outlive the keys.
 */
void kmt_match_keys_set_phases(KmtMatchKeys *keys, const gint64 *starts,
			       guint n);

/*
 * For KMT_MATCH_KEY_TAG: set the ends of all tags that end, sorted by address
 * and time. Call this function once, before the first record. ends must outlive
 * the keys.
 */
void kmt_match_keys_set_tag_ends(KmtMatchKeys *keys, const KmtMatchTagEnd *ends,
				 guint n);

/* For KMT_MATCH_KEY_COMM: take the names of tasks from task_name instead of the
 * tables. Call this function before the first record. */
void kmt_match_keys_set_task_names(KmtMatchKeys *keys,
				   KmtMatchTaskName task_name, gpointer user);

typedef struct {
	guint64 call_site;
	guint8 type;  /* enum kmemtrace_type_id */
	guint16 file; /* index of the allocating CPU's file; 0 without
		       * KMT_MATCH_KEY_CPU */
	gint32 node;  /* requested node; KMEMTRACE_NODE_NONE without
			 KMT_MATCH_KEY_NODE */
	guint64 gfp_flags;
	/* Whether the key has an owner, the fields pid to cgroup. If FALSE,
	 * these fields are 0: KmtMatchKeys.parts has no part of the owner, or
	 * the ALLOC is a record of version 1, which has no owner. */
	gboolean has_owner;
	guint32 pid;
	guint16 cache;	    /* KMEMTRACE_CACHE_NONE if there is no cache */
	guint16 context;    /* KMEMTRACE_FLAG_HARDIRQ, _SOFTIRQ or 0 */
	guint32 stack;	    /* KMEMTRACE_STACK_NONE if there is no stack */
	const char *comm;   /* arbitrary bytes; NULL if unknown */
	const char *cgroup; /* path, arbitrary bytes; NULL if unknown */
	guint32 phase;	    /* phase of the allocation; 0 without
			     * KMT_MATCH_KEY_PHASE */
	gint64 tag_time;    /* end of the tag that the call site had at the time
			     * of the allocation; G_MAXINT64 if no tag ended
			     * later, or without KMT_MATCH_KEY_TAG */
} KmtMatchKey;

/* Return the key of an allocation class. */
KmtMatchKey kmt_match_keys_of_class(const KmtMatchKeys *keys, guint32 class_id);

/*
 * Return a pointer to the call site of an allocation class; the pointer is
 * valid as long as the keys.
 */
static inline const guint64 *
kmt_match_keys_site_of_class(const KmtMatchKeys *keys, guint32 class_id)
{
	return &kmt_match_class_of_number(keys->classes, class_id)->call_site;
}

/* Return the call site of an allocation class. */
static inline guint64 kmt_match_keys_call_site(const KmtMatchKeys *keys,
					       guint32 class_id)
{
	return *kmt_match_keys_site_of_class(keys, class_id);
}

/* Requested and allocated bytes of an allocation. */
typedef struct {
	guint64 req, alloc;
} KmtMatchSize;

/* Return the size of an allocation class. */
static inline KmtMatchSize
kmt_match_keys_size_of_class(const KmtMatchKeys *keys, guint32 class_id)
{
	const KmtMatchClass *class =
		kmt_match_class_of_number(keys->classes, class_id);

	return (KmtMatchSize){class->seeded_req ^ keys->classes->req_seed,
			      class->bytes_alloc};
}

/* Private: return the number of the values of an ALLOC, for keys with parts. */
guint32 kmt_match_keys_values(KmtMatchKeys *keys, const KmtInputRawEvent *event,
			      guint16 file);

/* Return the allocation class of event, an ALLOC of capture->files[file]. */
static inline guint32 kmt_match_keys_class(KmtMatchKeys *keys,
					   const KmtInputRawEvent *event,
					   guint16 file)
{
	guint32 values =
		keys->parts ? kmt_match_keys_values(keys, event, file) : 0;

	return kmt_match_class_table_get(keys->classes, event, values);
}

#endif
