/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON members about a capture that kmemtrace-check and kmemtrace-report share.
 * Each function adds members to the innermost open object. */
#ifndef KMEMTRACE_OUTPUT_CAPTURE_JSON_H
#define KMEMTRACE_OUTPUT_CAPTURE_JSON_H

#include "lib/cli/json-writer.h"
#include "lib/match/matcher.h"

/* Add "overruns", "complete", "continues", "missing_files" and
 * "unlisted_files". overruns is the number of lost events that the document
 * reports; null is printed instead if capture->has_overruns is FALSE. Without
 * kmemtrace.meta, "complete" is null. */
void kmt_output_loss(KmtJson *json, const KmtInputCapture *capture,
		     guint64 overruns);
/* Add "source" and "not_seen". */
void kmt_output_not_seen(KmtJson *json, const KmtInputCapture *capture);
/* Add "incomplete", "events_off", "filter", "filter_changed" and "sample": the
 * settings that restricted the recorded events. */
void kmt_output_choice(KmtJson *json, const KmtInputCapture *capture);
/* Add the counts in findings; those of DEFER records only if has_defers. */
void kmt_output_findings(KmtJson *json, const KmtMatchFindings *findings,
			 gboolean has_defers);

#endif
