/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frees of objects for --cross-cpu: by allocating and freeing CPU, and by pair
 * of call sites. The CPU and the call site of a deferred free are those of the
 * DEFER. The column cross-CPU needs none of this: the matcher sets
 * KmtMatchDecision.flag and KmtMatchEvent.cross, which kmt_class_stats_step()
 * counts, and detailed_free() in detailed-stats.c compares the two CPUs.
 */
#ifndef KMEMTRACE_REPORT_CROSS_CPU_H
#define KMEMTRACE_REPORT_CROSS_CPU_H

#include "report/index.h"
#include "report/finding-counts.h"
#include "lib/input/namespace.h"

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

/* The pair of an allocation class and a freeing call site. */
typedef struct {
	guint64 free_site;
	guint32 class_id;
	guint32 pair_plus_1; /* number in pairs plus 1; 0: unused */
} KmtCrossCpuRecent;

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
	/* Direct-mapped caches of cells and pairs, with which a free takes 30
	 * instructions instead of 210. */
	guint32 recent_cells[256]; /* number in cells */
	KmtCrossCpuRecent recent_pairs[1024];
} KmtCrossCpu;

/*
 * Return empty counts for a capture with @n_cpus files. The caller frees the
 * result with kmt_cross_cpu_free().
 */
KmtCrossCpu *kmt_cross_cpu_new(guint n_cpus);
void kmt_cross_cpu_free(KmtCrossCpu *cross);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCrossCpu, kmt_cross_cpu_free)

/* Return the number of the cell of @key, which is added if necessary. Private
 * to kmt_cross_cpu_add(). */
guint32 kmt_cross_cpu_find_cell(KmtCrossCpu *cross, const KmtCrossCpuCell *key);
/*
 * Add a free of @bytes to a sum. If the sum of bytes exceeds G_MAXUINT64, set
 * it to G_MAXUINT64 and return TRUE.
 */
static inline gboolean kmt_cross_cpu_sum_free(KmtCrossCpuSum *sum,
					      guint64 bytes)
{
	sum->frees++;
	if (!__builtin_add_overflow(sum->bytes, bytes, &sum->bytes))
		return FALSE;
	sum->bytes = G_MAXUINT64;
	return TRUE;
}

/* Count the free of an object of @bytes allocated bytes by CPUs. @alloc_cpu and
 * @free_cpu are indexes in capture->files. Return whether a sum of bytes
 * exceeds 2^64 - 1. */
static inline gboolean kmt_cross_cpu_add(KmtCrossCpu *cross, KmtKind kind,
					 guint16 alloc_cpu, guint16 free_cpu,
					 guint64 bytes)
{
	/* A KmtInputNamespace is also the index of its kind in kmt_layers. */
	const KmtCrossCpuCell key = {.layer = kmt_input_namespace_of(kind),
				     .from = alloc_cpu,
				     .to = free_cpu};
	KmtCrossCpuCell *cells = (KmtCrossCpuCell *)(void *)cross->cells->data;
	guint32 *recent =
		&cross->recent_cells[(key.layer + alloc_cpu * 4U +
				      free_cpu * 36U) %
				     G_N_ELEMENTS(cross->recent_cells)];

	if (G_UNLIKELY(*recent >= cross->cells->len ||
		       cells[*recent].layer != key.layer ||
		       cells[*recent].from != alloc_cpu ||
		       cells[*recent].to != free_cpu)) {
		*recent = kmt_cross_cpu_find_cell(cross, &key);
		cells = (KmtCrossCpuCell *)(void *)cross->cells->data;
	}
	return kmt_cross_cpu_sum_free(&cells[*recent].sum, bytes);
}

/* Count the free of an object on another CPU by call sites. @alloc is the call
 * site of its allocation class. The result is that of kmt_cross_cpu_add(). */
gboolean kmt_cross_cpu_add_pair(KmtCrossCpu *cross, guint32 class_id,
				const KmtFindingSite *alloc, guint64 free_site,
				guint64 bytes);

/* Count the free of an object on another CPU if the cache of recent pairs has
 * its class and call site: this needs no allocating site. Return FALSE if the
 * cache lacks the pair; otherwise set *overflow to the result of
 * kmt_cross_cpu_add(). */
gboolean kmt_cross_cpu_add_recent(KmtCrossCpu *cross, guint32 class_id,
				  guint64 free_site, guint64 bytes,
				  gboolean *overflow);

/* Sort cells by layer, from and to, and sort pairs by bytes in descending
 * order. No free may be added afterwards. */
void kmt_cross_cpu_sort(KmtCrossCpu *cross);

#endif
