// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DEFER records: the moment at which an object was handed over to be freed
 * after a grace period.
 *
 * A DEFER belongs to the live object of its address. DEFERs change neither the
 * time and CPU of the address's last record nor the matching of ALLOCs and
 * FREEs, so that a capture has the same pairs with and without its DEFERs.
 *
 * Skewed clocks can move a DEFER past a record of another CPU:
 *
 * - after the FREE of its object, and perhaps after the next ALLOC of the
 *   address: the DEFER finds no live object, or the next one. A record of
 *   another CPU is within the clock tolerance before the DEFER. If the DEFER
 *   finds no live object, or one that has a DEFER already, which is not
 *   doubtful, the arriving DEFER is late and has no effect.
 * - before the ALLOC of its object: the DEFER finds no live object, or an
 *   earlier one that is deferred already. If the DEFER is not late, it becomes
 *   pending, and the next ALLOC within the tolerance takes it; see
 *   may_be_early().
 *
 * The DEFER of an object is doubtful, and the next DEFER replaces it, if a
 * record of another CPU is within the tolerance before the DEFER, or if the
 * DEFER came before the ALLOC of the object.
 */
#include "config.h"

#include "lib/match/matcher-private.h"

static KmtMatchDefer defer_of(const KmtMatchRecord *r)
{
	return (KmtMatchDefer){
		.time = r->now,
		.call_site = r->event.call_site,
		.file = (guint16)r->position.file->position,
	};
}

static void report_defer(KmtMatcher *m, const KmtMatchObject *object,
			 const KmtMatchRecord *r, KmtMatchDeferEffect effect)
{
	if (m->ops.on_defer)
		m->ops.on_defer(m->user, object, &r->event, &r->position,
				effect);
}

static void report_unmatched(KmtMatcher *m, const KmtMatchRecord *r,
			     KmtMatchUnmatched class)
{
	m->findings.unmatched_defers[class]++;
	if (m->ops.on_unmatched_defer)
		m->ops.on_unmatched_defer(m->user, &r->event, &r->position,
					  class);
}

/* Make the DEFER r that of the live object of e, and report the DEFER. */
static void attach(KmtMatcher *m, KmtMatchEntry *e, const KmtMatchRecord *r,
		   gboolean is_doubtful, KmtMatchDeferEffect effect)
{
	KmtMatchSideEntry *side =
		kmt_match_side_entry_get(m, e, KMT_MATCH_ENTRY_DEFERRED);
	gint64 first = side->defer.time;
	KmtMatchObject object;

	side->defer = defer_of(r);
	if (effect == KMT_MATCH_DEFER_AGAIN)
		side->defer.time = first;
	side->defer_is_doubtful = is_doubtful;
	object = kmt_match_entry_object(m, e, r->hash);
	report_defer(m, &object, r, effect);
}

/*
 * Return whether the pending DEFER p may become that of the object that an
 * ALLOC of file allocates now. The records of one CPU are in order, so a DEFER
 * that precedes the ALLOC of its object is not of the CPU of file. Such a
 * DEFER is p, or the DEFER that the old object, p->replaced, has already. In
 * the second case p is the true DEFER of the old object, but the new object
 * gets p: the DEFERs of the two objects are exchanged.
 */
static gboolean may_be_early(const KmtMatcher *m, const KmtMatchPending *p,
			     guint16 file)
{
	const KmtMatchDefer *first = &p->replaced.defer;

	return p->record.position.file->position != file ||
	       (p->is_double && first->file != file &&
		kmt_match_time_distance(first->time, m->now) <= m->tolerance);
}

KmtMatchPending *kmt_match_early_defer(const KmtMatcher *m,
				       const KmtMatchEntry *e, guint16 file,
				       const KmtMatchPending *free)
{
	const KmtMatchSideEntry *side = kmt_match_side_entry(m, e);
	KmtMatchPending *p = side ? side->defers : NULL;
	guint n;

	for (n = 0; p && n < KMT_MATCH_MAX_SEARCH; n++, p = p->next_of_kind)
		if (may_be_early(m, p, file))
			return free && p->number > free->number ? NULL : p;
	return NULL;
}

void kmt_match_take_defer(KmtMatcher *m, KmtMatchEntry *e, KmtMatchPending *p,
			  KmtMatchObject *object)
{
	object->is_deferred = TRUE;
	object->defer = defer_of(&p->record);
	report_defer(m, object, &p->record, KMT_MATCH_DEFER_FIRST);
	kmt_match_pending_resolve(m, e, kmt_match_side_entry(m, e), p);
}

void kmt_match_attach_early(KmtMatcher *m, KmtMatchEntry *e, KmtMatchPending *p)
{
	attach(m, e, &p->record, TRUE, KMT_MATCH_DEFER_FIRST);
	kmt_match_pending_resolve(m, e, kmt_match_side_entry(m, e), p);
}

/*
 * Create the entry of an address again after it was removed. Return NULL if no
 * entry of the address was removed.
 */
static KmtMatchEntry *removed_entry(KmtMatcher *m, const KmtMatchRecord *r)
{
	guint type = r->event.type_id;
	KmtMatchEntry *e;

	if (!kmt_match_address_set_contains(
		    m->table.evicted[kmt_input_namespace_of(type)],
		    r->event.ptr))
		return NULL;
	e = kmt_match_entry_new(m, r->hash, type,
				(guint16)r->position.file->position);
	/* The time of the last record is not known. It is complete_from or
	 * later, and more than the clock tolerance ago. */
	e->last_ts = m->complete_from;
	return e;
}

void kmt_match_resolve_defer(KmtMatcher *m, KmtMatchEntry *e,
			     const KmtMatchRecord *r)
{
	guint16 file = (guint16)r->position.file->position;
	gboolean is_deferred, is_contended;
	KmtMatchPending *p;

	if (!e)
		e = removed_entry(m, r);
	if (!e) {
		report_unmatched(m, r, KMT_MATCH_UNMATCHED_BEFORE_TRACE);
		return;
	}
	is_deferred = (e->flags & KMT_MATCH_ENTRY_DEFERRED) != 0;
	is_contended = kmt_match_is_contended(m, e, file);
	if (e->flags & KMT_MATCH_ENTRY_LIVE && !is_deferred) {
		attach(m, e, r, is_contended, KMT_MATCH_DEFER_FIRST);
	} else if (is_deferred &&
		   kmt_match_side_entry(m, e)->defer_is_doubtful) {
		attach(m, e, r, is_contended, KMT_MATCH_DEFER_AGAIN);
	} else if (is_contended) {
		report_defer(m, NULL, r, KMT_MATCH_DEFER_LATE);
	} else {
		p = kmt_match_pending_add(m, e, r);
		p->is_double = is_deferred;
		if (!is_deferred)
			p->replaced.timestamp = e->last_ts;
	}
}

/* Return the class of a DEFER that no ALLOC has explained. */
static KmtMatchUnmatched unmatched_class(const KmtMatchEntry *e,
					 gboolean after_loss)
{
	/* Under the opposite guess, the address is still live. A FREE, not a
	 * DEFER, shows which of the two guesses is true. */
	if (e->flags & KMT_MATCH_ENTRY_MAYBE_LIVE &&
	    !kmt_match_entry_unconfirmed(e))
		return KMT_MATCH_UNMATCHED_BEFORE_TRACE;
	return after_loss ? KMT_MATCH_UNMATCHED_AFTER_LOSS
			  : KMT_MATCH_UNMATCHED_UNEXPLAINED;
}

void kmt_match_expire_defer(KmtMatcher *m, const KmtMatchEntry *e,
			    const KmtMatchPending *p)
{
	const KmtMatchRecord *r = &p->record;
	gint64 from =
		p->is_double ? p->replaced.defer.time : p->replaced.timestamp;
	gboolean after_loss = kmt_match_may_lack_records(m, from, p->since);

	if (!p->is_double) {
		report_unmatched(m, r, unmatched_class(e, after_loss));
		return;
	}
	if (after_loss)
		m->findings.double_defers_after_loss++;
	else
		m->findings.double_defers++;
	if (m->ops.on_double_defer)
		m->ops.on_double_defer(m->user, &p->replaced, &r->event,
				       &r->position, after_loss);
}
