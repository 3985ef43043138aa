// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/match/matcher-private.h"

/*
 * Ambiguous events: records whose order between CPUs is uncertain
 *
 * The records of one CPU are in order. Two records of different CPUs within the
 * clock tolerance may have happened in the reverse order. In merged order, such
 * a swap appears as an ambiguous ALLOC, whose address is live, or an ambiguous
 * FREE, whose address is not live. An ambiguous event therefore becomes pending
 * for the length of the tolerance. If the counterpart of the event arrives, the
 * two records explain each other, provided that the address was contended: a
 * CPU other than the CPU of the counterpart used the address within the
 * tolerance.
 *
 * The state of an address before its first record is a guess: live if the first
 * record is a FREE, otherwise free. The guess may be wrong if skewed clocks may
 * have moved a record of another CPU past the first record.
 * KMT_MATCH_ENTRY_MAYBE_FREE or _MAYBE_LIVE then means that the opposite guess
 * is still possible: each record that would be ambiguous under the opposite
 * guess had a contended counterpart within the tolerance. If the guess leads to
 * a finding and the opposite does not, the opposite is true. The record of the
 * other CPU may arrive after the counterpart; until then
 * kmt_match_entry_unconfirmed() is not 0.
 *
 * docs/definitions.md has the complete rules.
 */

/*
 * Save the CPU and time of the ALLOC of a live entry, before another record
 * overwrites last_file and last_ts of the entry.
 */
static void save_allocation(KmtMatcher *m, KmtMatchEntry *e)
{
	KmtMatchSideEntry *side;

	if ((e->flags & (KMT_MATCH_ENTRY_LIVE | KMT_MATCH_ENTRY_ALLOC_SAVED)) !=
	    KMT_MATCH_ENTRY_LIVE)
		return;
	side = kmt_match_side_entry_get(m, e, KMT_MATCH_ENTRY_ALLOC_SAVED);
	side->alloc_time = e->last_ts;
	side->file = e->last_file;
}

static void report_unmatched(KmtMatcher *m, const KmtMatchRecord *r,
			     KmtMatchUnmatched class)
{
	m->findings.unmatched[class]++;
	if (m->ops.on_unmatched)
		m->ops.on_unmatched(m->user, &r->event, &r->position, class);
}

/* Return the object that an ALLOC record allocates. */
static KmtMatchObject record_object(KmtMatcher *m, const KmtMatchRecord *r)
{
	return (KmtMatchObject){
		.ptr = r->event.ptr,
		.timestamp = m->now,
		.class_id = r->class_id,
		.file = (guint16)r->position.file->position,
		.type = r->event.type_id,
		.index = r->position.index,
	};
}

/* Make an entry live, by an ALLOC record. */
static void make_live(KmtMatcher *m, KmtMatchEntry *e, const KmtMatchRecord *r)
{
	guint64 *index = kmt_match_table_alloc_index(&m->table, e);
	guint16 file = (guint16)r->position.file->position;
	KmtMatchPending *early = kmt_match_early_defer(m, e, file, NULL);
	KmtMatchObject object;

	if (e->flags & KMT_MATCH_ENTRY_LIVE)
		kmt_match_side_entry_closed(m, e);
	kmt_match_entry_touch(m, e, file);
	e->flags |= KMT_MATCH_ENTRY_LIVE;
	kmt_match_entry_set_type(e, r->event.type_id);
	kmt_match_entry_set_class(m, e, r->class_id);
	if (index)
		*index = r->position.index;
	object = kmt_match_entry_object(m, e, r->hash);
	if (early) {
		/* The consumer must receive the ALLOC before the DEFER. The
		 * DEFER becomes a slow event, which precedes the step of this
		 * record, so report the ALLOC by on_alloc, not by a step. */
		kmt_match_report_alloc(m, &object, r);
		kmt_match_attach_early(m, e, early);
	} else {
		kmt_match_report_step(m, &object, r);
	}
}

/* Close a live entry without changing the time and CPU of its last record. */
static void make_closed(KmtMatcher *m, KmtMatchEntry *e)
{
	kmt_match_side_entry_closed(m, e);
	e->flags &= ~(KMT_MATCH_ENTRY_LIVE | KMT_MATCH_ENTRY_MAYBE_FREED);
}

static void report_double(KmtMatcher *m, const KmtMatchPending *p,
			  KmtMatchDoubleAlloc class,
			  const struct kmemtrace_event *free_event)
{
	m->findings.doubles[class]++;
	if (m->ops.on_double)
		m->ops.on_double(m->user, &p->replaced, &p->record.event,
				 &p->record.position, class, free_event);
}

/* Decide about a FREE without a counterpart. The FREE is a type mismatch with a
 * live object, or is unmatched: the guess about the time before the first
 * record was wrong, the ALLOC may be lost, or nothing explains the FREE.
 * is_gone: the object that the FREE may have freed was closed meanwhile.
 */
static void expire_free(KmtMatcher *m, KmtMatchEntry *e,
			const KmtMatchPending *p, gboolean is_gone)
{
	gboolean sure = !kmt_match_entry_unconfirmed(e);
	KmtMatchUnmatched class = KMT_MATCH_UNMATCHED_UNEXPLAINED;

	if (p->mismatch && !is_gone) {
		KmtMatchObject object =
			kmt_match_entry_object(m, e, p->record.hash);

		kmt_match_report_free(m, &object, &p->record);
		make_closed(m, e);
		kmt_match_entry_discard_guess(e, KMT_MATCH_ENTRY_MAYBE);
		kmt_match_entry_set_unconfirmed(e, 0);
		return;
	}
	if (sure && (e->flags & KMT_MATCH_ENTRY_MAYBE_LIVE)) {
		class = KMT_MATCH_UNMATCHED_BEFORE_TRACE;
		kmt_match_entry_discard_guess(e, KMT_MATCH_ENTRY_MAYBE_LIVE);
	} else if (kmt_match_may_lack_records(m, p->replaced.timestamp,
					      p->since)) {
		class = KMT_MATCH_UNMATCHED_AFTER_LOSS;
	}
	report_unmatched(m, &p->record, class);
}

/*
 * Return whether the FREE of the object that p's ALLOC replaced may be missing.
 */
static gboolean free_may_be_lost(const KmtMatcher *m, const KmtMatchPending *p)
{
	return p->after_loss ||
	       kmt_match_may_lack_records(m, p->replaced.timestamp, p->since);
}

/* Decide about an ALLOC without a counterpart. */
static void expire_alloc(KmtMatcher *m, KmtMatchEntry *e,
			 const KmtMatchPending *p)
{
	gboolean sure = !kmt_match_entry_unconfirmed(e);
	KmtMatchDoubleAlloc class = KMT_MATCH_DOUBLE_UNEXPLAINED;

	if (sure && (e->flags & KMT_MATCH_ENTRY_MAYBE_FREE)) {
		class = KMT_MATCH_DOUBLE_RACE;
		kmt_match_entry_discard_guess(e, KMT_MATCH_ENTRY_MAYBE_FREE);
	} else if (free_may_be_lost(m, p)) {
		class = KMT_MATCH_DOUBLE_AFTER_LOSS;
	}
	report_double(m, p, class, NULL);
}

static void expire_one(KmtMatcher *m, KmtMatchEntry *e, KmtMatchPending *p)
{
	const struct kmemtrace_event *event = &p->record.event;
	KmtMatchSideEntry *side = kmt_match_side_entry(m, e);
	/* whether the object that the FREE may have freed was closed meanwhile
	 */
	gboolean is_gone = p->n_closes != side->n_closes;

	kmt_match_pending_resolve(m, e, side, p);
	if (event->event_id == KMEMTRACE_EVENT_FREE)
		expire_free(m, e, p, is_gone);
	else if (event->event_id == KMEMTRACE_EVENT_DEFER)
		kmt_match_expire_defer(m, e, p);
	else
		expire_alloc(m, e, p);
}

void kmt_match_expire_pending(KmtMatcher *m, gboolean all)
{
	while (m->oldest && (all || m->now > m->due)) {
		KmtMatchPending *p = m->oldest;

		if (p->next)
			kmt_match_table_prefetch(&m->table,
						 p->next->record.hash);
		m->delayed = TRUE;
		m->delayed_since = p->since;
		if (!p->resolved)
			expire_one(m,
				   kmt_match_table_find(
					   &m->table, p->record.hash,
					   kmt_input_namespace_of(
						   p->record.event.type_id)),
				   p);
		m->delayed = FALSE;
		m->oldest = p->next;
		if (!m->oldest)
			m->newest = NULL;
		kmt_match_pending_set_due(m);
		kmt_match_pending_free(m, p);
	}
}

/*
 * Process an ALLOC of an address that is live or has pending records. If a
 * pending FREE belongs to this ALLOC, the two are matched. Otherwise an ALLOC
 * of a live address becomes pending.
 */
void kmt_match_resolve_alloc(KmtMatcher *m, KmtMatchEntry *e,
			     const KmtMatchRecord *r)
{
	guint16 file = (guint16)r->position.file->position;
	KmtMatchSideEntry *side = kmt_match_side_entry(m, e);
	KmtMatchPending *p = NULL, *early;

	if (!(e->flags & KMT_MATCH_ENTRY_LIVE) &&
	    !(side && (side->allocs || side->frees)))
		kmt_match_guess_on_alloc(m, e, file);
	else
		kmt_match_guess_review(m, e, file);
	if (side && kmt_match_is_contended(m, e, file))
		p = kmt_match_pending_of_type(m, side->frees, r->event.type_id);
	if (p) {
		KmtMatchObject object = record_object(m, r);

		save_allocation(m, e);
		kmt_match_entry_touch(m, e, file);
		kmt_match_report_alloc(m, &object, r);
		early = kmt_match_early_defer(m, e, file, p);
		if (early)
			kmt_match_take_defer(m, e, early, &object);
		kmt_match_report_free(m, &object, &p->record);
		kmt_match_pending_resolve(m, e, kmt_match_side_entry(m, e), p);
		return;
	}
	/* A pending FREE of another type must have freed the object that this
	 * ALLOC replaces. */
	while ((e->flags & KMT_MATCH_ENTRY_LIVE) &&
	       (side = kmt_match_side_entry(m, e)) && side->frees &&
	       side->frees->mismatch)
		expire_one(m, e, side->frees);
	if (e->flags & KMT_MATCH_ENTRY_LIVE) {
		if (m->ops.on_replaced) {
			KmtMatchObject old =
				kmt_match_entry_object(m, e, r->hash);

			m->ops.on_replaced(m->user, &old, &r->event,
					   &r->position);
		}
		p = kmt_match_pending_add(m, e, r);
		p->after_loss = (e->flags & KMT_MATCH_ENTRY_MAYBE_FREED) != 0;
		e->flags &= ~KMT_MATCH_ENTRY_MAYBE_FREED;
	}
	make_live(m, e, r);
}

/* Make a FREE pending whose address is closed, or is live with an object of
 * another type. */
static void free_ambiguous(KmtMatcher *m, KmtMatchEntry *e,
			   const KmtMatchRecord *r)
{
	KmtMatchPending *p = kmt_match_pending_add(m, e, r);

	p->mismatch = (e->flags & KMT_MATCH_ENTRY_LIVE) != 0;
	/* Time of the address's last record, for kmt_match_may_lack_records().
	 */
	p->replaced.timestamp = e->last_ts;
	save_allocation(m, e);
	kmt_match_entry_touch(m, e, (guint16)r->position.file->position);
}

/* Process a FREE of the live object of e. kmt_match_type_fits() is TRUE for the
 * types of the FREE and the object. */
static void free_matched(KmtMatcher *m, KmtMatchEntry *e,
			 const KmtMatchRecord *r)
{
	guint16 file = (guint16)r->position.file->position;
	KmtMatchObject object = kmt_match_entry_object(m, e, r->hash);

	kmt_match_report_step(m, &object, r);
	kmt_match_guess_on_free(m, e, file);
	make_closed(m, e);
	kmt_match_entry_touch(m, e, file);
}

/*
 * Process a FREE of an address that is not live, has an object of another type,
 * or has pending records.
 */
static void free_conflicting(KmtMatcher *m, KmtMatchEntry *e,
			     const KmtMatchRecord *r)
{
	guint16 file = (guint16)r->position.file->position;
	KmtMatchSideEntry *side = kmt_match_side_entry(m, e);
	KmtMatchPending *p = NULL;

	/* If a pending ALLOC replaced an object, r may be the late FREE of the
	 * replaced object. */
	if (side && kmt_match_is_contended(m, e, file))
		p = kmt_match_pending_of_type(m, side->allocs,
					      r->event.type_id);
	if (!p && (e->flags & KMT_MATCH_ENTRY_LIVE) &&
	    kmt_match_type_fits(m, kmt_match_entry_type(e), r->event.type_id)) {
		free_matched(m, e, r);
		return;
	}
	kmt_match_guess_review(m, e, file);
	if (!(e->flags & KMT_MATCH_ENTRY_LIVE) &&
	    kmt_match_time_distance(e->last_ts, m->now) > m->tolerance)
		kmt_match_entry_discard_guess(e, KMT_MATCH_ENTRY_MAYBE_FREE);
	if (p) {
		report_double(m, p, KMT_MATCH_DOUBLE_RACE, &r->event);
		/* Instead, r may be the FREE of the new object, and the FREE of
		 * the old object may be lost. */
		if ((e->flags & KMT_MATCH_ENTRY_LIVE) && free_may_be_lost(m, p))
			e->flags |= KMT_MATCH_ENTRY_MAYBE_FREED;
		save_allocation(m, e);
		kmt_match_pending_resolve(m, e, side, p);
		kmt_match_entry_touch(m, e, file);
	} else {
		free_ambiguous(m, e, r);
	}
}

void kmt_match_resolve_free(KmtMatcher *m, KmtMatchEntry *e,
			    const KmtMatchRecord *r)
{
	const struct kmemtrace_event *event = &r->event;

	if (e) {
		if ((e->flags &
		     (KMT_MATCH_ENTRY_LIVE | KMT_MATCH_ENTRY_PENDING)) ==
			    KMT_MATCH_ENTRY_LIVE &&
		    kmt_match_type_fits(m, kmt_match_entry_type(e),
					event->type_id))
			free_matched(m, e, r);
		else
			free_conflicting(m, e, r);
		return;
	}
	e = kmt_match_entry_new(m, r->hash, event->type_id,
				(guint16)r->position.file->position);
	if (kmt_match_table_was_evicted(&m->table, e)) {
		free_conflicting(m, e, r);
		return;
	}
	e->flags |= KMT_MATCH_ENTRY_MAYBE_FREE;
	report_unmatched(m, r, KMT_MATCH_UNMATCHED_BEFORE_TRACE);
}
