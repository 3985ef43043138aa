// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/slab/simulator.h"
#include "report/size-demand.h"
#include "report/size-replay.h"

/* A set during the replay. */
typedef struct {
	const KmtSizeSet *set;
	guint8 *class_of;	     /* index in set->sizes, by request */
	KmtSlabSimulator *simulator; /* the cache of a size has the index of
				      * the size */
	GArray *handles;	     /* KmtSlabHandle by slot */
	KmtReplayGauge waste;
	KmtReplayGauge pages;
	guint64 waste_largest;
	guint64 pages_largest;
	double area; /* sum of waste times ns */
} SetState;

typedef struct {
	SetState *sets;
	guint n;
	guint32 limit;
	gint64 last;	    /* time of the last change; valid if is_inside */
	gboolean is_inside; /* the time of the report has begun */
} SizeReplay;

/* Create the simulator of a set with a cache for each size. */
static void add_caches(SetState *state, const KmtSlabKernel *kernel)
{
	KmtSlabGeometry geometry;
	guint i;

	state->simulator = kmt_slab_simulator_new(kernel);
	state->handles = g_array_new(FALSE, TRUE, sizeof(KmtSlabHandle));
	for (i = 0; i < state->set->n; i++) {
		/* A slab can have any size up to that of kmalloc(). */
		if (!kmt_slab_geometry_compute_kmalloc(
			    kernel, state->set->sizes[i], &geometry))
			g_error("no slab holds %u bytes", state->set->sizes[i]);
		kmt_slab_simulator_add(state->simulator, &geometry);
	}
}

static void init_set(SetState *state, const KmtSizeSet *set,
		     const KmtSlabKernel *kernel)
{
	guint32 limit = set->sizes[set->n - 1], request;

	state->set = set;
	state->class_of = g_new(guint8, (gsize)limit + 1);
	for (request = 0; request <= limit; request++)
		state->class_of[request] =
			(guint8)kmt_size_set_index(set, request);
	add_caches(state, kernel);
}

static void clear_set(SetState *state)
{
	g_free(state->class_of);
	kmt_slab_simulator_free(state->simulator);
	g_array_free(state->handles, TRUE);
}

/* Allocate or free the object of an event in the simulator of a set. */
static void simulate(SetState *state, const KmtReplayEvent *event, guint class,
		     const KmtReplayKind *kind)
{
	KmtSlabHandle *handle;

	if (event->slot >= state->handles->len)
		g_array_set_size(state->handles, event->slot + 1);
	handle = &g_array_index(state->handles, KmtSlabHandle, event->slot);
	kmt_slab_simulator_advance(state->simulator, event->now);
	kmt_replay_at_peak(&state->pages, kind);
	if (kmt_size_demand_is_end(event))
		kmt_slab_simulator_release(state->simulator, class, *handle,
					   event->cpu);
	else
		*handle = kmt_slab_simulator_alloc(state->simulator, class,
						   event->cpu);
	state->pages.now = kmt_slab_simulator_pages(state->simulator);
}

/* Add the time up to now to the sums of all sets. */
static void pass_time(SizeReplay *sizes, gint64 now)
{
	double ns;
	guint i;

	if (!sizes->is_inside || now <= sizes->last)
		return;
	/* Damaged records can be further apart than G_MAXINT64. */
	ns = (double)((guint64)now - (guint64)sizes->last);
	for (i = 0; i < sizes->n; i++)
		sizes->sets[i].area += (double)sizes->sets[i].waste.now * ns;
	sizes->last = now;
}

static void note_largest(SetState *state)
{
	state->waste_largest = MAX(state->waste_largest, state->waste.now);
	state->pages_largest = MAX(state->pages_largest, state->pages.now);
}

static void on_event(gpointer user, const KmtReplay *replay,
		     const KmtReplayEvent *event)
{
	const KmtReplayKind *kind = &replay->kinds[KMT_KIND_KMALLOC];
	gboolean is_end = kmt_size_demand_is_end(event);
	guint64 request = event->class->bytes_req, waste;
	SizeReplay *sizes = user;
	guint i;

	if ((event->op != KMT_REPLAY_ALLOC && !is_end) ||
	    !kmt_size_demand_is_classed(event->class, sizes->limit))
		return;
	pass_time(sizes, event->now);
	for (i = 0; i < sizes->n; i++) {
		SetState *state = &sizes->sets[i];
		guint class = state->class_of[request];

		waste = state->set->sizes[class] - request;
		kmt_replay_gauge_add(&state->waste, kind,
				     is_end ? -waste : waste);
		simulate(state, event, class, kind);
		if (sizes->is_inside)
			note_largest(state);
	}
}

static void on_begin(gpointer user, const KmtReplay *replay, gint64 now)
{
	SizeReplay *sizes = user;
	guint i;

	(void)replay;
	sizes->is_inside = TRUE;
	sizes->last = now;
	for (i = 0; i < sizes->n; i++)
		note_largest(&sizes->sets[i]);
}

static void on_end(gpointer user, const KmtReplay *replay, gint64 now)
{
	const KmtReplayKind *kind = &replay->kinds[KMT_KIND_KMALLOC];
	SizeReplay *sizes = user;
	guint i;

	pass_time(sizes, now);
	for (i = 0; i < sizes->n; i++) {
		kmt_replay_at_peak(&sizes->sets[i].waste, kind);
		kmt_replay_at_peak(&sizes->sets[i].pages, kind);
	}
}

static KmtSizeResult result_of(const SetState *state, guint64 page_size,
			       double duration)
{
	return (KmtSizeResult){
		.waste_at_peak = state->waste.at_peak,
		.waste_at_end = state->waste.now,
		.waste_largest = state->waste_largest,
		.waste_average = duration > 0 ? state->area / duration
					      : (double)state->waste.now,
		.slabs_at_peak = state->pages.at_peak * page_size,
		.slabs_at_end = state->pages.now * page_size,
		.slabs_largest = state->pages_largest * page_size,
	};
}

GArray *kmt_size_replay_run(const KmtReplayOptions *options,
			    const KmtSlabKernel *kernel, const GArray *sets)
{
	g_autofree SetState *states = g_new0(SetState, sets->len);
	SizeReplay sizes = {.sets = states, .n = sets->len};
	KmtReplayConsumer consumer = {.on_event = on_event,
				      .on_begin = on_begin,
				      .on_end = on_end,
				      .user = &sizes};
	GArray *results = g_array_new(FALSE, FALSE, sizeof(KmtSizeResult));
	g_autoptr(KmtReplay) replay = NULL;
	guint i;

	for (i = 0; i < sets->len; i++) {
		const KmtSizeSet *set = &g_array_index(sets, KmtSizeSet, i);

		sizes.limit = set->sizes[set->n - 1];
		init_set(&states[i], set, kernel);
	}
	replay = kmt_replay_run(options, &consumer, 1);
	for (i = 0; i < sets->len; i++) {
		KmtSizeResult result =
			result_of(&states[i], kernel ? kernel->page_size : 0,
				  (double)replay->end - (double)replay->begin);

		g_array_append_val(results, result);
		clear_set(&states[i]);
	}
	return results;
}
