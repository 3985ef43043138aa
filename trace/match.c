// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "trace/addrset.h"
#include "trace/match.h"
#include "trace/objtable.h"

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

#define MAYBE (KMT_ENTRY_MAYBE_LIVE | KMT_ENTRY_MAYBE_FREE)

/* So many records of an address may pass until another CPU shows up. */
#define MAX_UNCONFIRMED 8

/* How many that wait at an address are looked at for the one of a type. */
#define MAX_TYPE_SEARCH 8

/* A surplus record that waits for its counterpart. */
typedef struct Pending {
	struct Pending *next;	      /* in time order, of all addresses */
	struct Pending *next_of_kind; /* of the same address and kind */
	struct kmemtrace_event event;
	KmtPosition position;
	KmtObject replaced;  /* the object that was live, or was last */
	gint64 since;	     /* merged time, ns */
	gboolean mismatch;   /* FREE: replaced is live, and of the other type */
	gboolean after_loss; /* ALLOC: replaced was KMT_ENTRY_MAYBE_FREED */
	gboolean settled;
} Pending;

/* What waits at one address: surplus ALLOCs and surplus FREEs, oldest first. */
typedef struct {
	guint64 ptr;
	gboolean pages;
	guint hash; /* of these two */
	Pending *allocs, *last_alloc;
	Pending *frees, *last_free;
} Waiting;

struct KmtMatcher {
	KmtMatchOps ops;
	gpointer user;
	guint64 tolerance; /* ns */
	gint64 now;	   /* largest timestamp so far: the merged time */

	/* Where events may be missing. */
	gboolean lossy;	    /* anywhere */
	gint64 whole_from;  /* before it, the capture may lack records */
	gint64 whole_until; /* after it, likewise */

	KmtObjTable table;
	KmtAddrSet *seen[2]; /* slab, pages */

	GHashTable *waiting; /* set of Waiting */
	Pending *oldest, *newest;
	KmtFindings findings;
};

static gboolean is_pages(guint type)
{
	return type == KMEMTRACE_TYPE_PAGES;
}

/* later - earlier of any two times, which may not fit a gint64. */
static guint64 distance(gint64 earlier, gint64 later)
{
	return (guint64)later - (guint64)earlier;
}

static gint64 add_saturated(gint64 a, gint64 b)
{
	gint64 sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? G_MININT64 : G_MAXINT64;
	return sum;
}

static guint waiting_hash(gconstpointer p)
{
	const Waiting *w = p;

	return w->hash;
}

static gboolean waiting_equal(gconstpointer a, gconstpointer b)
{
	const Waiting *wa = a, *wb = b;

	return wa->ptr == wb->ptr && wa->pages == wb->pages;
}

/* ---- where events may be missing ---- */

/*
 * The files of a capture that was cut off end at different moments, those of
 * one that continues another begin at different moments; a file without any
 * record leaves the moment unknown.
 */
static void find_loss(KmtMatcher *m, const KmtCapture *capture)
{
	gboolean cut_off = kmt_capture_is_cut_off(capture);
	guint i;

	m->whole_from = G_MININT64;
	m->whole_until = G_MAXINT64;
	m->lossy = kmt_capture_is_lossy(capture);
	if (!cut_off && !capture->continues)
		return;
	for (i = 0; i < capture->files->len; i++) {
		gint64 first, last;

		if (!kmt_merge_span(capture->files->pdata[i], &first, &last)) {
			m->lossy = TRUE;
			continue;
		}
		if (capture->continues)
			m->whole_from = MAX(m->whole_from, first);
		if (cut_off)
			m->whole_until = MIN(m->whole_until, last);
	}
	if (capture->continues)
		m->whole_from =
			add_saturated(m->whole_from, (gint64)m->tolerance);
	if (cut_off)
		m->whole_until =
			add_saturated(m->whole_until, -(gint64)m->tolerance);
}

/* May a record of an address be missing that it had between these times? */
static gboolean may_miss(const KmtMatcher *m, gint64 from, gint64 until)
{
	return m->lossy || from < m->whole_from || until > m->whole_until;
}

KmtMatcher *kmt_matcher_new(const KmtCapture *capture, const KmtMatchOps *ops,
			    gpointer user, gint64 clock_tolerance_ns)
{
	KmtMatcher *m = g_new0(KmtMatcher, 1);

	m->ops = *ops;
	m->user = user;
	m->tolerance = CLAMP(clock_tolerance_ns, 0, KMT_CLOCK_TOLERANCE_MAX_NS);
	m->now = G_MININT64;
	find_loss(m, capture);
	kmt_obj_table_init(&m->table);
	m->seen[FALSE] = kmt_addr_set_new(3);
	m->seen[TRUE] = kmt_addr_set_new(12);
	m->waiting = g_hash_table_new_full(waiting_hash, waiting_equal, g_free,
					   NULL);
	return m;
}

void kmt_matcher_free(KmtMatcher *m)
{
	if (!m)
		return;
	while (m->oldest) {
		Pending *p = m->oldest;

		m->oldest = p->next;
		g_free(p);
	}
	g_hash_table_unref(m->waiting);
	kmt_addr_set_free(m->seen[FALSE]);
	kmt_addr_set_free(m->seen[TRUE]);
	kmt_obj_table_clear(&m->table);
	g_free(m);
}

/* ---- telling the owner ---- */

static void tell_double(KmtMatcher *m, const Pending *p, KmtDouble class,
			const struct kmemtrace_event *free_event)
{
	m->findings.doubles[class]++;
	if (m->ops.on_double)
		m->ops.on_double(m->user, &p->replaced, &p->event, &p->position,
				 class, free_event);
}

static void tell_unmatched(KmtMatcher *m, const struct kmemtrace_event *event,
			   const KmtPosition *position, KmtUnmatched class)
{
	m->findings.unmatched[class]++;
	if (m->ops.on_unmatched)
		m->ops.on_unmatched(m->user, event, position, class);
}

static void tell_free(KmtMatcher *m, const KmtObject *object,
		      const struct kmemtrace_event *event,
		      const KmtPosition *position)
{
	gboolean mismatch = object->type != event->type_id;

	/* The free of the one and the allocation of the other may be lost. */
	if (mismatch && may_miss(m, object->timestamp, event->timestamp)) {
		m->findings.mismatches_after_loss++;
		mismatch = FALSE;
	}
	m->findings.mismatches += mismatch;
	if (m->ops.on_free)
		m->ops.on_free(m->user, object, event, position, mismatch);
}

static void tell_alloc(KmtMatcher *m, KmtObject *object,
		       const struct kmemtrace_event *event,
		       const KmtPosition *position)
{
	if (m->ops.on_alloc)
		m->ops.on_alloc(m->user, object, event, position);
}

/* ---- surplus records ---- */

static Waiting *waiting_at(KmtMatcher *m, const KmtEntry *e)
{
	Waiting key = {.ptr = e->object.ptr, .pages = is_pages(e->object.type)};

	if (!(e->flags & KMT_ENTRY_PENDING))
		return NULL;
	key.hash = (guint)kmt_obj_hash(&m->table, key.ptr, key.pages);
	return g_hash_table_lookup(m->waiting, &key);
}

static Pending *pending_add(KmtMatcher *m, KmtEntry *e,
			    const struct kmemtrace_event *event,
			    const KmtPosition *position)
{
	gboolean is_free = event->event_id == KMEMTRACE_EVENT_FREE;
	Pending *p = g_new0(Pending, 1);
	Waiting *w = waiting_at(m, e);
	Pending **last;

	p->event = *event;
	p->position = *position;
	p->replaced = e->object;
	p->since = m->now;
	if (!w) {
		w = g_new0(Waiting, 1);
		w->ptr = e->object.ptr;
		w->pages = is_pages(e->object.type);
		w->hash = (guint)kmt_obj_hash(&m->table, w->ptr, w->pages);
		g_hash_table_add(m->waiting, w);
		e->flags |= KMT_ENTRY_PENDING;
	}
	last = is_free ? &w->last_free : &w->last_alloc;
	if (*last)
		(*last)->next_of_kind = p;
	else if (is_free)
		w->frees = p;
	else
		w->allocs = p;
	*last = p;
	if (m->newest)
		m->newest->next = p;
	else
		m->oldest = p;
	m->newest = p;
	return p;
}

/*
 * The oldest one that waits for a record of this type; NULL if there is none
 * among the first few.
 */
static Pending *pending_of_type(Pending *p, guint type)
{
	guint n;

	for (n = 0; p && n < MAX_TYPE_SEARCH; n++, p = p->next_of_kind) {
		gboolean is_free = p->event.event_id == KMEMTRACE_EVENT_FREE;

		if ((is_free ? p->event.type_id : p->replaced.type) == type)
			return p;
	}
	return NULL;
}

/* Takes p out of w; it stays in the time order until its time is over.  w is
 * gone if p was the last one. */
static void pending_settle(KmtMatcher *m, KmtEntry *e, Waiting *w, Pending *p)
{
	gboolean is_free = p->event.event_id == KMEMTRACE_EVENT_FREE;
	Pending **first = is_free ? &w->frees : &w->allocs;
	Pending **last = is_free ? &w->last_free : &w->last_alloc;
	Pending *before = NULL;

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
	if (!w->frees && !w->allocs) {
		e->flags &= ~KMT_ENTRY_PENDING;
		g_hash_table_remove(m->waiting, w);
	}
}

/* A closed address keeps this mark in the set too, where it outlives e. */
static void forget_maybe_live(KmtMatcher *m, KmtEntry *e)
{
	if (!(e->flags & KMT_ENTRY_LIVE))
		kmt_addr_set_take_doubt(m->seen[is_pages(e->object.type)],
					e->object.ptr);
	e->flags &= ~KMT_ENTRY_MAYBE_LIVE;
}

/* No counterpart came for a FREE.  It may be the mismatched one of a live
 * object, or the guess about the time before the first record was wrong. */
static void give_up_free(KmtMatcher *m, KmtEntry *e, const Pending *p)
{
	gboolean sure = !(e->flags & KMT_ENTRY_UNCONFIRMED);
	KmtUnmatched class = KMT_UNMATCHED_UNEXPLAINED;

	if (p->mismatch && (e->flags & KMT_ENTRY_LIVE) &&
	    e->object.index == p->replaced.index &&
	    e->object.file == p->replaced.file) {
		tell_free(m, &e->object, &p->event, &p->position);
		e->flags &= ~(KMT_ENTRY_LIVE | MAYBE | KMT_ENTRY_UNCONFIRMED |
			      KMT_ENTRY_MAYBE_FREED);
		return;
	}
	if (sure && (e->flags & KMT_ENTRY_MAYBE_LIVE)) {
		class = KMT_UNMATCHED_BEFORE_TRACE;
		forget_maybe_live(m, e);
	} else if (may_miss(m, p->replaced.timestamp, p->since)) {
		class = KMT_UNMATCHED_AFTER_LOSS;
	}
	tell_unmatched(m, &p->event, &p->position, class);
}

/* May the FREE of the object that p's ALLOC replaced be missing? */
static gboolean free_may_be_lost(const KmtMatcher *m, const Pending *p)
{
	return p->after_loss || may_miss(m, p->replaced.timestamp, p->since);
}

/* Likewise for an ALLOC. */
static void give_up_alloc(KmtMatcher *m, KmtEntry *e, const Pending *p)
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

static void give_up(KmtMatcher *m, Pending *p)
{
	KmtEntry *e = kmt_obj_find(&m->table, p->event.ptr,
				   is_pages(p->event.type_id));

	pending_settle(m, e, waiting_at(m, e), p);
	if (p->event.event_id == KMEMTRACE_EVENT_FREE)
		give_up_free(m, e, p);
	else
		give_up_alloc(m, e, p);
}

/* Decides what has waited long enough; with all, everything. */
static void expire(KmtMatcher *m, gboolean all)
{
	while (m->oldest &&
	       (all || distance(m->oldest->since, m->now) > m->tolerance)) {
		Pending *p = m->oldest;

		if (!p->settled)
			give_up(m, p);
		m->oldest = p->next;
		if (!m->oldest)
			m->newest = NULL;
		g_free(p);
	}
}

/* ---- the state of an address ---- */

/* How long ago another CPU used the address, ns; more than any tolerance if it
 * did not. */
static guint64 other_cpu_age(const KmtMatcher *m, const KmtEntry *e,
			     const KmtPosition *position)
{
	guint64 age = distance(e->last_ts, m->now);

	if (e->last_file != position->file->position)
		return age;
	if (e->other_delta_ns == KMT_DELTA_NONE)
		return G_MAXUINT64;
	return age > G_MAXUINT32 ? age : age + e->other_delta_ns;
}

static gboolean contended(const KmtMatcher *m, const KmtEntry *e,
			  const KmtPosition *position)
{
	return other_cpu_age(m, e, position) <= m->tolerance;
}

/* Looks after UNCONFIRMED when a record comes, before touch(). */
static void review_guess(KmtMatcher *m, KmtEntry *e,
			 const KmtPosition *position)
{
	if (!(e->flags & KMT_ENTRY_UNCONFIRMED))
		return;
	if (contended(m, e, position)) {
		e->flags &= ~KMT_ENTRY_UNCONFIRMED;
		if ((e->flags & (KMT_ENTRY_MAYBE_LIVE | KMT_ENTRY_LIVE)) ==
		    KMT_ENTRY_MAYBE_LIVE)
			kmt_addr_set_doubt(m->seen[is_pages(e->object.type)],
					   e->object.ptr);
	} else if (distance(e->last_ts, m->now) > m->tolerance ||
		   e->unconfirmed++ >= MAX_UNCONFIRMED) {
		e->flags &= ~(MAYBE | KMT_ENTRY_UNCONFIRMED);
	}
}

/*
 * A record that brings an address back to where it was, when it would have been
 * surplus under the opposite guess.  FALSE: that guess is dead.
 */
static gboolean opposite_holds(const KmtMatcher *m, KmtEntry *e,
			       const KmtPosition *position)
{
	if (distance(e->last_ts, m->now) > m->tolerance)
		return FALSE;
	if (!contended(m, e, position) && !(e->flags & KMT_ENTRY_UNCONFIRMED)) {
		e->flags |= KMT_ENTRY_UNCONFIRMED;
		e->unconfirmed = 0;
	}
	return TRUE;
}

/* Notes that this record is now the last one of the address. */
static void touch(const KmtMatcher *m, KmtEntry *e, const KmtPosition *position)
{
	guint64 age = other_cpu_age(m, e, position);

	e->other_delta_ns = MIN(age, KMT_DELTA_NONE);
	e->last_file = position->file->position;
	e->last_ts = m->now;
}

static void fill_object(KmtObject *object, const struct kmemtrace_event *event,
			const KmtPosition *position)
{
	object->ptr = event->ptr;
	object->bytes_req = event->bytes_req;
	object->bytes_alloc = event->bytes_alloc;
	object->timestamp = event->timestamp;
	object->site = 0;
	object->file = position->file->position;
	object->type = event->type_id;
	object->index = position->index;
}

/* Makes the unused entry e that of a new address. */
static KmtEntry *entry_new(KmtMatcher *m, KmtEntry *e,
			   const struct kmemtrace_event *event,
			   const KmtPosition *position)
{
	if (kmt_obj_table_full(&m->table)) {
		kmt_obj_table_make_room(
			&m->table, m->whole_from,
			add_saturated(m->now, -(gint64)m->tolerance));
		e = kmt_obj_find(&m->table, event->ptr,
				 is_pages(event->type_id));
	}
	m->table.used++;
	e->flags = KMT_ENTRY_USED;
	e->object.ptr = event->ptr;
	e->object.type = event->type_id;
	e->object.timestamp = m->now;
	e->last_ts = m->now;
	e->last_file = position->file->position;
	e->other_delta_ns = KMT_DELTA_NONE;
	return e;
}

static void make_live(KmtMatcher *m, KmtEntry *e,
		      const struct kmemtrace_event *event,
		      const KmtPosition *position)
{
	touch(m, e, position);
	/* Only a closed address keeps this mark in the set. */
	if ((e->flags & (KMT_ENTRY_LIVE | KMT_ENTRY_MAYBE_LIVE)) ==
	    KMT_ENTRY_MAYBE_LIVE)
		kmt_addr_set_take_doubt(m->seen[is_pages(event->type_id)],
					event->ptr);
	e->flags |= KMT_ENTRY_LIVE;
	fill_object(&e->object, event, position);
	tell_alloc(m, &e->object, event, position);
}

/*
 * An ALLOC of an address that is live, or where records wait.  An earlier
 * surplus FREE may be its own; else, on a live address, it is surplus itself.
 */
static void alloc_contested(KmtMatcher *m, KmtEntry *e,
			    const struct kmemtrace_event *event,
			    const KmtPosition *position)
{
	Waiting *w = waiting_at(m, e);
	Pending *p = NULL;
	KmtObject object;

	review_guess(m, e, position);
	if (w && contended(m, e, position))
		p = pending_of_type(w->frees, event->type_id);
	if (p) {
		fill_object(&object, event, position);
		touch(m, e, position);
		tell_alloc(m, &object, event, position);
		tell_free(m, &object, &p->event, &p->position);
		pending_settle(m, e, w, p);
		return;
	}
	/* What else would a FREE of the other type have been for? */
	while ((e->flags & KMT_ENTRY_LIVE) && (w = waiting_at(m, e)) &&
	       w->frees && w->frees->mismatch)
		give_up(m, w->frees);
	if (e->flags & KMT_ENTRY_LIVE) {
		if (m->ops.on_replaced)
			m->ops.on_replaced(m->user, &e->object, event,
					   position);
		p = pending_add(m, e, event, position);
		p->after_loss = (e->flags & KMT_ENTRY_MAYBE_FREED) != 0;
		e->flags &= ~KMT_ENTRY_MAYBE_FREED;
	}
	make_live(m, e, event, position);
}

static void feed_alloc(KmtMatcher *m, KmtEntry *e,
		       const struct kmemtrace_event *event,
		       const KmtPosition *position)
{
	KmtAddrSet *seen = m->seen[is_pages(event->type_id)];

	if (!(e->flags & KMT_ENTRY_USED)) {
		e = entry_new(m, e, event, position);
		if (!kmt_addr_set_add(seen, event->ptr) ||
		    kmt_addr_set_has_doubt(seen, event->ptr))
			e->flags |= KMT_ENTRY_MAYBE_LIVE;
	} else if (e->flags & (KMT_ENTRY_LIVE | KMT_ENTRY_PENDING)) {
		alloc_contested(m, e, event, position);
		return;
	} else {
		review_guess(m, e, position);
		if ((e->flags & KMT_ENTRY_MAYBE_FREE) &&
		    !opposite_holds(m, e, position))
			e->flags &= ~KMT_ENTRY_MAYBE_FREE;
	}
	make_live(m, e, event, position);
}

static void close_object(KmtMatcher *m, KmtEntry *e,
			 const struct kmemtrace_event *event,
			 const KmtPosition *position)
{
	const Waiting *w = waiting_at(m, e);

	tell_free(m, &e->object, event, position);
	if (e->flags & MAYBE) {
		review_guess(m, e, position);
		/* A surplus FREE that waits makes up for it. */
		if ((e->flags & KMT_ENTRY_MAYBE_LIVE) && !(w && w->frees) &&
		    !opposite_holds(m, e, position))
			e->flags &= ~KMT_ENTRY_MAYBE_LIVE;
		if ((e->flags &
		     (KMT_ENTRY_MAYBE_LIVE | KMT_ENTRY_UNCONFIRMED)) ==
		    KMT_ENTRY_MAYBE_LIVE)
			kmt_addr_set_doubt(m->seen[is_pages(event->type_id)],
					   event->ptr);
	}
	e->flags &= ~(KMT_ENTRY_LIVE | KMT_ENTRY_MAYBE_FREED);
	touch(m, e, position);
}

/* A FREE that has no object, or one of the other type: it has to wait. */
static void free_surplus(KmtMatcher *m, KmtEntry *e,
			 const struct kmemtrace_event *event,
			 const KmtPosition *position)
{
	Pending *p = pending_add(m, e, event, position);

	p->mismatch = (e->flags & KMT_ENTRY_LIVE) != 0;
	/* Since the last sight, for may_miss(). */
	p->replaced.timestamp = e->last_ts;
	touch(m, e, position);
}

/* A FREE of an address that is not live, or where records wait. */
static void free_contested(KmtMatcher *m, KmtEntry *e,
			   const struct kmemtrace_event *event,
			   const KmtPosition *position)
{
	Waiting *w = waiting_at(m, e);
	Pending *p = NULL;

	review_guess(m, e, position);
	if (!(e->flags & KMT_ENTRY_LIVE) &&
	    distance(e->last_ts, m->now) > m->tolerance)
		e->flags &= ~KMT_ENTRY_MAYBE_FREE;
	/* The FREE of an object that was replaced, late? */
	if (w && contended(m, e, position))
		p = pending_of_type(w->allocs, event->type_id);
	if (p) {
		tell_double(m, p, KMT_DOUBLE_RACE, event);
		/* Or it is the new object's, and the old one's is lost. */
		if (free_may_be_lost(m, p))
			e->flags |= KMT_ENTRY_MAYBE_FREED;
		pending_settle(m, e, w, p);
		touch(m, e, position);
	} else if ((e->flags & KMT_ENTRY_LIVE) &&
		   e->object.type == event->type_id) {
		close_object(m, e, event, position);
	} else {
		free_surplus(m, e, event, position);
	}
}

static void feed_free(KmtMatcher *m, KmtEntry *e,
		      const struct kmemtrace_event *event,
		      const KmtPosition *position)
{
	KmtAddrSet *seen = m->seen[is_pages(event->type_id)];
	guint live = e->flags & (KMT_ENTRY_LIVE | KMT_ENTRY_PENDING);

	if (live == KMT_ENTRY_LIVE && e->object.type == event->type_id) {
		close_object(m, e, event, position);
	} else if (e->flags & KMT_ENTRY_USED) {
		free_contested(m, e, event, position);
	} else {
		e = entry_new(m, e, event, position);
		if (kmt_addr_set_add(seen, event->ptr)) {
			if (kmt_addr_set_has_doubt(seen, event->ptr))
				e->flags |= KMT_ENTRY_MAYBE_LIVE;
			free_contested(m, e, event, position);
			return;
		}
		e->flags |= KMT_ENTRY_MAYBE_FREE;
		tell_unmatched(m, event, position, KMT_UNMATCHED_BEFORE_TRACE);
	}
}

void kmt_matcher_prefetch(const KmtMatcher *m,
			  const struct kmemtrace_event *event)
{
	guint64 hash =
		kmt_obj_hash(&m->table, event->ptr, is_pages(event->type_id));

	__builtin_prefetch(&m->table.entries[hash & m->table.mask], 1);
}

void kmt_matcher_feed(KmtMatcher *m, const struct kmemtrace_event *event,
		      const KmtPosition *position)
{
	KmtEntry *e;

	if (event->timestamp > m->now)
		m->now = event->timestamp;
	if (m->oldest)
		expire(m, FALSE);
	e = kmt_obj_find(&m->table, event->ptr, is_pages(event->type_id));
	if (event->event_id == KMEMTRACE_EVENT_ALLOC)
		feed_alloc(m, e, event, position);
	else
		feed_free(m, e, event, position);
}

void kmt_matcher_finish(KmtMatcher *m)
{
	expire(m, TRUE);
}

void kmt_matcher_foreach_live(const KmtMatcher *m,
			      void (*func)(gpointer user,
					   const KmtObject *object),
			      gpointer user)
{
	guint64 i;

	for (i = 0; i <= m->table.mask; i++) {
		if (m->table.entries[i].flags & KMT_ENTRY_LIVE)
			func(user, &m->table.entries[i].object);
	}
}

const KmtFindings *kmt_matcher_findings(const KmtMatcher *m)
{
	return &m->findings;
}
