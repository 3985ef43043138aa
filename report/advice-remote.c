// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Objects that are nearly always freed on another CPU than the one that
 * allocated them. The object is in the cache of the wrong CPU, and with SLUB
 * before Linux 7.0, such a free takes the slow path. SLAB and sheaves put the
 * object into an array of the freeing CPU, which flushes the array more often,
 * while the allocating CPU has to refill its own.
 */
#include "config.h"

#include "report/advice-free-sites.h"
#include "report/advice-private.h"

/* A finding has at least this share of frees on another CPU, this number of
 * them, and this number for each second. */
#define MIN_SHARE 0.9
#define MIN_FREES 1000
#define MIN_RATE  100.0
/* The frees are at least this part of all slab allocations. */
#define MIN_PART 0.01

typedef struct {
	guint64 frees; /* on another CPU, in the time of the report */
	KmtAdviceFreeSites freed_by;
} RemoteSite;

typedef struct {
	const KmtAdviceSites *sites;
	KmtAdviceSiteData *data; /* RemoteSite */
} RemoteCounts;

static gpointer new (const KmtAdviceContext *context)
{
	RemoteCounts *state = g_new(RemoteCounts, 1);

	state->sites = context->sites;
	state->data = kmt_advice_site_data_new(sizeof(RemoteSite));
	return state;
}

static void free_state(gpointer data)
{
	RemoteCounts *state = data;

	kmt_advice_site_data_free(state->data);
	g_free(state);
}

static void on_event(gpointer data, G_GNUC_UNUSED const KmtReplay *replay,
		     const KmtReplayEvent *event)
{
	RemoteCounts *state = data;
	const KmtReplayObject *object = event->object;
	guint32 number;
	RemoteSite *site;

	/* The code that hands an object to kfree_rcu() frees it; the end of the
	 * grace period may run on any CPU. */
	if (event->op != KMT_REPLAY_FREE || !event->is_inside ||
	    object->alloc_file ==
		    (object->is_deferred ? object->defer_file : event->file))
		return;
	number = kmt_advice_site_of(state->sites, object->class_id);
	if (number == KMT_ADVICE_NONE)
		return;
	site = kmt_advice_site_data_add(state->data, number);
	site->frees++;
	kmt_advice_free_sites_add(&site->freed_by, object->is_deferred
							   ? object->defer_site
							   : event->call_site);
}

static char *computation_of(const KmtReport *report, const KmtAdviceSite *owner,
			    const RemoteSite *remote)
{
	const KmtAdviceFreeSite *first =
		kmt_advice_free_sites_first(&remote->freed_by);
	const KmtSymSite site = {.address = first->address};
	g_autofree char *n = kmt_advice_figure(report, remote->frees);
	g_autofree char *frees = kmt_advice_figure(report, owner->frees_inside);
	g_autofree char *name = kmt_advice_site_name(report, &site);

	return g_strdup_printf(
		"%s of %s frees (%.1f %%) on another CPU, %.0f %% of these by "
		"%s",
		n, frees,
		100 * (double)remote->frees / (double)owner->frees_inside,
		100 * (double)first->frees / (double)remote->frees, name);
}

static void add_finding(KmtAdviceContext *context, const KmtAdviceSite *site,
			const RemoteSite *remote)
{
	const KmtAdviceEvidence evidence = {
		.objects = remote->frees,
		.is_rate = TRUE,
		.doubt = kmt_advice_wrapper_doubt(context, &site->site)};
	KmtAdvice *advice =
		kmt_advice_add(context, KMT_ADVICE_REMOTE, site->kind);

	advice->sites[0] = site->site;
	advice->n_sites = 1;
	advice->rate = (double)kmt_advice_scaled(context, remote->frees) /
		       context->seconds;
	advice->rate_unit = "remote frees per second";
	kmt_advice_add_change(
		advice, "batch",
		g_strdup("Allocate the objects on the CPU that frees them, "
			 "free them in batches (kfree_bulk(), "
			 "kmem_cache_free_bulk()), or return them to a pool "
			 "of the allocating CPU"),
		0, 0, computation_of(context->report, site, remote),
		g_strdup("No memory is saved. A batch or a pool holds objects "
			 "back; a pool needs code for its size and for CPUs "
			 "that go offline."));
	kmt_advice_add_number(advice, "frees", site->frees_inside);
	kmt_advice_add_number(advice, "remote_frees", remote->frees);
	kmt_advice_set_certainty(context, advice, &evidence);
}

static gboolean is_finding(const KmtAdviceContext *context,
			   const KmtAdviceSite *site, const RemoteSite *remote)
{
	double n = (double)remote->frees;
	double allocs =
		(double)context->report->aggregate->kinds[KMT_KIND_SLAB].allocs;

	return kmt_kind_is_slab(site->kind) && remote->frees >= MIN_FREES &&
	       n >= (double)site->frees_inside * MIN_SHARE &&
	       n >= context->seconds * MIN_RATE &&
	       (double)kmt_advice_scaled(context, remote->frees) >=
		       allocs * MIN_PART;
}

static void find(gpointer data, KmtAdviceContext *context)
{
	const RemoteCounts *state = data;
	guint i;

	for (i = 0; i < state->data->sites->len; i++) {
		const RemoteSite *remote =
			&g_array_index(state->data->entries, RemoteSite, i);
		const KmtAdviceSite *site = kmt_advice_site(
			context->sites,
			g_array_index(state->data->sites, guint32, i));

		if (is_finding(context, site, remote))
			add_finding(context, site, remote);
	}
}

const KmtAdviceDetector kmt_advice_remote = {.what = "frees on other CPUs",
					     .needs = KMT_ADVICE_NEEDS_CPUS,
					     .new = new,
					     .free = free_state,
					     .on_event = on_event,
					     .find = find};
