/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What matcher.c, ambiguous.c and pipeline.c share. */
#ifndef KMEMTRACE_MATCH_MATCHER_PRIVATE_H
#define KMEMTRACE_MATCH_MATCHER_PRIVATE_H

#include <string.h>

#include "lib/match/matcher.h"
#include "lib/match/object-table.h"

#define KMT_MATCH_ENTRY_MAYBE                                                  \
	(KMT_MATCH_ENTRY_MAYBE_LIVE | KMT_MATCH_ENTRY_MAYBE_FREE)

/* A record that is looked at more closely. */
typedef struct {
	/* Of an item: id, type, address and call site, and as its timestamp
	 * merged time; the rest is 0. */
	struct kmemtrace_event event;
	KmtMatchPosition position;
	guint64 hash;
	gint64 now;	  /* its merged time, by which all is decided */
	guint32 class_id; /* of an ALLOC */
	/* What becomes of its own step is told there; NULL: by a call. */
	KmtMatchEvent *item;
} KmtMatchRecord;

/* A surplus record that waits for its counterpart. */
typedef struct KmtMatchPending {
	struct KmtMatchPending *next; /* in time order, of all addresses */
	struct KmtMatchPending *next_of_kind; /* of the same address and kind */
	KmtMatchEntry *entry;		      /* of the address; it stays */
	KmtMatchRecord record;
	KmtMatchObject replaced; /* the object that was live, or was last */
	gint64 since;		 /* merged time, ns */
	gboolean mismatch; /* FREE: replaced was live, and of the other type */
	guint32 n_closes;  /* FREE: those of the address so far */
	gboolean after_loss; /* ALLOC: replaced was KMT_MATCH_ENTRY_MAYBE_FREED
			      */
	gboolean resolved;
} KmtMatchPending;

/*
 * What waits at one address: surplus ALLOCs and surplus FREEs, oldest first;
 * and where the live object is from, if KMT_MATCH_ENTRY_ALLOC_SAVED.
 */
typedef struct {
	guint32 next_unused; /* number + 1; 0: it is the last */
	KmtMatchPending *allocs, *last_alloc;
	KmtMatchPending *frees, *last_free;
	guint32 n_closes; /* of the address, while the side entry exists; modulo
			     2^32 */
	gint64 alloc_time;
	guint16 file;
} KmtMatchSideEntry;

struct KmtMatcher {
	KmtMatchOps ops;
	gpointer user;
	guint64 tolerance;     /* ns */
	gint64 now;	       /* merged time */
	gboolean deferred;     /* a decision that had to wait is told */
	gint64 deferred_since; /* then: since when it waited */
	KmtMatchKeys *keys;    /* that define the class numbers; or NULL */
	const KmtInputCapture *capture;

	/* Where events may be missing. */
	gboolean lossy;	       /* anywhere */
	gint64 complete_from;  /* before it, the capture may lack records */
	gint64 complete_until; /* after it, likewise */

	KmtMatchTable table;
	GPtrArray *side_entries; /* of KmtMatchSideEntry; KmtMatchEntry.side has
				    numbers + 1 */
	guint32 unused_side_entry; /* the first one; likewise */
	KmtMatchPending *oldest, *newest;
	KmtMatchPending *unused; /* by next */
	gint64 due;		 /* after it, oldest has waited long enough */
	KmtMatchFindings findings;
};

static inline gint64 kmt_match_add_saturated(gint64 a, gint64 b)
{
	gint64 sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? G_MININT64 : G_MAXINT64;
	return sum;
}

/* later - earlier of any two times, which may not fit a gint64. */
static inline guint64 kmt_match_time_distance(gint64 earlier, gint64 later)
{
	return (guint64)later - (guint64)earlier;
}

/* How long ago another CPU used the address, ns; more than any tolerance if it
 * did not. */
static inline guint64 kmt_match_other_cpu_age(const KmtMatcher *m,
					      const KmtMatchEntry *e,
					      guint16 file)
{
	guint64 age = kmt_match_time_distance(e->last_ts, m->now);

	if (e->last_file != file)
		return age;
	/* No sum with KMT_MATCH_DELTA_NONE is within a tolerance. */
	return age > G_MAXUINT32 ? age : age + e->other_delta_ns;
}

static inline gboolean kmt_match_is_contended(const KmtMatcher *m,
					      const KmtMatchEntry *e,
					      guint16 file)
{
	return kmt_match_other_cpu_age(m, e, file) <= m->tolerance;
}

/* Notes that a record of this file is now the last one of the address. */
static inline void kmt_match_entry_touch(const KmtMatcher *m, KmtMatchEntry *e,
					 guint16 file, gint64 now)
{
	guint64 age;

	/* Longer ago than any tolerance is long enough: no sum is too large. */
	age = MIN(kmt_match_time_distance(e->last_ts, now),
		  KMT_MATCH_DELTA_NONE);
	age += e->other_delta_ns & -(guint64)(e->last_file == file);
	/* What is longer ago than the tolerance will never matter again. */
	e->other_delta_ns =
		age > m->tolerance ? KMT_MATCH_DELTA_NONE : (guint32)age;
	e->last_file = file;
	e->last_ts = now;
}

/* ---- lib/match/match-state.c ---- */

/* The live object of e, or what is left of the last one. */
KmtMatchObject kmt_match_entry_object(KmtMatcher *m, const KmtMatchEntry *e,
				      guint64 hash);
/* An entry for an address that has none. */
KmtMatchEntry *kmt_match_entry_new(KmtMatcher *m, guint64 hash, guint type,
				   guint16 file);
/* What a FREE of a live object of its type does to the guess about the time
 * before the first record. */
void kmt_match_guess_on_free(KmtMatcher *m, KmtMatchEntry *e, guint16 file);

/* May a record of an address be missing that it had between these times? */
gboolean kmt_match_may_lack_records(const KmtMatcher *m, gint64 from,
				    gint64 until);

void kmt_match_report_alloc(KmtMatcher *m, const KmtMatchObject *object,
			    const KmtMatchRecord *r);
void kmt_match_report_free(KmtMatcher *m, const KmtMatchObject *object,
			   const KmtMatchRecord *r);
/* A record does to object, of its type, what it would do to any. */
void kmt_match_report_step(KmtMatcher *m, const KmtMatchObject *object,
			   const KmtMatchRecord *r);

/* The side entry of e: NULL unless KMT_MATCH_ENTRY_PENDING or _MOVED. */
KmtMatchSideEntry *kmt_match_side_entry(const KmtMatcher *m,
					const KmtMatchEntry *e);
void kmt_match_guess_review(KmtMatcher *m, KmtMatchEntry *e, guint16 file);
gboolean kmt_match_guess_opposite_holds(const KmtMatcher *m, KmtMatchEntry *e,
					guint16 file);
/* What an ALLOC of a closed address does to the guess. */
void kmt_match_guess_on_alloc(KmtMatcher *m, KmtMatchEntry *e, guint16 file);

/* ---- lib/match/ambiguous.c ---- */

void kmt_match_pending_init(KmtMatcher *m);
void kmt_match_pending_clear(KmtMatcher *m);
/* Records that are not certain at once.  e: NULL for a new address. */
void kmt_match_resolve_alloc(KmtMatcher *m, KmtMatchEntry *e,
			     const KmtMatchRecord *r);
void kmt_match_resolve_free(KmtMatcher *m, KmtMatchEntry *e,
			    const KmtMatchRecord *r);
/* Decides what has waited long enough; with all, everything. */
void kmt_match_expire_pending(KmtMatcher *m, gboolean all);

/* ---- what is certain at once ---- */

/* A certain FREE: nothing waits, and the object is of its type. */
static inline gboolean kmt_match_is_certain_free(const KmtMatchEntry *e,
						 guint type)
{
	return e &&
	       (e->flags & (KMT_MATCH_ENTRY_LIVE | KMT_MATCH_ENTRY_PENDING |
			    KMT_MATCH_ENTRY_ALLOC_SAVED)) ==
		       KMT_MATCH_ENTRY_LIVE &&
	       e->type == type;
}

/* The record of an item that is not for kmt_match_fast_path().  Before it, all
 * is decided whose time has come.  e: what may be the entry of its address. */
void kmt_match_slow_path(KmtMatcher *m, KmtMatchEntry *e, KmtMatchEvent *item);

G_STATIC_ASSERT((guint)KMT_MATCH_STEP_ALLOC == KMEMTRACE_EVENT_ALLOC);
G_STATIC_ASSERT((guint)KMT_MATCH_STEP_FREE == KMEMTRACE_EVENT_FREE);
G_STATIC_ASSERT((KMT_MATCH_STEP_ALLOC & 1) && !(KMT_MATCH_STEP_FREE & 1));
G_STATIC_ASSERT(KMT_MATCH_STEP_ALLOC == 1 &&
		KMT_MATCH_STEP_FREE == KMT_MATCH_ENTRY_LIVE + 1);

/* A state's op, or flags, as a number: 1. */
#define KMT_MATCH_STATE_OP                                                     \
	(G_BYTE_ORDER == G_LITTLE_ENDIAN ? 1u << 16 : 1u << 8)
#define KMT_MATCH_STATE_FILE                                                   \
	(G_BYTE_ORDER == G_LITTLE_ENDIAN ? 0xffffu : 0xffff0000u)

/*
 * Makes a step of an item: hash is known, op is that of the record, and
 * class_id and remote are of what an ALLOC allocates.  e: what may be its
 * entry, or kmt_match_no_entry. Whether it is an ALLOC or a FREE cannot be
 * foretold; both go the same way here, as long as the address is closed or live
 * as it has to be.  Returns FALSE if not: it is for kmt_match_slow_path(). What
 * waits for a decision need not be looked at, as it is of other addresses.
 * n_closed: of the table.
 */
static inline gboolean kmt_match_fast_path(const KmtMatcher *m,
					   KmtMatchEvent *item,
					   KmtMatchEntry *e, guint64 *n_closed)
{
	guint64 is_alloc = -(guint64)(item->op & 1); /* a mask, for no branch */
	/* The flags that it has to have are below its op by one. */
	guint32 state = e->state, wanted = item->state - KMT_MATCH_STATE_OP;
	guint32 class_id = e->class_id;

	if (G_UNLIKELY(e->hash != item->hash))
		return FALSE;
	if (G_UNLIKELY((state ^ wanted) & ~KMT_MATCH_STATE_FILE))
		return FALSE;
	/* What a FREE frees is what its ALLOC allocated. */
	class_id ^= (item->class_id ^ class_id) & (guint32)is_alloc;
	item->class_id = e->class_id = class_id;
	item->alloc_time = e->last_ts;
	item->alloc_file = e->last_file;
	*n_closed += 1 + 2 * is_alloc;
	/* As large as it is read: the same may be freed and taken at once. */
	e->state = state ^ KMT_MATCH_STATE_OP;
	/* No other CPU then and now, as nearly always. */
	if (G_LIKELY(state == wanted &&
		     e->other_delta_ns == KMT_MATCH_DELTA_NONE)) {
		e->last_ts = item->now;
		return TRUE;
	}
	item->cross = state != wanted && !is_alloc;
	kmt_match_entry_touch(m, e, item->file, item->now);
	return TRUE;
}

#endif
