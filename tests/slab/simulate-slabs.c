// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replays a capture through the simulator of the slab layer, and prints the
 * figures of each cache at the end beside those of the capture's slabinfo:
 *
 *     name size objects active slabs pages peak_pages | recorded: objects
 *     active slabs pages
 *
 * tests/vm/slab-simulator.py compares the columns. The recorded numbers are "-"
 * for a cache without a row. Names have no spaces.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/slab/capture-caches.h"
#include "lib/slab/simulator.h"
#include "report/capture-report.h"
#include "report/replay.h"

#define NO_CACHE G_MAXUINT

/* A simulated cache. */
typedef struct {
	char *name;
	guint index; /* in the simulator */
	KmtSlabGeometry geometry;
} SimulatedName;

typedef struct {
	KmtSlabKernel kernel;
	KmtInputSlabTable *table;
	KmtSlabSimulator *simulator;
	GHashTable *by_name; /* name -> SimulatedName */
	GArray *of_class;    /* guint by class id: index of the cache + 1,
			      * NO_CACHE, or 0: not known yet */
	GArray *handles;     /* KmtSlabHandle by slot */
	guint64 n_events;
} SlabReplay;

static void free_name(gpointer data)
{
	SimulatedName *name = data;

	g_free(name->name);
	g_free(name);
}

/* Return the cache of this name; add it with its layout if it is new. */
static guint get_cache(SlabReplay *slabs, const KmtInputCache *row)
{
	SimulatedName *name = g_hash_table_lookup(slabs->by_name, row->name);

	if (name)
		return name->index;
	name = g_new0(SimulatedName, 1);
	name->name = g_strdup(row->name);
	if (!kmt_slab_geometry_of_cache(&slabs->kernel, slabs->table, row,
					&name->geometry, NULL)) {
		free_name(name);
		return NO_CACHE;
	}
	name->index = kmt_slab_simulator_add(slabs->simulator, &name->geometry);
	g_hash_table_insert(slabs->by_name, name->name, name);
	return name->index;
}

/* Return the cache of a class of allocations. */
static guint cache_of_class(SlabReplay *slabs, const KmtReplay *replay,
			    const KmtReplayClass *class)
{
	const KmtInputCache *row;
	KmtInputCache kmalloc = {0};
	gsize size;
	g_autofree char *name = NULL;

	if (class->kind == KMT_KIND_CACHE) {
		row = replay->tables ? kmt_input_tables_cache(replay->tables,
							      class->cache)
				     : NULL;
		return row ? get_cache(slabs, row) : NO_CACHE;
	}
	if (class->kind != KMT_KIND_KMALLOC ||
	    class->bytes_alloc > slabs->kernel.kmalloc_max)
		return NO_CACHE;
	/* The allocated size may be larger than the cache's name states. */
	size = kmt_slab_kmalloc_size(&slabs->kernel, class->bytes_req);
	name = kmt_slab_kmalloc_name(size, class->gfp_flags);
	kmalloc.object_size = size;
	kmalloc.size = class->bytes_alloc;
	kmalloc.name = name;
	return get_cache(slabs, &kmalloc);
}

static guint cache_of_event(SlabReplay *slabs, const KmtReplay *replay,
			    const KmtReplayEvent *event)
{
	guint32 class_id = event->object->class_id;
	guint *number;

	if (class_id >= slabs->of_class->len)
		g_array_set_size(slabs->of_class, class_id + 1);
	number = &g_array_index(slabs->of_class, guint, class_id);
	if (!*number) {
		guint index = cache_of_class(slabs, replay, event->class);

		*number = index == NO_CACHE ? NO_CACHE : index + 1;
	}
	return *number == NO_CACHE ? NO_CACHE : *number - 1;
}

static void simulate(gpointer user, const KmtReplay *replay,
		     const KmtReplayEvent *event)
{
	SlabReplay *slabs = user;
	guint cache = cache_of_event(slabs, replay, event);
	KmtSlabHandle *handle;

	if (cache == NO_CACHE || event->op == KMT_REPLAY_DEFER)
		return;
	if (event->slot >= slabs->handles->len)
		g_array_set_size(slabs->handles, event->slot + 1);
	handle = &g_array_index(slabs->handles, KmtSlabHandle, event->slot);
	kmt_slab_simulator_advance(slabs->simulator, event->now);
	if (event->op == KMT_REPLAY_ALLOC)
		*handle = kmt_slab_simulator_alloc(slabs->simulator, cache,
						   event->cpu);
	else
		kmt_slab_simulator_release(slabs->simulator, cache, *handle,
					   event->cpu);
	slabs->n_events++;
}

/* Let the timers of SLAB expire until the end. */
static void end(gpointer user, G_GNUC_UNUSED const KmtReplay *replay,
		gint64 now)
{
	SlabReplay *slabs = user;

	kmt_slab_simulator_advance(slabs->simulator, now);
}

static void print_cache(const SlabReplay *slabs, const SimulatedName *name)
{
	const KmtInputSlabRow *row =
		kmt_input_slab_table_find(slabs->table, name->name);
	KmtSlabFigures figures;
	guint64 objects;

	kmt_slab_simulator_figures(slabs->simulator, name->index, &figures);
	objects = figures.slabs * name->geometry.objects;
	printf("%s %" G_GSIZE_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
	       " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
	       " %" G_GUINT64_FORMAT,
	       name->name, name->geometry.size, figures.objects,
	       objects - figures.listed_free, figures.slabs, figures.pages,
	       figures.peak_pages);
	if (row)
		printf(" %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
		       " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n",
		       row->objects, row->active, row->slabs,
		       row->slabs * row->slab_pages);
	else
		puts(" - - - -");
}

static void print_figures(const SlabReplay *slabs)
{
	GHashTableIter iter;
	gpointer value;

	printf("# events: %" G_GUINT64_FORMAT "\n", slabs->n_events);
	g_hash_table_iter_init(&iter, slabs->by_name);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		print_cache(slabs, value);
}

/* Simulate all events of a capture. Return FALSE if its kernel is unknown. */
static gboolean run(const KmtCaptureReport *report)
{
	SlabReplay slabs = {.table = kmt_input_slab_table_new(report->capture)};
	KmtReplayConsumer consumer = {
		.on_event = simulate, .on_end = end, .user = &slabs};
	KmtReplayOptions options = {
		.capture = report->capture,
		.symbolizer = report->symbolizer,
		.filter = &report->plan.filter,
		.tag_ends = report->aggregate->tag_ends,
		.start = report->plan.aggregate.span.start,
		.stop = report->plan.aggregate.span.stop,
		.jobs = 1,
		.clock_tolerance_ns =
			report->plan.aggregate.clock_tolerance_ns};
	gboolean is_known = kmt_slab_kernel_of_capture(
				    report->capture, slabs.table,
				    &slabs.kernel) != KMT_SLAB_KERNEL_UNKNOWN;

	if (is_known) {
		g_autoptr(KmtReplay) replay = NULL;

		slabs.simulator = kmt_slab_simulator_new(&slabs.kernel);
		slabs.by_name = g_hash_table_new_full(g_str_hash, g_str_equal,
						      NULL, free_name);
		slabs.of_class = g_array_new(FALSE, TRUE, sizeof(guint));
		slabs.handles = g_array_new(FALSE, TRUE, sizeof(KmtSlabHandle));
		replay = kmt_replay_run(&options, &consumer, 1);
		print_figures(&slabs);
		kmt_slab_simulator_free(slabs.simulator);
		g_hash_table_unref(slabs.by_name);
		g_array_unref(slabs.of_class);
		g_array_unref(slabs.handles);
	}
	kmt_input_slab_table_free(slabs.table);
	return is_known;
}

int main(G_GNUC_UNUSED int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_auto(KmtOptions) options = {0};
	g_autoptr(GOptionContext) context =
		kmt_options_parse(argv, &options, &error);
	g_autoptr(KmtCaptureReport) report =
		context ? kmt_capture_report_new(&options, &error) : NULL;

	if (!report || !kmt_capture_report_read(
			       report, (const char *const *)options.operands,
			       NULL, &error)) {
		fprintf(stderr, "simulate-slabs: %s\n", error->message);
		return EXIT_FAILURE;
	}
	if (!run(report)) {
		fputs("simulate-slabs: the kernel of the capture is unknown\n",
		      stderr);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
