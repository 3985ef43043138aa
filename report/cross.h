/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who frees what on which CPU. */
#ifndef KMEMTRACE_REPORT_CROSS_H
#define KMEMTRACE_REPORT_CROSS_H

#include "report/tally.h"

typedef struct {
	guint64 frees;
	guint64 bytes; /* allocated */
} KmtCrossSum;

/* Objects of one call site freed by another on another CPU. */
typedef struct {
	KmtTallySite alloc;
	guint64 free_site;
	KmtCrossSum sum;
	guint hash; /* private */
} KmtCrossPair;

typedef struct {
	guint n_cpus;
	/* [place in kmt_layers][allocating][freeing], all frees that found
	 * their object; NULL for a CPU with none. */
	KmtCrossSum **matrix[KMT_N_LAYERS];
	/* private: */
	GHashTable *pairs; /* of KmtCrossPair */
	guint64 seed;	   /* of their hash */
} KmtCross;

KmtCross *kmt_cross_new(guint n_cpus);
void kmt_cross_free(KmtCross *cross);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCross, kmt_cross_free)

/* CPUs by their place among the files.  Returns whether a sum of bytes is above
 * 2^64 - 1. */
gboolean kmt_cross_add(KmtCross *cross, const KmtTallySite *alloc,
		       guint alloc_cpu, guint64 free_site, guint free_cpu,
		       guint64 bytes);

/* Of const KmtCrossPair, most bytes first; the array is the caller's. */
GPtrArray *kmt_cross_pairs(const KmtCross *cross);

#endif
