// SPDX-License-Identifier: GPL-2.0-or-later
/* The leak candidates and the findings of the HTML report. */
#include "config.h"

#include "report/columns.h"
#include "report/finding-texts.h"
#include "report/html-private.h"

#define ALLOWANCE 150000
/* Number of call sites of one finding. */
#define MAX_SITES 50

/* ---- leaks ---- */

/* Return why a group is a leak candidate, or why its growth is no leak. The
 * caller frees the string. */
static char *leak_text(const KmtLeak *leak)
{
	GString *text = g_string_new(NULL);
	g_autofree char *growth = kmt_format_number(leak->growth, TRUE);
	g_autofree char *objects = kmt_format_number(leak->in_use, TRUE);
	g_autofree char *frees = kmt_format_number(leak->frees, TRUE);
	g_autofree char *reused = kmt_format_number(leak->reused.integer, TRUE);
	g_autofree char *age = kmt_format_duration(leak->age_median);
	g_autofree char *life = kmt_format_duration(leak->lifetime_p99);

	g_string_printf(text,
			"grew in %u of %u windows, by %s bytes; holds %s "
			"objects, half of them for more than %s; ",
			leak->grown, leak->steps, growth, objects, age);
	if (leak->frees)
		g_string_append_printf(text,
				       "of the %s that were freed, 99 %% had "
				       "lived no more than %s",
				       frees, life);
	else
		g_string_append(text, "no free was recorded");
	if (leak->reused.integer)
		g_string_append_printf(text,
				       "; %s of its addresses were allocated "
				       "again without a recorded free",
				       reused);
	if (leak->doubt == KMT_LEAK_FREES_MISSING)
		g_string_append(text, ": its frees are not recorded, so this "
				      "is no sign of a leak");
	if (leak->doubt == KMT_LEAK_ALLOCATOR)
		g_string_append_printf(text,
				       "; an allocator keeps objects of %s in "
				       "it, which have call sites of their own",
				       kmt_kind_name(leak->objects));
	return g_string_free(text, FALSE);
}

static const char *doubt_name(KmtLeakDoubt doubt)
{
	switch (doubt) {
	case KMT_LEAK_ALLOCATOR:
		return "allocator";
	case KMT_LEAK_FREES_MISSING:
		return "frees_missing";
	case KMT_LEAK_LIKELY:
	default:
		return "none";
	}
}

/* Return the number of a group. */
static guint32 number_of(const KmtHtmlReport *html, const KmtGroup *group)
{
	const KmtGroups *groups = html->report->aggregate->groups;
	guint32 i;

	for (i = 0; i < groups->n_groups; i++)
		if (kmt_groups_at(groups, i) == group)
			return i;
	return KMT_NO_GROUP;
}

static void add_leak(KmtHtmlReport *html, const KmtLeak *leak)
{
	const KmtGroup *group = leak->group;
	guint32 number = number_of(html, group);
	KmtSymSite site = kmt_html_group_site(html, number);
	g_autofree char *name = kmt_html_site_name(html, &site);
	g_autofree char *text = leak_text(leak);
	KmtHtmlData *data = html->data;

	kmt_html_begin(data, NULL, '{');
	kmt_html_i64(data, "site", html->site_of[number]);
	kmt_html_name(data, "name", name);
	kmt_html_i64(data, "kind", html->kind_index[group->kind]);
	kmt_html_u64(data, "growth", leak->growth);
	kmt_html_u64(data, "first", group->detail->growth.first);
	kmt_html_u64(data, "last", group->detail->growth.last);
	kmt_html_u64(data, "windows", leak->steps);
	kmt_html_u64(data, "grown", leak->grown);
	kmt_html_u64(data, "live_objects", group->totals.live_objects);
	kmt_html_u64(data, "live", group->totals.live_bytes_alloc);
	kmt_html_u64(data, "frees", leak->frees);
	kmt_html_u64(data, "age_median_ns", leak->age_median);
	kmt_html_known_u64(data, "lifetime_p99_ns", leak->frees > 0,
			   leak->lifetime_p99);
	kmt_html_text(data, "doubt", doubt_name(leak->doubt));
	kmt_html_text(data, "text", text);
	kmt_html_end(data, '}');
}

void kmt_html_add_leaks(KmtHtmlReport *html)
{
	guint i;

	kmt_html_begin(html->data, "leaks", '[');
	for (i = 0; i < html->leaks->len; i++)
		add_leak(html, &g_array_index(html->leaks, KmtLeak, i));
	kmt_html_end(html->data, ']');
}

/* ---- findings ---- */

static void add_line(KmtHtmlReport *html, const KmtFindingLine *line)
{
	g_autofree char *text =
		g_strdup_printf("%" G_GUINT64_FORMAT " %s: %s", line->count,
				line->label, line->meaning);

	kmt_html_begin(html->data, NULL, '{');
	kmt_html_text(html->data, "level",
		      line->is_defect ? "warning" : "note");
	kmt_html_u64(html->data, "count", line->count);
	kmt_html_text(html->data, "text", text);
	kmt_html_begin(html->data, "sites", '[');
	kmt_html_end(html->data, ']');
	kmt_html_null(html->data, "sites_are");
	kmt_html_end(html->data, '}');
}

static void add_site(KmtHtmlReport *html, const KmtFindingSite *site)
{
	g_autofree char *name = kmt_html_site_name(html, &site->site);

	kmt_html_name(html->data, NULL, name);
}

/* Add the findings of a class by call site. */
static void add_sites(KmtHtmlReport *html, const KmtFindingText *text,
		      const GPtrArray *list)
{
	KmtHtmlData *data = html->data;
	g_autofree char *columns =
		g_strjoin(", ", text->count, text->first, text->second, NULL);
	guint64 count = 0;
	guint i;

	for (i = 0; i < list->len; i++)
		count += ((KmtFindingCount *)g_ptr_array_index(list, i))->count;
	kmt_html_begin(data, NULL, '{');
	kmt_html_text(data, "level", "warning");
	kmt_html_u64(data, "count", count);
	kmt_html_text(data, "text", text->title);
	kmt_html_begin(data, "sites", '[');
	for (i = 0; i < MIN(list->len, MAX_SITES); i++) {
		const KmtFindingCount *entry = g_ptr_array_index(list, i);

		kmt_html_begin(data, NULL, '[');
		kmt_html_u64(data, NULL, entry->count);
		add_site(html, &entry->first);
		if (text->second)
			add_site(html, &entry->second);
		else
			kmt_html_i64(data, NULL, -1);
		kmt_html_end(data, ']');
	}
	kmt_html_end(data, ']');
	kmt_html_text(data, "sites_are", columns);
	kmt_html_end(data, '}');
	if (list->len > MAX_SITES)
		kmt_html_cut(data, "%s: the first %d of %u are listed.",
			     text->title, MAX_SITES, list->len);
}

void kmt_html_add_findings(KmtHtmlReport *html)
{
	g_autoptr(GArray) lines = kmt_finding_lines(html->report);
	guint i;

	kmt_html_begin(html->data, "findings", '[');
	for (i = 0; i < lines->len; i++) {
		const KmtFindingLine *line =
			&g_array_index(lines, KmtFindingLine, i);

		if (line->count)
			add_line(html, line);
	}
	kmt_html_allow(html->data, ALLOWANCE);
	for (i = 0; i < KMT_N_FINDING_TEXTS; i++) {
		g_autoptr(GPtrArray) list = kmt_finding_counts_list(
			html->report->aggregate->finding_counts,
			kmt_finding_texts[i].class);

		if (!list->len)
			continue;
		kmt_html_begin_element(html->data);
		add_sites(html, &kmt_finding_texts[i], list);
		if (!kmt_html_fits(html->data))
			kmt_html_cut(html->data, "The list of %s is left out.",
				     kmt_finding_texts[i].title);
	}
	kmt_html_end(html->data, ']');
}
