// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/books.h"

#include <string.h>

void kmt_books_add(KmtBooks *run, guint32 lot)
{
	KmtAggregate *aggregate = run->aggregate;
	KmtSize bytes = kmt_cells_size(aggregate->cells, lot);
	KmtCell cell = kmt_cells_cell(aggregate->cells, lot);
	KmtLotBook *book;

	if (lot >= run->n_lots) {
		guint32 n = MAX(1024, run->n_lots);

		while (n <= lot)
			n *= 2;
		run->lots = g_renew(KmtLotBook, run->lots, n);
		memset(run->lots + run->n_lots, 0,
		       (n - run->n_lots) * sizeof(KmtLotBook));
		run->n_lots = n;
	}
	book = &run->lots[lot];
	book->known = TRUE;
	book->bytes_req = bytes.req;
	book->bytes_alloc = bytes.alloc;
	book->changes[0] = -bytes.alloc;
	book->changes[1] = bytes.alloc;
	book->kind = cell.type;
	book->group = kmt_groups_get(aggregate->groups, lot);
	if (book->group == KMT_NO_GROUP)
		return;
	book->ledger = kmt_groups_ledger(aggregate->groups, book->group);
	book->ledger->sum = &run->kinds[book->kind];
	if (!run->options->by->kinds && book->kind != KMT_KIND_PAGES)
		book->ledger->sum = &run->kinds[KMT_KIND_SLAB];
}

/* How many there were says all that does not depend on their order. */
static inline void plain_step(KmtLotBook *book, const KmtItem *item)
{
	guint is_alloc = item->op & 1;
	guint64 change = book->changes[is_alloc];
	KmtLedger *l = book->ledger, *kind = l->sum;

	book->records[is_alloc]++;
	if (l->epoch != kind->epoch) {
		l->epoch = kind->epoch;
		l->at_peak = l->live;
	}
	kmt_ledger_change(l, item->op, change, item->now);
	if (kmt_ledger_change(kind, item->op, change, item->now))
		kind->epoch++;
	if (kmt_ledger_change(kind->sum, item->op, change, item->now))
		kind->sum->epoch++;
	if (G_UNLIKELY(item->born_file != item->file || item->remote)) {
		l->cross_cpu_frees += item->born_file != item->file;
		l->remote_node_allocs += item->remote;
	}
}

void kmt_plain_steps(KmtBooks *run, const KmtMatched *matched, guint from,
		     guint to)
{
	guint i;

	for (; run->n_plain < matched->n_lots; run->n_plain++)
		kmt_books_lot(run, run->n_plain);
	for (i = from; i < to; i++) {
		const KmtItem *item = matched->items[i];

		if (G_LIKELY(item->op != KMT_STEP_NONE))
			plain_step(&run->lots[item->lot], item);
		else if (item->event->event_id == KMEMTRACE_EVENT_FREE)
			run->free_records[item->type]++;
	}
}

/* n times bytes more.  Returns whether that is above 2^64 - 1. */
static gboolean add_times(guint64 *sum, guint64 n, guint64 bytes)
{
	guint64 product;
	gboolean over = __builtin_mul_overflow(n, bytes, &product);

	return __builtin_add_overflow(*sum, product, sum) || over;
}

void kmt_plain_groups(KmtBooks *run)
{
	KmtAggregate *aggregate = run->aggregate;
	guint32 i;

	for (i = 0; i < run->n_lots; i++) {
		const KmtLotBook *book = &run->lots[i];
		guint64 frees = book->records[0], allocs = book->records[1];
		KmtLedger *l = book->ledger;

		if (!l)
			continue;
		l->frees += frees;
		l->allocs += allocs;
		l->closed_req += frees * book->bytes_req;
		aggregate->overflowed |=
			add_times(&l->bytes_req, allocs, book->bytes_req) |
			add_times(&l->bytes_alloc, allocs, book->bytes_alloc);
		if (book->bytes_alloc < book->bytes_req)
			aggregate->short_allocs += allocs;
	}
}

void kmt_plain_kinds(KmtBooks *run)
{
	KmtAggregate *aggregate = run->aggregate;
	KmtGroups *groups = aggregate->groups;
	guint32 i;

	for (i = 0; i < KMT_N_KINDS; i++) {
		KmtTotals *t = &aggregate->kinds[i];

		*t = (KmtTotals){.peak_bytes_alloc = run->kinds[i].peak,
				 .peak_timestamp =
					 run->kinds[i].peak_timestamp};
	}
	for (i = 0; i < groups->n_groups; i++) {
		const KmtGroup *group = &groups->groups[i];

		aggregate->overflowed |= kmt_totals_add(
			&aggregate->kinds[group->kind], &group->totals);
	}
	for (i = 0; i < KMT_KIND_SLAB; i++) {
		KmtTotals *t = &aggregate->kinds[i];

		t->frees += run->free_records[i] - run->extra_frees[i];
		if (i != KMT_KIND_PAGES)
			aggregate->overflowed |= kmt_totals_add(
				&aggregate->kinds[KMT_KIND_SLAB], t);
	}
}
