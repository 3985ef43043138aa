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
	KMT_TALLY_UNMATCHED_BEFORE_TRACE,
	KMT_TALLY_UNMATCHED_AFTER_LOSS,
	KMT_TALLY_UNMATCHED_UNEXPLAINED,
	/* In the order of KmtMatchDoubleAlloc; first: older ALLOC, second:
	   newer. */
	KMT_TALLY_DOUBLE_AFTER_LOSS,
	KMT_TALLY_DOUBLE_RACE,
	KMT_TALLY_DOUBLE_UNEXPLAINED,
	/* first: the ALLOC, second: the FREE. */
	KMT_TALLY_MISMATCH,
} KmtTallyClass;

typedef struct {
	guint64 address;
	KmtKind kind;
} KmtTallySite;

typedef struct {
	KmtTallyClass class;
	KmtTallySite first;
	KmtTallySite second;
	guint64 count;
	guint hash; /* private */
} KmtTallyEntry;

typedef struct KmtTally KmtTally;

KmtTally *kmt_tally_new(void);
void kmt_tally_free(KmtTally *tally);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTally, kmt_tally_free)

/* What counts such findings, as long as tally is.  second: NULL where the class
 * has none. */
guint64 *kmt_tally_count(KmtTally *tally, KmtTallyClass class,
			 const KmtTallySite *first, const KmtTallySite *second);

/*
 * The entries (const KmtTallyEntry) of a class, the most frequent first, then
 * by address and kind.  The array is the caller's, the entries are the tally's.
 */
GPtrArray *kmt_tally_list(const KmtTally *tally, KmtTallyClass class);

#endif
