// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/match/matcher-private.h"

/* ---- times at which events may be missing ---- */

/*
 * Set lossy, complete_from and complete_until. The files of a truncated capture
 * end at different times, and the files of a capture that continues another one
 * begin at different times. If such a capture has a file without a usable
 * record, the time is unknown, and lossy is set.
 */
static void find_complete_span(KmtMatcher *m, const KmtInputCapture *capture)
{
	gboolean cut_off = kmt_input_capture_is_truncated(capture);
	guint i;

	m->complete_from = G_MININT64;
	m->complete_until = G_MAXINT64;
	m->lossy = kmt_input_capture_is_lossy(capture) || capture->filtered;
	if (!cut_off && !capture->continues)
		return;
	for (i = 0; i < capture->files->len; i++) {
		gint64 first, last;

		if (!kmt_match_merge_file_span(capture->files->pdata[i], &first,
					       &last)) {
			m->lossy = TRUE;
			continue;
		}
		if (capture->continues)
			m->complete_from = MAX(m->complete_from, first);
		if (cut_off)
			m->complete_until = MIN(m->complete_until, last);
	}
	if (capture->continues)
		m->complete_from = kmt_match_add_saturated(
			m->complete_from, (gint64)m->tolerance);
	if (cut_off)
		m->complete_until = kmt_match_add_saturated(
			m->complete_until, -(gint64)m->tolerance);
}

KmtMatcher *kmt_matcher_new(const KmtInputCapture *capture,
			    const KmtMatchOptions *options,
			    const KmtMatchOps *ops, gpointer user)
{
	KmtMatcher *m = g_new0(KmtMatcher, 1);

	m->ops = *ops;
	m->user = user;
	m->capture = capture;
	m->tolerance = (guint64)CLAMP(options->clock_tolerance_ns, 0,
				      KMT_MATCH_CLOCK_TOLERANCE_MAX_NS);
	/* The timestamps are sequence numbers that the kernel counted for all
	 * CPUs. Their order is exact, so no tolerance applies. */
	if (capture->has_sequence_times)
		m->tolerance = 0;
	m->now = G_MININT64;
	m->due = G_MAXINT64;
	m->keys = options->keys;
	find_complete_span(m, capture);
	kmt_match_table_init(&m->table, options->hash_seed,
			     KMT_MATCH_MIN_ENTRIES / MAX(1, options->shards),
			     options->keep_indexes);
	kmt_match_cross_uses_init(&m->cross_uses, m->tolerance);
	kmt_match_pending_init(m);
	return m;
}

void kmt_matcher_free(KmtMatcher *m)
{
	if (!m)
		return;
	kmt_match_pending_clear(m);
	kmt_match_cross_uses_clear(&m->cross_uses);
	kmt_match_table_clear(&m->table);
	g_free(m);
}

/* ---- records ---- */

void kmt_matcher_advance(KmtMatcher *m, gint64 now)
{
	if (now > m->now)
		m->now = now;
	if (m->now > m->due)
		kmt_match_expire_pending(m, FALSE);
}

/*
 * Decide an ALLOC at once if its address has no entry, or is closed and has no
 * pending record. Return FALSE otherwise. If *entry is NULL, set *entry to the
 * new entry.
 */
static gboolean apply_certain_alloc(KmtMatcher *m, KmtMatchEntry **entry,
				    guint type, guint16 file, guint64 hash,
				    guint32 class_id)
{
	KmtMatchEntry *e = *entry;

	if (!e) {
		*entry = e = kmt_match_entry_new(m, hash, type, file);
		if (!kmt_match_table_was_evicted(&m->table, e))
			e->flags = KMT_MATCH_ENTRY_MAYBE_LIVE;
	} else if (G_UNLIKELY(e->flags)) {
		if (e->flags & (KMT_MATCH_ENTRY_LIVE | KMT_MATCH_ENTRY_PENDING))
			return FALSE;
		kmt_match_guess_on_alloc(m, e, file);
	}
	kmt_match_entry_touch(m, e, file);
	e->flags |= KMT_MATCH_ENTRY_LIVE;
	kmt_match_entry_set_type(e, type);
	e->class_id = class_id;
	return TRUE;
}

static void apply_certain_free(KmtMatcher *m, KmtMatchEntry *e, guint16 file)
{
	if (G_UNLIKELY(e->flags != KMT_MATCH_ENTRY_LIVE)) {
		kmt_match_guess_on_free(m, e, file);
		e->flags &= ~KMT_MATCH_ENTRY_MAYBE_FREED;
	}
	e->flags &= ~KMT_MATCH_ENTRY_LIVE;
	kmt_match_entry_touch(m, e, file);
}

/*
 * Return the fields of an event's record that callbacks need, with the merged
 * time as the timestamp. The class of an ALLOC has the call site, so do not
 * read the record, which may be in another processor's cache.
 */
static struct kmemtrace_event item_event(const KmtMatcher *m,
					 const KmtMatchEvent *item)
{
	const gboolean is_alloc = item->op == KMT_MATCH_STEP_ALLOC;

	return (struct kmemtrace_event){
		.event_id = item->op == KMT_MATCH_STEP_DEFER
				    ? KMEMTRACE_EVENT_DEFER
				    : item->op,
		.type_id = item->type,
		.timestamp = m->now,
		.ptr = kmt_match_table_address(&m->table, item->hash,
					       item->type),
		.call_site = is_alloc && m->keys
				     ? kmt_match_keys_call_site(m->keys,
								item->class_id)
				     : item->event->call_site,
	};
}

static KmtMatchPosition item_position(const KmtMatcher *m,
				      const KmtMatchEvent *item)
{
	return (KmtMatchPosition){m->capture->files->pdata[item->file], 0};
}

/*
 * Pass an event that cannot be decided at once to ambiguous.c or
 * defer-records.c. e is NULL if the address has no entry.
 */
static void resolve_conflict(KmtMatcher *m, KmtMatchEntry *e,
			     KmtMatchEvent *item)
{
	const guint op = item->op;
	KmtMatchRecord r = {
		.event = item_event(m, item),
		.position = item_position(m, item),
		.hash = item->hash,
		.now = m->now,
		.class_id = item->class_id,
		.item = item,
	};

	item->op = KMT_MATCH_STEP_NONE;
	if (op == KMT_MATCH_STEP_ALLOC)
		kmt_match_resolve_alloc(m, e, &r);
	else if (op == KMT_MATCH_STEP_DEFER)
		kmt_match_resolve_defer(m, e, &r);
	else
		kmt_match_resolve_free(m, e, &r);
}

/* Report a FREE that is the first record of its address. */
static void first_free(KmtMatcher *m, KmtMatchEntry *e, KmtMatchEvent *item)
{
	const struct kmemtrace_event event = item_event(m, item);
	const KmtMatchPosition position = item_position(m, item);

	e->flags = KMT_MATCH_ENTRY_MAYBE_FREE;
	item->op = KMT_MATCH_STEP_NONE;
	m->findings.unmatched[KMT_MATCH_UNMATCHED_BEFORE_TRACE]++;
	if (m->ops.on_unmatched)
		m->ops.on_unmatched(m->user, &event, &position,
				    KMT_MATCH_UNMATCHED_BEFORE_TRACE);
}

/*
 * Decide an ALLOC or FREE of an address that has no entry, with the results of
 * apply_certain_alloc() and kmt_match_resolve_free(). unused is the place where
 * the search for the address ended.
 */
static void apply_first(KmtMatcher *m, KmtMatchEntry *unused,
			KmtMatchEvent *item)
{
	KmtMatchEntry *e =
		kmt_match_table_add_at(&m->table, item->hash, unused);
	gboolean is_known;

	if (G_LIKELY(e)) {
		kmt_match_entry_set_type(e, item->type);
		e->last_ts = m->now;
		e->last_file = item->file;
	} else {
		e = kmt_match_entry_new(m, item->hash, item->type, item->file);
	}
	is_known = kmt_match_table_was_evicted(&m->table, e);
	if (item->op == KMT_MATCH_STEP_ALLOC) {
		e->flags = KMT_MATCH_ENTRY_LIVE;
		if (!is_known)
			e->flags |= KMT_MATCH_ENTRY_MAYBE_LIVE;
		e->class_id = item->class_id;
	} else if (!is_known) {
		first_free(m, e, item);
	} else {
		resolve_conflict(m, e, item);
	}
}

/*
 * Decide an event as kmt_match_fast_path() and kmt_match_aged_path() do, also
 * if other CPUs used the address within the clock tolerance, or if an ALLOC has
 * the remote flag. m->now is the time of the event.
 */
static gboolean decide_plain(KmtMatcher *m, KmtMatchEntry *e,
			     KmtMatchEvent *item)
{
	const guint32 usual = kmt_match_usual_state(item);
	const gboolean is_recent =
		kmt_match_time_distance(e->last_ts, m->now) <= m->tolerance;
	guint32 other = (e->state ^ usual) & ~KMT_MATCH_STATE_FILE;
	KmtMatchDecision d;

	if (!is_recent)
		other &=
			~(kmt_match_ended_guess(item->op) * KMT_MATCH_STATE_OP);
	if (other)
		return FALSE;
	if (is_recent && e->last_file != item->file)
		kmt_match_cross_uses_set(&m->cross_uses, e->hash,
					 kmt_input_namespace_of(item->type),
					 e->last_ts, m->now);
	kmt_match_decide(item, e, &d);
	if (!d.is_alloc)
		item->cross = d.alloc_file != item->file;
	item->class_id = d.class_id;
	item->alloc_time = d.alloc_time;
	item->alloc_file = d.alloc_file;
	return TRUE;
}

void kmt_match_slow_path(KmtMatcher *m, KmtMatchEntry *e, KmtMatchEvent *item)
{
	const KmtInputNamespace space = kmt_input_namespace_of(item->type);
	guint64 hash = item->hash;

	m->now = item->now;
	item->op &= (guint8)~KMT_MATCH_OP_REMOTE;
	/* If the search for the hash ended at an unused place, the address has
	 * no entry. */
	if (!e->state && e->hash != hash && item->op != KMT_MATCH_STEP_DEFER) {
		apply_first(m, e, item);
		return;
	}
	if (decide_plain(m, e, item))
		return;
	if (!kmt_match_entry_is(e, hash, space))
		e = kmt_match_table_find(&m->table, hash, space);
	if (item->op == KMT_MATCH_STEP_ALLOC) {
		if (apply_certain_alloc(m, &e, item->type, item->file, hash,
					item->class_id))
			return;
	} else if (item->op == KMT_MATCH_STEP_FREE &&
		   kmt_match_is_certain_free(m, e, item->type)) {
		item->type = kmt_match_entry_type(e);
		item->class_id = e->class_id;
		item->alloc_time = e->last_ts;
		item->alloc_file = e->last_file;
		item->cross = item->alloc_file != item->file;
		apply_certain_free(m, e, item->file);
		return;
	}
	resolve_conflict(m, e, item);
}

void kmt_matcher_process(KmtMatcher *m, const struct kmemtrace_event *event,
			 const KmtMatchPosition *position)
{
	guint16 file = (guint16)position->file->position;
	KmtInputNamespace space = kmt_input_namespace_of(event->type_id);
	KmtMatchRecord r = {.event = *event,
			    .position = *position,
			    .hash = kmt_input_address_hash(
				    m->table.seed, event->ptr, event->type_id)};
	KmtMatchEntry *e;
	KmtMatchObject object;

	kmt_matcher_advance(m, event->timestamp);
	r.now = m->now;
	e = kmt_match_table_find(&m->table, r.hash, space);
	if (event->event_id == KMEMTRACE_EVENT_ALLOC) {
		if (m->keys)
			r.class_id = kmt_match_keys_class(m->keys, event, file);
		if (!apply_certain_alloc(m, &e, event->type_id, file, r.hash,
					 r.class_id)) {
			kmt_match_resolve_alloc(m, e, &r);
			return;
		}
		if (m->table.keep_indexes)
			*kmt_match_table_alloc_index(&m->table, e) =
				position->index;
		object = kmt_match_entry_object(m, e, r.hash);
		kmt_match_report_alloc(m, &object, &r);
	} else if (event->event_id == KMEMTRACE_EVENT_DEFER) {
		kmt_match_resolve_defer(m, e, &r);
	} else if (kmt_match_is_certain_free(m, e, event->type_id)) {
		object = kmt_match_entry_object(m, e, r.hash);
		apply_certain_free(m, e, file);
		kmt_match_report_free(m, &object, &r);
	} else {
		kmt_match_resolve_free(m, e, &r);
	}
}

gboolean kmt_matcher_is_delayed(const KmtMatcher *m, gint64 *time)
{
	if (m->delayed)
		*time = kmt_match_add_saturated(m->delayed_since,
						(gint64)m->tolerance);
	return m->delayed;
}

void kmt_matcher_finish(KmtMatcher *m)
{
	kmt_match_expire_pending(m, TRUE);
}

/* Call func for the object of each entry that has a flag. */
static void foreach_flagged(KmtMatcher *m, guint flag,
			    void (*func)(gpointer user,
					 const KmtMatchObject *object),
			    gpointer user)
{
	const KmtMatchEntry *e = m->table.entries;
	const KmtMatchEntry *end = e + kmt_match_table_places(&m->table);

	for (; e < end; e++) {
		KmtMatchObject object;

		if (!(e->flags & flag))
			continue;
		object = kmt_match_entry_object(m, e, e->hash);
		func(user, &object);
	}
}

void kmt_matcher_foreach_live(KmtMatcher *m,
			      void (*func)(gpointer user,
					   const KmtMatchObject *object),
			      gpointer user)
{
	foreach_flagged(m, KMT_MATCH_ENTRY_LIVE, func, user);
}

void kmt_matcher_foreach_deferred(KmtMatcher *m,
				  void (*func)(gpointer user,
					       const KmtMatchObject *object),
				  gpointer user)
{
	foreach_flagged(m, KMT_MATCH_ENTRY_DEFERRED, func, user);
}

const KmtMatchFindings *kmt_matcher_findings(const KmtMatcher *m)
{
	return &m->findings;
}
