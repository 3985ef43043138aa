// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of the matcher that both the certain and the ambiguous events use: the
 * entries of addresses, the guess about the time before an address's first
 * record, and the calls that report a decision to the owner.
 */
#include "config.h"

#include "lib/match/matcher-private.h"

/* So many records of an address may pass until another CPU shows up. */
#define MAX_UNCONFIRMED 8

KmtAside *kmt_aside_of(const KmtMatcher *m, const KmtEntry *e)
{
	return e->aside ? m->asides->pdata[e->aside - 1] : NULL;
}

gboolean kmt_may_miss(const KmtMatcher *m, gint64 from, gint64 until)
{
	return m->lossy || from < m->whole_from || until > m->whole_until;
}

/* ---- telling the owner ---- */

void kmt_tell_alloc(KmtMatcher *m, const KmtObject *object, const KmtRecord *r)
{
	if (m->ops.on_alloc)
		m->ops.on_alloc(m->user, object, &r->event, &r->position);
}

void kmt_tell_free(KmtMatcher *m, const KmtObject *object, const KmtRecord *r)
{
	gboolean mismatch = object->type != r->event.type_id;

	/* The free of the one and the allocation of the other may be lost. */
	if (mismatch && kmt_may_miss(m, object->timestamp, r->now)) {
		m->findings.mismatches_after_loss++;
		mismatch = FALSE;
	}
	m->findings.mismatches += mismatch;
	if (m->ops.on_free)
		m->ops.on_free(m->user, object, &r->event, &r->position,
			       mismatch);
}

void kmt_tell_step(KmtMatcher *m, const KmtObject *object, const KmtRecord *r)
{
	gboolean is_alloc = r->event.event_id == KMEMTRACE_EVENT_ALLOC;

	if (!r->item && is_alloc) {
		kmt_tell_alloc(m, object, r);
	} else if (!r->item) {
		kmt_tell_free(m, object, r);
	} else {
		r->item->op = is_alloc ? KMT_STEP_ALLOC : KMT_STEP_FREE;
		r->item->lot = object->lot;
		r->item->born = object->timestamp;
		r->item->born_file = object->file;
		r->item->cross = !is_alloc && object->file != r->item->file;
	}
}

/* ---- entries ---- */

KmtObject kmt_entry_object(KmtMatcher *m, const KmtEntry *e, guint64 hash)
{
	const guint64 *index = kmt_obj_index(&m->table, e);
	KmtObject object = {
		.ptr = kmt_obj_ptr(&m->table, e),
		.timestamp = e->last_ts,
		.lot = e->lot,
		.file = e->last_file,
		.type = e->type,
		.index = index ? *index : 0,
	};

	if (e->flags & KMT_ENTRY_MOVED) {
		const KmtAside *aside = kmt_aside_of(m, e);

		object.timestamp = aside->born;
		object.file = aside->file;
	}
	return object;
}

KmtEntry *kmt_entry_new(KmtMatcher *m, guint64 hash, guint type, guint16 file)
{
	KmtEntry *e =
		kmt_obj_add(&m->table, hash, type, m->whole_from,
			    kmt_add_saturated(m->now, -(gint64)m->tolerance));

	e->last_ts = m->now;
	e->last_file = file;
	return e;
}

/* Looks after UNCONFIRMED when a record comes, before kmt_touch(). */
void kmt_review_guess(KmtMatcher *m, KmtEntry *e, guint16 file)
{
	if (!(e->flags & KMT_ENTRY_UNCONFIRMED))
		return;
	if (kmt_contended(m, e, file))
		e->flags &= ~KMT_ENTRY_UNCONFIRMED;
	else if (kmt_distance(e->last_ts, m->now) > m->tolerance ||
		 e->unconfirmed++ >= MAX_UNCONFIRMED)
		e->flags &= ~(KMT_ENTRY_MAYBE | KMT_ENTRY_UNCONFIRMED);
}

/*
 * A record that brings an address back to where it was, when it would have been
 * surplus under the opposite guess.  FALSE: that guess is dead.
 */
gboolean kmt_opposite_holds(const KmtMatcher *m, KmtEntry *e, guint16 file)
{
	if (kmt_distance(e->last_ts, m->now) > m->tolerance)
		return FALSE;
	if (!kmt_contended(m, e, file) && !(e->flags & KMT_ENTRY_UNCONFIRMED)) {
		e->flags |= KMT_ENTRY_UNCONFIRMED;
		e->unconfirmed = 0;
	}
	return TRUE;
}

void kmt_review_alloc(KmtMatcher *m, KmtEntry *e, guint16 file)
{
	kmt_review_guess(m, e, file);
	if ((e->flags & KMT_ENTRY_MAYBE_FREE) &&
	    !kmt_opposite_holds(m, e, file))
		e->flags &= ~KMT_ENTRY_MAYBE_FREE;
}

void kmt_review_close(KmtMatcher *m, KmtEntry *e, guint16 file)
{
	const KmtAside *aside;

	if (!(e->flags & KMT_ENTRY_MAYBE))
		return;
	kmt_review_guess(m, e, file);
	aside = kmt_aside_of(m, e);
	/* A surplus FREE that waits makes up for it. */
	if ((e->flags & KMT_ENTRY_MAYBE_LIVE) && !(aside && aside->frees) &&
	    !kmt_opposite_holds(m, e, file))
		e->flags &= ~KMT_ENTRY_MAYBE_LIVE;
}
