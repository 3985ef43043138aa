// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A rule about captures that lost events, or that were recorded differently,
 * has no verdict: a difference of their figures may not come from the kernel.
 */
#include "config.h"

#include "gate/comparability.h"

#include <string.h>

static gboolean is_true(const KmtDiffCapture *capture, const char *key)
{
	g_autofree char *value = kmt_diff_capture_value(capture, key);

	return g_strcmp0(value, "true") == 0;
}

/* Return why events of a capture are missing, or NULL. The caller frees the
 * string. */
static char *loss_of(const KmtDiffCapture *capture)
{
	switch (capture->loss) {
	case KMT_LOSS_NONE:
		return NULL;
	case KMT_LOSS_EVENTS:
		return g_strdup_printf("%s: %" G_GUINT64_FORMAT
				       " events were lost",
				       capture->path, capture->lost);
	case KMT_LOSS_CUT:
		return g_strdup_printf("%s: the capture was cut off",
				       capture->path);
	case KMT_LOSS_INCOMPLETE:
		return g_strdup_printf("%s: only a part of the events was "
				       "recorded",
				       capture->path);
	case KMT_LOSS_UNCOUNTED:
		return g_strdup_printf("%s: an unknown number of events was "
				       "lost",
				       capture->path);
	case KMT_LOSS_NOT_REPORTED:
		return g_strdup_printf("%s: the recorder did not report "
				       "whether events were lost",
				       capture->path);
	default:
		return g_strdup_printf("%s: whether events were lost is "
				       "unknown, because kmemtrace.meta has no "
				       "count",
				       capture->path);
	}
}

/* Return whether missing events could have changed field number @field, apart
 * from those that the source never records. */
static gboolean is_doubtful(const KmtDiff *diff, const KmtDiffCapture *capture,
			    guint field)
{
	const KmtReportField *f = diff->fields->pdata[field];

	return capture->doubtful[field] &&
	       !(capture->has_blind_spots && kmt_report_field_is_state(f));
}

static gboolean has_missing_files(const KmtDiff *diff,
				  const KmtDiffCapture *capture)
{
	guint i;

	for (i = 0; i < diff->fields->len; i++)
		if (is_doubtful(diff, capture, i))
			return TRUE;
	return FALSE;
}

/* Return why the kernel's filter or sample makes the figures unusable. The
 * caller frees the string. */
static char *change_of(const KmtDiffCapture *capture)
{
	g_autofree char *sample = kmt_diff_capture_value(capture, "sample");

	if (is_true(capture, "filter_changed"))
		return g_strdup_printf("%s: the filter changed during the "
				       "recording",
				       capture->path);
	if (g_strcmp0(sample, "0") == 0)
		return g_strdup_printf("%s: the sample changed during the "
				       "recording",
				       capture->path);
	return NULL;
}

static void check_losses(KmtGateVerdict *verdict, const KmtDiff *diff)
{
	gboolean has_leaks = kmt_gate_rule_has_leaks(verdict->rule);
	guint i;

	for (i = 0; i < diff->captures->len; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];
		char *reason = loss_of(capture);

		if (!reason && is_true(capture, "continues"))
			reason = g_strdup_printf("%s: another reader consumed "
						 "the beginning of the trace",
						 capture->path);
		else if (!reason && has_missing_files(diff, capture))
			reason = g_strdup_printf("%s: files of the capture are "
						 "missing or damaged",
						 capture->path);
		if (!reason)
			reason = change_of(capture);
		if (!reason && has_leaks && capture->frees_not_recorded)
			reason = g_strdup_printf("%s: the recording lacks "
						 "frees, so that leaks cannot "
						 "be found",
						 capture->path);
		if (reason)
			kmt_gate_verdict_add_reason(verdict, reason);
	}
}

/* Compare one key of kmemtrace.meta in all captures with the first one. */
static void check_key(KmtGateVerdict *verdict, const KmtDiff *diff,
		      const char *key, const char *title)
{
	const KmtDiffCapture *first = diff->captures->pdata[0];
	g_autofree char *wanted = kmt_diff_capture_value(first, key);
	guint i;

	for (i = 1; i < diff->captures->len; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];
		g_autofree char *value = kmt_diff_capture_value(capture, key);

		if (g_strcmp0(value, wanted) == 0)
			continue;
		kmt_gate_verdict_add_reason(
			verdict,
			g_strdup_printf("the captures differ in %s: %s has %s, "
					"%s has %s",
					title, first->path,
					wanted ? wanted : "none", capture->path,
					value ? value : "none"));
		return;
	}
}

static void check_cpus(KmtGateVerdict *verdict, const KmtDiff *diff)
{
	const KmtDiffCapture *first = diff->captures->pdata[0];
	guint i;

	for (i = 1; i < diff->captures->len; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];

		if (capture->cpus == first->cpus)
			continue;
		kmt_gate_verdict_add_reason(
			verdict,
			g_strdup_printf("the captures differ in the number of "
					"CPUs: %s has %u, %s has %u",
					first->path, first->cpus, capture->path,
					capture->cpus));
		return;
	}
}

/* Add a reason if the records of a capture lack kinds of memory that another
 * capture has, as records of version 1 do. */
static void check_kinds(KmtGateVerdict *verdict, const KmtDiff *diff)
{
	const KmtDiffCapture *first = diff->captures->pdata[0];
	guint i;

	for (i = 1; i < diff->captures->len; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];

		if (memcmp(capture->kinds, first->kinds,
			   sizeof(first->kinds)) == 0)
			continue;
		kmt_gate_verdict_add_reason(
			verdict,
			g_strdup_printf("the captures differ in the kinds of "
					"memory that their records have: %s, "
					"%s",
					first->path, capture->path));
		return;
	}
}

void kmt_gate_check_captures(KmtGateVerdict *verdict, const KmtDiff *diff)
{
	static const char *const keys[][2] = {
		{"machine", "the architecture"},
		{"word_size", "the word size"},
		{"byte_order", "the byte order"},
		{"page_size", "the page size"},
		{"source", "the source"},
		{"not_seen", "the events that the source does not record"},
		{"filter", "the filter"},
		{"sample", "the sample"},
		{"events_off", "the events that were switched off"},
		{"pids", "the recorded processes"},
		{"children", "the recording of child processes"},
	};
	guint i;

	check_losses(verdict, diff);
	check_cpus(verdict, diff);
	for (i = 0; i < G_N_ELEMENTS(keys); i++)
		check_key(verdict, diff, keys[i][0], keys[i][1]);
	check_kinds(verdict, diff);
}
