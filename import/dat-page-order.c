// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/dat-page-order.h"

/*
 * Maximum decrease, in ns, of the time from one event of a CPU to the next that
 * is not regarded as damage. An unstable clock causes such a decrease.
 */
#define TOLERANCE_NS 1000000

#define NONE G_MAXUINT

static gboolean is_after(gint64 a, gint64 b)
{
	/* Subtract as unsigned: the difference may exceed gint64. */
	return a > b && (guint64)a - (guint64)b > TOLERANCE_NS;
}

static KmtDatPageTime *page_at(const GArray *times, guint i)
{
	return &g_array_index(times, KmtDatPageTime, i);
}

/* Return the index of the first intact page at or after i, or NONE. */
static guint next_intact(const GArray *times, guint i)
{
	while (i < times->len && !page_at(times, i)->intact)
		i++;
	return i < times->len ? i : NONE;
}

static gboolean is_ordered(const GArray *times)
{
	gint64 last = G_MININT64;

	for (guint i = next_intact(times, 0); i != NONE;
	     i = next_intact(times, i + 1)) {
		const KmtDatPageTime *page = page_at(times, i);

		if (is_after(last, page->first) ||
		    is_after(page->first, page->last))
			return FALSE;
		last = page->last;
	}
	return TRUE;
}

/*
 * ends has the indices of n pages, sorted by the time of their first events.
 * Return the number of these pages whose first event is not later than first.
 */
static guint find_length(const GArray *times, const guint *ends, guint n,
			 gint64 first)
{
	guint low = 0;

	while (low < n) {
		guint middle = low + (n - low) / 2;

		if (page_at(times, ends[middle])->first <= first)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/*
 * Return the index of the page with which a chain begins. The arguments are the
 * indices of the first two pages of the chain as mark_chain() found them. Of
 * the intact pages that precede page second in the file and whose first event
 * is not later than that of page second, the function returns the page with the
 * latest first event. Without this choice, a damaged page with a far too early
 * time could begin the chain.
 */
static guint find_chain_start(const GArray *times, guint first, guint second)
{
	gint64 limit = page_at(times, second)->first;

	for (guint i = next_intact(times, 0); i < second;
	     i = next_intact(times, i + 1))
		if (page_at(times, i)->first <= limit &&
		    page_at(times, i)->first > page_at(times, first)->first)
			first = i;
	return first;
}

/*
 * Set in_chain[i] for each page i of the longest chain: a subsequence, in file
 * order, of intact pages in which the time of the first event does not
 * decrease. ends[k] is the last page of the chain of k + 1 pages that ends
 * earliest; before[i] is the page before page i in its chain.
 */
static void mark_chain(const GArray *times, gboolean *in_chain)
{
	g_autofree guint *ends = g_new(guint, times->len);
	g_autofree guint *before = g_new(guint, times->len);
	guint n = 0;

	for (guint i = next_intact(times, 0); i != NONE;
	     i = next_intact(times, i + 1)) {
		guint length =
			find_length(times, ends, n, page_at(times, i)->first);

		before[i] = length ? ends[length - 1] : NONE;
		ends[length] = i;
		n = MAX(n, length + 1);
	}
	for (guint i = n ? ends[n - 1] : NONE; i != NONE; i = before[i]) {
		in_chain[i] = TRUE;
		if (before[i] != NONE && before[before[i]] == NONE)
			before[i] = find_chain_start(times, before[i], i);
	}
}

/*
 * For each page i, set limits[i] to the time of the first event of the next
 * page after page i that is in the chain, or to G_MAXINT64 if there is no such
 * page.
 */
static void find_limits(const GArray *times, const gboolean *in_chain,
			gint64 *limits)
{
	gint64 limit = G_MAXINT64;

	for (guint i = times->len; i-- > 0;) {
		limits[i] = limit;
		if (in_chain[i])
			limit = page_at(times, i)->first;
	}
}

void kmt_dat_order_check(GArray *times)
{
	g_autofree gboolean *in_chain = NULL;
	g_autofree gint64 *limits = NULL;
	gint64 last = G_MININT64;

	if (is_ordered(times))
		return;
	in_chain = g_new0(gboolean, times->len);
	limits = g_new(gint64, times->len);
	mark_chain(times, in_chain);
	find_limits(times, in_chain, limits);
	for (guint i = next_intact(times, 0); i != NONE;
	     i = next_intact(times, i + 1)) {
		KmtDatPageTime *page = page_at(times, i);

		page->intact = !is_after(last, page->first) &&
			       !is_after(page->first, page->last) &&
			       !is_after(page->last, limits[i]);
		if (page->intact)
			last = page->last;
	}
}
