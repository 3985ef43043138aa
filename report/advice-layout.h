/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of the slabs of the traced kernel, for the advice. */
#ifndef KMEMTRACE_REPORT_ADVICE_LAYOUT_H
#define KMEMTRACE_REPORT_ADVICE_LAYOUT_H

#include "lib/slab/capture-caches.h"

typedef struct {
	KmtSlabKernel kernel;
	KmtInputSlabTable *slabs; /* slabinfo of the capture; may be empty */
	/* The capture does not name its allocator; SLUB is assumed. */
	gboolean is_assumed;
} KmtAdviceLayout;

/* Return the layout of the kernel of a capture, or NULL if the capture does not
 * name its kernel, or its allocator is unknown to lib/slab. The caller frees
 * the layout. */
KmtAdviceLayout *kmt_advice_layout_new(const KmtInputCapture *capture);
void kmt_advice_layout_free(KmtAdviceLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtAdviceLayout, kmt_advice_layout_free)

/* Describe the allocator: "SLUB of Linux 6.1, 2 CPUs". The caller frees the
 * string. */
char *kmt_advice_layout_text(const KmtAdviceLayout *layout);

/* Return the bytes that kmalloc() allocates for a request. */
guint64 kmt_advice_kmalloc_bytes(const KmtAdviceLayout *layout, guint64 bytes);

/* Upper limit of bytes, so that sums and differences fit into 64 bits. Only
 * damaged records exceed it. */
#define KMT_ADVICE_MAX_BYTES (G_GUINT64_CONSTANT(1) << 60)

/* Return a product, or KMT_ADVICE_MAX_BYTES if it is larger. */
static inline guint64 kmt_advice_product(guint64 a, guint64 b)
{
	guint64 product;

	if (__builtin_mul_overflow(a, b, &product))
		return KMT_ADVICE_MAX_BYTES;
	return MIN(product, KMT_ADVICE_MAX_BYTES);
}

/* Return the bytes of slabs that n objects occupy in a cache with this layout
 * which other objects share: n times the bytes of a slab, divided by its
 * objects. */
guint64 kmt_advice_shared_bytes(const KmtAdviceLayout *layout,
				const KmtSlabGeometry *geometry, guint64 n);
/* Return the bytes that a cache with only these n objects occupies, with its
 * own descriptors. */
guint64 kmt_advice_own_bytes(const KmtAdviceLayout *layout,
			     const KmtSlabGeometry *geometry, guint64 n);

#endif
