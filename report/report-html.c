// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The HTML report: the page that the build assembled, with the data of the
 * capture. report/html/data-format.md specifies the data.
 */
#include "config.h"

#include "report/html-private.h"
#include "report/report-html.h"

#include <stdlib.h>
#include <string.h>

/* Limit of the file, and bytes of it for parts without an allowance. */
#define MAX_BYTES   5000000
#define OTHER_BYTES 60000
/* Bytes that are kept for the figures over time. */
#define SERIES_BYTES 500000
#define MAX_LEAKS    200

/* ---- preparation ---- */

static void set_kinds(KmtHtmlReport *html)
{
	guint i;

	for (i = 0; i < KMT_N_KINDS; i++) {
		html->kind_index[i] = -1;
		if (i == KMT_KIND_SLAB ||
		    !kmt_report_can_have_kind(html->report, (KmtKind)i))
			continue;
		html->kind_index[i] = (gint)html->n_kinds;
		html->kinds[html->n_kinds++] = (KmtKind)i;
	}
}

static double ratio(guint64 part, guint64 sum)
{
	return sum ? (double)part / (double)sum : 0;
}

/* Return the largest share of a group in a figure of its kind. */
static double relevance(const KmtHtmlReport *html, const KmtGroup *group)
{
	const KmtTotals *t = &group->totals;
	const KmtTotals *all = &html->report->aggregate->kinds[group->kind];
	double largest = MAX(ratio(t->bytes_alloc, all->bytes_alloc),
			     ratio(t->live_bytes_alloc, all->live_bytes_alloc));

	largest = MAX(largest, ratio(t->allocs, all->allocs));
	largest = MAX(largest, ratio(t->cross_cpu_frees, all->cross_cpu_frees));
	if (t->bytes_alloc > t->bytes_req && all->bytes_alloc > all->bytes_req)
		largest =
			MAX(largest, ratio(t->bytes_alloc - t->bytes_req,
					   all->bytes_alloc - all->bytes_req));
	return largest;
}

typedef struct {
	double relevance;
	guint32 group;
} RankedGroup;

static int compare_ranked(gconstpointer a, gconstpointer b, gpointer user)
{
	const KmtGroups *groups = user;
	const RankedGroup *x = a, *y = b;
	int order;

	if (x->relevance != y->relevance)
		return x->relevance > y->relevance ? -1 : 1;
	order = kmt_groups_compare(groups, kmt_groups_at(groups, x->group),
				   kmt_groups_at(groups, y->group));
	return order ? order
		     : (int)kmt_groups_at(groups, x->group)->kind -
			       (int)kmt_groups_at(groups, y->group)->kind;
}

/* Return whether a group is among the leaks. */
static gboolean is_leak(const KmtHtmlReport *html, const KmtGroup *group)
{
	guint i;

	for (i = 0; i < html->leaks->len; i++)
		if (g_array_index(html->leaks, KmtLeak, i).group == group)
			return TRUE;
	return FALSE;
}

/* Sort the selected groups by relevance; leaks come first. */
static void rank_groups(KmtHtmlReport *html)
{
	const KmtGroups *groups = html->report->aggregate->groups;
	g_autofree RankedGroup *ranked =
		g_new(RankedGroup, MAX(1, groups->n_groups));
	guint32 n = 0, i;

	for (i = 0; i < groups->n_groups; i++) {
		const KmtGroup *group = kmt_groups_at(groups, i);

		if (!kmt_report_is_selected(group, html->report))
			continue;
		ranked[n++] = (RankedGroup){
			relevance(html, group) + is_leak(html, group), i};
	}
	g_qsort_with_data(ranked, (gint)n, sizeof(*ranked), compare_ranked,
			  (gpointer)groups);
	html->n_groups = n;
	html->groups = g_new(guint32, MAX(1, n));
	html->site_of = g_new(gint32, MAX(1, groups->n_groups));
	for (i = 0; i < groups->n_groups; i++)
		html->site_of[i] = -1;
	for (i = 0; i < n; i++)
		html->groups[i] = ranked[i].group;
}

/* Set the directory of each group: the source directory or, if it is unknown,
 * the module. */
static void set_directories(KmtHtmlReport *html)
{
	const KmtSymbolizer *symbolizer = html->report->symbolizer;
	guint32 n = html->report->aggregate->groups->n_groups, i;

	html->texts = g_string_chunk_new(4096);
	html->directories = g_new(char *, MAX(1, n));
	for (i = 0; i < n; i++) {
		KmtSymSite site = kmt_html_group_site(html, i);
		const char *directory =
			kmt_symbolizer_directory(symbolizer, &site);
		g_autofree char *module = NULL;
		KmtSymbol symbol;

		if (!directory &&
		    kmt_symbolizer_symbol(symbolizer, &site, &symbol))
			directory = module =
				symbol.module
					? g_strdup_printf("[%s]", symbol.module)
					: g_strdup("vmlinux");
		html->directories[i] = g_string_chunk_insert_const(
			html->texts, directory ? directory : "(unknown)");
	}
}

/* Sort the classes by group. */
static void sort_classes(KmtHtmlReport *html)
{
	const KmtHistory *history = html->report->aggregate->history;
	guint32 n = html->report->aggregate->groups->n_groups, i;
	g_autofree guint32 *next = g_new(guint32, n + 1);

	html->class_start = g_new0(guint32, n + 2);
	for (i = 0; i < history->n_classes; i++)
		if (kmt_html_group_of_class(html, i) != KMT_NO_GROUP)
			html->class_start[kmt_html_group_of_class(html, i) +
					  1]++;
	for (i = 0; i < n; i++)
		html->class_start[i + 1] += html->class_start[i];
	memcpy(next, html->class_start, n * sizeof(*next));
	html->classes = g_new(guint32, MAX(1, html->class_start[n]));
	for (i = 0; i < history->n_classes; i++)
		if (kmt_html_group_of_class(html, i) != KMT_NO_GROUP)
			html->classes[next[kmt_html_group_of_class(html,
								   i)]++] = i;
}

static void html_init(KmtHtmlReport *html, const KmtReport *report,
		      const KmtDiff *diff)
{
	const KmtAggregate *aggregate = report->aggregate;

	*html = (KmtHtmlReport){.report = report, .diff = diff};
	html->data = kmt_html_data_new();
	if (aggregate->history->timeline.has_begun)
		html->n_windows = aggregate->history->timeline.window + 1;
	set_kinds(html);
	html->leaks = kmt_leaks_find(aggregate, kmt_report_is_selected, report);
	if (html->leaks->len > MAX_LEAKS) {
		kmt_html_cut(html->data,
			     "The first %d of %u leak candidates are listed.",
			     MAX_LEAKS, html->leaks->len);
		g_array_set_size(html->leaks, MAX_LEAKS);
	}
	rank_groups(html);
	set_directories(html);
	sort_classes(html);
}

static void html_clear(KmtHtmlReport *html)
{
	kmt_html_data_free(html->data);
	g_array_unref(html->leaks);
	g_string_chunk_free(html->texts);
	g_free(html->directories);
	g_free(html->groups);
	g_free(html->site_of);
	g_free(html->class_start);
	g_free(html->classes);
}

/* ---- document ---- */

static void add_document(KmtHtmlReport *html, gsize max)
{
	KmtHtmlData *data = html->data;

	kmt_html_set_total(data, max - OTHER_BYTES - SERIES_BYTES);
	kmt_html_begin(data, NULL, '{');
	kmt_html_u64(data, "format", 1);
	kmt_html_text(data, "program", "kmemtrace-report " PACKAGE_VERSION);
	kmt_html_add_capture(html);
	kmt_html_add_trust(html);
	kmt_html_add_marks(html);
	kmt_html_add_comparison(html);
	kmt_html_add_kinds(html);
	kmt_html_add_lifetimes(html);
	kmt_html_add_heat(html);
	kmt_html_add_caches(html);
	kmt_html_add_findings(html);
	kmt_html_add_sites(html);
	kmt_html_add_leaks(html);
	kmt_html_add_trees(html);
	kmt_html_set_total(data, max - OTHER_BYTES);
	kmt_html_add_series(html);
	kmt_html_add_names(data);
	kmt_html_end(data, '}');
}

void kmt_report_html(const KmtReport *report, const KmtDiff *diff,
		     const KmtHtmlTemplate *template, FILE *out)
{
	KmtHtmlReport html;

	html_init(&html, report, diff);
	add_document(&html, MAX_BYTES - template->length);
	fwrite(template->text, 1, template->before, out);
	fputs("<script type=\"application/json\" id=\"kmt-data\">", out);
	fwrite(html.data->text->str, 1, html.data->text->len, out);
	fputs("</script>", out);
	fwrite(template->text + template->after, 1,
	       template->length - template->after, out);
	html_clear(&html);
}
