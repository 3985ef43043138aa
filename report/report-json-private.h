/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the JSON report that several sections print. */
#ifndef KMEMTRACE_REPORT_REPORT_JSON_PRIVATE_H
#define KMEMTRACE_REPORT_REPORT_JSON_PRIVATE_H

#include "lib/cli/json-writer.h"
#include "report/report.h"

/*
 * Add a kernel clock time in ns; null if the timestamps are sequence numbers.
 */
void kmt_report_json_add_time(KmtJson *json, const KmtAggregate *aggregate,
			      const char *key, gint64 time);

/* Add the peak of the live bytes and its time; null if peaks are unknown. */
void kmt_report_json_add_peak(KmtJson *json, const KmtAggregate *aggregate,
			      const KmtTotals *totals);

/*
 * Add the figures of deferred memory of a kind, a group or a sum of groups, if
 * the capture can have them; @deferred NULL: no object was deferred. With
 * @sums_only, add only those that have a sum over groups.
 */
void kmt_report_json_add_deferred(KmtJson *json, const KmtReport *report,
				  const KmtDeferred *deferred,
				  gboolean sums_only);

/* Add the members of a call site: address, symbol, kind and source location. */
void kmt_report_json_add_site(KmtJson *json, const KmtReport *report,
			      const KmtFindingSite *site);

/* Add a figure; NONE is null. */
void kmt_report_json_add_figure(KmtJson *json, const char *key,
				const KmtFigure *figure);

/*
 * Add the values of a group. A group by call site has the members of a site;
 * other values are members named after their dimension.
 */
void kmt_report_json_add_group_name(KmtJson *json, const KmtReport *report,
				    const KmtGroup *group);

/* Add the sections that an option selects. */
void kmt_report_json_add_detailed(KmtJson *json, const KmtReport *report);

#endif
