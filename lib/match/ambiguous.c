// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/match/matcher-private.h"

/*
 * How ties and skewed clocks are kept from becoming findings
 * ----------------------------------------------------------
 * Records of one CPU are in order.  Records of two CPUs within the clock
 * tolerance may have happened the other way round.  Taken in merged order, such
 * a swap shows as a surplus ALLOC (its address is live) and a surplus FREE (its
 * address is not), in either order.  So a surplus record waits for the length
 * of the tolerance; if its counterpart comes, and the address was "contended",
 * i.e. used by another CPU than the counterpart's within the tolerance, the two
 * explain each other.
 *
 * The same goes for what an address was before its first record: live if that
 * is a FREE, else free.  If another CPU may have passed that record it is a
 * guess; KMT_ENTRY_MAYBE_FREE or _MAYBE_LIVE says that the opposite is possible
 * still, i.e. that each record that would be surplus under it had a contended
 * counterpart within the tolerance so far.  When the guess leads to a finding
 * and the opposite does not, the opposite is the truth.  The record of the
 * other CPU may come after the counterpart; until then: _UNCONFIRMED.
 *
 * docs/definitions.md has the rules in full.
 */

#define MAX_ASIDES ((1u << KMT_ASIDE_BITS) - 1)

/* How many that wait at an address are looked at for the one of a type. */
#define MAX_TYPE_SEARCH 8

/* ---- what is aside of an entry ---- */

void kmt_asides_init(KmtMatcher *m)
{
	m->asides = g_ptr_array_new_with_free_func(g_free);
}

static void free_list(KmtPending *p)
{
	while (p) {
		KmtPending *next = p->next;

		g_free(p);
		p = next;
	}
}

void kmt_asides_clear(KmtMatcher *m)
{
	free_list(m->oldest);
	free_list(m->unused);
	g_ptr_array_unref(m->asides);
}

static KmtAside *aside_get(KmtMatcher *m, KmtEntry *e)
{
	KmtAside *aside;

	if (e->aside)
		return kmt_aside_of(m, e);
	e->aside = m->unused_aside & MAX_ASIDES;
	if (e->aside) {
		aside = kmt_aside_of(m, e);
		m->unused_aside = aside->next_unused;
		memset(aside, 0, sizeof(*aside));
	} else {
		aside = g_new0(KmtAside, 1);
		if (m->asides->len >= MAX_ASIDES)
			g_error("more than %u objects with records that wait",
				MAX_ASIDES);
		g_ptr_array_add(m->asides, aside);
		e->aside = m->asides->len & MAX_ASIDES;
	}
	return aside;
}

/* Drops what nobody needs. */
static void aside_put(KmtMatcher *m, KmtEntry *e, KmtAside *aside)
{
	if (!aside->frees && !aside->allocs)
		e->flags &= ~KMT_ENTRY_PENDING;
	if (e->flags & (KMT_ENTRY_PENDING | KMT_ENTRY_MOVED))
		return;
	aside->next_unused = m->unused_aside;
	m->unused_aside = e->aside;
	e->aside = 0;
}

/* The last record of a live e will not be its ALLOC. */
static void aside_move(KmtMatcher *m, KmtEntry *e)
{
	KmtAside *aside;

	if ((e->flags & (KMT_ENTRY_LIVE | KMT_ENTRY_MOVED)) != KMT_ENTRY_LIVE)
		return;
	aside = aside_get(m, e);
	aside->born = e->last_ts;
	aside->file = e->last_file;
	e->flags |= KMT_ENTRY_MOVED;
}

static void aside_closed(KmtMatcher *m, KmtEntry *e)
{
	KmtAside *aside = kmt_aside_of(m, e);

	if (!aside)
		return;
	aside->closes++;
	e->flags &= ~KMT_ENTRY_MOVED;
	aside_put(m, e, aside);
}

static void tell_unmatched(KmtMatcher *m, const KmtRecord *r,
			   KmtUnmatched class)
{
	m->findings.unmatched[class]++;
	if (m->ops.on_unmatched)
		m->ops.on_unmatched(m->user, &r->event, &r->position, class);
}

/* What an ALLOC record allocates. */
static KmtObject record_object(KmtMatcher *m, const KmtRecord *r)
{
	return (KmtObject){
		.ptr = r->event.ptr,
		.timestamp = m->now,
		.lot = r->lot,
		.file = (guint16)r->position.file->position,
		.type = r->event.type_id,
		.index = r->position.index,
	};
}

/* Makes e live, by an ALLOC record. */
static void make_live(KmtMatcher *m, KmtEntry *e, const KmtRecord *r)
{
	guint64 *index = kmt_obj_index(&m->table, e);
	guint16 file = (guint16)r->position.file->position;
	KmtObject object;

	if (e->flags & KMT_ENTRY_LIVE)
		aside_closed(m, e);
	else
		m->table.n_closed--;
	kmt_touch(m, e, file, m->now);
	e->flags |= KMT_ENTRY_LIVE;
	e->type = r->event.type_id;
	e->lot = r->lot;
	if (index)
		*index = r->position.index;
	object = kmt_entry_object(m, e, r->hash);
	kmt_tell_step(m, &object, r);
}

/* e is live no more, and its last record stays what it is. */
static void make_closed(KmtMatcher *m, KmtEntry *e)
{
	aside_closed(m, e);
	m->table.n_closed++;
	e->flags &= ~(KMT_ENTRY_LIVE | KMT_ENTRY_MAYBE_FREED);
}

/* ---- surplus records ---- */

static void tell_double(KmtMatcher *m, const KmtPending *p, KmtDouble class,
			const struct kmemtrace_event *free_event)
{
	m->findings.doubles[class]++;
	if (m->ops.on_double)
		m->ops.on_double(m->user, &p->replaced, &p->record.event,
				 &p->record.position, class, free_event);
}

static void set_due(KmtMatcher *m)
{
	m->due = G_MAXINT64;
	/* Of a time so late, the largest time is not after it. */
	if (m->oldest && __builtin_add_overflow(m->oldest->since,
						(gint64)m->tolerance, &m->due))
		m->due = G_MAXINT64;
}

/* Many come and go: they are used again.  What is in it is undefined. */
static KmtPending *pending_new(KmtMatcher *m)
{
	KmtPending *p = m->unused;

	if (!p)
		return g_new(KmtPending, 1);
	m->unused = p->next;
	return p;
}

static void pending_free(KmtMatcher *m, KmtPending *p)
{
	p->next = m->unused;
	m->unused = p;
}

static KmtPending *pending_add(KmtMatcher *m, KmtEntry *e, const KmtRecord *r)
{
	gboolean is_free = r->event.event_id == KMEMTRACE_EVENT_FREE;
	KmtPending *p = pending_new(m);
	KmtAside *aside = aside_get(m, e);
	KmtPending **last = is_free ? &aside->last_free : &aside->last_alloc;

	*p = (KmtPending){
		.entry = e,
		.record = *r,
		.replaced = kmt_entry_object(m, e, r->hash),
		.since = m->now,
		.closes = aside->closes,
	};
	/* It is not forgotten, so that the entry remains this address's. */
	e->flags |= KMT_ENTRY_PENDING;
	if (*last)
		(*last)->next_of_kind = p;
	else if (is_free)
		aside->frees = p;
	else
		aside->allocs = p;
	*last = p;
	if (m->newest)
		m->newest->next = p;
	else
		m->oldest = p;
	m->newest = p;
	set_due(m);
	return p;
}

/*
 * The oldest one that waits for a record of this type; NULL if there is none
 * among the first few.
 */
static KmtPending *pending_of_type(KmtPending *p, guint type)
{
	guint n;

	for (n = 0; p && n < MAX_TYPE_SEARCH; n++, p = p->next_of_kind) {
		const struct kmemtrace_event *event = &p->record.event;
		gboolean is_free = event->event_id == KMEMTRACE_EVENT_FREE;

		if ((is_free ? event->type_id : p->replaced.type) == type)
			return p;
	}
	return NULL;
}

/* Takes p out of aside; it stays in the time order until its time is over.
 * aside may be gone if p was the last one. */
static void pending_settle(KmtMatcher *m, KmtEntry *e, KmtAside *aside,
			   KmtPending *p)
{
	gboolean is_free = p->record.event.event_id == KMEMTRACE_EVENT_FREE;
	KmtPending **first = is_free ? &aside->frees : &aside->allocs;
	KmtPending **last = is_free ? &aside->last_free : &aside->last_alloc;
	KmtPending *before = NULL;

	p->settled = TRUE;
	if (*first == p) {
		*first = p->next_of_kind;
	} else {
		for (before = *first; before->next_of_kind != p;)
			before = before->next_of_kind;
		before->next_of_kind = p->next_of_kind;
	}
	if (*last == p)
		*last = before;
	aside_put(m, e, aside);
}

/* No counterpart came for a FREE.  It may be the mismatched one of a live
 * object, or the guess about the time before the first record was wrong. */
static void give_up_free(KmtMatcher *m, KmtEntry *e, const KmtPending *p,
			 gboolean is_gone)
{
	gboolean sure = !(e->flags & KMT_ENTRY_UNCONFIRMED);
	KmtUnmatched class = KMT_UNMATCHED_UNEXPLAINED;

	if (p->mismatch && !is_gone) {
		KmtObject object = kmt_entry_object(m, e, p->record.hash);

		kmt_tell_free(m, &object, &p->record);
		make_closed(m, e);
		e->flags &= ~(KMT_ENTRY_MAYBE | KMT_ENTRY_UNCONFIRMED);
		return;
	}
	if (sure && (e->flags & KMT_ENTRY_MAYBE_LIVE)) {
		class = KMT_UNMATCHED_BEFORE_TRACE;
		e->flags &= ~KMT_ENTRY_MAYBE_LIVE;
	} else if (kmt_may_miss(m, p->replaced.timestamp, p->since)) {
		class = KMT_UNMATCHED_AFTER_LOSS;
	}
	tell_unmatched(m, &p->record, class);
}

/* May the FREE of the object that p's ALLOC replaced be missing? */
static gboolean free_may_be_lost(const KmtMatcher *m, const KmtPending *p)
{
	return p->after_loss ||
	       kmt_may_miss(m, p->replaced.timestamp, p->since);
}

/* Likewise for an ALLOC. */
static void give_up_alloc(KmtMatcher *m, KmtEntry *e, const KmtPending *p)
{
	gboolean sure = !(e->flags & KMT_ENTRY_UNCONFIRMED);
	KmtDouble class = KMT_DOUBLE_UNEXPLAINED;

	if (sure && (e->flags & KMT_ENTRY_MAYBE_FREE)) {
		class = KMT_DOUBLE_RACE;
		e->flags &= ~KMT_ENTRY_MAYBE_FREE;
	} else if (free_may_be_lost(m, p)) {
		class = KMT_DOUBLE_AFTER_LOSS;
	}
	tell_double(m, p, class, NULL);
}

static void give_up(KmtMatcher *m, KmtPending *p)
{
	const struct kmemtrace_event *event = &p->record.event;
	KmtEntry *e = p->entry;
	KmtAside *aside = kmt_aside_of(m, e);
	/* Was what it may have freed closed meanwhile? */
	gboolean is_gone = p->closes != aside->closes;

	pending_settle(m, e, aside, p);
	if (event->event_id == KMEMTRACE_EVENT_FREE)
		give_up_free(m, e, p, is_gone);
	else
		give_up_alloc(m, e, p);
}

void kmt_expire(KmtMatcher *m, gboolean all)
{
	while (m->oldest && (all || m->now > m->due)) {
		KmtPending *p = m->oldest;

		if (p->next)
			__builtin_prefetch(p->next->entry);
		m->late = TRUE;
		m->late_since = p->since;
		if (!p->settled)
			give_up(m, p);
		m->late = FALSE;
		m->oldest = p->next;
		if (!m->oldest)
			m->newest = NULL;
		set_due(m);
		pending_free(m, p);
	}
}

/* ---- records that are not certain at once ---- */

/*
 * Of an address that is live, or where records wait.  An earlier surplus FREE
 * may be the ALLOC's own; else, on a live address, it is surplus itself.
 */
void kmt_contest_alloc(KmtMatcher *m, KmtEntry *e, const KmtRecord *r)
{
	guint16 file = (guint16)r->position.file->position;
	KmtAside *aside = kmt_aside_of(m, e);
	KmtPending *p = NULL;

	kmt_review_guess(m, e, file);
	if (aside && kmt_contended(m, e, file))
		p = pending_of_type(aside->frees, r->event.type_id);
	if (p) {
		KmtObject object = record_object(m, r);

		aside_move(m, e);
		kmt_touch(m, e, file, m->now);
		kmt_tell_alloc(m, &object, r);
		kmt_tell_free(m, &object, &p->record);
		pending_settle(m, e, kmt_aside_of(m, e), p);
		return;
	}
	/* What else would a FREE of the other type have been for? */
	while ((e->flags & KMT_ENTRY_LIVE) && (aside = kmt_aside_of(m, e)) &&
	       aside->frees && aside->frees->mismatch)
		give_up(m, aside->frees);
	if (e->flags & KMT_ENTRY_LIVE) {
		if (m->ops.on_replaced) {
			KmtObject old = kmt_entry_object(m, e, r->hash);

			m->ops.on_replaced(m->user, &old, &r->event,
					   &r->position);
		}
		p = pending_add(m, e, r);
		p->after_loss = (e->flags & KMT_ENTRY_MAYBE_FREED) != 0;
		e->flags &= ~KMT_ENTRY_MAYBE_FREED;
	}
	make_live(m, e, r);
}

/* Has no object, or one of the other type: it has to wait. */
static void free_surplus(KmtMatcher *m, KmtEntry *e, const KmtRecord *r)
{
	KmtPending *p = pending_add(m, e, r);

	p->mismatch = (e->flags & KMT_ENTRY_LIVE) != 0;
	/* Since the last sight, for kmt_may_miss(). */
	p->replaced.timestamp = e->last_ts;
	aside_move(m, e);
	kmt_touch(m, e, (guint16)r->position.file->position, m->now);
}

/* Of the live object, which is of its type. */
static void free_matched(KmtMatcher *m, KmtEntry *e, const KmtRecord *r)
{
	guint16 file = (guint16)r->position.file->position;
	KmtObject object = kmt_entry_object(m, e, r->hash);

	kmt_tell_step(m, &object, r);
	kmt_review_close(m, e, file);
	make_closed(m, e);
	kmt_touch(m, e, file, m->now);
}

/* Of an address that is not live, or where records wait. */
static void free_contested(KmtMatcher *m, KmtEntry *e, const KmtRecord *r)
{
	guint16 file = (guint16)r->position.file->position;
	KmtAside *aside = kmt_aside_of(m, e);
	KmtPending *p = NULL;

	/* The FREE of an object that was replaced, late? */
	if (aside && kmt_contended(m, e, file))
		p = pending_of_type(aside->allocs, r->event.type_id);
	if (!p && (e->flags & KMT_ENTRY_LIVE) && e->type == r->event.type_id) {
		free_matched(m, e, r);
		return;
	}
	kmt_review_guess(m, e, file);
	if (!(e->flags & KMT_ENTRY_LIVE) &&
	    kmt_distance(e->last_ts, m->now) > m->tolerance)
		e->flags &= ~KMT_ENTRY_MAYBE_FREE;
	if (p) {
		tell_double(m, p, KMT_DOUBLE_RACE, &r->event);
		/* Or it is the new object's, and the old one's is lost. */
		if ((e->flags & KMT_ENTRY_LIVE) && free_may_be_lost(m, p))
			e->flags |= KMT_ENTRY_MAYBE_FREED;
		aside_move(m, e);
		pending_settle(m, e, aside, p);
		kmt_touch(m, e, file, m->now);
	} else {
		free_surplus(m, e, r);
	}
}

void kmt_contest_free(KmtMatcher *m, KmtEntry *e, const KmtRecord *r)
{
	const struct kmemtrace_event *event = &r->event;

	if (e) {
		if ((e->flags & (KMT_ENTRY_LIVE | KMT_ENTRY_PENDING)) ==
			    KMT_ENTRY_LIVE &&
		    e->type == event->type_id)
			free_matched(m, e, r);
		else
			free_contested(m, e, r);
		return;
	}
	e = kmt_entry_new(m, r->hash, event->type_id,
			  (guint16)r->position.file->position);
	if (kmt_obj_was_forgotten(&m->table, e)) {
		free_contested(m, e, r);
		return;
	}
	e->flags |= KMT_ENTRY_MAYBE_FREE;
	tell_unmatched(m, r, KMT_UNMATCHED_BEFORE_TRACE);
}
