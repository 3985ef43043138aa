// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/details-text.h"
#include "top/figure-text.h"

/* Columns of the longest bar of a lifetime. */
#define BAR_COLUMNS 20

#define U64 G_GUINT64_FORMAT
#define I64 G_GINT64_FORMAT

static void add_title(GArray *lines, const char *title)
{
	kmt_top_text_lines_add(lines, KMT_TOP_PLAIN, "%s", "");
	kmt_top_text_lines_add(lines, KMT_TOP_TITLE, "%s", title);
}

static void add_property(GArray *lines, const char *name, const char *value)
{
	if (value && *value)
		kmt_top_text_lines_add(lines, KMT_TOP_PLAIN, "%-10s %s", name,
				       value);
}

static const char *row_title(KmtTopGrouping grouping)
{
	static const char *const titles[KMT_TOP_N_GROUPINGS] = {
		[KMT_TOP_BY_CALL_SITE] = "Call site",
		[KMT_TOP_BY_CACHE] = "Cache",
		[KMT_TOP_BY_COMMAND] = "Command",
		[KMT_TOP_BY_MODULE] = "Module",
		[KMT_TOP_BY_DIRECTORY] = "Directory",
	};

	return titles[grouping];
}

static void add_figures(GArray *lines, const KmtTopFigures *f)
{
	char growth[KMT_TOP_FIGURE_SIZE];

	kmt_top_growth_text(growth, f->growth_bytes, KMT_TOP_EXACT);
	kmt_top_text_lines_add(lines, KMT_TOP_PLAIN,
			       "Live       %" U64 " bytes in %" U64
			       " objects, %" I64 " bytes wasted",
			       f->live_bytes, f->live_objects, f->wasted_bytes);
	kmt_top_text_lines_add(lines, KMT_TOP_PLAIN,
			       "All        %" U64 " allocations, %" U64
			       " frees, %" U64 " bytes",
			       f->allocs, f->frees, f->alloc_bytes);
	kmt_top_text_lines_add(lines, KMT_TOP_PLAIN,
			       "Interval   %" U64 " allocations, %" U64
			       " frees, %" U64 " bytes, growth %s",
			       f->interval_allocs, f->interval_frees,
			       f->interval_bytes, growth);
}

static void add_sizes(GArray *lines, const KmtTopDetails *details)
{
	if (!details->n_sizes)
		return;
	add_title(lines, " REQUESTED  ALLOCATED    OBJECTS           LIVE"
			 "     ALLOCS      FREES");
	for (guint i = 0; i < details->n_sizes; i++) {
		const KmtTopSize *size = &details->sizes[i];

		kmt_top_text_lines_add(
			lines, KMT_TOP_PLAIN,
			"%10" U64 " %10" U64 " %10" U64 " %14" U64 " %10" U64
			" %10" U64,
			size->bytes_req, size->bytes,
			size->figures.live_objects, size->figures.live_bytes,
			size->figures.allocs, size->figures.frees);
	}
}

/* Add a bar for a part of the whole to a text of BAR_COLUMNS columns. */
static void fill_bar(char *bar, guint64 part, guint64 whole)
{
	guint n = whole ? (guint)((double)part * BAR_COLUMNS / (double)whole +
				  0.5)
			: 0;

	/* The smallest part that is not 0 is visible. */
	n = CLAMP(n, part ? 1 : 0, BAR_COLUMNS);
	for (guint i = 0; i < n; i++)
		bar[i] = '#';
	bar[n] = '\0';
}

static void add_lifetimes(GArray *lines, const KmtTopDetails *details)
{
	guint64 most = 0;

	if (!details->n_lifetimes)
		return;
	for (guint i = 0; i < details->n_lifetimes; i++)
		most = MAX(most, details->lifetimes[i].frees);
	add_title(lines, "LIFETIME FROM  UNTIL      FREES");
	for (guint i = 0; i < details->n_lifetimes; i++) {
		const KmtTopLifetime *lifetime = &details->lifetimes[i];
		char from[KMT_TOP_FIGURE_SIZE], until[KMT_TOP_FIGURE_SIZE];
		char bar[BAR_COLUMNS + 1];

		kmt_top_duration_text(from, lifetime->from_ns);
		kmt_top_duration_text(until, lifetime->until_ns);
		fill_bar(bar, lifetime->frees, most);
		kmt_top_text_lines_add(lines, KMT_TOP_PLAIN,
				       "%13s %6s %10" U64 " %s", from, until,
				       lifetime->frees, bar);
	}
}

static void add_parts(GArray *lines, const char *title, const KmtTopPart *parts,
		      guint n_parts)
{
	g_autofree char *heading = NULL;

	if (!n_parts)
		return;
	heading = g_strdup_printf("          LIVE    OBJECTS     ALLOCS"
				  "      FREES %s",
				  title);
	add_title(lines, heading);
	for (guint i = 0; i < n_parts; i++) {
		const KmtTopFigures *f = &parts[i].figures;

		kmt_top_text_lines_add(lines, KMT_TOP_PLAIN,
				       "%14" U64 " %10" U64 " %10" U64
				       " %10" U64 " %s",
				       f->live_bytes, f->live_objects,
				       f->allocs, f->frees, parts[i].name);
	}
}

void kmt_top_details_add_lines(const KmtTopDetails *details,
			       KmtTopGrouping grouping, GArray *lines)
{
	add_property(lines, row_title(grouping), details->row.name);
	add_property(lines, "Kind", kmt_top_kind_name(details->row.kind));
	add_property(lines, "Source", details->source);
	if (grouping != KMT_TOP_BY_DIRECTORY)
		add_property(lines, "Directory", details->directory);
	if (grouping != KMT_TOP_BY_MODULE)
		add_property(lines, "Module", details->module);
	add_figures(lines, &details->row.figures);
	add_sizes(lines, details);
	add_lifetimes(lines, details);
	add_parts(lines, "COMMAND", details->commands, details->n_commands);
	add_parts(lines, "CACHE", details->caches, details->n_caches);
	add_parts(lines, "CALL SITE", details->call_sites,
		  details->n_call_sites);
}

void kmt_top_text_lines_print(const GArray *lines, FILE *out)
{
	for (guint i = 0; i < lines->len; i++)
		fprintf(out, "%s\n",
			g_array_index(lines, KmtTopTextLine, i).text);
}
