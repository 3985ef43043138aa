/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings by the call sites that they name: how often a site, or a pair of
 * sites, had each.
 */
#ifndef KMEMTRACE_REPORT_FINDING_COUNTS_H
#define KMEMTRACE_REPORT_FINDING_COUNTS_H

#include "report/totals.h"

typedef enum {
	/* In the order of KmtMatchUnmatched; first: the FREE; no second. */
	KMT_FINDING_UNMATCHED_BEFORE_TRACE,
	KMT_FINDING_UNMATCHED_AFTER_LOSS,
	KMT_FINDING_UNMATCHED_UNEXPLAINED,
	/* In the order of KmtMatchDoubleAlloc; first: older ALLOC, second:
	   newer. */
	KMT_FINDING_DOUBLE_AFTER_LOSS,
	KMT_FINDING_DOUBLE_RACE,
	KMT_FINDING_DOUBLE_UNEXPLAINED,
	/* first: the ALLOC, second: the FREE. */
	KMT_FINDING_MISMATCH,
} KmtFindingClass;

typedef struct {
	guint64 address;
	KmtKind kind;
} KmtFindingSite;

typedef struct {
	KmtFindingClass class;
	KmtFindingSite first;
	KmtFindingSite second;
	guint64 count;
	guint hash; /* private */
} KmtFindingCount;

typedef struct KmtFindingCounts KmtFindingCounts;

KmtFindingCounts *kmt_finding_counts_new(void);
void kmt_finding_counts_free(KmtFindingCounts *finding_counts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtFindingCounts, kmt_finding_counts_free)

/* What counts such findings, as long as finding_counts is.  second: NULL where
 * the class has none. */
guint64 *kmt_finding_counts_count(KmtFindingCounts *finding_counts,
				  KmtFindingClass class,
				  const KmtFindingSite *first,
				  const KmtFindingSite *second);

/*
 * The entries (const KmtFindingCount) of a class, the most frequent first, then
 * by address and kind.  The array is the caller's, the entries are the
 * finding_counts's.
 */
GPtrArray *kmt_finding_counts_list(const KmtFindingCounts *finding_counts,
				   KmtFindingClass class);

#endif
