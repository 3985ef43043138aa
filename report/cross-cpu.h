/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frees of objects for --cross-cpu: by allocating and freeing CPU, and by pair
 * of call sites. The CPU and the call site of a deferred free are those of the
 * DEFER. The column cross-CPU needs none of this: basic_step() in basic-stats.c
 * adds KmtMatchEvent.cross, which the matcher sets, and detailed_free() in
 * detailed-stats.c compares the two CPUs.
 */
#ifndef KMEMTRACE_REPORT_CROSS_CPU_H
#define KMEMTRACE_REPORT_CROSS_CPU_H

#include "report/index.h"
#include "report/finding-counts.h"

/* A number of frees and the bytes that they freed. */
typedef struct {
	guint64 frees;
	guint64 bytes; /* bytes allocated */
} KmtCrossCpuSum;

/* Add @other to @sum. A sum above G_MAXUINT64 becomes G_MAXUINT64. */
void kmt_cross_cpu_sum_add(KmtCrossCpuSum *sum, const KmtCrossCpuSum *other);

/*
 * Objects that call site @alloc allocated and call site @free_site freed on
 * another CPU.
 */
typedef struct {
	KmtFindingSite alloc;
	guint64 free_site;
	KmtCrossCpuSum sum;
} KmtCrossCpuPair;

/* Objects that CPU @from allocated and CPU @to freed. */
typedef struct {
	guint32 layer; /* index in kmt_layers */
	guint16 from;  /* CPU as index in capture->files */
	guint16 to;
	KmtCrossCpuSum sum;
} KmtCrossCpuCell;

/*
 * Counts of frees by pair of CPUs and by pair of call sites. Neither array has
 * more entries than there are frees.
 */
typedef struct {
	guint n_cpus;
	GArray *cells; /* KmtCrossCpuCell: all frees with a known object that
			* the span and the filter select */
	GArray *pairs; /* KmtCrossCpuPair: of these frees, those on another CPU
			* than the allocation */
	/* Private: */
	KmtIndex cell_index, pair_index;
	guint64 seed; /* seed of the hashes */
} KmtCrossCpu;

/*
 * Return empty counts for a capture with @n_cpus files. The caller frees the
 * result with kmt_cross_cpu_free().
 */
KmtCrossCpu *kmt_cross_cpu_new(guint n_cpus);
void kmt_cross_cpu_free(KmtCrossCpu *cross);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCrossCpu, kmt_cross_cpu_free)

/* Count the free of an object of @bytes allocated bytes. @alloc_cpu and
 * @free_cpu are indexes in capture->files. Return whether a sum of bytes
 * exceeds 2^64 - 1. */
gboolean kmt_cross_cpu_add(KmtCrossCpu *cross, const KmtFindingSite *alloc,
			   guint alloc_cpu, guint64 free_site, guint free_cpu,
			   guint64 bytes);

/* Sort cells by layer, from and to, and sort pairs by bytes in descending
 * order. No free may be added afterwards. */
void kmt_cross_cpu_sort(KmtCrossCpu *cross);

#endif
