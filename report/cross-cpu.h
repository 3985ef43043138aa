/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who frees what on which CPU. */
#ifndef KMEMTRACE_REPORT_CROSS_CPU_H
#define KMEMTRACE_REPORT_CROSS_CPU_H

#include "report/index.h"
#include "report/finding-counts.h"

typedef struct {
	guint64 frees;
	guint64 bytes; /* allocated */
} KmtCrossCpuSum;

/* Add other to sum.  What is above G_MAXUINT64 becomes G_MAXUINT64. */
void kmt_cross_cpu_sum_add(KmtCrossCpuSum *sum, const KmtCrossCpuSum *other);

/* Objects of one call site freed by another on another CPU. */
typedef struct {
	KmtFindingSite alloc;
	guint64 free_site;
	KmtCrossCpuSum sum;
} KmtCrossCpuPair;

/* Objects of one CPU freed by one CPU. */
typedef struct {
	guint32 layer; /* index in kmt_layers */
	guint16 from;  /* the CPUs, by their index among the files */
	guint16 to;
	KmtCrossCpuSum sum;
} KmtCrossCpuCell;

/* No more than there are frees, however many CPUs and call sites there are. */
typedef struct {
	guint n_cpus;
	GArray *cells; /* of KmtCrossCpuCell, of all frees that found their
			* object */
	GArray *pairs; /* of KmtCrossCpuPair */
	/* private: */
	KmtIndex cell_index, pair_index;
	guint64 seed; /* of the hashes */
} KmtCrossCpu;

KmtCrossCpu *kmt_cross_cpu_new(guint n_cpus);
void kmt_cross_cpu_free(KmtCrossCpu *cross);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCrossCpu, kmt_cross_cpu_free)

/* CPUs by their index among the files.  Returns whether a sum of bytes is above
 * 2^64 - 1. */
gboolean kmt_cross_cpu_add(KmtCrossCpu *cross, const KmtFindingSite *alloc,
			   guint alloc_cpu, guint64 free_site, guint free_cpu,
			   guint64 bytes);

/* All is added: sorts cells by layer, from and to, and pairs by bytes, most
 * first. */
void kmt_cross_cpu_sort(KmtCrossCpu *cross);

#endif
