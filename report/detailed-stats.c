// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/accounting.h"

/* gcc does not see that these are called for each event. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* NULL: the filter does not want it. */
static inline KmtLotBook *wanted(KmtBooks *books, guint32 lot)
{
	KmtLotBook *b = kmt_books_lot(books, lot);

	return b->ledger ? b : NULL;
}

/* ---- the figures that plain.c makes of sums ---- */

static ALWAYS_INLINE void book_alloc(KmtBooks *books, const KmtLotBook *b,
				     gint64 now, gboolean remote)
{
	KmtLedger *kind = &books->kinds[b->kind];
	KmtLedger *slab = &books->kinds[KMT_KIND_SLAB];

	kmt_ledger_before(b->ledger);
	kmt_ledger_alloc(b->ledger, b->bytes_req, b->bytes_alloc, now);
	/* What fits in the sum of a kind fits in that of a group. */
	if (G_UNLIKELY(kind->bytes_req + b->bytes_req < b->bytes_req ||
		       kind->bytes_alloc + b->bytes_alloc < b->bytes_alloc))
		books->aggregate->overflowed = TRUE;
	/* It may have been live before the span, of which sums know nothing. */
	if (G_UNLIKELY(kind->live + b->bytes_alloc < b->bytes_alloc))
		books->live_overflowed = TRUE;
	kind->epoch +=
		kmt_ledger_alloc(kind, b->bytes_req, b->bytes_alloc, now);
	if (kmt_kind_is_slab(b->kind))
		slab->epoch +=
			kmt_ledger_change(slab, FALSE, b->bytes_alloc, now);
	if (G_UNLIKELY(remote)) {
		b->ledger->remote_node_allocs++;
		kind->remote_node_allocs++;
	}
}

/* The object is live no more, in each sum that it is a part of. */
static ALWAYS_INLINE void book_close(KmtBooks *books, const KmtLotBook *b)
{
	kmt_ledger_before(b->ledger);
	kmt_ledger_close(b->ledger, b->bytes_req, b->bytes_alloc);
	kmt_ledger_close(&books->kinds[b->kind], b->bytes_req, b->bytes_alloc);
	if (kmt_kind_is_slab(b->kind))
		books->kinds[KMT_KIND_SLAB].live -= b->bytes_alloc;
}

/* The object was freed. */
static inline void book_free(KmtBooks *books, const KmtLotBook *b,
			     gboolean cross)
{
	kmt_ledger_free(b->ledger, cross);
	kmt_ledger_free(&books->kinds[b->kind], cross);
}

static gboolean is_remote(const KmtBooks *books, gint32 wanted, guint16 file)
{
	const KmtInputCpuFile *f = books->capture->files->pdata[file];

	return wanted >= 0 && f->node >= 0 && wanted != f->node;
}

/* ---- the figures that somebody has to ask for ---- */

static KmtTallySite site_of(const KmtBooks *books, guint32 lot)
{
	KmtMatchKey cell = kmt_match_keys_of_class(books->aggregate->keys, lot);
	KmtTallySite site = {.address = cell.call_site,
			     .kind = (KmtKind)cell.type};

	return site;
}

static gboolean has_lifetime(const KmtFilter *filter, guint64 lifetime)
{
	return lifetime >= filter->lifetime_min &&
	       lifetime <= filter->lifetime_max;
}

/* Whatever the filter says: it is a finding. */
static void note_short(KmtBooks *books, const KmtLotBook *b)
{
	books->aggregate->short_allocs += b->bytes_alloc < b->bytes_req;
}

static void window_alloc(KmtBooks *books, const KmtLotBook *b, gint64 now)
{
	if (!books->options->span.windows)
		return;
	kmt_ledger_alloc(&books->window_kinds[b->kind], b->bytes_req,
			 b->bytes_alloc, now);
	if (kmt_kind_is_slab(b->kind))
		kmt_ledger_change(&books->window_kinds[KMT_KIND_SLAB], FALSE,
				  b->bytes_alloc, now);
}

static void window_close(KmtBooks *books, const KmtLotBook *b)
{
	if (!books->options->span.windows)
		return;
	kmt_ledger_close(&books->window_kinds[b->kind], b->bytes_req,
			 b->bytes_alloc);
	if (kmt_kind_is_slab(b->kind))
		books->window_kinds[KMT_KIND_SLAB].live -= b->bytes_alloc;
}

static KmtDetail *detail_of(const KmtBooks *books, const KmtLotBook *b)
{
	return books->options->lifetimes
		       ? kmt_groups_detail(books->aggregate->groups, b->group)
		       : NULL;
}

static void count_alloc(KmtBooks *books, KmtLotBook *b, gint64 now,
			gboolean remote)
{
	book_alloc(books, b, now, remote);
	if (!books->plain)
		b->asked.allocs += books->inside;
}

/* By a filter of lifetimes, whether an object counts is known when it is freed
 * or at the end. */
static void count_late(KmtBooks *books, KmtLotBook *b, gint64 now, guint32 lot,
		       guint16 file)
{
	KmtMatchKey cell = kmt_match_keys_of_class(books->aggregate->keys, lot);

	count_alloc(books, b, now, is_remote(books, cell.node, file));
}

/*
 * Account for the windows before window n, at whose ends the group had live
 * bytes.  This runs at the next event of the group or at the end, so a window
 * without an event of the group costs nothing.
 */
static void see_windows(KmtGrowth *growth, guint64 live, guint n)
{
	if (!growth->seen)
		growth->first = live;
	else
		growth->grown += live > growth->last;
	growth->last = live;
	growth->seen = n;
}

/* The first event of a lot in a window. */
static void enter_window(KmtBooks *books, KmtLotBook *b)
{
	KmtGrowth *growth;

	if (books->plain)
		return;
	b->asked.window = books->window;
	if (!books->options->lifetimes)
		return;
	growth = &kmt_groups_detail(books->aggregate->groups, b->group)->growth;
	if (growth->seen != books->window)
		see_windows(growth, b->ledger->live, books->window);
}

static void asked_alloc(KmtBooks *books, KmtLotBook *b, gint64 now,
			gboolean remote)
{
	if (books->options->filter->lifetime)
		return;
	if (G_UNLIKELY(b->asked.window != books->window))
		enter_window(books, b);
	count_alloc(books, b, now, remote);
	window_alloc(books, b, now);
}

static void asked_close(KmtBooks *books, KmtLotBook *b)
{
	if (books->options->filter->lifetime)
		return;
	if (G_UNLIKELY(b->asked.window != books->window))
		enter_window(books, b);
	book_close(books, b);
	window_close(books, b);
}

/* What was allocated, when and where; when, where and by whom it was freed. */
typedef struct {
	guint32 class_id;
	gint64 alloc_time;
	guint16 alloc_file;
	gint64 now;
	guint16 free_file;
	guint64 free_site;
} Freed;

static void asked_free(KmtBooks *books, KmtLotBook *b, const Freed *freed)
{
	const KmtFilter *filter = books->options->filter;
	guint64 lifetime =
		freed->now > freed->alloc_time
			? (guint64)freed->now - (guint64)freed->alloc_time
			: 0;
	gboolean cross = freed->alloc_file != freed->free_file;
	KmtDetail *detail = detail_of(books, b);

	if (filter->lifetime) {
		if (!books->inside || !has_lifetime(filter, lifetime))
			return;
		count_late(books, b, freed->now, freed->class_id,
			   freed->alloc_file);
		book_close(books, b);
	}
	book_free(books, b, cross);
	if (books->plain)
		books->extra_frees[b->kind]++;
	if (books->options->span.windows)
		kmt_ledger_free(&books->window_kinds[b->kind], cross);
	if (!books->inside)
		return;
	if (detail) {
		kmt_histogram_add(&detail->lifetimes, lifetime, 1);
		detail->short_lived += lifetime < books->options->churn_ns;
	}
	if (books->aggregate->cross) {
		KmtTallySite alloc = site_of(books, freed->class_id);

		books->aggregate->overflowed |= kmt_cross_add(
			books->aggregate->cross, &alloc, freed->alloc_file,
			freed->free_site, freed->free_file, b->bytes_alloc);
	}
}

/* ---- time ---- */

static gint64 end_of_window(const KmtBooks *books, guint window)
{
	const KmtSpan *span = &books->options->span;
	guint64 start = (guint64)books->start - (guint64)books->origin;
	guint64 length = MAX(span->windows_stop, start) - start;
	guint n = span->windows;

	if (window + 1 == n)
		return books->stop;
	return (gint64)((guint64)books->start + length / n * (window + 1) +
			length % n * (window + 1) / n);
}

static void begin_window(KmtBooks *books, gint64 start)
{
	guint i;

	books->window_end = end_of_window(books, books->window);
	books->aggregate->windows[books->window].start =
		(guint64)start - (guint64)books->origin;
	for (i = 0; i < KMT_N_KINDS; i++) {
		kmt_ledger_restart(&books->window_kinds[i], start);
		books->window_frees[i] = 0;
	}
}

/* What the kinds add up to; frees: of all records, or NULL. */
static void make_kinds(KmtBooks *books, KmtTotals totals[KMT_N_KINDS],
		       const KmtLedger ledgers[KMT_N_KINDS],
		       const guint64 *frees)
{
	KmtTotals *slab = &totals[KMT_KIND_SLAB];
	guint i;

	for (i = 0; i < KMT_N_KINDS; i++) {
		totals[i] = kmt_ledger_totals(&ledgers[i]);
		if (frees)
			totals[i].frees = frees[i];
	}
	/* Its ledger has nothing but peaks. */
	*slab = (KmtTotals){.peak_bytes_alloc = slab->peak_bytes_alloc,
			    .peak_timestamp = slab->peak_timestamp};
	books->aggregate->overflowed |=
		kmt_totals_add(slab, &totals[KMT_KIND_KMALLOC]) |
		kmt_totals_add(slab, &totals[KMT_KIND_CACHE]);
}

static void end_window(KmtBooks *books)
{
	make_kinds(books, books->aggregate->windows[books->window].kinds,
		   books->window_kinds,
		   books->counts_all ? books->window_frees : NULL);
	books->window++;
}

static void begin_span(KmtBooks *books)
{
	KmtGroups *groups = books->aggregate->groups;
	guint32 i;

	books->inside = TRUE;
	books->aggregate->overflowed = FALSE;
	for (i = 0; i < KMT_N_KINDS; i++) {
		kmt_ledger_restart(&books->kinds[i], books->start);
		/* At its start, live bytes are the most so far. */
		books->kinds[i].epoch++;
		books->free_records[i] = 0;
	}
	for (i = 0; i < groups->n_groups; i++)
		kmt_ledger_restart(kmt_groups_ledger(groups, i), books->start);
	if (books->options->span.windows)
		begin_window(books, books->start);
}

/* Time has come to now. */
void kmt_asked_at_time(KmtBooks *books, gint64 now)
{
	if (!books->inside && now >= books->start)
		begin_span(books);
	while (books->inside && books->window < books->options->span.windows &&
	       now > books->window_end) {
		gint64 end = books->window_end;

		end_window(books);
		if (books->window < books->options->span.windows)
			begin_window(books, end);
	}
}

/* ---- records ---- */

static void fill_slot(KmtBooks *books, KmtFindingSlot *slot)
{
	KmtTally *tally = books->aggregate->tally;
	KmtTallySite to = {.address = slot->call_site,
			   .kind = (KmtKind)slot->type};
	KmtTallySite from;

	if (slot->class_id == NO_LOT) {
		slot->count = kmt_tally_count(tally, slot->class, &to, NULL);
		return;
	}
	from = site_of(books, slot->class_id);
	slot->count = kmt_tally_count(tally, slot->class, &from, &to);
}

static void tally_finding(KmtBooks *books, KmtTallyClass class,
			  const KmtMatchSlowEvent *extra)
{
	KmtFindingSlot key = {
		.call_site = extra->call_site,
		.class_id = extra->op == KMT_MATCH_SLOW_UNMATCHED
				    ? NO_LOT
				    : extra->object.class_id,
		.class = (guint8) class,
		.type = extra->type,
	};
	KmtFindingSlot *slot =
		&books->finding_slots[(key.call_site ^ key.class_id) %
				      G_N_ELEMENTS(books->finding_slots)];

	if (!slot->count || slot->call_site != key.call_site ||
	    slot->class_id != key.class_id || slot->class != key.class ||
	    slot->type != key.type) {
		*slot = key;
		fill_slot(books, slot);
	}
	++*slot->count;
}

/* Those of records after the span are not decided with all that it takes. */
static void count_finding(KmtBooks *books, const KmtMatchSlowEvent *extra)
{
	KmtMatchFindings *findings = &books->aggregate->findings;

	if (extra->now > books->stop)
		return;
	switch (extra->op) {
	case KMT_MATCH_SLOW_FREE:
		if (extra->mismatch) {
			findings->mismatches++;
			tally_finding(books, KMT_TALLY_MISMATCH, extra);
		} else if (extra->object.type != extra->type) {
			findings->mismatches_after_loss++;
		}
		break;
	case KMT_MATCH_SLOW_DOUBLE:
		findings->doubles[extra->class]++;
		tally_finding(books, KMT_TALLY_DOUBLE_AFTER_LOSS + extra->class,
			      extra);
		break;
	case KMT_MATCH_SLOW_UNMATCHED:
		findings->unmatched[extra->class]++;
		tally_finding(books,
			      KMT_TALLY_UNMATCHED_BEFORE_TRACE + extra->class,
			      extra);
		break;
	case KMT_MATCH_SLOW_ALLOC:
	case KMT_MATCH_SLOW_REPLACED:
		break;
	}
}

void kmt_asked_extra(KmtBooks *books, const KmtMatchedBlock *matched,
		     const KmtMatchSlowEvent *extra)
{
	const KmtMatchObject *object = &extra->object;
	Freed freed = {.class_id = object->class_id,
		       .alloc_time = object->timestamp,
		       .alloc_file = object->file,
		       .now = extra->now,
		       .free_file = extra->file,
		       .free_site = extra->call_site};
	KmtLotBook *b = extra->op == KMT_MATCH_SLOW_UNMATCHED
				? NULL
				: wanted(books, object->class_id);

	count_finding(books, extra);
	switch (extra->op) {
	case KMT_MATCH_SLOW_ALLOC:
		note_short(books, kmt_books_lot(books, object->class_id));
		if (b)
			asked_alloc(books, b, object->timestamp,
				    matched->items[extra->index]->remote);
		break;
	case KMT_MATCH_SLOW_FREE:
		if (b) {
			asked_close(books, b);
			asked_free(books, b, &freed);
		}
		break;
	case KMT_MATCH_SLOW_REPLACED:
		if (b)
			asked_close(books, b);
		break;
	case KMT_MATCH_SLOW_DOUBLE:
		if (extra->late_free) {
			const KmtMatchEvent *item =
				matched->items[extra->index];

			freed.now = item->now;
			freed.free_file = item->file;
			freed.free_site = item->event->call_site;
			if (b)
				asked_free(books, b, &freed);
		}
		break;
	case KMT_MATCH_SLOW_UNMATCHED:
		break;
	}
}

/* What is live at the end of the span, for how long, and whether the filter
 * wants that. */
static void live_at(KmtBooks *books, const KmtMatchObject *object, gint64 end)
{
	const KmtFilter *filter = books->options->filter;
	KmtLotBook *b;
	guint64 age = end > object->timestamp
			      ? (guint64)end - (guint64)object->timestamp
			      : 0;

	if (object->timestamp > books->stop ||
	    !(b = wanted(books, object->class_id)))
		return;
	if (filter->lifetime) {
		if (!has_lifetime(filter, age))
			return;
		count_late(books, b, end, object->class_id, object->file);
	}
	if (detail_of(books, b))
		kmt_histogram_add(&detail_of(books, b)->ages, age, 1);
}

void kmt_asked_after_span(KmtBooks *books, const KmtMatchedBlock *matched,
			  guint from, guint next)
{
	guint i;

	for (; next < matched->n_slow_events; next++) {
		const KmtMatchSlowEvent *extra = matched->slow_events[next];

		count_finding(books, extra);
		if (extra->op == KMT_MATCH_SLOW_FREE ||
		    extra->op == KMT_MATCH_SLOW_REPLACED)
			live_at(books, &extra->object, books->stop);
	}
	for (i = from; i < matched->n; i++) {
		const KmtMatchEvent *item = matched->items[i];
		KmtMatchObject object = {.timestamp = item->alloc_time,
					 .class_id = item->class_id,
					 .file = item->alloc_file};

		if (item->op == KMT_MATCH_STEP_FREE)
			live_at(books, &object, books->stop);
	}
}

static void asked_step(KmtBooks *books, const KmtMatchEvent *item)
{
	const KmtInputRawEvent *event = item->event;
	KmtLotBook *b;

	if (event->event_id == KMEMTRACE_EVENT_FREE && books->inside) {
		books->free_records[item->type]++;
		books->window_frees[item->type]++;
	}
	if (item->op == KMT_MATCH_STEP_NONE)
		return;
	b = kmt_books_lot(books, item->class_id);
	if (item->op == KMT_MATCH_STEP_ALLOC)
		note_short(books, b);
	if (!b->ledger)
		return;
	if (item->op == KMT_MATCH_STEP_ALLOC) {
		asked_alloc(books, b, item->now, item->remote);
	} else {
		Freed freed = {.class_id = item->class_id,
			       .alloc_time = item->alloc_time,
			       .alloc_file = item->alloc_file,
			       .now = item->now,
			       .free_file = item->file,
			       .free_site = event->call_site};

		asked_close(books, b);
		asked_free(books, b, &freed);
	}
}

void kmt_asked_steps(KmtBooks *books, const KmtMatchedBlock *matched,
		     guint from, guint to)
{
	guint i;

	for (i = from; i < to; i++) {
		const KmtMatchEvent *item = matched->items[i];

		kmt_asked_at_time(books, item->now);
		asked_step(books, item);
	}
}

/* ---- the end ---- */

/* Those that no time was left for, too. */
static void finish_windows(KmtBooks *books)
{
	KmtGroups *groups = books->aggregate->groups;
	guint n = books->options->span.windows;
	guint32 i;

	kmt_asked_at_time(books, books->stop);
	while (books->window < n) {
		gint64 end = books->window_end;

		end_window(books);
		if (books->window < n)
			begin_window(books, end);
	}
	books->aggregate->n_windows = n;
	for (i = 0; n && books->options->lifetimes && i < groups->n_groups; i++)
		see_windows(&kmt_groups_detail(groups, i)->growth,
			    kmt_groups_ledger(groups, i)->live, n);
}

/* The sizes of a group are those of its lots. */
static void fill_sizes(KmtBooks *books)
{
	KmtGroups *groups = books->aggregate->groups;
	guint32 i;

	for (i = 0; books->options->lifetimes && i < books->n_lot_books; i++) {
		const KmtLotBook *b = &books->lot_books[i];

		if (b->ledger)
			kmt_histogram_add(
				&kmt_groups_detail(groups, b->group)->sizes,
				b->bytes_req, b->asked.allocs);
	}
}

static void at_end(gpointer user, const KmtMatchObject *object)
{
	KmtBooks *books = user;

	live_at(books, object,
		MIN(books->stop, books->aggregate->last_timestamp));
}

void kmt_asked_finish(KmtBooks *books, KmtMatchPipeline *pipeline)
{
	finish_windows(books);
	kmt_match_pipeline_foreach_live(pipeline, at_end, books);
	fill_sizes(books);
}

void kmt_asked_kinds(KmtBooks *books)
{
	make_kinds(books, books->aggregate->kinds, books->kinds,
		   books->counts_all ? books->free_records : NULL);
}
