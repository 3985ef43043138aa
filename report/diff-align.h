/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Alignment of two sequences. */
#ifndef KMEMTRACE_REPORT_DIFF_ALIGN_H
#define KMEMTRACE_REPORT_DIFF_ALIGN_H

#include <glib.h>

/* Return the similarity of element @i of the first sequence and element @j of
 * the second, from 0 to 1; 0: they never match. */
typedef double (*KmtDiffSimilarity)(gconstpointer user, guint i, guint j);

#define KMT_DIFF_UNPAIRED G_MAXUINT

/*
 * Pair elements of two sequences of @n and @m elements, such that the pairs
 * have the same order in both sequences, and the sum of their similarities is
 * as large as possible. pair[i] becomes the partner of element i of the first
 * sequence, or KMT_DIFF_UNPAIRED.
 *
 * If n * m is large, elements are paired in order, each with the next element
 * whose similarity is not 0.
 */
void kmt_diff_align(guint n, guint m, KmtDiffSimilarity similarity,
		    gconstpointer user, guint *pair);

#endif
