// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/capture.h"
#include "lib/input/marks.h"
#include "lib/match/merge.h"
#include "lib/input/namespace.h"
#include "lib/input/name-tables.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

/* What is asked for of a file before it is needed, bytes. */
#define AHEAD 4096

/* Longer without any record is told of. */
#define GAP_NS ((guint64)(3600 * NS_PER_S))

/* One file's next record, and what is at hand of it beyond. */
typedef struct {
	const guint8 *next, *end;
	guint stride;
	guint record_size;
	guint last_type;  /* that records of this size may have */
	gboolean started; /* had a usable record */
	gint64 now;	  /* merged time of next */
	gint64 last;	  /* its own timestamp */
	gint64 first;	  /* that of the first one of all */
	guint64 index;	  /* of next in its file */
	KmtPiece *piece;
	guint64 kept; /* number of the last fill that piece is kept for */
	KmtSource *source;
	const KmtCpuFile *file;
} Source;

/* A source in the tree.  id is its place, plus the number of sources once it
 * has no record left, so that it comes after all others. */
typedef struct {
	gint64 key;
	guint32 id;
} Runner;

/*
 * A loser tree: runners[i] is the one that lost at node i, whose children are
 * 2i and 2i + 1; the leaves, n .. 2n - 1, are the sources.  A step costs one
 * comparison for each level and no guess about where the next record is from.
 */
struct KmtMerge {
	const KmtCapture *capture;
	Source *sources;
	Runner *runners;
	guint n;
	Runner winner;
	guint64 fills;	    /* blocks so far */
	gint64 first, last; /* of all timestamps */
	gint64 stop;	    /* nothing after it */
	gint64 span_stop;   /* stop without the clock tolerance */
	gint64 now;	    /* merged time of the last block's last record */
	/* Where merged time went on by more than ever, and by whose record. */
	gint64 gap_from, gap_until;
	guint gap_file;
	guint64 skipped;
	guint64 hole_records;
	GArray *holes; /* of KmtHole */
	guint64 stop_records;
	char *stop_why; /* of the first of them */
	gint64 stop_time;
	guint64 unordered;
	guint64 mark_records;
};

/* last_type: kmt_last_type() of record_size. */
static inline gboolean usable(guint record_size, guint last_type,
			      const KmtRawEvent *event)
{
	return (guint)event->event_id - KMEMTRACE_EVENT_ALLOC <=
		       KMEMTRACE_EVENT_FREE - KMEMTRACE_EVENT_ALLOC &&
	       event->type_id <= last_type &&
	       event->event_size == record_size && event->ptr != 0;
}

static gboolean next_run(Source *s)
{
	KmtRun run;

	kmt_piece_unref(s->piece);
	s->piece = NULL;
	if (!kmt_source_next(s->source, &run))
		return FALSE;
	s->next = run.records;
	s->end = run.records + run.n * run.stride;
	s->stride = run.stride;
	s->piece = run.piece;
	s->kept = 0;
	return TRUE;
}

/* Merged time and what else is known by a usable record. */
static inline void take_time(KmtMerge *merge, Source *s,
			     const KmtRawEvent *event)
{
	gint64 t = event->timestamp;

	if (G_LIKELY(t >= s->now)) {
		s->now = t;
	} else {
		/* Below its predecessor's, of the file's own. */
		merge->unordered += t < s->last;
		merge->first = MIN(merge->first, t);
	}
	s->last = t;
}

static void note_hole(KmtMerge *merge, const KmtHole *hole)
{
	KmtHole *last;

	merge->hole_records++;
	if (merge->holes->len < KMT_MAX_HOLES) {
		g_array_append_val(merge->holes, *hole);
		return;
	}
	last = &g_array_index(merge->holes, KmtHole, KMT_MAX_HOLES - 1);
	last->since = MIN(last->since, hole->since);
	last->until = MAX(last->until, hole->until);
	if (__builtin_add_overflow(last->events, hole->events, &last->events))
		last->events = G_MAXUINT64;
}

static void note_stop(KmtMerge *merge, const Source *s,
		      const struct kmemtrace_event *event)
{
	guint64 text[4] = {event->ptr, event->bytes_req, event->bytes_alloc,
			   event->gfp_flags};
	guint i;

	if (merge->stop_records++)
		return;
	/* Text has no byte order. */
	for (i = 0; s->file->swapped && i < G_N_ELEMENTS(text); i++)
		text[i] = GUINT64_SWAP_LE_BE(text[i]);
	merge->stop_why = g_strndup((const char *)text, sizeof(text));
	merge->stop_time = event->timestamp;
}

/*
 * Account for a record that is no event: of a loss, a stop or a mark.  FALSE:
 * the record is none of them.
 */
static gboolean note_record(KmtMerge *merge, const Source *s,
			    const KmtRawEvent *record)
{
	struct kmemtrace_event event = *record;

	const KmtHole hole = {
		.file = s->file->position,
		.since = MIN(kmt_lost_since(&event), event.timestamp),
		.until = event.timestamp,
		.events = kmt_lost_events(&event)};

	if (event.event_size != s->record_size)
		return FALSE;
	if (kmt_is_lost(&event, s->record_size))
		note_hole(merge, &hole);
	else if (kmt_is_stop(&event, s->record_size))
		note_stop(merge, s, &event);
	else if (kmt_is_mark(&event, s->record_size))
		merge->mark_records++;
	else
		return FALSE;
	return TRUE;
}

/* Moves to the next usable record from s->next on.  FALSE: there is none. */
static gboolean settle(KmtMerge *merge, Source *s)
{
	for (;; s->next += s->stride, s->index++) {
		const KmtRawEvent *event;

		if (s->next == s->end && !next_run(s))
			return FALSE;
		event = (const KmtRawEvent *)s->next;
		if (!usable(s->record_size, s->last_type, event)) {
			merge->skipped += !note_record(merge, s, event);
			continue;
		}
		if (!s->started) {
			s->started = TRUE;
			s->first = event->timestamp;
			merge->first = MIN(merge->first, event->timestamp);
		}
		take_time(merge, s, event);
		return TRUE;
	}
}

static Runner runner_of(KmtMerge *merge, guint32 i)
{
	Runner r = {G_MAXINT64, i + merge->n};

	if (settle(merge, &merge->sources[i])) {
		r.key = merge->sources[i].now;
		r.id = i;
	}
	return r;
}

static gboolean before(Runner a, Runner b)
{
	return a.key < b.key || (a.key == b.key && a.id < b.id);
}

/* Lets r run from its leaf to the top.  Without branches, as which one wins is
 * hard to foretell: the two are swapped under a mask. */
static void replay(KmtMerge *merge, guint leaf, Runner r)
{
	guint node;

	for (node = leaf / 2; node; node /= 2) {
		Runner *other = &merge->runners[node];
		guint64 swap = -(
			guint64)((other->key < r.key) |
				 ((other->key == r.key) & (other->id < r.id)));
		guint64 key = ((guint64)other->key ^ (guint64)r.key) & swap;
		guint32 id = (other->id ^ r.id) & (guint32)swap;

		other->key = (gint64)((guint64)other->key ^ key);
		other->id ^= id;
		r.key = (gint64)((guint64)r.key ^ key);
		r.id ^= id;
	}
	merge->winner = r;
}

/* Plays the matches below node for the first time.  Returns the winner. */
static Runner play(KmtMerge *merge, guint node)
{
	Runner a, b;

	if (node >= merge->n)
		return runner_of(merge, node - merge->n);
	a = play(merge, 2 * node);
	b = play(merge, 2 * node + 1);
	merge->runners[node] = before(a, b) ? b : a;
	return before(a, b) ? a : b;
}

KmtMerge *kmt_merge_new(const KmtCapture *capture)
{
	KmtMerge *merge = g_new0(KmtMerge, 1);
	guint i;

	merge->capture = capture;
	merge->n = capture->files->len;
	merge->now = G_MAXINT64;
	merge->first = G_MAXINT64;
	merge->last = G_MININT64;
	merge->stop = merge->span_stop = G_MAXINT64;
	merge->holes = g_array_new(FALSE, FALSE, sizeof(KmtHole));
	merge->sources = g_new0(Source, merge->n);
	merge->runners = g_new0(Runner, merge->n);
	for (i = 0; i < merge->n; i++) {
		Source *s = &merge->sources[i];

		s->file = capture->files->pdata[i];
		s->record_size = s->file->record_size;
		s->last_type = kmt_last_type(s->record_size);
		s->source = kmt_source_new(capture->files->pdata[i]);
		s->now = s->last = G_MININT64;
	}
	merge->winner = play(merge, 1);
	return merge;
}

void kmt_merge_free(KmtMerge *merge)
{
	guint i;

	if (!merge)
		return;
	for (i = 0; i < merge->n; i++) {
		kmt_piece_unref(merge->sources[i].piece);
		kmt_source_free(merge->sources[i].source);
	}
	g_array_unref(merge->holes);
	g_free(merge->stop_why);
	g_free(merge->runners);
	g_free(merge->sources);
	g_free(merge);
}

void kmt_merge_stop_after(KmtMerge *merge, gint64 stop_ns, gint64 tolerance_ns)
{
	/* Of a first record before 0, the largest time is no end. */
	if (stop_ns == G_MAXINT64 ||
	    __builtin_add_overflow(stop_ns, tolerance_ns, &merge->stop) ||
	    __builtin_add_overflow(merge->winner.key, merge->stop,
				   &merge->stop))
		merge->stop = G_MAXINT64;
	if (stop_ns == G_MAXINT64 ||
	    __builtin_add_overflow(merge->winner.key, stop_ns,
				   &merge->span_stop))
		merge->span_stop = G_MAXINT64;
}

static inline void step(KmtMerge *merge, guint32 i)
{
	Source *s = &merge->sources[i];

	merge->last = MAX(merge->last, s->now);
	s->next += s->stride;
	s->index++;
	replay(merge, merge->n + i, runner_of(merge, i));
}

/* Merged time goes on to now, with a record of file. */
static inline void go_on(KmtMerge *merge, gint64 now, guint file)
{
	gint64 before = MIN(merge->now, now);

	merge->now = now;
	if ((guint64)now - (guint64)before <=
	    (guint64)merge->gap_until - (guint64)merge->gap_from)
		return;
	merge->gap_from = before;
	merge->gap_until = now;
	merge->gap_file = file;
}

/* A block is short: most need no second look. */
static void find_gap(KmtMerge *merge, KmtItem *const *items, guint n)
{
	gint64 last = items[n - 1]->now;
	guint i;

	if ((guint64)last - (guint64)MIN(merge->now, items[0]->now) < GAP_NS) {
		merge->now = last;
		return;
	}
	for (i = 0; i < n; i++)
		go_on(merge, items[i]->now, items[i]->file);
}

gboolean kmt_merge_next(KmtMerge *merge, struct kmemtrace_event *event,
			KmtPosition *position)
{
	guint32 i = merge->winner.id;
	const Source *s;

	if (i >= merge->n)
		return FALSE;
	s = &merge->sources[i];
	position->file = s->file;
	position->index = s->index;
	memcpy(event, s->next, sizeof(*event));
	if (event->event_id == KMEMTRACE_EVENT_FREE)
		kmt_event_clear_free(event);
	go_on(merge, merge->winner.key, i);
	step(merge, i);
	return TRUE;
}

void kmt_block_init(KmtBlock *block)
{
	block->n = 0;
	block->ends = g_array_new(FALSE, TRUE, sizeof(guint64));
	block->pieces =
		g_ptr_array_new_with_free_func((GDestroyNotify)kmt_piece_unref);
}

void kmt_block_clear(KmtBlock *block)
{
	g_clear_pointer(&block->ends, g_array_unref);
	g_clear_pointer(&block->pieces, g_ptr_array_unref);
}

/* The next one after the winner; key G_MAXINT64 if there is none. */
static Runner runner_up(const KmtMerge *merge)
{
	Runner next = {G_MAXINT64, G_MAXUINT32};
	guint node;

	for (node = (merge->n + merge->winner.id) / 2; node; node /= 2)
		if (before(merge->runners[node], next))
			next = merge->runners[node];
	return next;
}

/* Puts out the record that a source has.  Returns FALSE if what is behind it is
 * not simply the next one. */
static inline gboolean take(KmtMerge *merge, guint32 id, KmtOutlet *outlet)
{
	Source *s = &merge->sources[id];
	const KmtRawEvent *event = (const KmtRawEvent *)s->next;

	kmt_outlet_put(outlet, event, s->now, id);
	s->next += s->stride;
	s->index++;
	event = (const KmtRawEvent *)s->next;
	if (G_UNLIKELY(s->next == s->end ||
		       !usable(s->record_size, s->last_type, event)))
		return FALSE;
	/* With many files the processor does not see what is next. */
	__builtin_prefetch(s->next + AHEAD);
	take_time(merge, s, event);
	return TRUE;
}

/* Puts out records of the winner, as long as no other source has an earlier
 * one. */
static void fill_from(KmtMerge *merge, KmtOutlet *outlet)
{
	guint32 id = merge->winner.id;
	const Source *s = &merge->sources[id];
	Runner next = runner_up(merge);
	gint64 limit = MIN(next.key, merge->stop);
	/* At the same time the lower number comes first. */
	gboolean ties = next.key > merge->stop || id < next.id;

	do {
		if (!take(merge, id, outlet)) {
			replay(merge, merge->n + id, runner_of(merge, id));
			return;
		}
	} while (outlet->n < KMT_BLOCK_RECORDS &&
		 (s->now < limit || (s->now == limit && ties)));
	replay(merge, merge->n + id, (Runner){s->now, id});
}

/* So many records can be taken of a source, so that one is left. */
static inline guint64 spare(const Source *s)
{
	return (guint64)(s->end - s->next) / s->stride - 1;
}

static inline const KmtRawEvent *at(guint64 address)
{
	return (const KmtRawEvent *)(guintptr)address;
}

/* Some were taken, up to next, all of them simple. */
static inline void go_to(Source *s, guint64 next)
{
	const guint8 *record = (const guint8 *)at(next);

	if (record == s->next)
		return;
	s->index += (guint64)(record - s->next) / s->stride;
	s->next = record;
	s->now = s->last = at(next)->timestamp;
}

/* The first bytes of a record as a number: event_id, type_id, event_size. */
static inline guint32 head_of(const KmtRawEvent *event)
{
	guint32 head;

	memcpy(&head, event, sizeof(head));
	return GUINT32_FROM_LE(head);
}

/*
 * Puts out records of two sources of one format, so that there are n, as long
 * as what is behind each of them is simply the next one.  Which source is next
 * cannot be foretold, so that no branch depends on it.
 */
static void take_two(Source *a, Source *b, KmtOutlet *outlet, guint n)
{
	const struct kmemtrace_event first = {.event_id = KMEMTRACE_EVENT_ALLOC,
					      .event_size =
						      (guint16)a->record_size};
	const guint32 first_head = head_of((const KmtRawEvent *)&first);
	const guint32 last_head = a->last_type << 8 | 1; /* less first_head */
	const guint64 stride = a->stride;
	guint64 next_a = (guint64)(guintptr)a->next;
	guint64 next_b = (guint64)(guintptr)b->next;
	KmtOutlet out = *outlet; /* in the processor's registers */

	if (a->now != a->last || b->now != b->last)
		return;
	while (out.n < n) {
		gint64 now_a = at(next_a)->timestamp;
		gint64 now_b = at(next_b)->timestamp, now = MIN(now_a, now_b);
		guint id = now_b < now_a;
		guint64 is_b = -(guint64)id, skip_b = stride & is_b;
		guint64 next = next_a ^ ((next_a ^ next_b) & is_b);
		const KmtRawEvent *event = at(next + stride);
		guint32 head = head_of(event) - first_head;

		if (G_UNLIKELY(head > last_head || head & 0xfe || !event->ptr ||
			       event->timestamp < now))
			break;
		__builtin_prefetch((const guint8 *)event + AHEAD);
		next_a += stride - skip_b;
		next_b += skip_b;
		kmt_outlet_put(&out, at(next), now, id);
	}
	*outlet = out;
	go_to(a, next_a);
	go_to(b, next_b);
}

/*
 * Likewise of two sources that both have a record, as many captures have no
 * more: without a tree, and without a guess about which one is next.
 */
static void fill_from_two(KmtMerge *merge, KmtOutlet *outlet)
{
	Source *a = &merge->sources[0], *b = &merge->sources[1];
	gboolean alike =
		a->stride == b->stride && a->record_size == b->record_size;
	guint32 id;
	Runner runner, other;

	do {
		if (alike)
			take_two(a, b, outlet,
				 (guint)MIN(KMT_BLOCK_RECORDS,
					    outlet->n +
						    MIN(spare(a), spare(b))));
		id = b->now < a->now;
		if (outlet->n == KMT_BLOCK_RECORDS)
			break;
		/* Perhaps the next one is not so simple. */
		if (!take(merge, id, outlet)) {
			runner = runner_of(merge, id);
			goto out;
		}
		id = b->now < a->now;
	} while (outlet->n < KMT_BLOCK_RECORDS);
	runner = (Runner){merge->sources[id].now, id};
out:
	other = (Runner){merge->sources[!id].now, !id};
	merge->winner = before(runner, other) ? runner : other;
	merge->runners[1] = before(runner, other) ? other : runner;
}

void kmt_merge_release(KmtMerge *merge, const KmtBlock *block)
{
	guint i;

	for (i = 0; i < block->ends->len; i++)
		kmt_source_release(merge->sources[i].source,
				   g_array_index(block->ends, guint64, i));
}

/* Its records stay as long as the block has them. */
static void keep_piece(const KmtMerge *merge, KmtBlock *block, Source *s)
{
	if (!s->piece || s->kept == merge->fills)
		return;
	g_ptr_array_add(block->pieces, kmt_piece_ref(s->piece));
	s->kept = merge->fills;
}

gboolean kmt_merge_fill(KmtMerge *merge, KmtBlock *block, KmtOutlet *outlet)
{
	guint i;

	g_ptr_array_set_size(block->pieces, 0);
	merge->fills++;
	outlet->n = outlet->n_allocs = 0;
	while (outlet->n < KMT_BLOCK_RECORDS && merge->winner.id < merge->n &&
	       merge->winner.key <= merge->stop) {
		keep_piece(merge, block, &merge->sources[merge->winner.id]);
		if (merge->n == 2 && merge->runners[1].id < 2 &&
		    merge->stop == G_MAXINT64) {
			keep_piece(merge, block,
				   &merge->sources[merge->runners[1].id]);
			fill_from_two(merge, outlet);
		} else {
			fill_from(merge, outlet);
		}
	}
	block->n = outlet->n;
	g_array_set_size(block->ends, merge->n);
	for (i = 0; i < merge->n; i++)
		g_array_index(block->ends, guint64, i) =
			merge->sources[i].index;
	if (block->n) {
		merge->last = MAX(merge->last,
				  outlet->order->items[block->n - 1]->now);
		find_gap(merge, outlet->order->items, block->n);
	}
	return block->n > 0;
}

static gboolean time_at(const KmtCpuFile *file, guint64 index, gint64 *time)
{
	struct kmemtrace_event event;

	kmt_cpu_file_get(file, index, &event);
	if (!usable(file->record_size, kmt_last_type(file->record_size),
		    &event))
		return FALSE;
	*time = event.timestamp;
	return TRUE;
}

gboolean kmt_merge_span(const KmtCpuFile *file, gint64 *first, gint64 *last)
{
	guint64 i = 0, end = file->n_records;

	while (i < end && !time_at(file, i, first))
		i++;
	while (end > i && !time_at(file, end - 1, last))
		end--;
	return i < end;
}

gboolean kmt_merge_stopped(const KmtMerge *merge)
{
	return merge->winner.id < merge->n;
}

gboolean kmt_merge_range(const KmtMerge *merge, gint64 *first, gint64 *last)
{
	guint i;

	*first = merge->first;
	*last = merge->last;
	/* Those that are next, too, and what was skipped. */
	for (i = 0; i < merge->n; i++)
		if (merge->sources[i].started)
			*last = MAX(*last, merge->sources[i].now);
	return *first <= *last;
}

guint64 kmt_merge_skipped(const KmtMerge *merge)
{
	return merge->skipped;
}

const GArray *kmt_merge_holes(const KmtMerge *merge)
{
	return merge->holes;
}

guint64 kmt_merge_hole_records(const KmtMerge *merge)
{
	return merge->hole_records;
}

guint64 kmt_merge_stop_records(const KmtMerge *merge)
{
	return merge->stop_records;
}

guint64 kmt_merge_mark_records(const KmtMerge *merge)
{
	return merge->mark_records;
}

guint64 kmt_merge_unordered(const KmtMerge *merge)
{
	return merge->unordered;
}

/* Only its last record tells something: how late it is. */
static void skip_run(Source *s)
{
	const guint8 *p = s->end;

	while (p != s->next) {
		const KmtRawEvent *event;

		p -= s->stride;
		event = (const KmtRawEvent *)p;
		if (!usable(s->record_size, s->last_type, event))
			continue;
		s->now = MAX(s->now, event->timestamp);
		break;
	}
	s->next = s->end;
}

/* Account for the records of s that are no events, from the next one on. */
static void note_rest(KmtMerge *merge, const Source *s)
{
	const guint8 *p;

	for (p = s->next; p != s->end; p += s->stride) {
		const KmtRawEvent *event = (const KmtRawEvent *)p;

		if (G_UNLIKELY(event->event_id != KMEMTRACE_EVENT_ALLOC &&
			       event->event_id != KMEMTRACE_EVENT_FREE))
			note_record(merge, s, event);
	}
}

/* Records of version 1 are all events, so that a mapped file of them needs no
 * look. */
void kmt_merge_drain(KmtMerge *merge)
{
	guint i;

	for (i = 0; i < merge->n; i++) {
		Source *s = &merge->sources[i];

		if (!s->file->stream &&
		    (s->next == s->end ||
		     s->record_size < KMEMTRACE_EVENT_SIZE_V2))
			continue;
		do {
			note_rest(merge, s);
			if (s->file->stream)
				skip_run(s);
		} while (next_run(s));
		s->next = s->end;
		kmt_cpu_file_give_back(s->file);
	}
}

static void note_gap(const KmtMerge *merge, GPtrArray *notes)
{
	const KmtCpuFile *file = merge->capture->files->pdata[merge->gap_file];
	guint64 gap = (guint64)merge->gap_until - (guint64)merge->gap_from;

	if (gap < GAP_NS || merge->capture->timeless)
		return;
	g_ptr_array_add(
		notes,
		g_strdup_printf(
			"no CPU has a record between %" G_GINT64_FORMAT
			" s and %" G_GINT64_FORMAT
			" s: the machine slept that long, or the clock of CPU "
			"%u jumped (%s), and times and order across that are "
			"wrong",
			merge->gap_from / NS_PER_S, merge->gap_until / NS_PER_S,
			file->cpu, file->path));
}

/* Two files that have no moment in common; FALSE if all have. */
static gboolean find_apart(const KmtMerge *merge, guint *early, guint *late)
{
	gboolean found = FALSE;
	guint i;

	for (i = 0; i < merge->n; i++) {
		const Source *s = &merge->sources[i];

		if (!s->started)
			continue;
		if (!found || s->last < merge->sources[*early].last)
			*early = i;
		if (!found || s->first > merge->sources[*late].first)
			*late = i;
		found = TRUE;
	}
	return found &&
	       merge->sources[*late].first > merge->sources[*early].last;
}

/* In a directory that is no news: a CPU need not run all the time. */
static void note_apart(const KmtMerge *merge, GPtrArray *notes)
{
	const KmtCapture *capture = merge->capture;
	const KmtCpuFile *a, *b;
	guint early = 0, late = 0;

	if (capture->directory || capture->meta || capture->timeless ||
	    !find_apart(merge, &early, &late))
		return;
	a = capture->files->pdata[early];
	b = capture->files->pdata[late];
	g_ptr_array_add(notes,
			g_strdup_printf("the last record of %s is before the "
					"first one of %s: see that they are "
					"files of one capture",
					a->path, b->path));
}

/* Losses that nobody would look for. */
static void note_holes(const KmtMerge *merge, GPtrArray *notes)
{
	const KmtCapture *capture = merge->capture;
	guint64 events = 0;
	guint i;

	if (capture->has_overruns && capture->overruns)
		return;
	for (i = 0; i < merge->holes->len; i++) {
		const KmtHole *hole = &g_array_index(merge->holes, KmtHole, i);

		if (hole->since <= merge->span_stop &&
		    __builtin_add_overflow(events, hole->events, &events))
			events = G_MAXUINT64;
	}
	if (!events)
		return;
	g_ptr_array_add(
		notes,
		g_strdup_printf("the records tell of %" G_GUINT64_FORMAT
				" lost events, of which kmemtrace.meta %s",
				events,
				!capture->meta ? "would tell if it were there"
				: capture->has_overruns ? "says that there are "
							  "none"
							: "knows nothing"));
}

static void note_stopped(const KmtMerge *merge, GPtrArray *notes)
{
	if (!merge->stop_records)
		return;
	g_ptr_array_add(
		notes,
		g_strdup_printf("the kernel stopped tracing at %.6f s of its "
				"clock: a snapshot was asked for (%s), and "
				"there were no spare buffers",
				(double)merge->stop_time / NS_PER_S,
				merge->stop_why));
}

GPtrArray *kmt_merge_notes(const KmtMerge *merge)
{
	GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);

	note_stopped(merge, notes);
	note_holes(merge, notes);
	note_gap(merge, notes);
	note_apart(merge, notes);
	return notes;
}
