// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/output/capture-json.h"

void kmt_output_loss(KmtJson *json, const KmtInputCapture *capture,
		     guint64 overruns)
{
	kmt_json_known_u64(json, "overruns", capture->has_overruns, overruns);
	if (capture->meta)
		kmt_json_flag(json, "complete", capture->complete);
	else
		kmt_json_null(json, "complete");
	kmt_json_flag(json, "continues", capture->continues);
	kmt_json_u64(json, "missing_files", capture->missing_files);
	kmt_json_u64(json, "unlisted_files", capture->unlisted_files);
}

void kmt_output_not_seen(KmtJson *json, const KmtInputCapture *capture)
{
	g_auto(GStrv) list = kmt_input_capture_not_seen(capture);
	g_autofree char *source = NULL;
	guint i;

	if (capture->meta)
		source = g_key_file_get_string(capture->meta, "capture",
					       "source", NULL);
	kmt_json_text(json, "source", source);
	kmt_json_begin_array(json, "not_seen");
	for (i = 0; list && list[i]; i++)
		kmt_json_text(json, NULL, list[i]);
	kmt_json_end_array(json);
}

void kmt_output_choice(KmtJson *json, const KmtInputCapture *capture)
{
	g_auto(GStrv) incomplete = kmt_input_capture_incomplete(capture);
	g_auto(GStrv) off = kmt_input_capture_events_off(capture);
	gboolean changed;
	g_autofree char *filter = kmt_input_capture_filter(capture, &changed);
	guint i;

	kmt_json_begin_array(json, "incomplete");
	for (i = 0; incomplete && incomplete[i]; i++)
		kmt_json_text(json, NULL, incomplete[i]);
	kmt_json_end_array(json);
	kmt_json_begin_array(json, "events_off");
	for (i = 0; off && off[i]; i++)
		kmt_json_text(json, NULL, off[i]);
	kmt_json_end_array(json);
	kmt_json_text(json, "filter", filter);
	kmt_json_flag(json, "filter_changed", changed);
	kmt_json_u64(json, "sample", capture->sample);
}

static void add_defers(KmtJson *json, const KmtMatchFindings *findings)
{
	kmt_json_begin_object(json, "unmatched_defers");
	kmt_json_u64(
		json, "before_trace",
		findings->unmatched_defers[KMT_MATCH_UNMATCHED_BEFORE_TRACE]);
	kmt_json_u64(
		json, "after_loss",
		findings->unmatched_defers[KMT_MATCH_UNMATCHED_AFTER_LOSS]);
	kmt_json_u64(
		json, "unexplained",
		findings->unmatched_defers[KMT_MATCH_UNMATCHED_UNEXPLAINED]);
	kmt_json_end_object(json);

	kmt_json_begin_object(json, "double_defers");
	kmt_json_u64(json, "after_loss", findings->double_defers_after_loss);
	kmt_json_u64(json, "unexplained", findings->double_defers);
	kmt_json_end_object(json);
}

void kmt_output_findings(KmtJson *json, const KmtMatchFindings *findings,
			 gboolean has_defers)
{
	kmt_json_begin_object(json, "unmatched_frees");
	kmt_json_u64(json, "before_trace",
		     findings->unmatched[KMT_MATCH_UNMATCHED_BEFORE_TRACE]);
	kmt_json_u64(json, "after_loss",
		     findings->unmatched[KMT_MATCH_UNMATCHED_AFTER_LOSS]);
	kmt_json_u64(json, "unexplained",
		     findings->unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED]);
	kmt_json_end_object(json);

	kmt_json_begin_object(json, "double_allocations");
	kmt_json_u64(json, "after_loss",
		     findings->doubles[KMT_MATCH_DOUBLE_AFTER_LOSS]);
	kmt_json_u64(json, "race", findings->doubles[KMT_MATCH_DOUBLE_RACE]);
	kmt_json_u64(json, "unexplained",
		     findings->doubles[KMT_MATCH_DOUBLE_UNEXPLAINED]);
	kmt_json_end_object(json);

	kmt_json_u64(json, "type_mismatches", findings->mismatches);
	kmt_json_u64(json, "type_mismatches_after_loss",
		     findings->mismatches_after_loss);
	if (has_defers)
		add_defers(json, findings);
}
