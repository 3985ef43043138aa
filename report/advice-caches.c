// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Caches whose slabs are half empty. The slab layer is simulated three times:
 * as it is, with smaller slabs, and with objects without padding.
 */
#include "config.h"

#include "lib/base/hash.h"
#include "lib/base/printable.h"
#include "report/advice-private.h"
#include "report/index.h"
#include "lib/slab/simulator.h"

/* A finding has at least this number of slabs and of live objects, less than
 * this share of the bytes of the slabs in live objects, and saves at least this
 * part of their pages. */
#define MIN_SLABS     8
#define MIN_OBJECTS   8
#define MAX_OCCUPANCY 0.5
#define MIN_PART      0.1
/* The capture has at least this part of the objects that slabinfo has. */
#define MIN_KNOWN 0.5
/* Largest part of a slab without objects that a smaller slab may have. */
#define MAX_UNUSED_PART 8

typedef enum { PRESENT, SMALLER, PACKED, N_SIMULATIONS } Simulation;

/* A cache, and its layout in each simulation. */
typedef struct {
	const KmtInputCache *table; /* NULL: a cache of kmalloc() */
	char *name;	      /* of a cache of kmalloc(), owned; else NULL */
	guint64 size;	      /* of the objects of a cache of kmalloc() */
	guint64 gfp;	      /* flags of an object of a cache of kmalloc() */
	gboolean is_selected; /* the filter selects some of its objects */
	gboolean is_recorded; /* slabinfo has the layout */
	gboolean differs[N_SIMULATIONS]; /* the layout is not the present one */
	KmtSlabGeometry layouts[N_SIMULATIONS];
	guint64 live; /* simulated live objects */
} AdvisedCache;

typedef struct {
	KmtSlabHandle handles[N_SIMULATIONS];
} Handles;

typedef struct {
	const KmtAdviceLayout *layout;
	KmtInputTables *tables; /* NULL: the records have no caches */
	KmtSlabSimulator *simulators[N_SIMULATIONS];
	GArray *caches; /* AdvisedCache; the index is that in the simulators */
	KmtIndex index; /* of caches, by table and name */
	guint64 seed;
	GArray *of_class; /* guint32: index + 1 of the cache of a class; 0: not
			   * known yet; KMT_ADVICE_NONE: none */
	GArray *handles;  /* Handles by slot */
} CacheCounts;

static void clear_cache(gpointer data)
{
	g_free(((AdvisedCache *)data)->name);
}

static AdvisedCache *cache_at(const CacheCounts *state, guint i)
{
	return &g_array_index(state->caches, AdvisedCache, i);
}

static guint64 hash_cache(const CacheCounts *state, const AdvisedCache *cache)
{
	return kmt_hash(state->seed, cache->size ^ (gsize)cache->table);
}

static guint64 cache_hash(gconstpointer user, guint32 number)
{
	return hash_cache(user, cache_at(user, number));
}

static gboolean cache_equal(gconstpointer user, guint32 number,
			    gconstpointer key)
{
	const AdvisedCache *x = cache_at(user, number), *y = key;

	return x->table == y->table && g_strcmp0(x->name, y->name) == 0;
}

static gpointer new (const KmtAdviceContext *context)
{
	const KmtInputCapture *capture = context->report->capture;
	CacheCounts *state = g_new0(CacheCounts, 1);
	guint i;

	state->layout = context->layout;
	if (kmt_input_capture_has_owners(capture))
		state->tables = kmt_input_tables_new(capture);
	for (i = 0; i < N_SIMULATIONS; i++)
		state->simulators[i] =
			kmt_slab_simulator_new(&context->layout->kernel);
	state->caches = g_array_new(FALSE, FALSE, sizeof(AdvisedCache));
	g_array_set_clear_func(state->caches, clear_cache);
	state->seed = kmt_hash_seed();
	kmt_index_init(&state->index, cache_hash, cache_equal);
	state->of_class = g_array_new(FALSE, TRUE, sizeof(guint32));
	state->handles = g_array_new(FALSE, FALSE, sizeof(Handles));
	return state;
}

static void free_state(gpointer data)
{
	CacheCounts *state = data;
	guint i;

	for (i = 0; i < N_SIMULATIONS; i++)
		kmt_slab_simulator_free(state->simulators[i]);
	kmt_input_tables_free(state->tables);
	kmt_index_clear(&state->index);
	g_array_unref(state->caches);
	g_array_unref(state->of_class);
	g_array_unref(state->handles);
	g_free(state);
}

/* ---- layouts ---- */

/* Set the layout with the smallest slabs that have little unused space. */
static void set_smaller(const CacheCounts *state, AdvisedCache *cache)
{
	const KmtSlabKernel *kernel = &state->layout->kernel;
	const KmtSlabGeometry *present = &cache->layouts[PRESENT];
	guint order;

	for (order = 0; order < present->order; order++) {
		gsize bytes = (gsize)kernel->page_size << order;
		gsize objects = bytes / present->size;

		if (!objects || bytes % present->size > bytes / MAX_UNUSED_PART)
			continue;
		cache->differs[SMALLER] = kmt_slab_geometry_set_layout(
			kernel, present->object_size, present->size,
			(guint)objects, 1U << order, &cache->layouts[SMALLER]);
		return;
	}
}

/*
 * Return whether an alignment explains the padding of the objects: the size
 * with padding is the next multiple of the largest power of two that divides
 * it. Debug options of the kernel add other bytes.
 */
static gboolean is_alignment(const KmtSlabGeometry *present, gsize pointer)
{
	gsize align = present->size & -present->size;
	gsize padding = present->size - present->object_size;

	return padding < align || padding - pointer < align;
}

/* Set the layout of objects without padding. */
static void set_packed(const CacheCounts *state, AdvisedCache *cache)
{
	const KmtSlabGeometry *present = &cache->layouts[PRESENT];
	gsize pointer = state->layout->kernel.pointer_size;
	/* Objects with a constructor have the list of free objects behind them,
	 * so leave room for a pointer. */
	const KmtSlabRequest request = {
		.object_size = (present->object_size + 2 * pointer - 1) /
			       pointer * pointer};

	if (request.object_size < present->size &&
	    is_alignment(present, pointer))
		cache->differs[PACKED] = kmt_slab_geometry_compute(
			&state->layout->kernel, &request,
			&cache->layouts[PACKED]);
}

/* Set the layouts of a cache. Return FALSE if the present one is unknown. */
static gboolean set_layouts(const CacheCounts *state, AdvisedCache *cache)
{
	const KmtAdviceLayout *layout = state->layout;
	KmtSlabGeometry *present = &cache->layouts[PRESENT];
	guint i;

	if (cache->table ? !kmt_slab_geometry_of_cache(
				   &layout->kernel, layout->slabs, cache->table,
				   present, &cache->is_recorded)
			 : !kmt_slab_geometry_of_kmalloc(
				   &layout->kernel, layout->slabs, cache->size,
				   cache->gfp, present, &cache->is_recorded))
		return FALSE;
	for (i = 1; i < N_SIMULATIONS; i++)
		cache->layouts[i] = *present;
	set_smaller(state, cache);
	if (cache->table)
		set_packed(state, cache);
	return TRUE;
}

/* ---- simulation ---- */

/* Set the fields that identify the cache of a class. Return FALSE if the
 * objects are from no cache, or from an unknown one. */
static gboolean set_key(const CacheCounts *state, const KmtReplayClass *class,
			AdvisedCache *key)
{
	const KmtSlabKernel *kernel = &state->layout->kernel;

	if (class->kind == KMT_KIND_CACHE) {
		if (state->tables)
			key->table = kmt_input_tables_cache(state->tables,
							    class->cache);
		return key->table != NULL;
	}
	/* With SLAB, the allocated bytes include padding. */
	key->size = kmt_slab_kmalloc_size(kernel, class->bytes_req);
	if (class->kind != KMT_KIND_KMALLOC || !key->size ||
	    key->size > kernel->kmalloc_max)
		return FALSE;
	key->gfp = class->gfp_flags;
	key->name = kmt_slab_kmalloc_name(key->size, key->gfp);
	return TRUE;
}

/* Return the index + 1 of the cache of a class, or KMT_ADVICE_NONE. */
static guint32 find_cache(CacheCounts *state, const KmtReplayClass *class)
{
	AdvisedCache key = {0};
	guint64 hash;
	guint32 found;
	guint i;

	if (!set_key(state, class, &key))
		return KMT_ADVICE_NONE;
	hash = hash_cache(state, &key);
	found = kmt_index_find(&state->index, state, hash, &key);
	if (found != KMT_INDEX_NONE || !set_layouts(state, &key)) {
		clear_cache(&key);
		return found != KMT_INDEX_NONE ? found + 1 : KMT_ADVICE_NONE;
	}
	g_array_append_val(state->caches, key);
	kmt_index_add(&state->index, state, hash);
	for (i = 0; i < N_SIMULATIONS; i++)
		kmt_slab_simulator_add(state->simulators[i], &key.layouts[i]);
	return state->caches->len;
}

static guint32 cache_of_event(CacheCounts *state, const KmtReplayEvent *event)
{
	guint32 class_id = event->object->class_id, *cache;

	if (class_id >= state->of_class->len)
		g_array_set_size(state->of_class, class_id + 1);
	cache = &g_array_index(state->of_class, guint32, class_id);
	if (!*cache) {
		*cache = find_cache(state, event->class);
		if (*cache != KMT_ADVICE_NONE)
			cache_at(state, *cache - 1)->is_selected |=
				event->class->is_selected;
	}
	return *cache;
}

static void simulate(CacheCounts *state, const KmtReplayEvent *event,
		     guint index)
{
	gboolean is_alloc = event->op == KMT_REPLAY_ALLOC;
	Handles *handles;
	guint i;

	if (event->slot >= state->handles->len)
		g_array_set_size(state->handles, event->slot + 1);
	handles = &g_array_index(state->handles, Handles, event->slot);
	cache_at(state, index)->live += is_alloc ? 1 : (guint64)-1;
	for (i = 0; i < N_SIMULATIONS; i++) {
		KmtSlabSimulator *simulator = state->simulators[i];

		kmt_slab_simulator_advance(simulator, event->now);
		if (is_alloc)
			handles->handles[i] = kmt_slab_simulator_alloc(
				simulator, index, event->cpu);
		else
			kmt_slab_simulator_release(simulator, index,
						   handles->handles[i],
						   event->cpu);
	}
}

static void on_event(gpointer data, G_GNUC_UNUSED const KmtReplay *replay,
		     const KmtReplayEvent *event)
{
	CacheCounts *state = data;
	guint32 cache;

	if (event->op == KMT_REPLAY_DEFER)
		return;
	cache = cache_of_event(state, event);
	if (cache != KMT_ADVICE_NONE)
		simulate(state, event, cache - 1);
}

/* ---- findings ---- */

/* A cache with the figures of its simulations. */
typedef struct {
	const AdvisedCache *cache;
	const char *name;
	gboolean is_recorded;  /* slabinfo has the cache */
	guint64 active, slabs; /* of all rows with these objects */
	KmtSlabFigures figures[N_SIMULATIONS];
} CacheCandidate;

static gint64 page_bytes(const KmtAdviceContext *context, guint64 present,
			 guint64 other)
{
	gint64 page = (gint64)context->layout->kernel.page_size;

	return ((gint64)present - (gint64)other) * page;
}

static gint64 live_saving(const KmtAdviceContext *context,
			  const CacheCandidate *c, Simulation i)
{
	return page_bytes(context, c->figures[PRESENT].pages,
			  c->figures[i].pages);
}

static gint64 peak_saving(const KmtAdviceContext *context,
			  const CacheCandidate *c, Simulation i)
{
	return page_bytes(context, c->figures[PRESENT].peak_pages,
			  c->figures[i].peak_pages);
}

static gboolean is_saving(const KmtAdviceContext *context,
			  const CacheCandidate *c, Simulation i)
{
	gint64 saving = live_saving(context, c, i);
	double bytes =
		(double)page_bytes(context, c->figures[PRESENT].pages, 0);

	return c->cache->differs[i] && saving >= KMT_ADVICE_MIN_SAVING &&
	       (double)saving >= bytes * MIN_PART &&
	       peak_saving(context, c, i) >= 0;
}

static char *computation_of(const KmtAdviceContext *context,
			    const CacheCandidate *c, Simulation i)
{
	const KmtReport *report = context->report;
	const KmtSlabFigures *present = &c->figures[PRESENT];
	const KmtSlabFigures *other = &c->figures[i];
	const KmtSlabGeometry *layout = &c->cache->layouts[i];
	g_autofree char *live = kmt_advice_figure(report, c->cache->live);
	g_autofree char *slabs = kmt_advice_figure(report, present->slabs);
	g_autofree char *pages = kmt_advice_figure(report, present->pages);
	g_autofree char *other_slabs = kmt_advice_figure(report, other->slabs);
	g_autofree char *other_pages = kmt_advice_figure(report, other->pages);

	return g_strdup_printf(
		"simulation of each allocation and free: %s live objects are "
		"in %s slabs with room for %u objects each (%s pages); in "
		"slabs of order %u with room for %u objects of %" G_GSIZE_FORMAT
		" bytes, they are in %s slabs (%s pages)",
		live, slabs, c->cache->layouts[PRESENT].objects, pages,
		layout->order, layout->objects, layout->size, other_slabs,
		other_pages);
}

static void add_smaller(const KmtAdviceContext *context, KmtAdvice *advice,
			const CacheCandidate *c)
{
	const KmtSlabGeometry *present = &c->cache->layouts[PRESENT];
	const KmtSlabGeometry *smaller = &c->cache->layouts[SMALLER];
	gboolean is_slab =
		context->layout->kernel.allocator == KMT_SLAB_ALLOCATOR_SLAB;

	kmt_advice_add_change(
		advice, "order",
		g_strdup_printf("Use slabs of order %u instead of %u, with the "
				"kernel parameter %s_max_order=%u",
				smaller->order, present->order,
				is_slab ? "slab" : "slub", smaller->order),
		live_saving(context, c, SMALLER),
		peak_saving(context, c, SMALLER),
		computation_of(context, c, SMALLER),
		g_strdup("The parameter limits all caches. Smaller slabs are "
			 "allocated and freed more often."));
}

static void add_packed(const KmtAdviceContext *context, KmtAdvice *advice,
		       const CacheCandidate *c)
{
	kmt_advice_add_change(
		advice, "padding",
		g_strdup_printf("Create the cache without SLAB_HWCACHE_ALIGN "
				"or with a smaller alignment, so that an "
				"object takes %" G_GSIZE_FORMAT
				" instead of %" G_GSIZE_FORMAT " bytes",
				c->cache->layouts[PACKED].size,
				c->cache->layouts[PRESENT].size),
		live_saving(context, c, PACKED),
		peak_saving(context, c, PACKED),
		computation_of(context, c, PACKED),
		g_strdup("Objects share cache lines: a CPU that writes to one "
			 "delays another CPU that uses its neighbour."));
}

/* Return the part of the objects in slabinfo that the capture has; 0 if the
 * capture has no slabinfo. */
static double known_share(const CacheCandidate *c)
{
	if (!c->is_recorded)
		return 0;
	return c->active > c->cache->live
		       ? (double)c->cache->live / (double)c->active
		       : 1;
}

/* Set the certainty by the part of the objects that the capture has. */
static void set_certainty(const KmtAdviceContext *context, KmtAdvice *advice,
			  const CacheCandidate *c)
{
	KmtAdviceEvidence evidence = {.objects = c->cache->live,
				      .any_number = TRUE,
				      .assumes_layout =
					      context->layout->is_assumed &&
					      !c->cache->is_recorded};

	evidence.known_share = known_share(c);
	if (!c->is_recorded)
		evidence.doubt = "how many objects are from before the trace "
				 "is unknown";
	kmt_advice_set_certainty(context, advice, &evidence);
}

static void add_finding(KmtAdviceContext *context, const CacheCandidate *c)
{
	gboolean is_kmalloc = !c->cache->table;
	KmtAdvice *advice =
		kmt_advice_add(context, KMT_ADVICE_CACHE,
			       is_kmalloc ? KMT_KIND_KMALLOC : KMT_KIND_CACHE);
	gboolean smaller = is_saving(context, c, SMALLER);
	gboolean packed = is_saving(context, c, PACKED);
	gboolean packed_first =
		packed &&
		(!smaller || live_saving(context, c, PACKED) >=
				     live_saving(context, c, SMALLER));

	advice->cache = kmt_printable(c->name);
	if (packed_first)
		add_packed(context, advice, c);
	if (smaller)
		add_smaller(context, advice, c);
	if (packed && !packed_first)
		add_packed(context, advice, c);
	kmt_advice_add_number(advice, "objects_live", c->cache->live);
	kmt_advice_add_number(advice, "slabs", c->figures[PRESENT].slabs);
	kmt_advice_add_number(advice, "pages", c->figures[PRESENT].pages);
	if (c->is_recorded) {
		kmt_advice_add_number(advice, "slabinfo_objects", c->active);
		kmt_advice_add_number(advice, "slabinfo_slabs", c->slabs);
	}
	set_certainty(context, advice, c);
}

static gboolean is_half_empty(const KmtAdviceContext *context,
			      const CacheCandidate *c)
{
	const KmtSlabFigures *present = &c->figures[PRESENT];
	double used = (double)c->cache->live *
		      (double)c->cache->layouts[PRESENT].object_size;
	double bytes = (double)page_bytes(context, present->pages, 0);

	return present->slabs >= MIN_SLABS && c->cache->live >= MIN_OBJECTS &&
	       used < bytes * MAX_OCCUPANCY;
}

static void examine(KmtAdviceContext *context, const CacheCounts *state,
		    guint index)
{
	CacheCandidate c = {.cache = cache_at(state, index)};
	g_autofree char *snapshot =
		kmt_input_capture_snapshot(context->report->capture);
	guint i;

	if (!c.cache->is_selected)
		return;
	c.name = c.cache->table ? c.cache->table->name : c.cache->name;
	/* slabinfo has the end of the recording, but that of a snapshot has the
	 * time when the snapshot was saved. */
	if (context->replay->options.stop == G_MAXINT64 && !snapshot)
		c.is_recorded = kmt_slab_recorded_objects(
			state->layout->slabs, c.name, !c.cache->table,
			&c.active, &c.slabs);
	for (i = 0; i < N_SIMULATIONS; i++)
		kmt_slab_simulator_figures(state->simulators[i], index,
					   &c.figures[i]);
	if (c.is_recorded && known_share(&c) < MIN_KNOWN)
		return;
	if (is_half_empty(context, &c) &&
	    (is_saving(context, &c, SMALLER) || is_saving(context, &c, PACKED)))
		add_finding(context, &c);
}

static void find(gpointer data, KmtAdviceContext *context)
{
	const CacheCounts *state = data;
	guint i;

	for (i = 0; i < state->caches->len; i++)
		examine(context, state, i);
}

const KmtAdviceDetector kmt_advice_caches = {.what = "half-empty caches",
					     .needs = KMT_ADVICE_NEEDS_ALL |
						      KMT_ADVICE_NEEDS_LAYOUT,
					     .new = new,
					     .free = free_state,
					     .on_event = on_event,
					     .find = find};
