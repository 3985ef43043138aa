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
 * The first three are the record's type_id.  SLAB is kmalloc and cache together
 * and exists for totals only; nothing adds PAGES to the others.
 */
typedef enum {
	KMT_KIND_KMALLOC = KMEMTRACE_TYPE_KMALLOC,
	KMT_KIND_CACHE = KMEMTRACE_TYPE_CACHE,
	KMT_KIND_PAGES = KMEMTRACE_TYPE_PAGES,
	KMT_KIND_SLAB,
	KMT_N_KINDS
} KmtKind;

/* "kmalloc", "cache", "pages", "slab". */
const char *kmt_kind_name(KmtKind kind);

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

/* Adds the sums of other; a peak is no sum, and is left alone.  TRUE if a sum
 * overflowed. */
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
