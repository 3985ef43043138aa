/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who frees what on which CPU. */
#ifndef KMEMTRACE_REPORT_CROSS_CPU_H
#define KMEMTRACE_REPORT_CROSS_CPU_H

#include "report/index.h"
#include "report/finding-counts.h"

typedef struct {
	guint64 frees;
	guint64 bytes; /* allocated */
} KmtCrossSum;

/* Add other to sum.  What is above G_MAXUINT64 becomes G_MAXUINT64. */
void kmt_cross_sum_add(KmtCrossSum *sum, const KmtCrossSum *other);

/* Objects of one call site freed by another on another CPU. */
typedef struct {
	KmtTallySite alloc;
	guint64 free_site;
	KmtCrossSum sum;
} KmtCrossPair;

/* Objects of one CPU freed by one CPU. */
typedef struct {
	guint32 layer; /* index in kmt_layers */
	guint16 from;  /* the CPUs, by their index among the files */
	guint16 to;
	KmtCrossSum sum;
} KmtCrossCell;

/* No more than there are frees, however many CPUs and call sites there are. */
typedef struct {
	guint n_cpus;
	GArray *cells; /* of KmtCrossCell, of all frees that found their
			* object */
	GArray *pairs; /* of KmtCrossPair */
	/* private: */
	KmtIndex cell_index, pair_index;
	guint64 seed; /* of the hashes */
} KmtCross;

KmtCross *kmt_cross_new(guint n_cpus);
void kmt_cross_free(KmtCross *cross);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCross, kmt_cross_free)

/* CPUs by their index among the files.  Returns whether a sum of bytes is above
 * 2^64 - 1. */
gboolean kmt_cross_add(KmtCross *cross, const KmtTallySite *alloc,
		       guint alloc_cpu, guint64 free_site, guint free_cpu,
		       guint64 bytes);

/* All is added: sorts cells by layer, from and to, and pairs by bytes, most
 * first. */
void kmt_cross_sort(KmtCross *cross);

#endif
