// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/aggregate.h"
#include "trace/pipeline.h"

/* What the consumer works on. */
typedef struct {
	const KmtCapture *capture;
	KmtAggregate *aggregate;
	const KmtCells *cells;
	GArray *sites; /* of guint32: number of a cell -> of its site */
} Run;

static gboolean in_slab(KmtKind kind)
{
	return kind == KMT_KIND_KMALLOC || kind == KMT_KIND_CACHE;
}

/* What was allocated, in the terms of the figures. */
typedef struct {
	guint64 bytes_req;
	guint64 bytes_alloc;
	KmtSite *site;
	KmtTotals *kind;
	KmtTotals *slab; /* NULL for pages */
} Booking;

static guint32 new_site(Run *run, guint32 number)
{
	KmtCell cell = kmt_cells_cell(run->cells, number);
	guint32 site = kmt_sites_get(run->aggregate->sites, cell.call_site,
				     (KmtKind)cell.type);

	if (number >= run->sites->len) {
		guint old = run->sites->len, i;

		g_array_set_size(run->sites, MAX(number + 1, 2 * old));
		for (i = old; i < run->sites->len; i++)
			g_array_index(run->sites, guint32, i) = G_MAXUINT32;
	}
	g_array_index(run->sites, guint32, number) = site;
	return site;
}

static inline Booking booking(Run *run, guint32 cell, guint32 size)
{
	KmtAggregate *aggregate = run->aggregate;
	const KmtPair *bytes = kmt_intern_at(run->cells->sizes, size);
	guint32 site = cell < run->sites->len
			       ? g_array_index(run->sites, guint32, cell)
			       : G_MAXUINT32;
	Booking b = {.bytes_req = bytes->word[0],
		     .bytes_alloc = bytes->word[1]};

	if (G_UNLIKELY(site == G_MAXUINT32))
		site = new_site(run, cell);
	b.site = &aggregate->sites->sites[site];
	b.kind = &aggregate->kinds[b.site->kind];
	b.slab = b.site->kind == KMT_KIND_PAGES
			 ? NULL
			 : &aggregate->kinds[KMT_KIND_SLAB];
	return b;
}

static inline void book_alloc(Run *run, const Booking *b, gint64 now,
			      gboolean remote)
{
	gboolean overflow = FALSE;

	overflow |= kmt_totals_alloc(&b->site->totals, b->bytes_req,
				     b->bytes_alloc, now);
	overflow |=
		kmt_totals_alloc(b->kind, b->bytes_req, b->bytes_alloc, now);
	if (b->slab)
		overflow |= kmt_totals_alloc(b->slab, b->bytes_req,
					     b->bytes_alloc, now);
	if (G_UNLIKELY(remote)) {
		b->site->totals.remote_node_allocs++;
		b->kind->remote_node_allocs++;
		if (b->slab)
			b->slab->remote_node_allocs++;
	}
	run->aggregate->overflowed |= overflow;
	run->aggregate->short_allocs += b->bytes_alloc < b->bytes_req;
}

/* The object is live no more, in each total that it is a part of. */
static inline void book_close(const Booking *b)
{
	kmt_totals_close(&b->site->totals, b->bytes_req, b->bytes_alloc);
	kmt_totals_close(b->kind, b->bytes_req, b->bytes_alloc);
	if (b->slab)
		kmt_totals_close(b->slab, b->bytes_req, b->bytes_alloc);
}

/* The object was freed. */
static inline void book_free(const Booking *b, gboolean cross)
{
	b->site->totals.frees++;
	b->site->totals.cross_cpu_frees += cross;
	b->kind->cross_cpu_frees += cross;
	if (b->slab)
		b->slab->cross_cpu_frees += cross;
}

/* Whether a free finds its object or not, it is a free of the kind it names. */
static inline void count_free(KmtAggregate *aggregate, KmtKind kind)
{
	aggregate->kinds[kind].frees++;
	if (in_slab(kind))
		aggregate->kinds[KMT_KIND_SLAB].frees++;
}

static gboolean is_remote(const Run *run, gint32 wanted, guint16 file)
{
	const KmtCpuFile *f = run->capture->files->pdata[file];

	return wanted >= 0 && f->node >= 0 && wanted != f->node;
}

static KmtTallySite event_site(const struct kmemtrace_event *event)
{
	KmtTallySite site = {.address = event->call_site,
			     .kind = (KmtKind)event->type_id};

	return site;
}

static KmtTallySite object_site(const Run *run, const KmtObject *object)
{
	KmtCell cell = kmt_cells_cell(run->cells, object->cell);
	KmtTallySite site = {.address = cell.call_site,
			     .kind = (KmtKind)cell.type};

	return site;
}

static void tally(Run *run, KmtTallyClass class, const KmtExtra *extra)
{
	KmtTallySite from, to = event_site(&extra->event);

	if (extra->op == KMT_EXTRA_UNMATCHED) {
		kmt_tally_add(run->aggregate->tally, class, &to, NULL);
		return;
	}
	from = object_site(run, &extra->object);
	kmt_tally_add(run->aggregate->tally, class, &from, &to);
}

static void consume_extra(Run *run, const KmtBlock *records,
			  const KmtExtra *extra)
{
	const KmtObject *object = &extra->object;
	Booking b = {0};

	if (extra->op != KMT_EXTRA_UNMATCHED)
		b = booking(run, object->cell, object->size);
	switch (extra->op) {
	case KMT_EXTRA_ALLOC:
		book_alloc(run, &b, object->timestamp,
			   is_remote(run, extra->event.node, extra->file));
		break;
	case KMT_EXTRA_FREE:
		book_close(&b);
		book_free(&b, object->file != extra->file);
		if (extra->mismatch)
			tally(run, KMT_TALLY_MISMATCH, extra);
		break;
	case KMT_EXTRA_REPLACED:
		book_close(&b);
		break;
	case KMT_EXTRA_DOUBLE:
		if (extra->late_free)
			book_free(&b,
				  object->file != records->file[extra->place]);
		tally(run, KMT_TALLY_DOUBLE_AFTER_LOSS + extra->class, extra);
		break;
	case KMT_EXTRA_UNMATCHED:
		tally(run, KMT_TALLY_UNMATCHED_BEFORE_TRACE + extra->class,
		      extra);
		break;
	}
}

static inline void consume_step(Run *run, const KmtStep *step, gint64 now,
				const KmtRawEvent *event, guint16 file)
{
	Booking b;

	switch (step->op) {
	case KMT_STEP_ALLOC:
		b = booking(run, step->cell, step->size);
		book_alloc(run, &b, now,
			   G_UNLIKELY(event->node >= 0) &&
				   is_remote(run, event->node, file));
		break;
	case KMT_STEP_FREE:
		b = booking(run, step->cell, step->size);
		book_close(&b);
		book_free(&b, step->file != file);
		count_free(run->aggregate, b.site->kind);
		break;
	default:
		if (event->event_id == KMEMTRACE_EVENT_FREE)
			count_free(run->aggregate, (KmtKind)event->type_id);
		break;
	}
}

static void consume(gpointer user, const KmtMatched *matched)
{
	const KmtBlock *records = matched->records;
	Run *run = user;
	guint i, next = 0;

	for (i = 0; i < records->n; i++) {
		for (; G_UNLIKELY(next < matched->n_extras) &&
		       matched->extras[next]->place == i;
		     next++)
			consume_extra(run, records, matched->extras[next]);
		consume_step(run, &matched->steps[i], records->now[i],
			     records->record[i], records->file[i]);
	}
	for (; next < matched->n_extras; next++)
		consume_extra(run, records, matched->extras[next]);
}

KmtAggregate *kmt_aggregate_new(const KmtCapture *capture, guint jobs,
				gint64 clock_tolerance_ns)
{
	KmtAggregate *aggregate = g_new0(KmtAggregate, 1);
	g_autoptr(KmtCells) cells = kmt_cells_new(0);
	g_autoptr(GArray) sites = g_array_new(FALSE, FALSE, sizeof(guint32));
	Run run = {.capture = capture,
		   .aggregate = aggregate,
		   .cells = cells,
		   .sites = sites};
	const KmtPipelineOptions options = {
		.jobs = jobs,
		.clock_tolerance_ns = clock_tolerance_ns,
		.cells = cells,
	};
	g_autoptr(KmtPipeline) pipeline =
		kmt_pipeline_new(capture, &options, consume, &run);
	const KmtMerge *merge = kmt_pipeline_merge(pipeline);
	guint i;

	aggregate->sites = kmt_sites_new();
	aggregate->tally = kmt_tally_new();
	kmt_pipeline_run(pipeline);
	aggregate->findings = kmt_pipeline_findings(pipeline);
	aggregate->skipped = kmt_merge_skipped(merge);
	aggregate->unordered = kmt_merge_unordered(merge);
	if (!kmt_merge_range(merge, &aggregate->first_timestamp,
			     &aggregate->last_timestamp))
		aggregate->first_timestamp = aggregate->last_timestamp = 0;
	for (i = 0; i < capture->files->len; i++) {
		const KmtCpuFile *file = g_ptr_array_index(capture->files, i);

		aggregate->truncated_bytes += file->truncated_bytes;
	}
	return aggregate;
}

void kmt_aggregate_free(KmtAggregate *aggregate)
{
	if (!aggregate)
		return;
	kmt_sites_free(aggregate->sites);
	kmt_tally_free(aggregate->tally);
	g_free(aggregate);
}
