// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/accounting.h"

#include <string.h>

void kmt_books_add(KmtBooks *books, guint32 lot)
{
	KmtAggregate *aggregate = books->aggregate;
	KmtMatchSize bytes = kmt_match_keys_size_of_class(aggregate->keys, lot);
	KmtMatchKey cell = kmt_match_keys_of_class(aggregate->keys, lot);
	KmtLotBook *book;

	if (lot >= books->n_lot_books) {
		guint32 n = MAX(1024, books->n_lot_books);

		while (n <= lot)
			n += n / 4;
		books->lot_books = g_renew(KmtLotBook, books->lot_books, n);
		memset(books->lot_books + books->n_lot_books, 0,
		       (n - books->n_lot_books) * sizeof(KmtLotBook));
		books->n_lot_books = n;
	}
	book = &books->lot_books[lot];
	book->known = TRUE;
	book->bytes_req = bytes.req;
	book->bytes_alloc = bytes.alloc;
	book->kind = cell.type;
	book->group = kmt_groups_get(aggregate->groups, lot);
	if (book->group == KMT_NO_GROUP)
		return;
	book->ledger = kmt_groups_ledger(aggregate->groups, book->group);
	book->ledger->sum = &books->kinds[book->kind];
	if (!books->options->by->kinds && kmt_kind_is_slab(book->kind))
		book->ledger->sum = &books->kinds[KMT_KIND_SLAB];
}

/* How many there were says all that does not depend on their order. */
static inline void plain_step(KmtLotBook *book, const KmtMatchEvent *item)
{
	guint is_alloc = item->op & 1;
	guint64 change = is_alloc ? book->bytes_alloc : -book->bytes_alloc;
	KmtLedger *l = book->ledger, *kind = l->sum, *sum = kind->sum;

	book->records[is_alloc]++;
	kmt_ledger_before(l);
	kmt_ledger_change(l, !is_alloc, change, item->now);
	if (kmt_ledger_change(kind, !is_alloc, change, item->now))
		kind->epoch++;
	if (kmt_ledger_change(sum, !is_alloc, change, item->now))
		sum->epoch++;
	l->cross_cpu_frees += item->cross;
	if (G_UNLIKELY(item->remote))
		l->remote_node_allocs++;
}

void kmt_plain_steps(KmtBooks *books, const KmtMatchedBlock *matched,
		     guint from, guint to)
{
	KmtMatchEvent *const *items = matched->items;
	KmtLotBook *lot_books;
	guint i;

	for (; books->n_plain < matched->n_classes; books->n_plain++)
		kmt_books_lot(books, books->n_plain);
	lot_books = books->lot_books;
	for (i = from; i < to; i++) {
		const KmtMatchEvent *item = items[i];

		if (G_LIKELY(item->op != KMT_MATCH_STEP_NONE))
			plain_step(&lot_books[item->class_id], item);
		else if (item->event->event_id == KMEMTRACE_EVENT_FREE)
			books->free_records[item->type]++;
	}
}

/* n times bytes more.  Returns whether that is above 2^64 - 1. */
static gboolean add_times(guint64 *sum, guint64 n, guint64 bytes)
{
	guint64 product;
	gboolean over = __builtin_mul_overflow(n, bytes, &product);

	return __builtin_add_overflow(*sum, product, sum) || over;
}

void kmt_plain_groups(KmtBooks *books)
{
	KmtAggregate *aggregate = books->aggregate;
	guint32 i;

	for (i = 0; i < books->n_lot_books; i++) {
		const KmtLotBook *book = &books->lot_books[i];
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

void kmt_plain_kinds(KmtBooks *books)
{
	KmtAggregate *aggregate = books->aggregate;
	KmtGroups *groups = aggregate->groups;
	guint32 i;

	for (i = 0; i < KMT_N_KINDS; i++) {
		KmtTotals *t = &aggregate->kinds[i];

		*t = (KmtTotals){.peak_bytes_alloc = books->kinds[i].peak,
				 .peak_timestamp =
					 books->kinds[i].peak_timestamp};
	}
	for (i = 0; i < groups->n_groups; i++) {
		const KmtGroup *group = kmt_groups_at(groups, i);

		aggregate->overflowed |= kmt_totals_add(
			&aggregate->kinds[group->kind], &group->totals);
	}
	for (i = 0; i < KMT_KIND_SLAB; i++) {
		KmtTotals *t = &aggregate->kinds[i];

		t->frees += books->free_records[i] - books->extra_frees[i];
		if (kmt_kind_is_slab(i))
			aggregate->overflowed |= kmt_totals_add(
				&aggregate->kinds[KMT_KIND_SLAB], t);
	}
}
