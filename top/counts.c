// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/counts.h"

#include <string.h>

#define PARTS (KMT_MATCH_KEY_COMM | KMT_MATCH_KEY_CACHE)

/* Allocation classes take memory, too, about 150 bytes each. A usual system has
 * a hundred thousand. */
#define MAX_CLASSES (1u << 20)

/*
 * log2 of the slots of a direct-mapped cache of classes. The cache of
 * KmtMatchKeys cannot be used, since finding the name of a task takes longer
 * than all else.
 */
#define CACHE_BITS 12

typedef struct {
	guint64 call_site;
	guint64 owner; /* pid, cache, and type */
	guint64 bytes_req, bytes_alloc;
	guint32 class_id; /* KMT_MATCH_NO_CLASS: the slot is empty */
} ClassSlot;

/* A record of version 2 at any address, as KmtInputRawEvent. */
typedef struct kmemtrace_event_v2 RawOwner __attribute__((aligned(1)));

struct KmtTopTally {
	KmtMatchKeys *keys;
	KmtMatchOnline *online;
	KmtMatchIntern *sites; /* pairs of call site and type */
	KmtMatchNextBatch next_batch;
	gpointer user;
	gboolean has_owners;
	KmtTopCounts counts; /* n is the number of initialised classes */
	guint32 n_allocated, n_sites_allocated;
	ClassSlot cache[1 << CACHE_BITS];
};

/* ---- copies ---- */

KmtTopCounts *kmt_top_counts_ref(KmtTopCounts *counts)
{
	g_atomic_int_inc(&counts->refs);
	return counts;
}

void kmt_top_counts_unref(KmtTopCounts *counts)
{
	if (!counts || !g_atomic_int_dec_and_test(&counts->refs))
		return;
	g_free(counts->classes);
	g_free(counts->lifetimes);
	g_free(counts);
}

KmtTopCounts *kmt_top_tally_counts(const KmtTopTally *tally)
{
	const KmtTopCounts *from = &tally->counts;
	KmtTopCounts *counts = g_memdup2(from, sizeof(*from));

	counts->refs = 1;
	counts->classes =
		g_memdup2(from->classes, from->n * sizeof(*from->classes));
	counts->lifetimes = g_memdup2(from->lifetimes,
				      from->n_sites * sizeof(*from->lifetimes));
	return counts;
}

/* ---- classes ---- */

/* Initialise the counts of the classes below n. */
static void add_classes(KmtTopTally *tally, guint32 n)
{
	KmtTopCounts *counts = &tally->counts;

	if (n > tally->n_allocated) {
		tally->n_allocated = MAX(n, 1024 + 2 * tally->n_allocated);
		counts->classes = g_renew(KmtTopCount, counts->classes,
					  tally->n_allocated);
	}
	for (; counts->n < n; counts->n++) {
		KmtMatchKey key =
			kmt_match_keys_of_class(tally->keys, counts->n);

		counts->classes[counts->n] = (KmtTopCount){
			.site = kmt_match_intern_get(
				tally->sites,
				(guint64[]){key.call_site, key.type})};
	}
	n = tally->sites->n;
	if (n > tally->n_sites_allocated) {
		tally->n_sites_allocated =
			MAX(n, 256 + 2 * tally->n_sites_allocated);
		counts->lifetimes =
			g_realloc_n(counts->lifetimes, tally->n_sites_allocated,
				    sizeof(*counts->lifetimes));
	}
	if (n > counts->n_sites)
		memset(&counts->lifetimes[counts->n_sites], 0,
		       (n - counts->n_sites) * sizeof(*counts->lifetimes));
	counts->n_sites = n;
}

static guint32 find_class(KmtTopTally *tally, ClassSlot *slot,
			  const KmtInputRawEvent *event, guint64 owner,
			  guint16 file)
{
	guint32 class_id;

	if (tally->keys->classes->n >= MAX_CLASSES)
		return KMT_MATCH_NO_CLASS;
	class_id = kmt_match_keys_class(tally->keys, tally->keys->parts, event,
					file);
	if (class_id >= tally->counts.n)
		add_classes(tally, tally->keys->classes->n);
	*slot = (ClassSlot){event->call_site, owner, event->bytes_req,
			    event->bytes_alloc, class_id};
	return class_id;
}

static guint32 class_of(gpointer user, const KmtInputRawEvent *event,
			guint16 file)
{
	KmtTopTally *tally = user;
	guint64 owner = event->type_id, hash;
	ClassSlot *slot;

	if (tally->has_owners) {
		const RawOwner *v2 = (const RawOwner *)event;

		owner |= (guint64)v2->pid << 32 | (guint64)v2->cache << 8;
	}
	hash = (event->call_site +
		(event->bytes_req ^ owner) *
			G_GUINT64_CONSTANT(0xd6e8feb86659fd93)) *
	       G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	slot = &tally->cache[hash >> (64 - CACHE_BITS)];
	if (G_LIKELY(slot->call_site == event->call_site &&
		     slot->owner == owner &&
		     slot->bytes_req == event->bytes_req &&
		     slot->bytes_alloc == event->bytes_alloc &&
		     slot->class_id != KMT_MATCH_NO_CLASS))
		return slot->class_id;
	return find_class(tally, slot, event, owner, file);
}

void kmt_top_tally_forget_tasks(KmtTopTally *tally)
{
	guint i;

	for (i = 0; i < G_N_ELEMENTS(tally->cache); i++)
		tally->cache[i].class_id = KMT_MATCH_NO_CLASS;
}

/* ---- events ---- */

static guint lifetime_bucket(gint64 from, gint64 until)
{
	guint64 ns = until > from ? (guint64)until - (guint64)from : 0;

	return ns ? MIN(64 - (guint)__builtin_clzll(ns),
			KMT_TOP_LIFETIME_BUCKETS - 1)
		  : 0;
}

static void count_free(KmtTopCounts *counts, guint32 class_id, gint64 from,
		       gint64 until)
{
	KmtTopCount *count = &counts->classes[class_id];

	count->frees++;
	counts->lifetimes[count->site][lifetime_bucket(from, until)]++;
}

static void on_untracked(gpointer user, guint32 class_id)
{
	KmtTopTally *tally = user;

	tally->counts.events++;
	tally->counts.untracked++;
	if (class_id == KMT_MATCH_NO_CLASS)
		return;
	tally->counts.classes[class_id].allocs++;
	tally->counts.classes[class_id].untracked++;
}

/* Count a decision as kmt_detailed_slow_event() of the report does. */
static void count_slow_event(KmtTopCounts *counts,
			     const KmtMatchedBlock *matched,
			     const KmtMatchSlowEvent *slow)
{
	const KmtMatchObject *object = &slow->object;

	switch ((KmtMatchSlowOp)slow->op) {
	case KMT_MATCH_SLOW_ALLOC:
		counts->classes[object->class_id].allocs++;
		break;
	case KMT_MATCH_SLOW_FREE:
		count_free(counts, object->class_id, object->timestamp,
			   slow->now);
		break;
	case KMT_MATCH_SLOW_REPLACED:
		counts->classes[object->class_id].closed_minus_freed++;
		break;
	case KMT_MATCH_SLOW_DOUBLE:
		if (!slow->late_free)
			break;
		counts->classes[object->class_id].closed_minus_freed--;
		count_free(counts, object->class_id, object->timestamp,
			   matched->items[slow->index]->now);
		break;
	case KMT_MATCH_SLOW_UNMATCHED:
		if (slow->class == KMT_MATCH_UNMATCHED_BEFORE_TRACE)
			counts->frees_before++;
		else
			counts->unmatched_frees++;
		break;
	case KMT_MATCH_SLOW_DEFER:
	case KMT_MATCH_SLOW_DOUBLE_DEFER:
	case KMT_MATCH_SLOW_UNMATCHED_DEFER:
		break;
	}
}

static void consume(gpointer user, const KmtMatchedBlock *matched)
{
	KmtTopTally *tally = user;
	KmtTopCounts *counts = &tally->counts;
	guint i;

	counts->events += matched->n;
	for (i = 0; i < matched->n; i++) {
		const KmtMatchEvent *item = matched->items[i];

		if (item->op == KMT_MATCH_STEP_ALLOC)
			counts->classes[item->class_id].allocs++;
		else if (G_LIKELY(item->op == KMT_MATCH_STEP_FREE))
			count_free(counts, item->class_id, item->alloc_time,
				   item->now);
	}
	for (i = 0; i < matched->n_slow_events; i++)
		count_slow_event(counts, matched, matched->slow_events[i]);
}

/* ---- the tally ---- */

static gboolean next_batch(gpointer user, guint file, KmtInputBatch *batch)
{
	KmtTopTally *tally = user;

	return tally->next_batch(tally->user, file, batch);
}

KmtTopTally *kmt_top_tally_new(const KmtInputCapture *capture,
			       KmtTopNames *names,
			       const KmtTopTallyOptions *options)
{
	KmtTopTally *tally = g_new0(KmtTopTally, 1);
	const KmtMatchOnlineOptions online = {
		.clock_tolerance_ns = options->clock_tolerance_ns,
		.max_live = options->max_objects,
		.next_batch = next_batch,
		.class_of = class_of,
		.on_untracked = on_untracked,
		.consumer = consume,
		.user = tally,
		.keys = tally->keys = kmt_match_keys_new(
			kmt_input_capture_has_owners(capture) ? PARTS : 0,
			capture, kmt_top_names_tables(names)),
	};

	tally->next_batch = options->next_batch;
	tally->user = options->user;
	tally->has_owners = kmt_input_capture_has_owners(capture);
	tally->sites = kmt_match_intern_new(2);
	kmt_match_keys_set_task_names(tally->keys, kmt_top_names_task, names);
	kmt_top_tally_forget_tasks(tally);
	tally->online = kmt_match_online_new(capture, &online);
	return tally;
}

void kmt_top_tally_free(KmtTopTally *tally)
{
	if (!tally)
		return;
	kmt_match_online_free(tally->online);
	kmt_match_keys_free(tally->keys);
	kmt_match_intern_free(tally->sites);
	g_free(tally->counts.classes);
	g_free(tally->counts.lifetimes);
	g_free(tally);
}

void kmt_top_tally_advance(KmtTopTally *tally, gint64 until)
{
	kmt_match_online_advance(tally->online, until);
}

void kmt_top_tally_finish(KmtTopTally *tally)
{
	kmt_match_online_finish(tally->online);
}

KmtMatchOnline *kmt_top_tally_online(const KmtTopTally *tally)
{
	return tally->online;
}

const KmtMatchKeys *kmt_top_tally_keys(const KmtTopTally *tally)
{
	return tally->keys;
}
