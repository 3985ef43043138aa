// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/finding-texts.h"

const KmtFindingText kmt_finding_texts[KMT_N_FINDING_TEXTS] = {
	{KMT_FINDING_MISMATCH, "TYPE MISMATCHES", "times", "allocated by",
	 "freed by"},
	{KMT_FINDING_UNMATCHED_UNEXPLAINED, "UNEXPLAINED FREES", "frees",
	 "freed by", NULL},
	{KMT_FINDING_DOUBLE_UNEXPLAINED, "UNEXPLAINED DOUBLE ALLOCATIONS",
	 "times", "older allocated by", "newer allocated by"},
	{KMT_FINDING_UNMATCHED_DEFER, "UNEXPLAINED DEFERRED FREES", "times",
	 "deferred by", NULL},
	{KMT_FINDING_DOUBLE_DEFER, "FREES DEFERRED TWICE", "times",
	 "allocated by", "deferred again by"},
};

/* Add a line. @explained: the findings are no defects. */
static void add_line(GArray *lines, guint64 count, const char *label,
		     const char *meaning, gboolean explained)
{
	const KmtFindingLine line = {count, label, meaning, !explained};

	g_array_append_val(lines, line);
}

/*
 * Add a number of findings that missing records explain: those of lost events
 * or, if @has_gaps, of events that the source does not see.
 */
static void add_after_loss(GArray *lines, guint64 count, const char *label,
			   const char *lost, const char *lost_or_not_seen,
			   gboolean has_gaps)
{
	add_line(lines, count, label, has_gaps ? lost_or_not_seen : lost, TRUE);
}

/* The text that something may be lost, and that it may be lost or not seen. */
#define LOST(what) what " may be lost", what " may be lost or not seen"

static void add_defers(GArray *lines, const KmtMatchFindings *findings,
		       gboolean has_gaps)
{
	const guint64 *unmatched = findings->unmatched_defers;

	add_line(lines, unmatched[KMT_MATCH_UNMATCHED_BEFORE_TRACE],
		 "deferred frees unmatched, before the trace",
		 "of memory from before the trace", TRUE);
	add_after_loss(lines, unmatched[KMT_MATCH_UNMATCHED_AFTER_LOSS],
		       "deferred frees unmatched, after loss",
		       LOST("the allocation"), has_gaps);
	add_line(lines, unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED],
		 "deferred frees unmatched, unexplained",
		 "of freed memory, or not traced", FALSE);
	add_after_loss(lines, findings->double_defers_after_loss,
		       "frees deferred twice, after loss", LOST("the free"),
		       has_gaps);
	add_line(lines, findings->double_defers,
		 "frees deferred twice, unexplained",
		 "handed over again before the free", FALSE);
}

static void add_matches(GArray *lines, const KmtMatchFindings *findings,
			gboolean has_gaps)
{
	add_line(lines, findings->unmatched[KMT_MATCH_UNMATCHED_BEFORE_TRACE],
		 "frees unmatched, before the trace",
		 "first event of the address", TRUE);
	add_after_loss(lines,
		       findings->unmatched[KMT_MATCH_UNMATCHED_AFTER_LOSS],
		       "frees unmatched, after loss", LOST("the allocation"),
		       has_gaps);
	add_line(lines, findings->unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED],
		 "frees unmatched, unexplained", "freed twice, or not traced",
		 FALSE);
	add_after_loss(lines, findings->doubles[KMT_MATCH_DOUBLE_AFTER_LOSS],
		       "double allocations, after loss", LOST("the free"),
		       has_gaps);
	add_line(lines, findings->doubles[KMT_MATCH_DOUBLE_RACE],
		 "double allocations, race",
		 "the free came late, from another CPU", TRUE);
	add_line(lines, findings->doubles[KMT_MATCH_DOUBLE_UNEXPLAINED],
		 "double allocations, unexplained",
		 "the address was live: a free was not traced", FALSE);
	add_line(lines, findings->mismatches, "type mismatches",
		 "kmalloc freed as cache, or the other way round", FALSE);
	add_after_loss(lines, findings->mismatches_after_loss,
		       "type mismatches, after loss",
		       LOST("the records between"), has_gaps);
}

GArray *kmt_finding_lines(const KmtReport *report)
{
	const KmtAggregate *aggregate = report->aggregate;
	g_auto(GStrv) not_seen = kmt_input_capture_not_seen(report->capture);
	gboolean has_gaps = not_seen != NULL;
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(KmtFindingLine));

	add_matches(lines, &aggregate->findings, has_gaps);
	if (aggregate->defer_records)
		add_defers(lines, &aggregate->findings, has_gaps);
	add_line(lines, aggregate->short_allocs, "short allocations",
		 "fewer bytes allocated than requested", FALSE);
	add_line(lines, aggregate->unordered, "timestamps going back",
		 "within a CPU's file", FALSE);
	add_line(lines, aggregate->skipped, "records skipped",
		 "unknown or damaged", FALSE);
	add_line(lines, aggregate->truncated_bytes, "bytes truncated",
		 "after the last whole record of a file", FALSE);
	return lines;
}
