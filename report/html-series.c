// SPDX-License-Identifier: GPL-2.0-or-later
/* The figures by window of time of the HTML report. */
#include "config.h"

#include "report/html-private.h"

#include <stdlib.h>
#include <string.h>

#define DIRECTORIES_ALLOWANCE 150000
/* Limit of the directories that are summed, and of those that are shown. */
#define MAX_DIRECTORIES 4096
#define MAX_SHOWN	40

/*
 * Add a series to the figures of windows. live holds differences to the window
 * before; end_live() sums them.
 */
static void sum_series(KmtHtmlWindows *sum, const KmtSeries *series)
{
	guint64 live = series->n ? series->first_live : series->live;
	guint i;

	sum->live[0] += live;
	for (i = 0; i < series->n; i++) {
		const KmtSeriesEntry *e = &series->entries[i];

		sum->live[e->window] += e->live - live;
		live = e->live;
		sum->allocs[e->window] += e->allocs;
		sum->frees[e->window] += e->frees;
		sum->bytes_req[e->window] += e->bytes_req;
		sum->bytes_alloc[e->window] += e->bytes_alloc;
	}
}

static void end_live(guint64 *live, guint n)
{
	guint i;

	for (i = 1; i < n; i++)
		live[i] += live[i - 1];
}

static void add_array(KmtHtmlReport *html, const char *key,
		      const guint64 *values, gboolean scaled)
{
	guint i;

	kmt_html_begin(html->data, key, '[');
	for (i = 0; i < html->n_windows; i++)
		kmt_html_u64(html->data, NULL,
			     scaled ? kmt_html_scaled(html, values[i])
				    : values[i]);
	kmt_html_end(html->data, ']');
}

/* ---- kinds ---- */

/* Without a filter, frees are all FREE records of the kind. */
static void replace_frees(const KmtHtmlReport *html, KmtKind kind,
			  KmtHtmlWindows *sum)
{
	const KmtHistory *history = html->report->aggregate->history;
	KmtHtmlWindows records = {0};

	if (kmt_report_has_filter(html->report))
		return;
	sum_series(&records, &history->free_records[kind]);
	memcpy(sum->frees, records.frees, sizeof(sum->frees));
}

static void add_kind(KmtHtmlReport *html, KmtKind kind)
{
	const KmtAggregate *aggregate = html->report->aggregate;
	gboolean has_filter = kmt_report_has_filter(html->report);
	g_autofree KmtHtmlWindows *sum = g_new0(KmtHtmlWindows, 1);
	guint32 i;

	sum_series(sum, &aggregate->history->rest[kind]);
	for (i = 0; i < aggregate->groups->n_groups; i++) {
		const KmtSeries *series =
			kmt_history_series(aggregate->history, i);

		if (series && series->kind == kind)
			sum_series(sum, series);
	}
	end_live(sum->live, html->n_windows);
	replace_frees(html, kind, sum);
	kmt_html_begin(html->data, NULL, '{');
	add_array(html, "live", sum->live, TRUE);
	add_array(html, "allocs", sum->allocs, TRUE);
	add_array(html, "frees", sum->frees, has_filter);
	add_array(html, "requested", sum->bytes_req, TRUE);
	add_array(html, "allocated", sum->bytes_alloc, TRUE);
	kmt_html_end(html->data, '}');
}

/* ---- call sites ---- */

static void add_entries(KmtHtmlReport *html, const KmtSeries *series)
{
	KmtHtmlData *data = html->data;
	guint i;

	kmt_html_begin(data, NULL, '[');
	kmt_html_u64(data, NULL,
		     kmt_html_scaled(html, series->n ? series->first_live
						     : series->live));
	for (i = 0; i < series->n; i++) {
		const KmtSeriesEntry *e = &series->entries[i];

		kmt_html_u64(data, NULL, e->window);
		kmt_html_u64(data, NULL, kmt_html_scaled(html, e->live));
		kmt_html_u64(data, NULL, kmt_html_scaled(html, e->allocs));
		kmt_html_u64(data, NULL, kmt_html_scaled(html, e->frees));
		kmt_html_u64(data, NULL, kmt_html_scaled(html, e->bytes_req));
		kmt_html_u64(data, NULL, kmt_html_scaled(html, e->bytes_alloc));
	}
	kmt_html_end(data, ']');
}

/* Add the series of the call sites that fit, null for the others. Return the
 * number of the others. */
static guint32 add_sites(KmtHtmlReport *html)
{
	const KmtHistory *history = html->report->aggregate->history;
	guint32 i, n_null = 0;

	kmt_html_begin(html->data, "sites", '[');
	kmt_html_allow(html->data, G_MAXSIZE / 2);
	for (i = 0; i < html->n_sites; i++) {
		const KmtSeries *series =
			kmt_history_series(history, html->groups[i]);

		kmt_html_begin_element(html->data);
		if (series) {
			add_entries(html, series);
			if (kmt_html_fits(html->data))
				continue;
		}
		kmt_html_null(html->data, NULL);
		n_null++;
	}
	kmt_html_end(html->data, ']');
	return n_null;
}

/* ---- directories ---- */

/* The live bytes of a directory. */
typedef struct {
	const char *name;
	KmtKind kind;
	guint64 largest; /* of live */
	guint64 live[KMT_HISTORY_MAX_WINDOWS];
} DirectorySeries;

static guint directory_hash(gconstpointer key)
{
	const DirectorySeries *directory = key;

	return g_str_hash(directory->name) * 31 + directory->kind;
}

static gboolean directory_equal(gconstpointer a, gconstpointer b)
{
	const DirectorySeries *x = a, *y = b;

	return x->kind == y->kind && strcmp(x->name, y->name) == 0;
}

static gint compare_directories(gconstpointer a, gconstpointer b)
{
	const DirectorySeries *x = *(const DirectorySeries *const *)a;
	const DirectorySeries *y = *(const DirectorySeries *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->largest != y->largest)
		return x->largest > y->largest ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void sum_directory(GHashTable *directories, const char *name,
			  const KmtSeries *series)
{
	DirectorySeries key = {.name = name, .kind = (KmtKind)series->kind};
	DirectorySeries *directory = g_hash_table_lookup(directories, &key);
	guint64 live = series->n ? series->first_live : series->live;
	guint i;

	if (!directory) {
		if (g_hash_table_size(directories) == MAX_DIRECTORIES)
			return;
		directory = g_memdup2(&key, sizeof(key));
		g_hash_table_add(directories, directory);
	}
	directory->live[0] += live;
	for (i = 0; i < series->n; i++) {
		const KmtSeriesEntry *e = &series->entries[i];

		directory->live[e->window] += e->live - live;
		live = e->live;
	}
}

/* Return the directories, the largest of each kind first. @directories owns
 * the elements, the caller owns the array. */
static GPtrArray *sorted_directories(const KmtHtmlReport *html,
				     GHashTable *directories)
{
	GPtrArray *list = g_ptr_array_new();
	GHashTableIter iter;
	gpointer key;
	guint i;

	g_hash_table_iter_init(&iter, directories);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		DirectorySeries *directory = key;

		end_live(directory->live, html->n_windows);
		for (i = 0; i < html->n_windows; i++)
			directory->largest =
				MAX(directory->largest, directory->live[i]);
		g_ptr_array_add(list, directory);
	}
	g_ptr_array_sort(list, compare_directories);
	return list;
}

static void add_directories(KmtHtmlReport *html)
{
	const KmtAggregate *aggregate = html->report->aggregate;
	g_autoptr(GHashTable) directories = g_hash_table_new_full(
		directory_hash, directory_equal, g_free, NULL);
	g_autoptr(GPtrArray) list = NULL;
	guint n_shown[KMT_N_KINDS] = {0};
	guint32 i;

	for (i = 0; i < aggregate->groups->n_groups; i++) {
		const KmtSeries *series =
			kmt_history_series(aggregate->history, i);

		if (series)
			sum_directory(directories, html->directories[i],
				      series);
	}
	list = sorted_directories(html, directories);
	kmt_html_begin(html->data, "dirs", '[');
	kmt_html_allow(html->data, DIRECTORIES_ALLOWANCE);
	for (i = 0; i < list->len; i++) {
		const DirectorySeries *directory = list->pdata[i];

		if (!directory->largest ||
		    n_shown[directory->kind]++ >= MAX_SHOWN)
			continue;
		kmt_html_begin_element(html->data);
		kmt_html_begin(html->data, NULL, '{');
		kmt_html_i64(html->data, "kind",
			     html->kind_index[directory->kind]);
		kmt_html_name(html->data, "name", directory->name);
		add_array(html, "live", directory->live, TRUE);
		kmt_html_end(html->data, '}');
		if (!kmt_html_fits(html->data))
			break;
	}
	kmt_html_end(html->data, ']');
}

/* Add all figures over time. Return the number of call sites without any. */
static guint32 add_windows(KmtHtmlReport *html)
{
	const KmtTimeline *timeline =
		&html->report->aggregate->history->timeline;
	guint32 n_null;
	guint i;

	kmt_html_begin(html->data, "windows", '{');
	kmt_html_u64(html->data, "n", html->n_windows);
	kmt_html_u64(html->data, "width_ns",
		     G_GUINT64_CONSTANT(1) << timeline->shift);
	kmt_html_i64(html->data, "start_ns", html->report->span->start);
	kmt_html_end(html->data, '}');
	kmt_html_begin(html->data, "series", '{');
	kmt_html_begin(html->data, "kinds", '[');
	for (i = 0; i < html->n_kinds; i++)
		add_kind(html, html->kinds[i]);
	kmt_html_end(html->data, ']');
	add_directories(html);
	n_null = add_sites(html);
	kmt_html_end(html->data, '}');
	return n_null;
}

void kmt_html_add_series(KmtHtmlReport *html)
{
	KmtHistory *history = html->report->aggregate->history;
	gsize start = html->data->text->len;
	guint32 n_null = add_windows(html);

	/* Figures of all call sites are worth more than narrow windows. */
	if (n_null > history->n_shared &&
	    html->n_windows > KMT_HISTORY_MAX_WINDOWS / 2) {
		kmt_history_double(history);
		html->n_windows = history->timeline.window + 1;
		g_string_truncate(html->data->text, start);
		n_null = add_windows(html);
	}
	if (n_null)
		kmt_html_cut(
			html->data,
			"%u of the %u call sites have no figures over "
			"time: a selected time span shows them as unknown.",
			n_null, html->n_sites);
	if (history->n_shared)
		kmt_html_cut(html->data,
			     "%u call sites with little memory have no figures "
			     "over time and are no leak candidates.",
			     history->n_shared);
}
