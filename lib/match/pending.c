// SPDX-License-Identifier: GPL-2.0-or-later
/* Side entries, and the lists of pending records. */
#include "config.h"

#include "lib/match/matcher-private.h"

void kmt_match_pending_init(KmtMatcher *m)
{
	m->side_entries = g_ptr_array_new_with_free_func(g_free);
}

static void free_list(KmtMatchPending *p)
{
	while (p) {
		KmtMatchPending *next = p->next;

		g_free(p);
		p = next;
	}
}

void kmt_match_pending_clear(KmtMatcher *m)
{
	free_list(m->oldest);
	free_list(m->unused);
	g_ptr_array_unref(m->side_entries);
}

/* Return the index of a side entry that no entry has. */
static guint32 new_side_entry(KmtMatcher *m)
{
	guint32 unused = m->unused_side_entry;
	KmtMatchSideEntry *side;

	if (!unused) {
		g_ptr_array_add(m->side_entries, g_new0(KmtMatchSideEntry, 1));
		return m->side_entries->len - 1;
	}
	side = m->side_entries->pdata[unused - 1];
	m->unused_side_entry = side->next_unused;
	memset(side, 0, sizeof(*side));
	return unused - 1;
}

KmtMatchSideEntry *kmt_match_side_entry_get(KmtMatcher *m, KmtMatchEntry *e,
					    guint flag)
{
	KmtMatchSideEntry *side = kmt_match_side_entry(m, e);
	guint32 class_id = e->class_id;

	e->flags |= flag;
	if (!side) {
		e->side = new_side_entry(m);
		side = kmt_match_side_entry(m, e);
		side->class_id = class_id;
	}
	return side;
}

/*
 * Release a side entry if it has no pending record, no saved allocation, and no
 * DEFER.
 */
static void side_entry_release(KmtMatcher *m, KmtMatchEntry *e,
			       KmtMatchSideEntry *side)
{
	if (!side->frees && !side->allocs && !side->defers)
		e->flags &= ~KMT_MATCH_ENTRY_PENDING;
	if (e->flags & KMT_MATCH_ENTRY_SIDE)
		return;
	side->next_unused = m->unused_side_entry;
	m->unused_side_entry = e->side + 1;
	e->class_id = side->class_id;
}

void kmt_match_side_entry_closed(KmtMatcher *m, KmtMatchEntry *e)
{
	KmtMatchSideEntry *side = kmt_match_side_entry(m, e);

	if (!side)
		return;
	side->n_closes++;
	e->flags &= ~(KMT_MATCH_ENTRY_ALLOC_SAVED | KMT_MATCH_ENTRY_DEFERRED);
	side_entry_release(m, e, side);
}

void kmt_match_pending_set_due(KmtMatcher *m)
{
	m->due = G_MAXINT64;
	/* If the sum overflows, no merged time exceeds it. */
	if (m->oldest && __builtin_add_overflow(m->oldest->since,
						(gint64)m->tolerance, &m->due))
		m->due = G_MAXINT64;
}

/*
 * Return a pending record with undefined content. Released records are used
 * again.
 */
static KmtMatchPending *pending_new(KmtMatcher *m)
{
	KmtMatchPending *p = m->unused;

	if (!p)
		return g_new(KmtMatchPending, 1);
	m->unused = p->next;
	return p;
}

void kmt_match_pending_free(KmtMatcher *m, KmtMatchPending *p)
{
	p->next = m->unused;
	m->unused = p;
}

/*
 * first_pending() and last_pending() return the addresses of the pointers to
 * the first and to the last pending record of an event type.
 */
static KmtMatchPending **first_pending(KmtMatchSideEntry *side, guint event_id)
{
	if (event_id == KMEMTRACE_EVENT_DEFER)
		return &side->defers;
	return event_id == KMEMTRACE_EVENT_FREE ? &side->frees : &side->allocs;
}

static KmtMatchPending **last_pending(KmtMatchSideEntry *side, guint event_id)
{
	if (event_id == KMEMTRACE_EVENT_DEFER)
		return &side->last_defer;
	return event_id == KMEMTRACE_EVENT_FREE ? &side->last_free
						: &side->last_alloc;
}

KmtMatchPending *kmt_match_pending_add(KmtMatcher *m, KmtMatchEntry *e,
				       const KmtMatchRecord *r)
{
	KmtMatchPending *p = pending_new(m);
	/* PENDING prevents the removal of the entry. */
	KmtMatchSideEntry *side =
		kmt_match_side_entry_get(m, e, KMT_MATCH_ENTRY_PENDING);
	KmtMatchPending **last = last_pending(side, r->event.event_id);

	*p = (KmtMatchPending){
		.record = *r,
		.replaced = kmt_match_entry_object(m, e, r->hash),
		.since = m->now,
		.n_closes = side->n_closes,
		.number = m->n_pending++,
	};
	if (*last)
		(*last)->next_of_kind = p;
	else
		*first_pending(side, r->event.event_id) = p;
	*last = p;
	if (m->newest)
		m->newest->next = p;
	else
		m->oldest = p;
	m->newest = p;
	kmt_match_pending_set_due(m);
	return p;
}

KmtMatchPending *kmt_match_pending_of_type(const KmtMatcher *m,
					   KmtMatchPending *p, guint type)
{
	guint n;

	for (n = 0; p && n < KMT_MATCH_MAX_SEARCH; n++, p = p->next_of_kind) {
		const struct kmemtrace_event *event = &p->record.event;
		gboolean is_free = event->event_id == KMEMTRACE_EVENT_FREE;

		if (kmt_match_type_fits(
			    m, is_free ? event->type_id : p->replaced.type,
			    type))
			return p;
	}
	return NULL;
}

void kmt_match_pending_resolve(KmtMatcher *m, KmtMatchEntry *e,
			       KmtMatchSideEntry *side, KmtMatchPending *p)
{
	guint event_id = p->record.event.event_id;
	KmtMatchPending **first = first_pending(side, event_id);
	KmtMatchPending **last = last_pending(side, event_id);
	KmtMatchPending *before = NULL;

	p->resolved = TRUE;
	if (*first == p) {
		*first = p->next_of_kind;
	} else {
		for (before = *first; before->next_of_kind != p;)
			before = before->next_of_kind;
		before->next_of_kind = p->next_of_kind;
	}
	if (*last == p)
		*last = before;
	side_entry_release(m, e, side);
}
