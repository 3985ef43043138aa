// SPDX-License-Identifier: GPL-2.0-or-later
/* Replays the capture of a plan for --advise. */
#include "config.h"

#include "report/advice.h"
#include "report/report-options.h"

KmtAdviceList *kmt_plan_find_advice(const KmtPlan *plan)
{
	const KmtReport *report = &plan->report;
	const KmtAggregateOptions *o = &plan->aggregate;
	const KmtAdviceOptions options = {
		.replay = {.capture = report->capture,
			   .symbolizer = report->symbolizer,
			   .filter = &plan->filter,
			   .tag_ends = report->aggregate->tag_ends,
			   .start = o->span.start,
			   .stop = o->span.stop,
			   .jobs = o->jobs,
			   .clock_tolerance_ns = o->clock_tolerance_ns,
			   .progress = o->progress},
		.wrappers = plan->skip,
		.churn_ns = o->churn_ns};

	return report->shows_advice ? kmt_advice_new(report, &options) : NULL;
}
