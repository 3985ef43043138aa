/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures that a kind of memory and a call site have in common; the terms
 * are those of docs/definitions.md.
 */
#ifndef KMEMTRACE_REPORT_TOTALS_H
#define KMEMTRACE_REPORT_TOTALS_H

#include <glib.h>
#include <kmemtrace_abi.h>

/*
 * All but SLAB are the record's type_id.  SLAB is kmalloc and cache together
 * and exists for totals only; nothing adds any of the others up.
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

/* "kmalloc", "cache", "pages", "percpu", "vmalloc", "slab". */
const char *kmt_kind_name(KmtKind kind);

/* Is it a part of SLAB? */
static inline gboolean kmt_kind_is_slab(guint kind)
{
	return kind <= KMT_KIND_CACHE;
}

/* The kind that its figures are summed for: SLAB, or itself. */
static inline KmtKind kmt_kind_layer(KmtKind kind)
{
	return kmt_kind_is_slab(kind) ? KMT_KIND_SLAB : kind;
}

/* These, in the order that they are shown in. */
#define KMT_N_LAYERS 4
extern const KmtKind kmt_layers[KMT_N_LAYERS];

/* Sums are exact; the owner is told when one did not fit in 64 bits. */
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
	guint64 peak_bytes_alloc; /* the largest live_bytes_alloc, */
	gint64 peak_timestamp;	  /* and when it was reached first, ns */
} KmtTotals;

/* Add the sums of other to totals.  A sum above G_MAXUINT64 becomes
 * G_MAXUINT64, and TRUE is returned.  The peak is no sum and stays. */
gboolean kmt_totals_add(KmtTotals *totals, const KmtTotals *other);

/* allocated - requested.  Below 0 only where records are damaged. */
typedef struct {
	gboolean negative;
	guint64 bytes;
} KmtWaste;

KmtWaste kmt_totals_wasted(const KmtTotals *totals);
int kmt_waste_compare(KmtWaste a, KmtWaste b);

/* wasted / allocated, from 0 to 1; 0 if nothing was allocated. */
double kmt_totals_fragmentation(const KmtTotals *totals);

#endif
