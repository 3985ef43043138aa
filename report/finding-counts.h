/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of findings by the call sites that the findings name: one site, or a
 * pair of sites.
 */
#ifndef KMEMTRACE_REPORT_FINDING_COUNTS_H
#define KMEMTRACE_REPORT_FINDING_COUNTS_H

#include "report/totals.h"
#include "lib/symbols/symbolizer.h"

/* Classes of findings that are counted by call site. */
typedef enum {
	/* In the order of KmtMatchUnmatched. first: the FREE; second: unused.
	 */
	KMT_FINDING_UNMATCHED_BEFORE_TRACE,
	KMT_FINDING_UNMATCHED_AFTER_LOSS,
	KMT_FINDING_UNMATCHED_UNEXPLAINED,
	/* In the order of KmtMatchDoubleAlloc. first: the older ALLOC; second:
	 * the newer ALLOC. */
	KMT_FINDING_DOUBLE_AFTER_LOSS,
	KMT_FINDING_DOUBLE_RACE,
	KMT_FINDING_DOUBLE_UNEXPLAINED,
	/* first: the ALLOC; second: the FREE, or the DEFER of a deferred free.
	 */
	KMT_FINDING_MISMATCH,
	/* first: an unexplained DEFER; second: unused. */
	KMT_FINDING_UNMATCHED_DEFER,
	/* first: the ALLOC; second: the unexplained second DEFER. */
	KMT_FINDING_DOUBLE_DEFER,
} KmtFindingClass;

/* A call site and the kind of the memory that it allocated, freed or deferred.
 */
typedef struct {
	KmtSymSite site;
	KmtKind kind;
} KmtFindingSite;

/* Return whether two call sites and their kinds are equal. */
static inline gboolean kmt_finding_site_equal(const KmtFindingSite *a,
					      const KmtFindingSite *b)
{
	return a->site.address == b->site.address &&
	       a->site.tag == b->site.tag && a->kind == b->kind;
}

/* Compare two call sites by address, tag and kind. */
int kmt_finding_site_compare(const KmtFindingSite *a, const KmtFindingSite *b);

/* The number of findings of one class with the same call sites. */
typedef struct {
	KmtFindingClass class;
	KmtFindingSite first;
	KmtFindingSite second;
	guint64 count;
	guint hash; /* private: hash of the class and the sites */
} KmtFindingCount;

typedef struct KmtFindingCounts KmtFindingCounts;

/*
 * Return a table without findings. The caller frees it with
 * kmt_finding_counts_free().
 */
KmtFindingCounts *kmt_finding_counts_new(void);
void kmt_finding_counts_free(KmtFindingCounts *finding_counts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtFindingCounts, kmt_finding_counts_free)

/* Return the counter of the findings of @class with these sites. The counter is
 * valid as long as @finding_counts. @second is NULL if the class has one site.
 */
guint64 *kmt_finding_counts_count(KmtFindingCounts *finding_counts,
				  KmtFindingClass class,
				  const KmtFindingSite *first,
				  const KmtFindingSite *second);

/*
 * Return the entries (const KmtFindingCount) of a class in descending order of
 * count, then by address and kind. The caller owns the array; @finding_counts
 * owns the entries.
 */
GPtrArray *kmt_finding_counts_list(const KmtFindingCounts *finding_counts,
				   KmtFindingClass class);

#endif
