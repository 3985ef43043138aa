// SPDX-License-Identifier: GPL-2.0-or-later
/* The windows and limits of KmtHistory, with small limits. */
#include "config.h"

#include "report/history.h"

#define GROUPS 100
#define EVENTS 20000
#define KINDS  2

/* The events of a test, for a direct computation. */
typedef struct {
	guint64 allocs[KINDS], frees[KINDS], bytes[KINDS], live[KINDS];
	GArray *times[KINDS]; /* gint64: time of each allocation */
} Sums;

/* Make a random capture in which some groups hold little memory. */
static void run(KmtHistory *history, GRand *rand, Sums *sums, gint64 pace)
{
	guint64 live[GROUPS] = {0};
	gint64 now = -5;
	guint i;

	kmt_history_begin(history, now);
	for (i = 0; i < EVENTS; i++) {
		guint32 group = (guint32)g_rand_int_range(rand, 0, GROUPS);
		const KmtHistoryEvent event = {.class_id = group,
					       .group = group,
					       .kind = group % KINDS,
					       .bytes_req = group,
					       .bytes_alloc = group + 1,
					       .inside = TRUE};

		now += g_rand_int_range(rand, 0, (gint32)pace);
		if (now > history->timeline.end)
			kmt_timeline_advance(&history->timeline, now);
		if (live[group] && g_rand_boolean(rand)) {
			kmt_history_close(history, &event);
			kmt_history_free_object(history, group, event.kind, 0,
						0, i % 50);
			live[group]--;
			sums->frees[event.kind]++;
			sums->live[event.kind] -= event.bytes_alloc;
			continue;
		}
		kmt_history_alloc(history, &event);
		live[group]++;
		sums->allocs[event.kind]++;
		sums->bytes[event.kind] += event.bytes_alloc;
		sums->live[event.kind] += event.bytes_alloc;
		g_array_append_val(sums->times[event.kind], now);
	}
}

/* Add the allocations of a series by window, and its sums. */
static void add(const KmtSeries *series, guint64 *allocs, Sums *sums)
{
	guint i;

	for (i = 0; i < series->n; i++) {
		const KmtSeriesEntry *e = &series->entries[i];

		g_assert_cmpuint(e->window, <, KMT_HISTORY_MAX_WINDOWS);
		g_assert_true(!i || e->window > series->entries[i - 1].window);
		allocs[e->window] += e->allocs;
		sums->allocs[series->kind] += e->allocs;
		sums->frees[series->kind] += e->frees;
		sums->bytes[series->kind] += e->bytes_alloc;
	}
	sums->live[series->kind] += series->live;
	if (series->n)
		g_assert_cmpuint(series->entries[series->n - 1].live, ==,
				 series->live);
}

static void check(KmtHistory *history, const Sums *expected)
{
	const KmtTimeline *t = &history->timeline;
	guint64 allocs[KINDS][KMT_HISTORY_MAX_WINDOWS] = {{0}};
	Sums sums = {0};
	guint32 i, n_shared = 0;
	guint kind;

	for (i = 0; i < GROUPS; i++) {
		const KmtSeries *series = kmt_history_series(history, i);

		n_shared += !series;
		if (series)
			add(series, allocs[i % KINDS], &sums);
	}
	g_assert_cmpuint(n_shared, ==, history->n_shared);
	for (kind = 0; kind < KINDS; kind++) {
		add(&history->rest[kind], allocs[kind], &sums);
		g_assert_cmpuint(sums.allocs[kind], ==, expected->allocs[kind]);
		g_assert_cmpuint(sums.frees[kind], ==, expected->frees[kind]);
		g_assert_cmpuint(sums.bytes[kind], ==, expected->bytes[kind]);
		g_assert_cmpuint(sums.live[kind], ==, expected->live[kind]);
		for (i = 0; i < expected->times[kind]->len; i++)
			allocs[kind][(g_array_index(expected->times[kind],
						    gint64, i) -
				      t->start) >>
				     t->shift]--;
		for (i = 0; i < KMT_HISTORY_MAX_WINDOWS; i++)
			g_assert_cmpuint(allocs[kind][i], ==, 0);
	}
}

static void test_limits(void)
{
	static const gint64 paces[] = {2, 100, G_MAXINT32};
	const guint64 epochs[KMT_N_KINDS] = {0};
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);
	guint i, kind;

	for (i = 0; i < G_N_ELEMENTS(paces); i++) {
		g_autoptr(KmtHistory) history = kmt_history_new(1);
		Sums sums = {0};
		guint64 pairs = history->unpaired;
		guint32 slot;

		for (kind = 0; kind < KINDS; kind++)
			sums.times[kind] =
				g_array_new(FALSE, FALSE, sizeof(gint64));
		run(history, rand, &sums, paces[i]);
		kmt_history_finish(history, epochs);
		check(history, &sums);
		g_assert_cmpuint(history->n_entries, <=,
				 2 * KMT_HISTORY_MAX_ENTRIES);
		g_assert_cmpuint(history->n_shared, >, 0);
		g_assert_cmpuint(history->timeline.window, >=,
				 KMT_HISTORY_MAX_WINDOWS / 2 - 1);
		kmt_history_double(history);
		check(history, &sums);
		g_assert_cmpuint(history->n_pairs, ==, KMT_HISTORY_MAX_PAIRS);
		pairs = history->unpaired;
		for (slot = 0; slot < history->n_slots; slot++)
			pairs += history->pairs[slot].frees;
		g_assert_cmpuint(pairs, ==, sums.frees[0] + sums.frees[1]);
		g_assert_cmpuint(history->matrix[0], ==, pairs);
		for (kind = 0; kind < KINDS; kind++)
			g_array_unref(sums.times[kind]);
	}
}

/* The largest distance of two times fits into the windows. */
static void test_extremes(void)
{
	KmtTimeline timeline;

	kmt_timeline_begin(&timeline, G_MININT64);
	kmt_timeline_advance(&timeline, G_MAXINT64);
	g_assert_cmpuint(timeline.window, <, KMT_HISTORY_MAX_WINDOWS);
	g_assert_cmpint(timeline.end, ==, G_MAXINT64);
	kmt_timeline_begin(&timeline, G_MAXINT64);
	g_assert_cmpint(timeline.end, ==, G_MAXINT64);
	g_assert_cmpuint(timeline.window, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/history/limits", test_limits);
	g_test_add_func("/history/extremes", test_extremes);
	return g_test_run();
}
