/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits of the captures of a comparison into two sides, for permutation tests.
 * If a change has no effect, each split is as probable as the observed one.
 */
#ifndef KMEMTRACE_REPORT_DIFF_SPLITS_H
#define KMEMTRACE_REPORT_DIFF_SPLITS_H

#include <glib.h>

/* Above this number of possible splits, KMT_DIFF_RANDOM_SPLITS are drawn with a
 * fixed seed, in addition to the observed split. */
#define KMT_DIFF_MAX_SPLITS    100000
#define KMT_DIFF_RANDOM_SPLITS 9999

typedef struct {
	guint n_base;	   /* captures of the base side */
	guint n_new;	   /* captures of the new side */
	guint n_splits;	   /* including split 0, which is the observed one */
	gboolean is_exact; /* all possible splits, rather than random ones */
	/* For each split the numbers of all captures: first the n_base of its
	 * base side, then the n_new of its new side. Captures are numbered in
	 * the order of the observed split. */
	guint16 *members;
} KmtDiffSplits;

/* Return the splits of @n_base + @n_new captures. Both numbers must be at least
 * 1, and their sum at most G_MAXUINT16. */
KmtDiffSplits *kmt_diff_splits_new(guint n_base, guint n_new);
void kmt_diff_splits_free(KmtDiffSplits *splits);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtDiffSplits, kmt_diff_splits_free)

/* Return the n_base + n_new members of a split. */
static inline const guint16 *
kmt_diff_splits_members(const KmtDiffSplits *splits, guint split)
{
	return splits->members +
	       (gsize)split * (splits->n_base + splits->n_new);
}

/*
 * Return the smallest p-value that a test over these splits can have. A
 * two-sided test with equal sides counts each split together with its mirror
 * image: three captures against three allow 2/20, one-sided 1/20.
 */
double kmt_diff_splits_smallest_p(const KmtDiffSplits *splits,
				  gboolean two_sided);

/*
 * Return the smallest number of captures of each side with which a p-value can
 * be at most @error_rate, or 0 if no number suffices.
 */
guint kmt_diff_splits_needed(double error_rate, gboolean two_sided);

#endif
