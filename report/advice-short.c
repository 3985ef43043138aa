// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Small objects that the same task frees soon after it allocated them. They
 * could be on the stack, or one object could be reused.
 */
#include "config.h"

#include "report/advice-free-sites.h"
#include "report/advice-private.h"
#include "report/columns.h"

#include <string.h>

/* A finding has at least this share of short-lived objects, this number of
 * them, and this number for each second. */
#define MIN_SHARE   0.95
#define MIN_OBJECTS 1000
#define MIN_RATE    100.0
/* The objects are at least this part of all slab allocations, or their bytes of
 * all allocated bytes. */
#define MIN_PART 0.01
/* Largest objects, in bytes, that advice puts on the stack, or that a task or
 * CPU keeps for reuse. */
#define MAX_STACK_BYTES 256
#define MAX_REUSE_BYTES 4096

typedef struct {
	guint64 objects; /* freed soon, by the allocating task, in the time of
			  * the report */
	guint64 bytes;	 /* allocated bytes of these objects */
	KmtAdviceFreeSites freed_by;
} ShortSite;

typedef struct {
	const KmtAdviceSites *sites;
	KmtAdviceSiteData *data; /* ShortSite */
	guint64 limit_ns;	 /* objects that live less are short-lived */
} ShortCounts;

static gpointer new (const KmtAdviceContext *context)
{
	ShortCounts *state = g_new(ShortCounts, 1);

	state->sites = context->sites;
	state->data = kmt_advice_site_data_new(sizeof(ShortSite));
	state->limit_ns = context->churn_ns;
	return state;
}

static void free_state(gpointer data)
{
	ShortCounts *state = data;

	kmt_advice_site_data_free(state->data);
	g_free(state);
}

/* Return whether the task that allocated an object frees it soon. */
static gboolean is_short_lived(const ShortCounts *state,
			       const KmtReplayEvent *event)
{
	const KmtReplayObject *object = event->object;

	/* All idle tasks have pid 0. */
	return event->has_task && object->has_alloc_task && event->pid &&
	       event->pid == object->alloc_pid && !object->is_deferred &&
	       event->now >= object->alloc_time &&
	       (guint64)event->now - (guint64)object->alloc_time <
		       state->limit_ns;
}

static void on_event(gpointer data, G_GNUC_UNUSED const KmtReplay *replay,
		     const KmtReplayEvent *event)
{
	ShortCounts *state = data;
	guint32 number;
	ShortSite *site;

	if (event->op != KMT_REPLAY_FREE || !event->is_inside ||
	    !is_short_lived(state, event))
		return;
	number = kmt_advice_site_of(state->sites, event->object->class_id);
	if (number == KMT_ADVICE_NONE)
		return;
	site = kmt_advice_site_data_add(state->data, number);
	site->objects++;
	site->bytes += event->class->bytes_alloc;
	kmt_advice_free_sites_add(&site->freed_by, event->call_site);
}

/* Return whether both call sites are in the same function. */
static gboolean is_same_function(const KmtReport *report,
				 const KmtSymSite *alloc, guint64 free_site)
{
	const KmtSymSite site = {.address = free_site};
	KmtSymbol x, y;

	return kmt_symbolizer_symbol(report->symbolizer, alloc, &x) &&
	       kmt_symbolizer_symbol(report->symbolizer, &site, &y) &&
	       strcmp(x.name, y.name) == 0 &&
	       g_strcmp0(x.module, y.module) == 0;
}

/* Return the number of short-lived objects that the allocating function itself
 * freed. */
static guint64 same_function_frees(const KmtReport *report,
				   const KmtAdviceSite *site,
				   const ShortSite *found)
{
	guint64 n = 0;
	guint i;

	for (i = 0; i < KMT_ADVICE_FREE_SITES; i++) {
		const KmtAdviceFreeSite *entry = &found->freed_by.entries[i];

		if (entry->frees &&
		    is_same_function(report, &site->site, entry->address))
			n += entry->frees;
	}
	return n;
}

static guint64 largest_request(const KmtAdviceContext *context,
			       const KmtAdviceSite *site)
{
	const KmtAdviceSize *size = kmt_advice_first_size(context->sites, site);
	guint64 largest = 0;

	for (; size; size = kmt_advice_next_size(context->sites, size))
		largest = MAX(largest, size->bytes_req);
	return largest;
}

static char *computation_of(const KmtAdviceContext *context,
			    const KmtAdviceSite *owner, const ShortSite *found)
{
	const KmtReport *report = context->report;
	const KmtAdviceFreeSite *first =
		kmt_advice_free_sites_first(&found->freed_by);
	const KmtSymSite site = {.address = first->address};
	g_autofree char *n = kmt_advice_figure(
		report, kmt_advice_scaled(context, found->objects));
	g_autofree char *frees = kmt_advice_figure(
		report, kmt_advice_scaled(context, owner->frees_inside));
	g_autofree char *bytes = kmt_advice_figure(
		report, kmt_advice_scaled(context, found->bytes));
	g_autofree char *name = kmt_advice_site_name(report, &site);
	g_autofree char *limit = kmt_format_duration(context->churn_ns);
	g_autofree char *time = kmt_format_duration(context->list->duration_ns);

	return g_strdup_printf(
		"%s of %s freed objects (%.1f %%) lived less "
		"than %s and were freed by their task, %.0f %% "
		"of them by %s: %s bytes in %s",
		n, frees,
		100 * (double)found->objects / (double)owner->frees_inside,
		limit, 100 * (double)first->frees / (double)found->objects,
		name, bytes, time);
}

static void add_stack_change(KmtAdvice *advice, const KmtReport *report,
			     guint64 bytes, char *computation)
{
	g_autofree char *size = kmt_advice_exact(report, bytes);

	kmt_advice_add_change(
		advice, "stack",
		g_strdup_printf("Put the object on the stack: the function "
				"that allocates it also frees it, and it has "
				"at most %s bytes",
				size),
		0, 0, computation,
		g_strdup_printf("%s bytes of stack while the function runs. "
				"The object must not be used for DMA or by "
				"another task.",
				size));
}

static void add_reuse_change(KmtAdvice *advice, const KmtReport *report,
			     const KmtAdviceSite *site, guint64 bytes,
			     char *computation)
{
	g_autofree char *size = kmt_advice_exact(report, bytes);
	g_autofree char *most = kmt_advice_figure(report, site->max_live);
	const char *list = site->max_live > 1
				   ? "; a task that uses several at once needs "
				     "a list of them"
				   : "";

	kmt_advice_add_change(
		advice, "reuse",
		g_strdup("Keep an object for each task or CPU, and reuse it"),
		0, 0, computation,
		g_strdup_printf("Up to %s bytes stay allocated for each object "
				"that is kept. The largest number of live "
				"objects was %s%s. An object for each CPU must "
				"not be used with preemption enabled, nor by "
				"an interrupt at the same time; its old "
				"content must not reach its next user.",
				size, most, list));
}

static void add_finding(KmtAdviceContext *context, const KmtAdviceSite *site,
			const ShortSite *found, gboolean on_stack,
			guint64 largest)
{
	const KmtReport *report = context->report;
	const KmtAdviceEvidence evidence = {.objects = found->objects,
					    .is_rate = TRUE};
	char *computation = computation_of(context, site, found);
	KmtAdvice *advice =
		kmt_advice_add(context, KMT_ADVICE_SHORT, site->kind);

	advice->sites[0] = site->site;
	advice->n_sites = 1;
	advice->rate = (double)kmt_advice_scaled(context, found->bytes) /
		       context->seconds;
	advice->rate_unit = "bytes allocated per second";
	if (on_stack)
		add_stack_change(advice, report, largest, computation);
	else
		add_reuse_change(advice, report, site, largest, computation);
	kmt_advice_add_number(advice, "frees", site->frees_inside);
	kmt_advice_add_number(advice, "short_lived", found->objects);
	kmt_advice_add_number(advice, "bytes", found->bytes);
	kmt_advice_add_number(advice, "largest_request", largest);
	kmt_advice_set_certainty(context, advice, &evidence);
}

/* Return whether the objects are a large part of all slab allocations. */
static gboolean is_large_part(const KmtAdviceContext *context,
			      const ShortSite *found)
{
	const KmtTotals *slab =
		&context->report->aggregate->kinds[KMT_KIND_SLAB];
	double objects = (double)kmt_advice_scaled(context, found->objects);
	double bytes = (double)kmt_advice_scaled(context, found->bytes);

	return objects >= (double)slab->allocs * MIN_PART ||
	       bytes >= (double)slab->bytes_alloc * MIN_PART;
}

static void examine(KmtAdviceContext *context, const KmtAdviceSite *site,
		    const ShortSite *found)
{
	guint64 largest = largest_request(context, site);
	const KmtAdviceFreeSite *first =
		kmt_advice_free_sites_first(&found->freed_by);
	double n = (double)found->objects;
	gboolean in_function;

	if (!kmt_kind_is_slab(site->kind) || found->objects < MIN_OBJECTS ||
	    n < (double)site->frees_inside * MIN_SHARE ||
	    n < (double)site->allocs_inside * MIN_SHARE ||
	    n < context->seconds * MIN_RATE || !is_large_part(context, found) ||
	    largest > MAX_REUSE_BYTES ||
	    kmt_advice_is_wrapper(context, &site->site))
		return;
	in_function = (double)same_function_frees(context->report, site,
						  found) >= n * MIN_SHARE;
	/* Without one freeing site, the objects are passed on, and their users
	 * may differ. */
	if (!in_function && (double)first->frees < n * MIN_SHARE)
		return;
	add_finding(context, site, found,
		    in_function && largest <= MAX_STACK_BYTES &&
			    !kmt_advice_is_for_dma(context->report, site),
		    largest);
}

static void find(gpointer data, KmtAdviceContext *context)
{
	const ShortCounts *state = data;
	guint i;

	for (i = 0; i < state->data->sites->len; i++)
		examine(context,
			kmt_advice_site(
				context->sites,
				g_array_index(state->data->sites, guint32, i)),
			&g_array_index(state->data->entries, ShortSite, i));
}

const KmtAdviceDetector kmt_advice_short = {.what = "short-lived objects",
					    .needs = KMT_ADVICE_NEEDS_TASKS,
					    .new = new,
					    .free = free_state,
					    .on_event = on_event,
					    .find = find};
