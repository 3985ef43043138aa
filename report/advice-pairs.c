// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/advice-pairs.h"
#include "lib/base/hash.h"

/* Objects that are allocated further apart are no pair. */
#define MAX_DISTANCE_NS 1000000

static guint64 hash_pair(const KmtAdvicePairs *pairs, const KmtAdvicePair *p)
{
	return kmt_hash(pairs->seed, (guint64)p->first << 32 | p->second);
}

static const KmtAdvicePair *pair_at(const KmtAdvicePairs *pairs, guint32 number)
{
	return &g_array_index(pairs->pairs, KmtAdvicePair, number);
}

static guint64 pair_hash(gconstpointer user, guint32 number)
{
	return hash_pair(user, pair_at(user, number));
}

static gboolean pair_equal(gconstpointer user, guint32 number,
			   gconstpointer key)
{
	const KmtAdvicePair *x = pair_at(user, number), *y = key;

	return x->first == y->first && x->second == y->second;
}

static guint64 order_hash(gconstpointer user, guint32 number)
{
	const KmtAdvicePairs *pairs = user;

	return kmt_hash(
		pairs->seed,
		g_array_index(pairs->orders, KmtAdviceTaskOrder, number).task);
}

static gboolean order_equal(gconstpointer user, guint32 number,
			    gconstpointer key)
{
	const KmtAdvicePairs *pairs = user;

	return g_array_index(pairs->orders, KmtAdviceTaskOrder, number).task ==
	       ((const KmtAdviceTaskOrder *)key)->task;
}

KmtAdvicePairs *kmt_advice_pairs_new(const KmtAdviceSites *sites)
{
	KmtAdvicePairs *pairs = g_new0(KmtAdvicePairs, 1);

	pairs->sites = sites;
	pairs->seed = kmt_hash_seed();
	pairs->pairs = g_array_new(FALSE, FALSE, sizeof(KmtAdvicePair));
	pairs->links = g_array_new(FALSE, TRUE, sizeof(KmtAdviceLinks));
	pairs->orders = g_array_new(FALSE, FALSE, sizeof(KmtAdviceTaskOrder));
	kmt_index_init(&pairs->pair_index, pair_hash, pair_equal);
	kmt_index_init(&pairs->order_index, order_hash, order_equal);
	return pairs;
}

void kmt_advice_pairs_free(KmtAdvicePairs *pairs)
{
	if (!pairs)
		return;
	g_array_unref(pairs->pairs);
	g_array_unref(pairs->links);
	g_array_unref(pairs->orders);
	kmt_index_clear(&pairs->pair_index);
	kmt_index_clear(&pairs->order_index);
	g_free(pairs);
}

static guint32 find_pair(KmtAdvicePairs *pairs, guint32 first, guint32 second)
{
	const KmtAdvicePair key = {.first = first, .second = second};
	guint64 hash = hash_pair(pairs, &key);
	guint32 n = kmt_index_find(&pairs->pair_index, pairs, hash, &key);

	if (n != KMT_INDEX_NONE)
		return n;
	g_array_append_val(pairs->pairs, key);
	kmt_index_add(&pairs->pair_index, pairs, hash);
	return pairs->pairs->len - 1;
}

/* Return the order of the task of an event, or of the interrupts or the idle
 * task of its CPU. */
static KmtAdviceTaskOrder *order_of(KmtAdvicePairs *pairs,
				    const KmtReplayEvent *event)
{
	const KmtAdviceTaskOrder key = {
		.task = event->has_task && event->pid
				? event->pid
				: G_MAXUINT64 - 2 * (guint64)event->file -
					  event->has_task};
	guint64 hash = kmt_hash(pairs->seed, key.task);
	guint32 n = kmt_index_find(&pairs->order_index, pairs, hash, &key);

	if (n == KMT_INDEX_NONE) {
		n = pairs->orders->len;
		g_array_append_val(pairs->orders, key);
		kmt_index_add(&pairs->order_index, pairs, hash);
	}
	return &g_array_index(pairs->orders, KmtAdviceTaskOrder, n);
}

static KmtAdviceLinks *links_of(const KmtAdvicePairs *pairs, guint32 slot)
{
	return &g_array_index(pairs->links, KmtAdviceLinks, slot);
}

/* Change the number of live pairs. */
static void add_live(KmtAdvicePairs *pairs, const KmtReplay *replay,
		     guint32 number, guint64 change)
{
	KmtAdvicePair *pair =
		&g_array_index(pairs->pairs, KmtAdvicePair, number);

	kmt_replay_gauge_add(&pair->live, &replay->kinds[KMT_KIND_SLAB],
			     change);
}

/* Link a new object to the object that the task allocated before it. */
static void link_objects(KmtAdvicePairs *pairs, const KmtReplay *replay,
			 const KmtAdviceTaskOrder *order, guint32 slot,
			 guint32 site)
{
	KmtAdviceLinks *before = links_of(pairs, order->last_slot);
	KmtAdviceLinks *links = links_of(pairs, slot);
	guint32 number = find_pair(pairs, order->last_site, site);

	before->next = links->id;
	before->next_pair = links->previous_pair = number;
	before->next_slot = slot;
	links->previous = before->id;
	links->previous_slot = order->last_slot;
	g_array_index(pairs->pairs, KmtAdvicePair, number).pairs++;
	add_live(pairs, replay, number, 1);
}

static void on_alloc(KmtAdvicePairs *pairs, const KmtReplay *replay,
		     const KmtReplayEvent *event)
{
	KmtAdviceTaskOrder *order = order_of(pairs, event);
	guint32 site =
		kmt_advice_site_of(pairs->sites, event->object->class_id);
	KmtAdviceLinks *links;

	if (event->slot >= pairs->links->len)
		g_array_set_size(pairs->links, event->slot + 1);
	links = links_of(pairs, event->slot);
	*links = (KmtAdviceLinks){.id = ++pairs->last_id};
	/* The address of the object before this one may have been reused. */
	if (site != KMT_ADVICE_NONE && order->last_alloc &&
	    order->last_site != KMT_ADVICE_NONE && order->last_site != site &&
	    links_of(pairs, order->last_slot)->id == order->last_alloc &&
	    (guint64)event->now - (guint64)order->last_time <= MAX_DISTANCE_NS)
		link_objects(pairs, replay, order, event->slot, site);
	order->last_alloc = links->id;
	order->last_slot = event->slot;
	order->last_site = site;
	order->last_time = event->now;
}

/* Account for the end of one of two linked objects. */
static void break_link(KmtAdvicePairs *pairs, const KmtReplay *replay,
		       guint32 number)
{
	g_array_index(pairs->pairs, KmtAdvicePair, number).broken++;
	add_live(pairs, replay, number, (guint64)-1);
}

static gboolean is_live(const KmtAdvicePairs *pairs, guint32 slot, guint64 id)
{
	return id && links_of(pairs, slot)->id == id;
}

/* The user of an object releases it: by a FREE, or by a DEFER. */
static void on_release(KmtAdvicePairs *pairs, const KmtReplay *replay,
		       const KmtReplayEvent *event)
{
	KmtAdviceTaskOrder *order = order_of(pairs, event);
	KmtAdviceLinks *links = links_of(pairs, event->slot);
	guint64 last = order->last_free;

	if (last && links->previous == last)
		g_array_index(pairs->pairs, KmtAdvicePair, links->previous_pair)
			.freed_together++;
	else if (last && links->next == last)
		g_array_index(pairs->pairs, KmtAdvicePair, links->next_pair)
			.freed_together++;
	if (is_live(pairs, links->previous_slot, links->previous))
		break_link(pairs, replay, links->previous_pair);
	if (is_live(pairs, links->next_slot, links->next))
		break_link(pairs, replay, links->next_pair);
	order->last_free = links->id;
	/* Other objects no longer find this one by its id. */
	links->id = 0;
}

void kmt_advice_pairs_event(KmtAdvicePairs *pairs, const KmtReplay *replay,
			    const KmtReplayEvent *event)
{
	if (!kmt_kind_is_slab(event->class->kind))
		return;
	if (event->op == KMT_REPLAY_ALLOC)
		on_alloc(pairs, replay, event);
	else if (links_of(pairs, event->slot)->id)
		on_release(pairs, replay, event);
}
