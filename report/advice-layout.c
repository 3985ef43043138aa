// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/advice-layout.h"

KmtAdviceLayout *kmt_advice_layout_new(const KmtInputCapture *capture)
{
	g_autoptr(KmtAdviceLayout) layout = g_new0(KmtAdviceLayout, 1);
	KmtSlabKernelOrigin origin;

	layout->slabs = kmt_input_slab_table_new(capture);
	origin = kmt_slab_kernel_of_capture(capture, layout->slabs,
					    &layout->kernel);
	layout->is_assumed = origin == KMT_SLAB_KERNEL_ASSUMED;
	return origin == KMT_SLAB_KERNEL_UNKNOWN ? NULL
						 : g_steal_pointer(&layout);
}

void kmt_advice_layout_free(KmtAdviceLayout *layout)
{
	if (!layout)
		return;
	kmt_input_slab_table_free(layout->slabs);
	g_free(layout);
}

char *kmt_advice_layout_text(const KmtAdviceLayout *layout)
{
	static const char *const names[] = {[KMT_SLAB_ALLOCATOR_SLUB] = "SLUB",
					    [KMT_SLAB_ALLOCATOR_SHEAVES] =
						    "SLUB with sheaves",
					    [KMT_SLAB_ALLOCATOR_SLAB] = "SLAB"};
	const KmtSlabKernel *kernel = &layout->kernel;

	return g_strdup_printf("%s of Linux %u.%u, %u CPUs",
			       names[kernel->allocator], kernel->release / 1000,
			       kernel->release % 1000, kernel->cpus);
}

guint64 kmt_advice_kmalloc_bytes(const KmtAdviceLayout *layout, guint64 bytes)
{
	return kmt_slab_kmalloc_size(&layout->kernel, bytes);
}

guint64 kmt_advice_shared_bytes(const KmtAdviceLayout *layout,
				const KmtSlabGeometry *geometry, guint64 n)
{
	guint64 slab = kmt_slab_bytes(&layout->kernel, geometry);

	return kmt_advice_product(n / geometry->objects, slab) +
	       kmt_advice_product(n % geometry->objects, slab) /
		       geometry->objects;
}

guint64 kmt_advice_own_bytes(const KmtAdviceLayout *layout,
			     const KmtSlabGeometry *geometry, guint64 n)
{
	KmtSlabOverhead overhead;

	kmt_slab_overhead(&layout->kernel, geometry, &overhead);
	return kmt_advice_product(kmt_slab_slabs(geometry, n),
				  kmt_slab_bytes(&layout->kernel, geometry)) +
	       overhead.descriptors + overhead.per_cpu + overhead.sysfs;
}
