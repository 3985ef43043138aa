/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What match.c, surplus.c and pipeline.c share.  Internal to trace/. */
#ifndef KMEMTRACE_MATCH_PRIVATE_H
#define KMEMTRACE_MATCH_PRIVATE_H

#include <string.h>

#include "trace/match.h"
#include "trace/objtable.h"

#define KMT_ENTRY_MAYBE (KMT_ENTRY_MAYBE_LIVE | KMT_ENTRY_MAYBE_FREE)

/* A record that is looked at more closely. */
typedef struct {
	struct kmemtrace_event event;
	KmtPosition position;
	guint64 hash;
	gint64 now;  /* its merged time, by which all is decided */
	guint32 lot; /* of an ALLOC */
	/* What becomes of its own step is told there; NULL: by a call. */
	KmtItem *item;
} KmtRecord;

/* A surplus record that waits for its counterpart. */
typedef struct KmtPending {
	struct KmtPending *next;	 /* in time order, of all addresses */
	struct KmtPending *next_of_kind; /* of the same address and kind */
	KmtRecord record;
	KmtObject replaced; /* the object that was live, or was last */
	gint64 since;	    /* merged time, ns */
	gboolean mismatch;  /* FREE: replaced was live, and of the other type */
	guint32 closes;	    /* FREE: those of the address so far */
	gboolean after_loss; /* ALLOC: replaced was KMT_ENTRY_MAYBE_FREED */
	gboolean settled;
} KmtPending;

/*
 * What waits at one address: surplus ALLOCs and surplus FREEs, oldest first;
 * and where the live object is from, if KMT_ENTRY_MOVED.
 */
typedef struct {
	guint32 next_unused; /* number + 1; 0: it is the last */
	KmtPending *allocs, *last_alloc;
	KmtPending *frees, *last_free;
	guint32 closes; /* of the address, while this is aside; modulo 2^32 */
	gint64 born;
	guint16 file;
} KmtAside;

struct KmtMatcher {
	KmtMatchOps ops;
	gpointer user;
	guint64 tolerance; /* ns */
	gint64 now;	   /* merged time */
	gboolean late;	   /* a decision that had to wait is told */
	gint64 late_since; /* then: since when it waited */
	KmtCells *cells;   /* of what is fed; or NULL */
	const KmtCapture *capture;

	/* Where events may be missing. */
	gboolean lossy;	    /* anywhere */
	gint64 whole_from;  /* before it, the capture may lack records */
	gint64 whole_until; /* after it, likewise */

	KmtObjTable table;
	GPtrArray *asides;    /* of KmtAside; KmtEntry.aside has numbers + 1 */
	guint32 unused_aside; /* the first one; likewise */
	KmtPending *oldest, *newest;
	KmtPending *unused; /* by next */
	gint64 due;	    /* after it, oldest has waited long enough */
	KmtFindings findings;
};

/* later - earlier of any two times, which may not fit a gint64. */
static inline guint64 kmt_distance(gint64 earlier, gint64 later)
{
	return (guint64)later - (guint64)earlier;
}

/* How long ago another CPU used the address, ns; more than any tolerance if it
 * did not. */
static inline guint64 kmt_other_cpu_age(const KmtMatcher *m, const KmtEntry *e,
					guint16 file)
{
	guint64 age = kmt_distance(e->last_ts, m->now);

	if (e->last_file != file)
		return age;
	/* No sum with KMT_DELTA_NONE is within a tolerance. */
	return age > G_MAXUINT32 ? age : age + e->other_delta_ns;
}

static inline gboolean kmt_contended(const KmtMatcher *m, const KmtEntry *e,
				     guint16 file)
{
	return kmt_other_cpu_age(m, e, file) <= m->tolerance;
}

/* Notes that a record of this file is now the last one of the address. */
static inline void kmt_touch(const KmtMatcher *m, KmtEntry *e, guint16 file)
{
	guint64 age;

	/* No other CPU then and now, as nearly always. */
	if (G_LIKELY(e->last_file == file &&
		     e->other_delta_ns == KMT_DELTA_NONE)) {
		e->last_ts = m->now;
		return;
	}
	age = kmt_other_cpu_age(m, e, file);
	/* What is longer ago than the tolerance will never matter again. */
	e->other_delta_ns = age > m->tolerance ? KMT_DELTA_NONE : (guint32)age;
	e->last_file = file;
	e->last_ts = m->now;
}

/* The live object of e, or what is left of the last one. */
KmtObject kmt_entry_object(KmtMatcher *m, const KmtEntry *e, guint64 hash);
/* An entry for an address that has none. */
KmtEntry *kmt_entry_new(KmtMatcher *m, guint64 hash, guint type, guint16 file);
/* What a FREE of a live object of its type does to the guess about the time
 * before the first record. */
void kmt_review_close(KmtMatcher *m, KmtEntry *e, guint16 file);

/* May a record of an address be missing that it had between these times? */
gboolean kmt_may_miss(const KmtMatcher *m, gint64 from, gint64 until);

void kmt_tell_alloc(KmtMatcher *m, const KmtObject *object, const KmtRecord *r);
void kmt_tell_free(KmtMatcher *m, const KmtObject *object, const KmtRecord *r);
/* A record does to object, of its type, what it would do to any. */
void kmt_tell_step(KmtMatcher *m, const KmtObject *object, const KmtRecord *r);

/* ---- surplus.c ---- */

void kmt_asides_init(KmtMatcher *m);
void kmt_asides_clear(KmtMatcher *m);
/* What is aside of e: NULL unless KMT_ENTRY_PENDING or _MOVED. */
KmtAside *kmt_aside_of(const KmtMatcher *m, const KmtEntry *e);
void kmt_review_guess(KmtMatcher *m, KmtEntry *e, guint16 file);
gboolean kmt_opposite_holds(const KmtMatcher *m, KmtEntry *e, guint16 file);
/* What an ALLOC of a closed address does to the guess. */
void kmt_review_alloc(KmtMatcher *m, KmtEntry *e, guint16 file);
/* Records that are not certain at once.  e: NULL for a new address. */
void kmt_contest_alloc(KmtMatcher *m, KmtEntry *e, const KmtRecord *r);
void kmt_contest_free(KmtMatcher *m, KmtEntry *e, const KmtRecord *r);
/* Decides what has waited long enough; with all, everything. */
void kmt_expire(KmtMatcher *m, gboolean all);

/* ---- what is certain at once ---- */

/* A certain FREE: nothing waits, and the object is of its type. */
static inline gboolean kmt_free_at_once(const KmtEntry *e, guint type)
{
	return e &&
	       (e->flags & (KMT_ENTRY_LIVE | KMT_ENTRY_PENDING |
			    KMT_ENTRY_MOVED)) == KMT_ENTRY_LIVE &&
	       e->type == type;
}

/* The record of an item that kmt_match_step() does not do.  e: what may be the
 * entry of its address, or NULL. */
void kmt_match_slowly(KmtMatcher *m, KmtEntry *e, KmtItem *item);

G_STATIC_ASSERT((guint)KMT_STEP_ALLOC == KMEMTRACE_EVENT_ALLOC);
G_STATIC_ASSERT((guint)KMT_STEP_FREE == KMEMTRACE_EVENT_FREE);
G_STATIC_ASSERT((KMT_STEP_ALLOC & 1) && !(KMT_STEP_FREE & 1));

/*
 * Makes a step of an item: hash is known, op is that of the record, and lot and
 * remote are of what an ALLOC allocates.  candidate: as
 * kmt_obj_prefetch_entry() said.  Whether it is an ALLOC or a FREE cannot be
 * foretold; both go the same way here, as long as the address is closed or live
 * as it has to be.
 */
static inline void kmt_match_step(KmtMatcher *m, KmtItem *item,
				  guint32 candidate)
{
	guint64 mask = -(guint64)(item->op & 1); /* all bits, or none */
	guint8 expected = KMT_ENTRY_LIVE & ~(guint8)mask;
	KmtObjSegment *s = kmt_obj_segment(&m->table, item->hash);
	KmtEntry *e;

	m->now = item->now;
	if (G_UNLIKELY(item->now > m->due))
		kmt_expire(m, FALSE);
	/* The array of entries may move, but none changes its number: one that
	 * has the hash is the one. */
	if (G_UNLIKELY(candidate - 1 >= s->n_entries)) {
		kmt_match_slowly(m, NULL, item);
		return;
	}
	e = &s->entries[candidate - 1];
	if (G_UNLIKELY(e->hash != item->hash || e->flags != expected ||
		       e->type != item->type)) {
		kmt_match_slowly(m, e, item);
		return;
	}
	/* With masks, or the compiler makes a branch of it. */
	item->lot = (item->lot & (guint32)mask) | (e->lot & ~(guint32)mask);
	item->born = (gint64)(((guint64)item->now & mask) |
			      ((guint64)e->last_ts & ~mask));
	item->born_file =
		(guint16)((item->file & mask) | (e->last_file & ~mask));
	e->lot = item->lot;
	e->flags = expected ^ KMT_ENTRY_LIVE;
	s->n_closed += (guint32)(1 + 2 * mask);
	kmt_touch(m, e, item->file);
}

#endif
