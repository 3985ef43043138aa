// SPDX-License-Identifier: GPL-2.0-only
/*
 * The annotations of the coverage check: see <linux/kmt_coverage.h>.
 *
 * The annotations are in the buffers of kmemtrace, so that the order of an annotation
 * and a record of the same CPU is exact.  Only the hooks of kmemtrace are under test
 * here; lost events are counted for annotations and records alike.
 */

#include <linux/array_size.h>
#include <linux/cpumask.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/kmemtrace_mark.h>
#include <linux/kmt_coverage.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>

#include <uapi/linux/kmemtrace_abi.h>

#include <asm/sections.h>

#include "slab.h"

/* Number of callers in an annotation; with these, its payload fits into one record. */
#define KMT_COVERAGE_CALLERS	6

/*
 * Write the annotation: a first word with the operation in bits 0 to 3, a flag for pages
 * in bit 4, and the size from bit 8 on; the address; and the callers, innermost first,
 * as signed distances of 32 bits to _stext.
 */
static __always_inline void
kmt_coverage_write(enum kmt_coverage_operation operation, bool is_pages,
		   u64 address, unsigned long size)
{
	unsigned long callers[KMT_COVERAGE_CALLERS] = { };
	u32 distance[KMT_COVERAGE_CALLERS] = { };
	unsigned int i, n;

	/* The tracepoints, and thus the records, begin when the CPU is online. */
	if (!cpu_online(raw_smp_processor_id()))
		return;
	n = stack_trace_save(callers, ARRAY_SIZE(callers), 1);
	for (i = 0; i < n; i++)
		distance[i] = callers[i] - (unsigned long)_stext;
	kmemtrace_mark(coverage, "%llx %llx %llx %llx %llx",
		       (u64)size << 8 | is_pages << 4 | operation, address,
		       (u64)distance[1] << 32 | distance[0],
		       (u64)distance[3] << 32 | distance[2],
		       (u64)distance[5] << 32 | distance[4]);
}

noinline void kmt_coverage_pages(enum kmt_coverage_operation operation,
				 const struct page *page, unsigned long nr_pages)
{
	u64 address = (unsigned long)page_to_virt(page);

	/* The records have no other address of such a page. */
	if (PageHighMem(page))
		address = KMEMTRACE_PTR_PHYSICAL | page_to_phys(page);
	kmt_coverage_write(operation, true, address, nr_pages << PAGE_SHIFT);
}

noinline void kmt_coverage_object(enum kmt_coverage_operation operation,
				  const struct kmem_cache *s,
				  const void *object, size_t size)
{
	if (ZERO_OR_NULL_PTR(object))
		return;
	if (s)
		size = s->size;
	else if (size)
		size = PAGE_SIZE << get_order(size);
	kmt_coverage_write(operation, false, (unsigned long)object, size);
}
