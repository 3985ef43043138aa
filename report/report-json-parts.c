// SPDX-License-Identifier: GPL-2.0-or-later
/* Members of the JSON report that several sections print. */
#include "config.h"

#include "report/report-json-private.h"

void kmt_report_json_add_time(KmtJson *json, const KmtAggregate *aggregate,
			      const char *key, gint64 time)
{
	if (aggregate->has_sequence_times)
		kmt_json_text(json, key, NULL);
	else
		kmt_json_i64(json, key, time);
}

void kmt_report_json_add_peak(KmtJson *json, const KmtAggregate *aggregate,
			      const KmtTotals *totals)
{
	if (!aggregate->has_peaks) {
		kmt_json_null(json, "peak_bytes_allocated");
		kmt_json_null(json, "peak_timestamp");
		return;
	}
	kmt_json_u64(json, "peak_bytes_allocated", totals->peak_bytes_alloc);
	kmt_report_json_add_time(json, aggregate, "peak_timestamp",
				 totals->peak_timestamp);
}

/* Return the value of a group in a dimension of --by; NULL if the dimension is
 * not in --by or @group is NULL. The caller frees the string. */
static char *value_by(const KmtReport *report, const KmtGroup *group,
		      KmtDimension dimension)
{
	guint i;

	for (i = 0; group && i < report->by->n; i++)
		if (report->by->dimensions[i] == dimension)
			return kmt_groups_value(report->aggregate->groups,
						group, i);
	return NULL;
}

/* Print the module, directory, source line and inlined functions of a site.
 * If @group has a module or directory as value, that value replaces the site's
 * own. */
static void add_source_location(KmtJson *json, const KmtReport *report,
				const KmtSymSite *site, const KmtGroup *group)
{
	const KmtSymbolizer *symbolizer = report->symbolizer;
	g_autofree char *module = value_by(report, group, KMT_BY_MODULE);
	g_autofree char *directory = value_by(report, group, KMT_BY_DIRECTORY);
	KmtSymbol symbol = {0};
	KmtSymSourceLine source = {0};
	guint i;

	kmt_symbolizer_symbol(symbolizer, site, &symbol);
	kmt_symbolizer_source(symbolizer, site, &source);
	kmt_json_text(json, "module", module ? module : symbol.module);
	kmt_json_text(json, "directory",
		      directory ? directory
				: kmt_symbolizer_directory(symbolizer, site));
	if (source.file) {
		kmt_json_begin_object(json, "source");
		kmt_json_text(json, "file", source.file);
		kmt_json_u64(json, "line", source.line);
		kmt_json_end_object(json);
	} else {
		kmt_json_text(json, "source", NULL);
	}
	kmt_json_begin_array(json, "inlined");
	for (i = 0; source.inlined && source.inlined[i]; i++)
		kmt_json_text(json, NULL, source.inlined[i]);
	kmt_json_end_array(json);
}

/* Print a call site. @group is the group that the site belongs to, or NULL. */
static void add_site_of(KmtJson *json, const KmtReport *report,
			const KmtSymSite *site, KmtKind kind,
			const KmtGroup *group)
{
	g_autofree char *name = kmt_symbolizer_format(report->symbolizer, site);

	kmt_json_hex(json, "address", site->address, 16);
	kmt_json_text(json, "symbol", name);
	kmt_json_text(json, "kind", kmt_kind_name(kind));
	add_source_location(json, report, site, group);
}

void kmt_report_json_add_site(KmtJson *json, const KmtReport *report,
			      const KmtFindingSite *site)
{
	add_site_of(json, report, &site->site, site->kind, NULL);
}

void kmt_report_json_add_figure(KmtJson *json, const char *key,
				const KmtFigure *figure)
{
	switch (figure->type) {
	case KMT_FIGURE_INTEGER:
		kmt_json_integer(json, key, figure->negative, figure->integer);
		break;
	case KMT_FIGURE_NS:
		kmt_json_u64(json, key, figure->integer);
		break;
	case KMT_FIGURE_TIME:
		kmt_json_i64(json, key, (gint64)figure->integer);
		break;
	case KMT_FIGURE_RATIO:
	case KMT_FIGURE_RATE:
		kmt_json_double(json, key, figure->real);
		break;
	case KMT_FIGURE_NONE:
		kmt_json_null(json, key);
		break;
	}
}

void kmt_report_json_add_deferred(KmtJson *json, const KmtReport *report,
				  const KmtDeferred *deferred,
				  gboolean sums_only)
{
	static const struct {
		const char *key;
		const char *field;
		gboolean has_sum; /* the groups' figures can be added */
	} members[] = {
		{"deferred_bytes_allocated", "deferred", TRUE},
		{"deferred_objects", "deferred-objects", TRUE},
		{"deferred_frees", "deferred-frees", TRUE},
		{"deferred_peak_bytes_allocated", "deferred-peak", FALSE},
		{"deferred_bytes_at_peak", "deferred-at-peak", FALSE},
		{"deferred_time_median", "deferred-median", FALSE},
		{"deferred_time_p99", "deferred-p99", FALSE},
		{"deferred_time_max", "deferred-max", FALSE},
		{"deferred_age_median", "deferred-age-median", FALSE},
		{"deferred_age_max", "deferred-age-max", FALSE},
	};
	static const KmtDeferred none;
	guint i;

	if (!kmt_report_can_have_defers(report))
		return;
	for (i = 0; i < G_N_ELEMENTS(members); i++) {
		const KmtReportField *field =
			kmt_report_field_find(members[i].field);
		KmtFigure figure;

		if (sums_only && !members[i].has_sum)
			continue;
		figure = kmt_report_field_deferred(field, report->aggregate,
						   deferred ? deferred : &none);

		kmt_report_json_add_figure(json, members[i].key, &figure);
	}
}

static void add_chain(KmtJson *json, const KmtReport *report,
		      const KmtGroup *group, guint i)
{
	const KmtGroups *groups = report->aggregate->groups;
	const KmtChain *chain = kmt_groups_chain(groups, group, i);
	guint j;

	kmt_json_begin_array(json, "stack");
	for (j = 0; j < chain->n; j++) {
		KmtSymSite frame = kmt_groups_frame(groups, chain, j);
		g_autofree char *name =
			kmt_symbolizer_format(report->symbolizer, &frame);

		kmt_json_begin_object(json, NULL);
		kmt_json_hex(json, "address", frame.address, 16);
		kmt_json_text(json, "symbol", name);
		add_source_location(json, report, &frame, NULL);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

void kmt_report_json_add_group_name(KmtJson *json, const KmtReport *report,
				    const KmtGroup *group)
{
	const KmtBy *by = report->by;
	KmtSymSite site;
	gboolean has_site;
	guint i;

	has_site = kmt_groups_site(report->aggregate->groups, group, &site);
	if (has_site)
		add_site_of(json, report, &site, group->kind, group);
	else
		kmt_json_text(json, "kind", kmt_kind_name(group->kind));
	for (i = 0; i < by->n; i++) {
		KmtDimension dimension = by->dimensions[i];
		g_autofree char *text = NULL;

		if (dimension == KMT_BY_CALLSITE || dimension == KMT_BY_KIND)
			continue;
		/* The members of the call site include module and directory. */
		if (has_site && (dimension == KMT_BY_MODULE ||
				 dimension == KMT_BY_DIRECTORY))
			continue;
		if (dimension == KMT_BY_STACK) {
			add_chain(json, report, group, i);
			continue;
		}
		text = kmt_groups_value(report->aggregate->groups, group, i);
		kmt_json_text(json, kmt_dimension_name(dimension), text);
	}
}
