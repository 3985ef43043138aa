// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of the matcher that both the certain and the ambiguous events use: the
 * entries of addresses, the guess about the time before an address's first
 * record, and the calls of on_alloc and on_free.
 */
#include "config.h"

#include "lib/match/matcher-private.h"

/*
 * Number of further records of an address that keep the opposite guess although
 * no other CPU has used the address within the clock tolerance. The next such
 * record discards the opposite guess.
 */
#define MAX_UNCONFIRMED 8

gboolean kmt_match_may_lack_records(const KmtMatcher *m, gint64 from,
				    gint64 until)
{
	return m->lossy || from < m->complete_from || until > m->complete_until;
}

/* ---- calls of KmtMatchOps ---- */

void kmt_match_report_alloc(KmtMatcher *m, const KmtMatchObject *object,
			    const KmtMatchRecord *r)
{
	if (m->ops.on_alloc)
		m->ops.on_alloc(m->user, object, &r->event, &r->position);
}

void kmt_match_report_free(KmtMatcher *m, const KmtMatchObject *object,
			   const KmtMatchRecord *r)
{
	gboolean mismatch =
		!kmt_match_type_fits(m, object->type, r->event.type_id);

	/* Lost events may explain the mismatch: the FREE of object, and the
	 * ALLOC of the object that r frees, may be lost. */
	if (mismatch &&
	    kmt_match_may_lack_records(m, object->timestamp, r->now)) {
		m->findings.mismatches_after_loss++;
		mismatch = FALSE;
	}
	m->findings.mismatches += mismatch;
	if (m->ops.on_free)
		m->ops.on_free(m->user, object, &r->event, &r->position,
			       mismatch);
}

void kmt_match_report_step(KmtMatcher *m, const KmtMatchObject *object,
			   const KmtMatchRecord *r)
{
	gboolean is_alloc = r->event.event_id == KMEMTRACE_EVENT_ALLOC;

	/* A FREE counts for the kind of the object that it frees. */
	if (r->item)
		r->item->type = object->type;
	if (!r->item && is_alloc) {
		kmt_match_report_alloc(m, object, r);
	} else if (!r->item || object->is_deferred) {
		kmt_match_report_free(m, object, r);
	} else {
		r->item->op =
			is_alloc ? KMT_MATCH_STEP_ALLOC : KMT_MATCH_STEP_FREE;
		r->item->class_id = object->class_id;
		r->item->alloc_time = object->timestamp;
		r->item->alloc_file = object->file;
		if (!is_alloc)
			r->item->cross = object->file != r->item->file;
	}
}

/* ---- entries ---- */

gboolean kmt_match_is_contended(const KmtMatcher *m, const KmtMatchEntry *e,
				guint16 file)
{
	if (e->last_file != file)
		return kmt_match_time_distance(e->last_ts, m->now) <=
		       m->tolerance;
	/* This test usually decides, because two CPUs seldom use a new
	 * address. */
	if (e->flags & KMT_MATCH_ENTRY_MAYBE &&
	    !(e->flags & KMT_MATCH_ENTRY_CROSSED))
		return FALSE;
	return kmt_match_cross_uses_has(
		&m->cross_uses, e->hash,
		kmt_input_namespace_of(kmt_match_entry_type(e)), m->now);
}

void kmt_match_entry_touch(KmtMatcher *m, KmtMatchEntry *e, guint16 file)
{
	/* The CPU of last_file becomes another CPU. An older time in cross_uses
	 * need not be removed: it is beyond the tolerance if last_ts is. */
	if (e->last_file != file &&
	    kmt_match_time_distance(e->last_ts, m->now) <= m->tolerance) {
		kmt_match_cross_uses_set(
			&m->cross_uses, e->hash,
			kmt_input_namespace_of(kmt_match_entry_type(e)),
			e->last_ts, m->now);
		if (e->flags & KMT_MATCH_ENTRY_MAYBE)
			e->flags |= KMT_MATCH_ENTRY_CROSSED;
	}
	kmt_match_entry_discard_guess(e, 0);
	e->last_file = file;
	e->last_ts = m->now;
}

/* Return the allocation class of the live object, or else of the last one. */
static guint32 class_of(const KmtMatcher *m, const KmtMatchEntry *e)
{
	const KmtMatchSideEntry *side = kmt_match_side_entry(m, e);

	return side ? side->class_id : e->class_id;
}

void kmt_match_entry_set_class(const KmtMatcher *m, KmtMatchEntry *e,
			       guint32 class_id)
{
	KmtMatchSideEntry *side = kmt_match_side_entry(m, e);

	if (side)
		side->class_id = class_id;
	else
		e->class_id = class_id;
}

KmtMatchObject kmt_match_entry_object(KmtMatcher *m, const KmtMatchEntry *e,
				      guint64 hash)
{
	const guint64 *index = kmt_match_table_alloc_index(&m->table, e);
	KmtMatchObject object = {
		.ptr = kmt_match_entry_address(&m->table, e),
		.timestamp = e->last_ts,
		.class_id = class_of(m, e),
		.file = e->last_file,
		.type = kmt_match_entry_type(e),
		.index = index ? *index : 0,
	};

	if (e->flags & KMT_MATCH_ENTRY_ALLOC_SAVED) {
		const KmtMatchSideEntry *side = kmt_match_side_entry(m, e);

		object.timestamp = side->alloc_time;
		object.file = side->file;
	}
	if (e->flags & KMT_MATCH_ENTRY_DEFERRED) {
		object.is_deferred = TRUE;
		object.defer = kmt_match_side_entry(m, e)->defer;
	}
	return object;
}

KmtMatchEntry *kmt_match_entry_new(KmtMatcher *m, guint64 hash, guint type,
				   guint16 file)
{
	KmtMatchEntry *e = kmt_match_table_add(
		&m->table, hash, type, m->complete_from,
		kmt_match_add_saturated(m->now, -(gint64)m->tolerance));

	e->last_ts = m->now;
	e->last_file = file;
	return e;
}

void kmt_match_guess_review(KmtMatcher *m, KmtMatchEntry *e, guint16 file)
{
	guint n = kmt_match_entry_unconfirmed(e);

	if (!n)
		return;
	if (kmt_match_is_contended(m, e, file)) {
		n = 0;
	} else if (kmt_match_time_distance(e->last_ts, m->now) > m->tolerance ||
		   n > MAX_UNCONFIRMED) {
		n = 0;
		kmt_match_entry_discard_guess(e, KMT_MATCH_ENTRY_MAYBE);
	} else {
		n++;
	}
	kmt_match_entry_set_unconfirmed(e, n);
}

/*
 * The arriving record reverses the last earlier record of the address: a FREE
 * follows an ALLOC, or an ALLOC follows a FREE. Under the opposite guess, that
 * earlier record is ambiguous, and the arriving record is its counterpart.
 * Return whether the opposite guess remains possible, and make it unconfirmed
 * if a record of another CPU is still missing.
 */
static gboolean opposite_holds(const KmtMatcher *m, KmtMatchEntry *e,
			       guint16 file)
{
	if (kmt_match_time_distance(e->last_ts, m->now) > m->tolerance)
		return FALSE;
	if (!kmt_match_is_contended(m, e, file) &&
	    !kmt_match_entry_unconfirmed(e))
		kmt_match_entry_set_unconfirmed(e, 1);
	return TRUE;
}

void kmt_match_guess_on_alloc(KmtMatcher *m, KmtMatchEntry *e, guint16 file)
{
	kmt_match_guess_review(m, e, file);
	if ((e->flags & KMT_MATCH_ENTRY_MAYBE_FREE) &&
	    !opposite_holds(m, e, file))
		kmt_match_entry_discard_guess(e, KMT_MATCH_ENTRY_MAYBE_FREE);
}

void kmt_match_guess_on_free(KmtMatcher *m, KmtMatchEntry *e, guint16 file)
{
	const KmtMatchSideEntry *side;

	if (!(e->flags & KMT_MATCH_ENTRY_MAYBE))
		return;
	kmt_match_guess_review(m, e, file);
	side = kmt_match_side_entry(m, e);
	/* If another FREE is pending, neither that FREE nor this one is
	 * ambiguous under the opposite guess. */
	if ((e->flags & KMT_MATCH_ENTRY_MAYBE_LIVE) && !(side && side->frees) &&
	    !opposite_holds(m, e, file))
		kmt_match_entry_discard_guess(e, KMT_MATCH_ENTRY_MAYBE_LIVE);
}
