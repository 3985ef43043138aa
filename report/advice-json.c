// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds the advice to the JSON report. */
#include "config.h"

#include "report/advice-output.h"
#include "report/advice-private.h"
#include "report/report-json-private.h"

/* Version of the member "advice". */
#define ADVICE_VERSION 1

static void add_saving(KmtJson *json, const char *key, gint64 bytes)
{
	kmt_json_i64(json, key, bytes);
}

static void add_changes(KmtJson *json, const KmtAdvice *advice)
{
	guint i;

	kmt_json_begin_array(json, "changes");
	for (i = 0; i < advice->changes->len; i++) {
		const KmtAdviceChange *change =
			&g_array_index(advice->changes, KmtAdviceChange, i);

		kmt_json_begin_object(json, NULL);
		kmt_json_text(json, "action", change->action);
		kmt_json_text(json, "change", change->change);
		add_saving(json, "saving_at_peak", change->peak);
		add_saving(json, "saving_live", change->live);
		kmt_json_text(json, "computation", change->computation);
		kmt_json_text(json, "cost", change->cost);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

static void add_finding(KmtJson *json, const KmtReport *report,
			const KmtAdvice *advice)
{
	guint i;

	kmt_json_begin_object(json, NULL);
	kmt_json_text(json, "topic", kmt_advice_topic_name(advice->topic));
	kmt_json_text(json, "kind", kmt_kind_name(advice->kind));
	kmt_json_begin_array(json, "sites");
	for (i = 0; i < advice->n_sites; i++) {
		const KmtFindingSite site = {advice->sites[i], advice->kind};

		kmt_json_begin_object(json, NULL);
		kmt_report_json_add_site(json, report, &site);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
	kmt_json_text(json, "cache", advice->cache);
	add_changes(json, advice);
	if (advice->rate_unit)
		kmt_json_double(json, "rate", advice->rate);
	else
		kmt_json_null(json, "rate");
	kmt_json_text(json, "rate_unit", advice->rate_unit);
	kmt_json_text(json, "certainty", kmt_certainty_name(advice->certainty));
	kmt_json_text(json, "certainty_reason", advice->reason);
	kmt_json_begin_object(json, "inputs");
	for (i = 0; i < advice->numbers->len; i++) {
		const KmtAdviceNumber *number =
			&g_array_index(advice->numbers, KmtAdviceNumber, i);

		kmt_json_u64(json, number->name, number->value);
	}
	kmt_json_end_object(json);
	kmt_json_end_object(json);
}

void kmt_advice_json(KmtJson *json, const KmtReport *report)
{
	const KmtAdviceList *list = report->advice;
	guint n = list->findings->len, i;

	if (report->max_lines)
		n = MIN(n, report->max_lines);
	kmt_json_begin_object(json, "advice");
	kmt_json_u64(json, "version", ADVICE_VERSION);
	kmt_json_u64(json, "duration", list->duration_ns);
	kmt_json_text(json, "slab_layout", list->model);
	kmt_json_flag(json, "doubtful", kmt_report_is_lossy(report));
	kmt_json_begin_array(json, "findings");
	for (i = 0; i < n; i++)
		add_finding(json, report, list->findings->pdata[i]);
	kmt_json_end_array(json);
	kmt_json_u64(json, "findings_left_out", list->findings->len - n);
	kmt_json_begin_array(json, "not_examined");
	for (i = 0; i < list->omitted->len; i++)
		kmt_json_text(json, NULL, list->omitted->pdata[i]);
	kmt_json_end_array(json);
	if (list->sizes)
		kmt_size_classes_json(list->sizes, json, report);
	kmt_json_end_object(json);
}
