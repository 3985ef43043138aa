/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State that matcher.c, match-state.c, ambiguous.c, defer-records.c, pending.c
 * and match-block.h share.
 */
#ifndef KMEMTRACE_MATCH_MATCHER_PRIVATE_H
#define KMEMTRACE_MATCH_MATCHER_PRIVATE_H

#include <string.h>

#include "lib/match/cross-uses.h"
#include "lib/match/matcher.h"
#include "lib/match/object-table.h"

#define KMT_MATCH_ENTRY_MAYBE                                                  \
	(KMT_MATCH_ENTRY_MAYBE_LIVE | KMT_MATCH_ENTRY_MAYBE_FREE)

/*
 * Remove flags, which are of KMT_MATCH_ENTRY_MAYBE, from an entry. Without such
 * a flag, no entry has KMT_MATCH_ENTRY_CROSSED: that flag alone would make
 * kmt_match_fast_path() accept an ALLOC with KMT_MATCH_OP_REMOTE.
 */
static inline void kmt_match_entry_discard_guess(KmtMatchEntry *e, guint flags)
{
	e->flags &= (guint8)~flags;
	if (!(e->flags & KMT_MATCH_ENTRY_MAYBE))
		e->flags &= (guint8)~KMT_MATCH_ENTRY_CROSSED;
}

/* A copy of the fields of a record that the slow path needs. */
typedef struct {
	/* For a pipeline event: event_id, type, address, call site and, as the
	 * timestamp, the merged time. All other fields are 0. */
	struct kmemtrace_event event;
	KmtMatchPosition position;
	guint64 hash;
	gint64 now; /* merged time of the record in ns; decisions use this time
		     * instead of event.timestamp */
	guint32 class_id; /* allocation class of an ALLOC */
	/*
	 * The pipeline event in which the decision about the record is stored
	 * as a KmtMatchStep. If item is NULL, or if no step can represent the
	 * decision, a callback of KmtMatchOps reports the decision.
	 */
	KmtMatchEvent *item;
} KmtMatchRecord;

/* A pending record: an ambiguous event that waits for its counterpart. */
typedef struct KmtMatchPending {
	struct KmtMatchPending *next; /* next pending record of all addresses,
				       * in time order */
	struct KmtMatchPending *next_of_kind; /* next pending record of the same
					       * address and event type */
	KmtMatchRecord record;
	KmtMatchObject replaced; /* the live object of the address when the
				  * record became pending, or else the last
				  * live object; for a FREE, and for a DEFER
				  * without is_double, replaced.timestamp is the
				  * time of the last ALLOC or FREE of the
				  * address before the record */
	gint64 since; /* merged time in ns at which the record became pending */
	gboolean mismatch; /* FREE: whether replaced was live and has another
			    * type */
	guint32 n_closes;  /* n_closes of the side entry when the record became
			      pending; a later difference means that an object
			      of the address was closed meanwhile */
	gboolean after_loss; /* ALLOC: whether the FREE of replaced may be
			      * missing, because its entry had
			      * KMT_MATCH_ENTRY_MAYBE_FREED */
	gboolean is_double;  /* DEFER: whether replaced was live and deferred */
	guint64 number;	     /* number of records that became pending before
			      * this one */
	gboolean resolved;   /* the decision was made; only the list of all
			      * pending records still contains the record */
} KmtMatchPending;

/*
 * Additional state of an address that has pending records, a saved ALLOC, or a
 * DEFER: the pending ALLOCs, FREEs and DEFERs, oldest first. With
 * KMT_MATCH_ENTRY_ALLOC_SAVED, also the CPU and time of the live object's
 * ALLOC. With KMT_MATCH_ENTRY_DEFERRED, also the live object's DEFER.
 */
typedef struct {
	guint32 class_id;    /* of the live object, or else of the last one; see
			      * KmtMatchEntry */
	guint32 next_unused; /* index + 1 of the next unused side entry; 0: none
			      */
	KmtMatchPending *allocs, *last_alloc;
	KmtMatchPending *frees, *last_free;
	KmtMatchPending *defers, *last_defer;
	guint32 n_closes; /* number of times that an object of the address was
			     closed while the side entry existed, modulo 2^32 */
	gint64 alloc_time;
	guint16 file;
	KmtMatchDefer defer;
	gboolean defer_is_doubtful; /* defer may be that of another object */
} KmtMatchSideEntry;

struct KmtMatcher {
	KmtMatchOps ops;
	gpointer user;
	guint64 tolerance;    /* clock tolerance in ns */
	gint64 now;	      /* merged time in ns */
	gboolean delayed;     /* whether the reported decision is that of
			       * kmt_match_expire_pending() */
	gint64 delayed_since; /* if delayed: merged time since which the
			       * decision was pending */
	KmtMatchKeys *keys;   /* source of the class numbers, or NULL */
	const KmtInputCapture *capture;

	/* Times at which events may be missing: */
	gboolean lossy;	       /* events may be missing at unknown times */
	gint64 complete_from;  /* the capture may lack records before this
				* merged time */
	gint64 complete_until; /* the capture may lack records after this merged
				* time */

	KmtMatchTable table;
	KmtMatchCrossUses cross_uses;
	GPtrArray *side_entries;   /* of KmtMatchSideEntry */
	guint32 unused_side_entry; /* index + 1 of the first unused side entry;
				    * 0: none */
	KmtMatchPending *oldest, *newest; /* ends of the list of all pending
					   * records, linked by next */
	KmtMatchPending *unused;	  /* unused records, linked by next */
	guint64 n_pending; /* number of records that became pending so
			    * far */
	gint64 due;	   /* merged time after which the decision about
			    * oldest is due */
	KmtMatchFindings findings;
};

/* Return a + b, or the nearest gint64 if the sum overflows. */
static inline gint64 kmt_match_add_saturated(gint64 a, gint64 b)
{
	gint64 sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? G_MININT64 : G_MAXINT64;
	return sum;
}

/* Return later - earlier. The difference of two times may exceed a gint64. */
static inline guint64 kmt_match_time_distance(gint64 earlier, gint64 later)
{
	return (guint64)later - (guint64)earlier;
}

/* Return the side entry of an entry; NULL unless it has a flag of
 * KMT_MATCH_ENTRY_SIDE. */
static inline KmtMatchSideEntry *kmt_match_side_entry(const KmtMatcher *m,
						      const KmtMatchEntry *e)
{
	return e->flags & KMT_MATCH_ENTRY_SIDE ? m->side_entries->pdata[e->side]
					       : NULL;
}

/* ---- lib/match/match-state.c ---- */

/*
 * Return whether a CPU other than that of file used the address, by an ALLOC or
 * FREE, within the clock tolerance before m->now.
 */
gboolean kmt_match_is_contended(const KmtMatcher *m, const KmtMatchEntry *e,
				guint16 file);

/* Update the entry of an address after an ALLOC or FREE of the given file at
 * m->now. */
void kmt_match_entry_touch(KmtMatcher *m, KmtMatchEntry *e, guint16 file);

/* Set the allocation class of the live object, or else of the last one. */
void kmt_match_entry_set_class(const KmtMatcher *m, KmtMatchEntry *e,
			       guint32 class_id);

/*
 * Return the live object of an entry. For a closed entry, return what is still
 * known of its last object, with the time and CPU of the last record instead of
 * those of the ALLOC.
 */
KmtMatchObject kmt_match_entry_object(KmtMatcher *m, const KmtMatchEntry *e,
				      guint64 hash);
/* Add an entry for an address that has none. The entry is closed, and its last
 * record is one of file at m->now. */
KmtMatchEntry *kmt_match_entry_new(KmtMatcher *m, guint64 hash, guint type,
				   guint16 file);
/*
 * A FREE of file, with a fitting type, frees the live object of e. The matcher
 * guesses whether the address was live before its first record. Discard the
 * opposite of this guess, unless the opposite is still possible.
 */
void kmt_match_guess_on_free(KmtMatcher *m, KmtMatchEntry *e, guint16 file);

/*
 * Return whether the capture may lack a record of an address between two merged
 * times.
 */
gboolean kmt_match_may_lack_records(const KmtMatcher *m, gint64 from,
				    gint64 until);

/*
 * Return whether a FREE of one type can free an object of the other type. Both
 * types belong to the same namespace; equal types always fit.
 */
static inline gboolean kmt_match_type_fits(const KmtMatcher *m, guint a,
					   guint b)
{
	return a == b || m->capture->kfree_of_caches;
}

/* Call on_alloc for a new object, whose ALLOC is r. */
void kmt_match_report_alloc(KmtMatcher *m, const KmtMatchObject *object,
			    const KmtMatchRecord *r);
/*
 * Call on_free for the FREE r of object. If the two types do not fit, count a
 * mismatch. A mismatch that lost events may explain is counted separately, and
 * on_free does not report this mismatch.
 */
void kmt_match_report_free(KmtMatcher *m, const KmtMatchObject *object,
			   const KmtMatchRecord *r);
/* Report that r allocates or frees object: as the step of r->item if possible,
 * otherwise by on_alloc or on_free. */
void kmt_match_report_step(KmtMatcher *m, const KmtMatchObject *object,
			   const KmtMatchRecord *r);

/*
 * A record of file arrives. If the opposite guess is unconfirmed: confirm it if
 * a CPU other than that of file used the address within the clock tolerance;
 * otherwise discard the opposite guess if the last record of the address is
 * older than the tolerance, or after MAX_UNCONFIRMED such records. Call this
 * before kmt_match_entry_touch().
 */
void kmt_match_guess_review(KmtMatcher *m, KmtMatchEntry *e, guint16 file);
/*
 * An ALLOC of file arrives for the closed address of e. Discard the opposite of
 * the guess about the state before the first record, unless the opposite is
 * still possible.
 */
void kmt_match_guess_on_alloc(KmtMatcher *m, KmtMatchEntry *e, guint16 file);

/* ---- lib/match/pending.c ---- */

/* Create and destroy the side entries and the pending records of a matcher. */
void kmt_match_pending_init(KmtMatcher *m);
void kmt_match_pending_clear(KmtMatcher *m);

/* Set a flag of KMT_MATCH_ENTRY_SIDE, and return the side entry of the entry;
 * create one if there is none. */
KmtMatchSideEntry *kmt_match_side_entry_get(KmtMatcher *m, KmtMatchEntry *e,
					    guint flag);

/*
 * Account for the end of the live object: discard the saved allocation and the
 * DEFER. The side entry may be released.
 */
void kmt_match_side_entry_closed(KmtMatcher *m, KmtMatchEntry *e);

/* Make r pending. The caller then sets the fields of the result that exist only
 * for the event type of r. */
KmtMatchPending *kmt_match_pending_add(KmtMatcher *m, KmtMatchEntry *e,
				       const KmtMatchRecord *r);
/* Release p for reuse by kmt_match_pending_add(). */
void kmt_match_pending_free(KmtMatcher *m, KmtMatchPending *p);

/* Set m->due after a change of the oldest pending record. */
void kmt_match_pending_set_due(KmtMatcher *m);

/* Maximum number of pending records of an address that a search visits. */
#define KMT_MATCH_MAX_SEARCH 8

/*
 * Search p, the list of the pending FREEs or ALLOCs of an address. Return the
 * oldest FREE whose type fits, or the oldest ALLOC that replaced an object
 * whose type fits; NULL if there is none among the first KMT_MATCH_MAX_SEARCH.
 */
KmtMatchPending *kmt_match_pending_of_type(const KmtMatcher *m,
					   KmtMatchPending *p, guint type);

/* Remove p from its side entry. p stays in the list of all pending records
 * until kmt_match_expire_pending() releases it after the clock tolerance. If p
 * was the last pending record of the address, the side entry may be released.
 */
void kmt_match_pending_resolve(KmtMatcher *m, KmtMatchEntry *e,
			       KmtMatchSideEntry *side, KmtMatchPending *p);

/* ---- lib/match/ambiguous.c ---- */

/*
 * Process a record that cannot be decided at once. e is the entry of the
 * address; only for a FREE, e may be NULL: the address has no entry.
 */
void kmt_match_resolve_alloc(KmtMatcher *m, KmtMatchEntry *e,
			     const KmtMatchRecord *r);
void kmt_match_resolve_free(KmtMatcher *m, KmtMatchEntry *e,
			    const KmtMatchRecord *r);
/*
 * Decide about pending records that have waited for longer than the clock
 * tolerance; with all, about every pending record.
 */
void kmt_match_expire_pending(KmtMatcher *m, gboolean all);

/* ---- lib/match/defer-records.c ---- */

/* Process a DEFER record. e is the entry of the address, or NULL. */
void kmt_match_resolve_defer(KmtMatcher *m, KmtMatchEntry *e,
			     const KmtMatchRecord *r);
/* Decide about a pending DEFER, of the address of e, that no ALLOC has
 * explained. */
void kmt_match_expire_defer(KmtMatcher *m, const KmtMatchEntry *e,
			    const KmtMatchPending *p);
/*
 * Return the oldest pending DEFER of an entry that may belong to the object
 * which an ALLOC of file allocates now, or NULL if there is none among the
 * first KMT_MATCH_MAX_SEARCH. free: the pending FREE of this object, or NULL; a
 * DEFER that came after free is not returned.
 */
KmtMatchPending *kmt_match_early_defer(const KmtMatcher *m,
				       const KmtMatchEntry *e, guint16 file,
				       const KmtMatchPending *free);
/* Make the pending DEFER p that of object, which was just allocated and which a
 * pending FREE frees at once, and report the DEFER. */
void kmt_match_take_defer(KmtMatcher *m, KmtMatchEntry *e, KmtMatchPending *p,
			  KmtMatchObject *object);
/* Make the pending DEFER p that of the live object of e, and report the DEFER.
 */
void kmt_match_attach_early(KmtMatcher *m, KmtMatchEntry *e,
			    KmtMatchPending *p);

/* ---- records that can be decided at once ---- */

/*
 * Return whether a FREE of this type, on any CPU, can be decided at once: the
 * object is live and not deferred, has a fitting type, the last ALLOC or FREE
 * of the address is the object's ALLOC, and no record of the address is
 * pending. kmt_match_fast_path() applies the same rule to most records of a
 * report, but accepts only an equal type and no flag besides
 * KMT_MATCH_ENTRY_LIVE.
 */
static inline gboolean kmt_match_is_certain_free(const KmtMatcher *m,
						 const KmtMatchEntry *e,
						 guint type)
{
	return e &&
	       (e->flags & (KMT_MATCH_ENTRY_LIVE | KMT_MATCH_ENTRY_SIDE)) ==
		       KMT_MATCH_ENTRY_LIVE &&
	       kmt_match_type_fits(m, kmt_match_entry_type(e), type);
}

/*
 * Process an event that kmt_match_fast_path() refused. The caller has made the
 * decisions about pending records that are due. e is the result of
 * kmt_match_table_at(), which need not be the entry of the address.
 */
void kmt_match_slow_path(KmtMatcher *m, KmtMatchEntry *e, KmtMatchEvent *item);

/*
 * The value 1 in the bytes that hold op and type of KmtMatchEvent.state, and
 * flags and kind of KmtMatchEntry.state.
 */
#define KMT_MATCH_STATE_OP                                                     \
	(G_BYTE_ORDER == G_LITTLE_ENDIAN ? 1u << 16 : 1u << 8)
#define KMT_MATCH_STATE_TYPE (G_BYTE_ORDER == G_LITTLE_ENDIAN ? 1u << 24 : 1u)

/* The bits of file in KmtMatchEvent.state, and of last_file in
 * KmtMatchEntry.state. */
#define KMT_MATCH_STATE_FILE                                                   \
	(G_BYTE_ORDER == G_LITTLE_ENDIAN ? 0xffffu : 0xffff0000u)

/* Return last_file of a KmtMatchEntry.state. */
static inline guint16 kmt_match_state_file(guint32 state)
{
	return (guint16)(G_BYTE_ORDER == G_LITTLE_ENDIAN ? state : state >> 16);
}

G_STATIC_ASSERT((guint)KMT_MATCH_STEP_ALLOC == KMEMTRACE_EVENT_ALLOC);
G_STATIC_ASSERT((guint)KMT_MATCH_STEP_FREE == KMEMTRACE_EVENT_FREE);
G_STATIC_ASSERT((KMT_MATCH_STEP_ALLOC & 1) && !(KMT_MATCH_STEP_FREE & 1));
G_STATIC_ASSERT(KMT_MATCH_STEP_ALLOC == 1 &&
		KMT_MATCH_STEP_FREE == KMT_MATCH_ENTRY_LIVE + 1);
/* An entry has at most one of the flags KMT_MATCH_ENTRY_MAYBE_LIVE and
 * _MAYBE_FREE, so no entry has the flags that the fast path requires for a
 * DEFER. */
G_STATIC_ASSERT(KMT_MATCH_STEP_DEFER - 1 ==
		(KMT_MATCH_ENTRY_LIVE | KMT_MATCH_ENTRY_MAYBE));

/*
 * Return the state that the entry of an event's address has in the common case:
 * closed before an ALLOC, live before a FREE, no other flag, and the type and
 * the CPU of the event. item->op is a KmtMatchStep. The result is never 0.
 */
static inline guint32 kmt_match_usual_state(const KmtMatchEvent *item)
{
	return item->state - KMT_MATCH_STATE_OP + KMT_MATCH_STATE_TYPE;
}

/*
 * Return the flags of an entry that a record with the KmtMatchStep op removes
 * if the last record of the address is older than the clock tolerance. An ALLOC
 * with KMT_MATCH_OP_REMOTE and a DEFER remove none.
 */
static inline guint32 kmt_match_ended_guess(guint8 op)
{
	if (op == KMT_MATCH_STEP_ALLOC)
		return KMT_MATCH_ENTRY_MAYBE_FREE | KMT_MATCH_ENTRY_CROSSED;
	if (op == KMT_MATCH_STEP_FREE)
		return KMT_MATCH_ENTRY_MAYBE_LIVE | KMT_MATCH_ENTRY_CROSSED;
	return 0;
}

/* The decision of kmt_match_fast_path() about an event. The local variable of a
 * loop, which the compiler keeps in registers. */
typedef struct {
	gsize is_alloc; /* 1: ALLOC; 0: FREE; with the width of an index, which
			 * saves a consumer an instruction */
	gsize class_id; /* allocation class of the object */
	gint64 alloc_time;  /* FREE: merged time of the allocation in ns */
	guint16 alloc_file; /* FREE: file index of the allocation */
	guint flag;	    /* KmtMatchEvent.flag after matching */
} KmtMatchDecision;

/*
 * Set *is_alloc to its lowest bit. Return new_class if the result is 1, and
 * otherwise old_class. There is no branch, because the event type cannot be
 * predicted. In assembler, because gcc 12 extends the 32-bit result of a
 * conditional move to 64 bits once more, one instruction per event.
 */
static inline gsize kmt_match_choose_class(gsize *is_alloc, guint32 old_class,
					   const guint32 *new_class)
{
	gsize class_id = old_class;

#if defined(__x86_64__)
	__asm__("and $1, %k[is_alloc]\n\t"
		"cmovne %[new_class], %k[class_id]"
		: [is_alloc] "+&r"(*is_alloc), [class_id] "+r"(class_id)
		: [new_class] "m"(*new_class)
		: "cc");
#else
	*is_alloc &= 1;
	if (__builtin_expect_with_probability((long)*is_alloc, 1, 0.5))
		class_id = *new_class;
#endif
	return class_id;
}

/*
 * Apply an event to its entry e, whose flags and type are those of
 * kmt_match_usual_state().
 */
static inline __attribute__((always_inline)) void
kmt_match_decide(const KmtMatchEvent *item, KmtMatchEntry *e,
		 KmtMatchDecision *d)
{
	d->is_alloc = item->state / KMT_MATCH_STATE_OP;
	/* The class of a FREE is that of the entry's ALLOC. */
	d->class_id = kmt_match_choose_class(&d->is_alloc, e->class_id,
					     &item->class_id);
	e->class_id = (guint32)d->class_id;
	d->alloc_time = e->last_ts;
	d->alloc_file = kmt_match_state_file(e->state);
	/* Store with the width of the load: the next record of the address may
	 * follow at once, and store forwarding needs equal widths. */
	e->state = kmt_match_usual_state(item) ^ KMT_MATCH_STATE_OP;
	e->last_ts = item->now;
}

/*
 * Decide an event in the common case: the address is closed before an ALLOC, or
 * live before a FREE, has an entry of the same type, has no pending record, and
 * was last used by the same CPU. Return FALSE in every other case;
 * kmt_match_block() then calls kmt_match_aged_path(). One comparison decides
 * all of that.
 *
 * item has the hash, a KmtMatchStep as op, and for an ALLOC its class_id. e is
 * the result of kmt_match_table_at() for the hash.
 *
 * The function never decides a DEFER, a FREE of a deferred object, or an ALLOC
 * with the remote flag. ALLOC and FREE execute the same instructions, because a
 * branch on the event type could not be predicted. A due decision concerns
 * another address and need not precede this one, because an entry with a
 * pending record has a flag that is refused.
 */
static inline __attribute__((always_inline)) gboolean
kmt_match_fast_path(const KmtMatchEvent *item, KmtMatchEntry *e,
		    KmtMatchDecision *d)
{
	if (G_UNLIKELY(e->state != kmt_match_usual_state(item)))
		return FALSE;
	kmt_match_decide(item, e, d);
	d->flag = FALSE;
	return TRUE;
}

/*
 * Decide an event as kmt_match_fast_path() does if the last record of the
 * address is older than the clock tolerance, and another CPU made that record,
 * or the guess about the state before the first record is open: an ALLOC then
 * rules out KMT_MATCH_ENTRY_MAYBE_FREE, and a FREE _MAYBE_LIVE. Return FALSE in
 * every other case; kmt_match_block() then calls kmt_match_slow_path().
 *
 * 7 % of the records of a short capture of a kernel end a guess. This function
 * takes 60 instructions less than the slow path for each of them.
 */
static inline __attribute__((always_inline)) gboolean
kmt_match_aged_path(const KmtMatcher *m, const KmtMatchEvent *item,
		    KmtMatchEntry *e, KmtMatchDecision *d)
{
	guint32 other = e->state ^ kmt_match_usual_state(item);

	if (kmt_match_time_distance(e->last_ts, item->now) <= m->tolerance)
		return FALSE;
	other &= ~(KMT_MATCH_STATE_FILE |
		   kmt_match_ended_guess(item->op) * KMT_MATCH_STATE_OP);
	if (other)
		return FALSE;
	kmt_match_decide(item, e, d);
	d->flag = !d->is_alloc && d->alloc_file != item->file;
	return TRUE;
}

#endif
