// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/books.h"

#include <string.h>

/* Sizes that only damaged records have: what is summed of them may overflow. */
#define HUGE_BYTES (G_GUINT64_CONSTANT(1) << 40)

static void note_sizes(KmtBooks *run, guint32 size)
{
	const KmtIntern *sizes = run->aggregate->cells->sizes;

	for (; run->n_sizes <= size; run->n_sizes++) {
		const KmtPair *bytes = kmt_intern_at(sizes, run->n_sizes);

		run->odd_sizes |= bytes->word[0] >= HUGE_BYTES ||
				  bytes->word[1] >= HUGE_BYTES ||
				  bytes->word[1] < bytes->word[0];
	}
}

static void add_ref(KmtBooks *run, guint32 cell, guint32 size)
{
	KmtGroups *groups = run->aggregate->groups;
	guint32 group = kmt_groups_get(groups, cell, size);
	KmtKind kind = groups->groups[group].kind;

	if (cell >= run->n_refs) {
		guint32 n = MAX(1024, run->n_refs);

		while (n <= cell)
			n *= 2;
		run->refs = g_renew(KmtCellRef, run->refs, n);
		memset(run->refs + run->n_refs, 0,
		       (n - run->n_refs) * sizeof(KmtCellRef));
		run->n_refs = n;
	}
	/* Pages have no sum with others; what is kept in place is not used. */
	run->refs[cell] = (KmtCellRef){
		.ledger = kmt_groups_ledger(groups, group),
		.kind = &run->kinds[kind],
		.sum = &run->kinds[kind == KMT_KIND_PAGES ? KMT_N_KINDS
							  : KMT_KIND_SLAB],
	};
}

static void odd_size(const KmtBooks *run, const KmtLedger *l,
		     const KmtPair *bytes)
{
	run->aggregate->overflowed |= l->bytes_req < bytes->word[0] ||
				      l->bytes_alloc < bytes->word[1];
	run->aggregate->short_allocs += bytes->word[1] < bytes->word[0];
}

/* One that needs something else first.  FALSE: nothing is to be done. */
static gboolean plain_unknown(KmtBooks *run, const KmtStep *step,
			      const KmtRawEvent *event)
{
	if (step->op == KMT_STEP_NONE) {
		if (event->event_id == KMEMTRACE_EVENT_FREE)
			run->free_records[event->type_id]++;
		return FALSE;
	}
	if (step->cell >= run->n_refs || !run->refs[step->cell].ledger)
		add_ref(run, step->cell, step->size);
	if (step->size >= run->n_sizes)
		note_sizes(run, step->size);
	return TRUE;
}

/* What only few have: another CPU, another node, an odd size. */
static void plain_rest(const KmtBooks *run, const KmtStep *step, guint16 file,
		       KmtLedger *l, const KmtPair *bytes)
{
	l->cross_cpu_frees += step->file != file;
	l->remote_node_allocs += step->remote;
	if (run->odd_sizes && step->op == KMT_STEP_ALLOC)
		odd_size(run, l, bytes);
}

void kmt_plain_steps(KmtBooks *run, const KmtMatched *matched, guint from,
		     guint to)
{
	KmtPair *const *chunks = run->sizes->chunks;
	const KmtCellRef *refs = run->refs;
	guint32 n_refs = run->n_refs, n_sizes = run->n_sizes;
	gboolean odd_sizes = run->odd_sizes;
	guint i;

	for (i = from; i < to; i++) {
		const KmtItem *item = &matched->records->items[i];
		const KmtStep *step = &item->step;
		guint64 is_alloc = step->op == KMT_STEP_ALLOC, frees, change;
		gint64 now = item->now;
		const KmtPair *bytes;
		const KmtCellRef *ref;
		KmtLedger *l;

		if (G_UNLIKELY(step->op == KMT_STEP_NONE ||
			       step->cell >= n_refs || step->size >= n_sizes ||
			       !refs[step->cell].ledger)) {
			if (!plain_unknown(run, step, item->event))
				continue;
			refs = run->refs;
			n_refs = run->n_refs;
			n_sizes = run->n_sizes;
			odd_sizes = run->odd_sizes;
		}
		ref = &refs[step->cell];
		bytes = &chunks[step->size >> KMT_INTERN_CHUNK_BITS]
			       [step->size % KMT_INTERN_CHUNK];
		l = ref->ledger;
		if (l->epoch != ref->kind->epoch) {
			l->epoch = ref->kind->epoch;
			l->at_peak = l->live;
		}
		frees = is_alloc - 1; /* all bits, or none */
		change = (bytes->word[1] ^ frees) - frees;
		kmt_ledger_step(l, is_alloc, bytes->word[0], bytes->word[1]);
		kmt_ledger_change(l, is_alloc, change, now);
		if (kmt_ledger_change(ref->kind, is_alloc, change, now))
			ref->kind->epoch++;
		if (kmt_ledger_change(ref->sum, is_alloc, change, now))
			ref->sum->epoch++;
		if (G_UNLIKELY(step->file != item->file || step->remote ||
			       odd_sizes))
			plain_rest(run, step, item->file, l, bytes);
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
