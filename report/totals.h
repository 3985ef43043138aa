/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures of a kind of memory or a group. docs/definitions.md defines the
 * terms.
 */
#ifndef KMEMTRACE_REPORT_TOTALS_H
#define KMEMTRACE_REPORT_TOTALS_H

#include <glib.h>
#include <kmemtrace_abi.h>

/*
 * Each kind except SLAB equals the type_id of its records. SLAB is the sum of
 * kmalloc and cache; no record has it. No other kinds are summed.
 */
typedef enum {
	KMT_KIND_KMALLOC = KMEMTRACE_TYPE_KMALLOC,
	KMT_KIND_CACHE = KMEMTRACE_TYPE_CACHE,
	KMT_KIND_PAGES = KMEMTRACE_TYPE_PAGES,
	KMT_KIND_PERCPU = KMEMTRACE_TYPE_PERCPU,
	KMT_KIND_VMALLOC = KMEMTRACE_TYPE_VMALLOC,
	KMT_KIND_SLAB,
	KMT_N_KINDS
} KmtKind;

/*
 * Return the name of @kind: "kmalloc", "cache", "pages", "percpu", "vmalloc" or
 * "slab".
 */
const char *kmt_kind_name(KmtKind kind);

/* Return whether @kind is a part of SLAB. */
static inline gboolean kmt_kind_is_slab(guint kind)
{
	return kind <= KMT_KIND_CACHE;
}

/*
 * Return the kind that stands for the address namespace of @kind: SLAB for
 * kmalloc and cache, else @kind.
 */
static inline KmtKind kmt_kind_layer(KmtKind kind)
{
	return kmt_kind_is_slab(kind) ? KMT_KIND_SLAB : kind;
}

/* All results of kmt_kind_layer(), in the order of the report. */
#define KMT_N_LAYERS 4
extern const KmtKind kmt_layers[KMT_N_LAYERS];

/*
 * Sums over allocations, frees, or objects. An overflow sets
 * KmtAggregate.overflowed. kmt_aggregate_scale() scales the sums of a sampled
 * capture, which are then estimates.
 */
typedef struct {
	guint64 allocs;
	guint64 frees;
	guint64 bytes_req;
	guint64 bytes_alloc;
	guint64 cross_cpu_frees;
	guint64 remote_node_allocs;
	guint64 live_objects;
	guint64 live_bytes_req;
	guint64 live_bytes_alloc;
	guint64 peak_bytes_alloc; /* largest live_bytes_alloc */
	gint64 peak_timestamp;	  /* first time of the peak, ns */
} KmtTotals;

/* Add the sums of @other to @totals. A sum above G_MAXUINT64 becomes
 * G_MAXUINT64, and the function returns TRUE. The peak is not a sum and does
 * not change. */
gboolean kmt_totals_add(KmtTotals *totals, const KmtTotals *other);

/*
 * Allocated minus requested bytes. The value is negative only if records have
 * fewer allocated than requested bytes, or if a sum overflowed.
 */
typedef struct {
	gboolean negative;
	guint64 bytes;
} KmtWaste;

/* Return the allocated minus the requested bytes of @totals. */
KmtWaste kmt_totals_wasted(const KmtTotals *totals);

/* Compare two values for ascending order. The result has the sign of a - b. */
int kmt_waste_compare(KmtWaste a, KmtWaste b);

/*
 * Return wasted / allocated bytes, from 0 to 1; 0 if no byte was allocated or
 * the waste is negative.
 */
double kmt_totals_fragmentation(const KmtTotals *totals);

#endif
