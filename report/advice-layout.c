// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/advice-layout.h"
#include "report/report.h"

KmtAdviceLayout *kmt_advice_layout_new(const KmtInputCapture *capture)
{
	g_autofree char *release =
		kmt_report_meta_value(capture, "kernel_release");
	g_autofree char *machine = kmt_report_meta_value(capture, "machine");
	g_autofree char *allocator =
		kmt_report_meta_value(capture, "allocator");
	guint64 cpus = capture->files->len, page_size = 0, word_size = 0;
	g_autoptr(KmtAdviceLayout) layout = g_new0(KmtAdviceLayout, 1);

	kmt_input_capture_meta_number(capture, "cpus", &cpus);
	kmt_input_capture_meta_number(capture, "page_size", &page_size);
	kmt_input_capture_meta_number(capture, "word_size", &word_size);
	layout->is_assumed = !allocator;
	if (!release || !machine || g_strcmp0(allocator, "slob") == 0 ||
	    !kmt_slab_kernel_init(&layout->kernel, release, machine,
				  g_strcmp0(allocator, "slab") == 0,
				  (guint)CLAMP(cpus, 1, 65536),
				  (guint)MIN(page_size, G_MAXUINT32),
				  (guint)MIN(word_size, G_MAXUINT32)))
		return NULL;
	return g_steal_pointer(&layout);
}

void kmt_advice_layout_free(KmtAdviceLayout *layout)
{
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

	/* Without overflow for any n that a replay can count. */
	return n / geometry->objects * slab +
	       n % geometry->objects * slab / geometry->objects;
}

guint64 kmt_advice_own_bytes(const KmtAdviceLayout *layout,
			     const KmtSlabGeometry *geometry, guint64 n)
{
	KmtSlabOverhead overhead;

	kmt_slab_overhead(&layout->kernel, geometry, &overhead);
	return kmt_slab_slabs(geometry, n) *
		       kmt_slab_bytes(&layout->kernel, geometry) +
	       overhead.descriptors + overhead.per_cpu + overhead.sysfs;
}
