// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The certainty of a finding: high, unless a reason lowers it. The reasons are
 * few objects, missing events, a short observation, and assumptions about the
 * kernel.
 */
#include "config.h"

#include "report/advice-private.h"
#include "report/columns.h"

/* Fewer objects than these lower the certainty to medium or low. */
#define FEW_OBJECTS	 100
#define VERY_FEW_OBJECTS 20
/* Smallest share of lost events with which the certainty is low. */
#define MUCH_LOSS 0.01
/* A share of the objects of a cache below which the certainty is medium. */
#define MOST_OBJECTS 0.9
/* A rate of a shorter time is less certain. */
#define SHORT_SECONDS 1.0

typedef struct {
	KmtCertainty level;
	GString *text;
} Verdict;

/* Lower the certainty to @level, and append the reason. */
static void lower(Verdict *verdict, KmtCertainty level, const char *reason)
{
	verdict->level = MIN(verdict->level, level);
	g_string_append_printf(verdict->text, "; %s", reason);
}

/* Return the share of lost events, or 1 if their number is unknown. */
static double lost_share(const KmtReport *report)
{
	const KmtInputCapture *capture = report->capture;
	guint64 lost = report->lost.within;

	if (!capture->has_overruns)
		return 1;
	return lost ? (double)lost / ((double)lost + (double)capture->n_records)
		    : 0;
}

static void judge_loss(const KmtAdviceContext *context, Verdict *verdict)
{
	const KmtReport *report = context->report;
	const KmtInputCapture *capture = report->capture;
	KmtLoss loss = kmt_report_loss_state(report);
	g_autofree char *text = NULL;

	if (kmt_report_is_sample(report)) {
		text = g_strdup_printf("one of %" G_GUINT64_FORMAT
				       " allocations was recorded",
				       capture->sample);
		lower(verdict, KMT_CERTAINTY_MEDIUM, text);
		return;
	}
	if (loss == KMT_LOSS_EVENTS) {
		double share = lost_share(report);

		text = g_strdup_printf("%.3g %% of the events were lost",
				       100 * share);
		lower(verdict,
		      share < MUCH_LOSS ? KMT_CERTAINTY_MEDIUM
					: KMT_CERTAINTY_LOW,
		      text);
		return;
	}
	if (loss != KMT_LOSS_NONE) {
		lower(verdict, KMT_CERTAINTY_LOW,
		      capture->incomplete
			      ? "only a part of the events was recorded"
			      : "how many events were lost is unknown");
		return;
	}
	if (capture->filtered)
		lower(verdict, KMT_CERTAINTY_MEDIUM,
		      "a filter of the kernel dropped events");
	else if (kmt_report_is_lossy(report))
		lower(verdict, KMT_CERTAINTY_MEDIUM,
		      "some events cannot be observed or are missing at an end "
		      "of the capture");
	else
		g_string_append(verdict->text, "; no event was lost");
}

static void judge_objects(Verdict *verdict, const KmtAdviceEvidence *evidence)
{
	if (evidence->objects < VERY_FEW_OBJECTS)
		lower(verdict, KMT_CERTAINTY_LOW,
		      "the number of objects is very small");
	else if (evidence->objects < FEW_OBJECTS)
		lower(verdict, KMT_CERTAINTY_MEDIUM,
		      "the number of objects is small");
}

static void judge_share(Verdict *verdict, double share)
{
	g_autofree char *text = NULL;

	if (share <= 0)
		return;
	if (share >= MOST_OBJECTS) {
		g_string_append_printf(verdict->text,
				       "; the capture has %.0f %% of the "
				       "objects of the cache",
				       100 * MIN(share, 1));
		return;
	}
	text = g_strdup_printf("the capture has only %.0f %% of the objects of "
			       "the cache",
			       100 * share);
	lower(verdict, KMT_CERTAINTY_MEDIUM, text);
}

void kmt_advice_set_certainty(const KmtAdviceContext *context,
			      KmtAdvice *advice,
			      const KmtAdviceEvidence *evidence)
{
	g_autofree char *objects =
		kmt_advice_figure(context->report, evidence->objects);
	g_autofree char *time = kmt_format_duration(context->list->duration_ns);
	Verdict verdict = {KMT_CERTAINTY_HIGH, g_string_new(NULL)};

	g_string_printf(verdict.text, "%s objects in %s", objects, time);
	if (!evidence->any_number)
		judge_objects(&verdict, evidence);
	if (evidence->is_rate && context->seconds < SHORT_SECONDS)
		lower(&verdict, KMT_CERTAINTY_MEDIUM, "the time is short");
	judge_loss(context, &verdict);
	judge_share(&verdict, evidence->known_share);
	if (evidence->assumes_layout)
		lower(&verdict, KMT_CERTAINTY_MEDIUM,
		      "the capture does not name its slab allocator, so SLUB "
		      "is assumed");
	if (evidence->doubt)
		lower(&verdict, KMT_CERTAINTY_MEDIUM, evidence->doubt);
	advice->certainty = verdict.level;
	advice->reason = g_string_free(verdict.text, FALSE);
}
