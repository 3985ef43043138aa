// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Objects of two call sites that a task always allocates one directly after the
 * other, and that are freed one directly after the other. One allocation could
 * hold both.
 */
#include "config.h"

#include "report/advice-layout.h"
#include "report/advice-pairs.h"
#include "report/advice-private.h"

/* A finding has this share of the allocations of both sites in pairs, and this
 * share of the pairs freed together. */
#define MIN_SHARE 0.95
/* Number of pairs of which an object was freed. */
#define MIN_BROKEN 100
/* Number of pairs, and pairs for each second, from which on the work, without
 * memory, is worth the change. */
#define MIN_PAIRS 1000
#define MIN_RATE  1000.0
/* Largest object, in bytes. Only damaged records have larger ones. */
#define MAX_BYTES (G_GUINT64_CONSTANT(1) << 30)

/* The state is a KmtAdvicePairs. */
static gpointer new (const KmtAdviceContext *context)
{
	return kmt_advice_pairs_new(context->sites);
}

static void free_state(gpointer state)
{
	kmt_advice_pairs_free(state);
}

static void on_event(gpointer state, const KmtReplay *replay,
		     const KmtReplayEvent *event)
{
	kmt_advice_pairs_event(state, replay, event);
}

/* A candidate with the sizes of its objects. */
typedef struct {
	const KmtAdvicePair *pair;
	const KmtAdviceSite *sites[2];
	const KmtAdviceSize *sizes[2];
	guint64 merged; /* bytes of the allocation that holds both objects */
} PairCandidate;

static gboolean has_share(guint64 part, guint64 all)
{
	return (double)part >= (double)all * MIN_SHARE;
}

/* Return whether nearly all objects of both sites are in pairs of these two
 * sites. A site has at most one such pair before it, and one after it. */
static gboolean is_adjacent(const KmtAdviceContext *context,
			    const KmtAdvicePair *pair)
{
	return has_share(
		       pair->pairs,
		       kmt_advice_site(context->sites, pair->first)->allocs) &&
	       has_share(pair->pairs,
			 kmt_advice_site(context->sites, pair->second)->allocs);
}

/* Return for each site the adjacent pair that it begins, or NULL. The caller
 * frees the array. */
static const KmtAdvicePair **successors(const KmtAdviceContext *context,
					const KmtAdvicePairs *pairs)
{
	const KmtAdvicePair **next =
		g_new0(const KmtAdvicePair *, context->sites->sites->len + 1);
	guint i;

	for (i = 0; i < pairs->pairs->len; i++) {
		const KmtAdvicePair *pair =
			&g_array_index(pairs->pairs, KmtAdvicePair, i);

		if (is_adjacent(context, pair))
			next[pair->first] = pair;
	}
	return next;
}

/*
 * Return whether a pair only joins two rounds of a loop. A loop that allocates
 * objects of the sites A, B and C has the pairs AB, BC and CA. The last object
 * of the loop has no successor, so CA is the rarest of them.
 */
static gboolean joins_rounds(const KmtAdvicePair *const *next,
			     const KmtAdvicePair *pair)
{
	const KmtAdvicePair *other = next[pair->second];

	while (other && other != pair) {
		/* Pairs are numbered in the order of their first objects. */
		if (other->pairs < pair->pairs ||
		    (other->pairs == pair->pairs && other > pair))
			return FALSE;
		other = next[other->second];
	}
	return other == pair;
}

/* Return whether the objects of an adjacent pair are freed together. */
static gboolean is_freed_together(const KmtAdvicePair *pair)
{
	return pair->broken >= MIN_BROKEN &&
	       has_share(pair->freed_together, pair->broken);
}

static guint64 round_up(guint64 bytes, guint64 align)
{
	return (bytes + align - 1) & ~(align - 1);
}

/*
 * Return the alignment that an object may need. The alignment of a cache is
 * unknown, but it divides the size with padding. A cache that pads its objects
 * therefore has at most the largest power of two in this size, and none is
 * assumed to need more than a cache line.
 */
static guint64 align_of(const KmtAdviceContext *context, const PairCandidate *c,
			guint i)
{
	guint64 size = c->sizes[i]->bytes_alloc;

	if (c->sites[i]->kind == KMT_KIND_KMALLOC ||
	    size <= round_up(c->sizes[i]->bytes_req, 8))
		return 8;
	return CLAMP(size & -size, 8, context->layout->kernel.cache_line);
}

/* Return the bytes of an allocation that holds both objects: of kmalloc() if
 * both are from kmalloc(), else of a cache. */
static guint64 merged_bytes(const KmtAdviceContext *context,
			    const PairCandidate *c)
{
	guint64 align = align_of(context, c, 1);
	guint64 bytes = round_up(c->sizes[0]->bytes_req, align) +
			c->sizes[1]->bytes_req;

	return c->sites[0]->kind == KMT_KIND_KMALLOC &&
			       c->sites[1]->kind == KMT_KIND_KMALLOC
		       ? kmt_advice_kmalloc_bytes(context->layout, bytes)
		       : round_up(bytes, MAX(align, align_of(context, c, 0)));
}

static gint64 saving_of(const PairCandidate *c, guint64 pairs)
{
	guint64 separate = c->sizes[0]->bytes_alloc + c->sizes[1]->bytes_alloc;

	return (gint64)pairs * ((gint64)separate - (gint64)c->merged);
}

static char *computation_of(const KmtAdviceContext *context,
			    const PairCandidate *c)
{
	const KmtReport *report = context->report;
	const KmtAdvicePair *pair = c->pair;
	g_autofree char *peak = kmt_advice_figure(report, pair->live.at_peak);
	g_autofree char *live = kmt_advice_figure(report, pair->live.now);
	g_autofree char *first =
		kmt_advice_exact(report, c->sizes[0]->bytes_alloc);
	g_autofree char *second =
		kmt_advice_exact(report, c->sizes[1]->bytes_alloc);
	g_autofree char *merged = kmt_advice_exact(report, c->merged);

	return g_strdup_printf(
		"%s pairs at the peak of slab, %s at the end, each %s + %s - "
		"%s bytes; %.1f %% and %.1f %% of the allocations are in "
		"pairs, %.1f %% of the pairs were freed together",
		peak, live, first, second, merged,
		100 * (double)pair->pairs / (double)c->sites[0]->allocs,
		100 * (double)pair->pairs / (double)c->sites[1]->allocs,
		100 * (double)pair->freed_together / (double)pair->broken);
}

/* Return the cost, with the gfp flags if they differ. The caller frees the
 * string. */
static char *cost_of(const KmtReport *report, const PairCandidate *c)
{
	static const char *const text =
		"Both objects live as long as the longer one, and the larger "
		"allocation may need a slab of higher order. Objects of a "
		"cache with a constructor or SLAB_TYPESAFE_BY_RCU must keep "
		"it. An object for DMA must not share a cache line with other "
		"data.";
	g_autofree char *first = kmt_symbolizer_gfp(report->symbolizer,
						    c->sites[0]->common_flags);
	g_autofree char *second = kmt_symbolizer_gfp(report->symbolizer,
						     c->sites[1]->common_flags);

	if (c->sites[0]->common_flags == c->sites[1]->common_flags)
		return g_strdup(text);
	return g_strdup_printf("%s Their gfp flags differ: %s and %s.", text,
			       first, second);
}

static void add_finding(KmtAdviceContext *context, const PairCandidate *c)
{
	const KmtAdvicePair *pair = c->pair;
	const KmtAdviceEvidence evidence = {.objects = pair->broken};
	gboolean same_kind = c->sites[0]->kind == c->sites[1]->kind;
	KmtAdvice *advice =
		kmt_advice_add(context, KMT_ADVICE_TOGETHER,
			       same_kind ? c->sites[0]->kind : KMT_KIND_SLAB);

	advice->sites[0] = c->sites[0]->site;
	advice->sites[1] = c->sites[1]->site;
	advice->n_sites = 2;
	advice->rate = (double)pair->pairs / context->seconds;
	advice->rate_unit = "allocations and frees saved per second";
	kmt_advice_add_change(
		advice, "merge",
		g_strdup("Put both objects into one structure, "
			 "which is allocated and freed once"),
		saving_of(c, pair->live.now), saving_of(c, pair->live.at_peak),
		computation_of(context, c), cost_of(context->report, c));
	kmt_advice_add_number(advice, "pairs", pair->pairs);
	kmt_advice_add_number(advice, "pairs_freed", pair->broken);
	kmt_advice_add_number(advice, "pairs_freed_together",
			      pair->freed_together);
	kmt_advice_add_number(advice, "pairs_live", pair->live.now);
	kmt_advice_add_number(advice, "pairs_at_peak", pair->live.at_peak);
	kmt_advice_add_number(advice, "bytes_first", c->sizes[0]->bytes_alloc);
	kmt_advice_add_number(advice, "bytes_second", c->sizes[1]->bytes_alloc);
	kmt_advice_add_number(advice, "bytes_merged", c->merged);
	kmt_advice_set_certainty(context, advice, &evidence);
}

static void examine(KmtAdviceContext *context, KmtAdvicePair *pair)
{
	PairCandidate c = {.pair = pair};
	gint64 saving;
	guint i;

	c.sites[0] = kmt_advice_site(context->sites, pair->first);
	c.sites[1] = kmt_advice_site(context->sites, pair->second);
	for (i = 0; i < 2; i++) {
		c.sizes[i] =
			kmt_advice_dominating_size(context->sites, c.sites[i]);
		if (!c.sizes[i] || c.sizes[i]->bytes_alloc > MAX_BYTES ||
		    c.sizes[i]->bytes_req > MAX_BYTES ||
		    kmt_advice_is_wrapper(context, &c.sites[i]->site))
			return;
	}
	kmt_replay_at_peak(&pair->live, &context->replay->kinds[KMT_KIND_SLAB]);
	c.merged = merged_bytes(context, &c);
	saving = MAX(saving_of(&c, pair->live.now),
		     saving_of(&c, pair->live.at_peak));
	if (saving >= KMT_ADVICE_MIN_SAVING ||
	    (saving_of(&c, 1) >= 0 && pair->pairs >= MIN_PAIRS &&
	     (double)pair->pairs >= context->seconds * MIN_RATE))
		add_finding(context, &c);
}

static void find(gpointer state, KmtAdviceContext *context)
{
	KmtAdvicePairs *pairs = state;
	g_autofree const KmtAdvicePair **next = successors(context, pairs);
	guint i;

	for (i = 0; i < pairs->pairs->len; i++) {
		KmtAdvicePair *pair =
			&g_array_index(pairs->pairs, KmtAdvicePair, i);

		if (next[pair->first] == pair && is_freed_together(pair) &&
		    !joins_rounds(next, pair))
			examine(context, pair);
	}
}

const KmtAdviceDetector kmt_advice_together = {
	.what = "objects that are allocated together",
	.needs = KMT_ADVICE_NEEDS_TASKS | KMT_ADVICE_NEEDS_ALL |
		 KMT_ADVICE_NEEDS_LAYOUT,
	.new = new,
	.free = free_state,
	.on_event = on_event,
	.find = find};
