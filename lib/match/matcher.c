// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/match/matcher-private.h"

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
	m->lossy = kmt_capture_is_lossy(capture) || capture->filtered;
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
			kmt_add_saturated(m->whole_from, (gint64)m->tolerance);
	if (cut_off)
		m->whole_until = kmt_add_saturated(m->whole_until,
						   -(gint64)m->tolerance);
}

KmtMatcher *kmt_matcher_new(const KmtCapture *capture,
			    const KmtMatchOptions *options,
			    const KmtMatchOps *ops, gpointer user)
{
	KmtMatcher *m = g_new0(KmtMatcher, 1);

	m->ops = *ops;
	m->user = user;
	m->capture = capture;
	m->tolerance = (guint64)CLAMP(options->clock_tolerance_ns, 0,
				      KMT_CLOCK_TOLERANCE_MAX_NS);
	/* Numbers in sequence are of no clock, and exact. */
	if (capture->timeless)
		m->tolerance = 0;
	m->now = G_MININT64;
	m->due = G_MAXINT64;
	m->cells = options->cells;
	find_loss(m, capture);
	kmt_obj_table_init(&m->table, options->hash_seed,
			   KMT_OBJ_KEEP / MAX(1, options->shards),
			   options->keep_indexes);
	kmt_asides_init(m);
	return m;
}

void kmt_matcher_free(KmtMatcher *m)
{
	if (!m)
		return;
	kmt_asides_clear(m);
	kmt_obj_table_clear(&m->table);
	g_free(m);
}

/* ---- records ---- */

void kmt_matcher_advance(KmtMatcher *m, gint64 now)
{
	if (now > m->now)
		m->now = now;
	if (m->now > m->due)
		kmt_expire(m, FALSE);
}

/* A certain ALLOC: of an address that was never seen, or is closed. */
static gboolean alloc_at_once(KmtMatcher *m, KmtEntry **entry, guint type,
			      guint16 file, guint64 hash, guint32 lot)
{
	KmtEntry *e = *entry;

	if (!e) {
		*entry = e = kmt_entry_new(m, hash, type, file);
		if (!kmt_obj_was_forgotten(&m->table, e))
			e->flags = KMT_ENTRY_MAYBE_LIVE;
	} else if (G_UNLIKELY(e->flags)) {
		if (e->flags & (KMT_ENTRY_LIVE | KMT_ENTRY_PENDING))
			return FALSE;
		kmt_review_alloc(m, e, file);
	}
	m->table.n_closed--;
	kmt_touch(m, e, file, m->now);
	e->flags |= KMT_ENTRY_LIVE;
	e->type = (guint8)type;
	e->lot = lot;
	return TRUE;
}

static void close_at_once(KmtMatcher *m, KmtEntry *e, guint16 file)
{
	if (G_UNLIKELY(e->flags != KMT_ENTRY_LIVE)) {
		kmt_review_close(m, e, file);
		e->flags &= ~KMT_ENTRY_MAYBE_FREED;
	}
	e->flags &= ~KMT_ENTRY_LIVE;
	m->table.n_closed++;
	kmt_touch(m, e, file, m->now);
}

/* Of one that is not certain at once.  e: NULL for a new address. */
static void contest(KmtMatcher *m, KmtEntry *e, KmtItem *item)
{
	KmtRecord r = {
		.event = {.event_id = item->op,
			  .type_id = item->type,
			  .timestamp = m->now,
			  .ptr = kmt_obj_address(&m->table, item->hash,
						 item->type)},
		.position = {m->capture->files->pdata[item->file], 0},
		.hash = item->hash,
		.now = m->now,
		.lot = item->lot,
		.item = item,
	};
	gboolean is_alloc = item->op == KMT_STEP_ALLOC;

	item->op = KMT_STEP_NONE;
	/* The record itself is in another processor's cache. */
	if (is_alloc) {
		r.event.call_site = kmt_cells_call_site(m->cells, item->lot);
		kmt_contest_alloc(m, e, &r);
	} else {
		r.event.call_site = item->event->call_site;
		kmt_contest_free(m, e, &r);
	}
}

void kmt_match_slowly(KmtMatcher *m, KmtEntry *e, KmtItem *item)
{
	guint64 hash = item->hash;

	m->now = item->now;
	if (m->now > m->due) {
		kmt_expire(m, FALSE);
		if (kmt_match_step(m, item, e, &m->table.n_closed))
			return;
	}
	if (!kmt_obj_is(e, hash, kmt_space_of(item->type)) ||
	    e == &kmt_obj_none)
		e = kmt_obj_find(&m->table, hash, kmt_space_of(item->type));
	/* Here, too, lest it is looked for like this again. */
	if (e)
		*kmt_obj_front(&m->table, hash) = e;
	if (item->op == KMT_STEP_ALLOC) {
		if (alloc_at_once(m, &e, item->type, item->file, hash,
				  item->lot)) {
			*kmt_obj_front(&m->table, hash) = e;
			return;
		}
	} else if (kmt_free_at_once(e, item->type)) {
		item->lot = e->lot;
		item->born = e->last_ts;
		item->born_file = e->last_file;
		item->cross = item->born_file != item->file;
		close_at_once(m, e, item->file);
		return;
	}
	contest(m, e, item);
}

void kmt_matcher_feed(KmtMatcher *m, const struct kmemtrace_event *event,
		      const KmtPosition *position)
{
	guint16 file = (guint16)position->file->position;
	KmtSpace space = kmt_space_of(event->type_id);
	KmtRecord r = {.event = *event,
		       .position = *position,
		       .hash = kmt_obj_hash(m->table.seed, event->ptr,
					    event->type_id)};
	KmtEntry *e;
	KmtObject object;

	kmt_matcher_advance(m, event->timestamp);
	r.now = m->now;
	e = kmt_obj_find(&m->table, r.hash, space);
	if (event->event_id == KMEMTRACE_EVENT_ALLOC) {
		if (m->cells)
			r.lot = kmt_cells_lot(m->cells, m->cells->parts, event,
					      file);
		if (!alloc_at_once(m, &e, event->type_id, file, r.hash,
				   r.lot)) {
			kmt_contest_alloc(m, e, &r);
			return;
		}
		if (m->table.keep_indexes)
			*kmt_obj_index(&m->table, e) = position->index;
		object = kmt_entry_object(m, e, r.hash);
		kmt_tell_alloc(m, &object, &r);
	} else if (kmt_free_at_once(e, event->type_id)) {
		object = kmt_entry_object(m, e, r.hash);
		close_at_once(m, e, file);
		kmt_tell_free(m, &object, &r);
	} else {
		kmt_contest_free(m, e, &r);
	}
}

gboolean kmt_matcher_is_late(const KmtMatcher *m, gint64 *time)
{
	if (m->late)
		*time = kmt_add_saturated(m->late_since, (gint64)m->tolerance);
	return m->late;
}

void kmt_matcher_finish(KmtMatcher *m)
{
	kmt_expire(m, TRUE);
}

void kmt_matcher_foreach_live(KmtMatcher *m,
			      void (*func)(gpointer user,
					   const KmtObject *object),
			      gpointer user)
{
	guint i;
	guint32 j;

	for (i = 0; i < KMT_OBJ_SEGMENTS; i++) {
		const KmtObjSegment *s = &m->table.segments[i];

		for (j = 0; j < s->n_entries; j++) {
			const KmtEntry *e = kmt_obj_entry(s, j);
			KmtObject object;

			if (!(e->flags & KMT_ENTRY_LIVE))
				continue;
			object = kmt_entry_object(m, e, e->hash);
			func(user, &object);
		}
	}
}

const KmtFindings *kmt_matcher_findings(const KmtMatcher *m)
{
	return &m->findings;
}
