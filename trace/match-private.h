/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What match.c and surplus.c share.  Internal to trace/. */
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
	gint64 now; /* its merged time, by which all is decided */
} KmtRecord;

/* A surplus record that waits for its counterpart. */
typedef struct KmtPending {
	struct KmtPending *next;	 /* in time order, of all addresses */
	struct KmtPending *next_of_kind; /* of the same address and kind */
	KmtRecord record;
	KmtObject replaced; /* the object that was live, or was last */
	gint64 since;	    /* merged time, ns */
	gboolean mismatch;  /* FREE: replaced was live, and of the other type */
	gboolean is_gone;   /* FREE: replaced was closed meanwhile */
	gboolean after_loss; /* ALLOC: replaced was KMT_ENTRY_MAYBE_FREED */
	gboolean settled;
} KmtPending;

/*
 * What waits at one address: surplus ALLOCs and surplus FREEs, oldest first;
 * and where the live object is from, if KMT_ENTRY_MOVED.
 */
typedef struct {
	guint64 ptr;
	gboolean pages;
	guint64 hash; /* of these two */
	KmtPending *allocs, *last_alloc;
	KmtPending *frees, *last_free;
	gint64 born;
	guint16 file;
} KmtAside;

struct KmtMatcher {
	KmtMatchOps ops;
	gpointer user;
	guint64 tolerance;     /* ns */
	gint64 now;	       /* merged time */
	gboolean late;	       /* a decision that had to wait is told */
	gint64 late_since;     /* then: since when it waited */
	KmtCellCache *numbers; /* or NULL */
	const KmtCapture *capture;

	/* Where events may be missing. */
	gboolean lossy;	    /* anywhere */
	gint64 whole_from;  /* before it, the capture may lack records */
	gint64 whole_until; /* after it, likewise */

	KmtObjTable table;
	GHashTable *asides; /* set of KmtAside */
	KmtPending *oldest, *newest;
	KmtFindings findings;
};

static inline gboolean kmt_is_pages(guint type)
{
	return type == KMEMTRACE_TYPE_PAGES;
}

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
/* What an ALLOC record allocates. */
KmtObject kmt_record_object(KmtMatcher *m, const KmtRecord *r);
/* Makes e live, by an ALLOC record. */
void kmt_make_live(KmtMatcher *m, KmtEntry *e, const KmtRecord *r);
/* e is live no more, and its last record stays what it is. */
void kmt_make_closed(KmtMatcher *m, KmtEntry *e, guint64 hash);
/* An entry for an address that has none. */
KmtEntry *kmt_entry_new(KmtMatcher *m, guint64 hash, guint64 ptr, guint type,
			guint16 file);
/* What a FREE of a live object of its type does to the guess about the time
 * before the first record. */
void kmt_review_close(KmtMatcher *m, KmtEntry *e, guint64 hash, guint16 file);

/* May a record of an address be missing that it had between these times? */
gboolean kmt_may_miss(const KmtMatcher *m, gint64 from, gint64 until);

void kmt_tell_alloc(KmtMatcher *m, const KmtObject *object, const KmtRecord *r);
void kmt_tell_free(KmtMatcher *m, const KmtObject *object, const KmtRecord *r);
void kmt_tell_unmatched(KmtMatcher *m, const KmtRecord *r, KmtUnmatched class);

/* ---- surplus.c ---- */

void kmt_asides_init(KmtMatcher *m);
void kmt_asides_clear(KmtMatcher *m);
/* What is aside of e: NULL unless KMT_ENTRY_PENDING or _MOVED. */
KmtAside *kmt_aside_of(KmtMatcher *m, const KmtEntry *e, guint64 hash);
/* The last record of a live e will not be its ALLOC. */
void kmt_aside_move(KmtMatcher *m, KmtEntry *e, guint64 hash);
void kmt_aside_closed(KmtMatcher *m, KmtEntry *e, guint64 hash);
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

static inline guint64 kmt_match_hash(const KmtMatcher *m,
				     const KmtRawEvent *event)
{
	return kmt_obj_hash(&m->table, event->ptr,
			    kmt_is_pages(event->type_id));
}

/* Not certain at once.  e: NULL for a new address. */
void kmt_match_contested(KmtMatcher *m, KmtEntry *e, const KmtRawEvent *event,
			 guint16 file, guint64 hash);

static inline void kmt_set_numbers(KmtMatcher *m, KmtEntry *e,
				   const KmtRawEvent *event, guint16 file)
{
	if (m->numbers) {
		e->cell = kmt_cell_cache_cell(m->numbers, event, file);
		e->size = kmt_cell_cache_size(m->numbers, event);
	}
}

/* A certain ALLOC: of an address that was never seen, or is closed. */
static inline gboolean kmt_alloc_at_once(KmtMatcher *m, KmtEntry **entry,
					 const KmtRawEvent *event, guint16 file,
					 guint64 hash)
{
	gboolean pages = kmt_is_pages(event->type_id);
	KmtEntry *e = *entry;

	if (!e) {
		*entry = e = kmt_entry_new(m, hash, event->ptr, event->type_id,
					   file);
		if (!kmt_obj_was_forgotten(&m->table, event->ptr, pages))
			e->flags = KMT_ENTRY_MAYBE_LIVE;
	} else if (G_UNLIKELY(e->flags)) {
		if (e->flags & (KMT_ENTRY_LIVE | KMT_ENTRY_PENDING))
			return FALSE;
		kmt_review_alloc(m, e, file);
	}
	kmt_obj_count_closed(&m->table, hash, -1);
	kmt_touch(m, e, file);
	e->flags |= KMT_ENTRY_LIVE;
	e->type = event->type_id & 3;
	kmt_set_numbers(m, e, event, file);
	return TRUE;
}

/* A certain FREE: nothing waits, and the object is of its type. */
static inline gboolean kmt_free_at_once(const KmtEntry *e,
					const KmtRawEvent *event)
{
	return e &&
	       (e->flags & (KMT_ENTRY_LIVE | KMT_ENTRY_PENDING |
			    KMT_ENTRY_MOVED)) == KMT_ENTRY_LIVE &&
	       e->type == event->type_id;
}

static inline void kmt_close_at_once(KmtMatcher *m, KmtEntry *e, guint64 hash,
				     guint16 file)
{
	if (G_UNLIKELY(e->flags != KMT_ENTRY_LIVE)) {
		kmt_review_close(m, e, hash, file);
		e->flags &= ~KMT_ENTRY_MAYBE_FREED;
	}
	e->flags &= ~KMT_ENTRY_LIVE;
	kmt_obj_count_closed(&m->table, hash, 1);
	kmt_touch(m, e, file);
}

static inline void kmt_match_advance(KmtMatcher *m, gint64 now)
{
	if (now > m->now)
		m->now = now;
	if (G_UNLIKELY(m->oldest))
		kmt_expire(m, FALSE);
}

static inline gboolean kmt_is_remote(const KmtMatcher *m, gint32 wanted,
				     guint16 file)
{
	const KmtCpuFile *f;

	if (G_LIKELY(wanted < 0))
		return FALSE;
	f = m->capture->files->pdata[file];
	return f->node >= 0 && wanted != f->node;
}

/* As they are copied at once. */
#define KMT_IS_PAIR(type, first, second)                                       \
	(G_STRUCT_OFFSET(type, second) - G_STRUCT_OFFSET(type, first) ==       \
	 sizeof(guint32))
G_STATIC_ASSERT(KMT_IS_PAIR(KmtEntry, cell, size));
G_STATIC_ASSERT(KMT_IS_PAIR(KmtStep, cell, size));
G_STATIC_ASSERT(KMT_STEP_ALLOC + 1 == KMT_STEP_FREE);

/* A record that kmt_match_step() does not do. */
static inline void kmt_match_slowly(KmtMatcher *m, KmtEntry *e,
				    const KmtRawEvent *event, guint16 file,
				    guint64 hash, KmtStep *step)
{
	if (event->event_id == KMEMTRACE_EVENT_ALLOC) {
		if (kmt_alloc_at_once(m, &e, event, file, hash)) {
			*step = (KmtStep){
				.born = m->now,
				.cell = e->cell,
				.size = e->size,
				.file = file,
				.op = KMT_STEP_ALLOC,
				.remote = kmt_is_remote(m, event->node, file)};
			return;
		}
	} else if (kmt_free_at_once(e, event)) {
		*step = (KmtStep){.born = e->last_ts,
				  .cell = e->cell,
				  .size = e->size,
				  .file = e->last_file,
				  .op = KMT_STEP_FREE};
		kmt_close_at_once(m, e, hash, file);
		return;
	}
	step->op = KMT_STEP_NONE;
	kmt_match_contested(m, e, event, file, hash);
}

/*
 * A record with its hash, and what kmt_obj_prefetch_entry() said.  Whether it
 * is an ALLOC or a FREE cannot be foretold; both go the same way here, as long
 * as the address is closed or live as it has to be.
 */
static inline void kmt_match_step(KmtMatcher *m, KmtItem *item)
{
	const KmtRawEvent *event = item->event;
	KmtStep *step = &item->step;
	guint64 is_alloc = event->event_id == KMEMTRACE_EVENT_ALLOC;
	guint64 mask = -is_alloc; /* all bits, or none */
	guint8 expected = KMT_ENTRY_LIVE & ~(guint8)mask;
	guint64 had, given;
	KmtEntry *e;

	kmt_match_advance(m, item->now);
	e = kmt_obj_look(&m->table, item->hash, item->candidate, event->ptr,
			 event->type_id);
	if (G_UNLIKELY(!e || e->flags != expected ||
		       (e->type != event->type_id && !is_alloc))) {
		kmt_match_slowly(m, e, event, item->file, item->hash, step);
		return;
	}
	/* With masks, or the compiler makes a branch of it. */
	memcpy(&had, &e->cell, sizeof(had));
	memcpy(&given, item->allocated, sizeof(given));
	had = (given & mask) | (had & ~mask);
	memcpy(&step->cell, &had, sizeof(had));
	memcpy(&e->cell, &had, sizeof(had));
	step->born = (gint64)(((guint64)item->now & mask) |
			      ((guint64)e->last_ts & ~mask));
	step->file = (guint16)((item->file & mask) | (e->last_file & ~mask));
	step->op = (guint8)(KMT_STEP_FREE + mask);
	step->remote = G_UNLIKELY(event->node >= 0) && is_alloc &&
		       kmt_is_remote(m, event->node, item->file);
	e->type = event->type_id & 3;
	e->flags = expected ^ KMT_ENTRY_LIVE;
	kmt_obj_count_closed(&m->table, item->hash, (gint)(1 + 2 * mask));
	kmt_touch(m, e, item->file);
}

#endif
