/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a capture that kmemtrace-check and kmemtrace-report both print,
 * as members of the innermost object. */
#ifndef KMEMTRACE_OUTPUT_CAPTURE_JSON_H
#define KMEMTRACE_OUTPUT_CAPTURE_JSON_H

#include "lib/cli/json-writer.h"
#include "lib/match/matcher.h"

/* "overruns", "complete", "continues", "missing_files".  overruns: those of the
 * time that the document is about; printed if the capture has a number. */
void kmt_output_loss(KmtJson *json, const KmtInputCapture *capture,
		     guint64 overruns);
/* "source", "not_seen" */
void kmt_output_not_seen(KmtJson *json, const KmtInputCapture *capture);
/* "incomplete", "events_off", "filter", "filter_changed", "sample": what the
 * user chose not to record. */
void kmt_output_choice(KmtJson *json, const KmtInputCapture *capture);
/* The counts of all findings. */
void kmt_output_findings(KmtJson *json, const KmtMatchFindings *findings);

#endif
