// SPDX-License-Identifier: GPL-2.0-only
/* vmalloc areas, and their pages. */
#include "kmt_gap.h"

#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

/*
 * The call site of the pages is in the kernel, so print only their addresses,
 * and the test checks that each was allocated and freed.
 */
static noinline void gap_vmalloc(void)
{
	struct page *first, *last;
	void *area;

	area = vmalloc(50 * PAGE_SIZE);
	if (!area)
		return;
	first = vmalloc_to_page(area);
	last = vmalloc_to_page(area + 49 * PAGE_SIZE);
	pr_info("pages %#llx %#llx\n", kmt_page_address(first),
		kmt_page_address(last));
	vfree(area);
	say_alloc("vmalloc", 1, 50 * PAGE_SIZE, GFP_KERNEL);
	say_freed("vmalloc", 1, __func__);
}

/*
 * @size is not a multiple of the page size: a part of the last page is not
 * requested.
 */
static noinline void gap_vmalloc_odd(unsigned long size)
{
	vfree(vmalloc(size));
	vfree(vzalloc(PAGE_SIZE));
	vfree(vmalloc_node(PAGE_SIZE, 0));
	vfree(__vmalloc(PAGE_SIZE, GFP_KERNEL));
	vfree(vmalloc_user(PAGE_SIZE));
	say_alloc_any("vmalloc", 5, size + 4 * PAGE_SIZE);
	say_freed("vmalloc", 5, __func__);
}

/*
 * For so many pages, vmalloc() allocates its array of page pointers by
 * vmalloc().
 */
static noinline void gap_vmalloc_large(void)
{
	unsigned long n = PAGE_SIZE / sizeof(struct page *) + 88;

	vfree(vmalloc(n * PAGE_SIZE));
	say_alloc_any("vmalloc", 2, n * (PAGE_SIZE + sizeof(struct page *)));
	say_freed("vmalloc", 2, "*");
}

/* Functions that free an area and its array of pages on one of the kernels. */
#define KVFREES	"kvfree|gap_kvmalloc|vfree|__vfree|__vunmap|gap_vmallocs"

/* @size: more than kmalloc() allocates, a multiple of the huge page size. */
static noinline void gap_kvmalloc(size_t size)
{
	void *small = kvmalloc(100, GFP_KERNEL);
	void *large = kvmalloc(size, GFP_KERNEL);

	if (!is_vmalloc_addr(large))
		pr_err("kmalloc() gave %zu bytes\n", size);
	say_alloc_any("vmalloc", 2, size + size / PAGE_SIZE * sizeof(void *));
	say_freed("vmalloc", 2, KVFREES);
	/*
	 * Up to Linux 6.12 the small object's call site is kvmalloc_node(), unless the
	 * compiler replaced the call of kmalloc() by a jump.
	 */
	if (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0))
		say_alloc("kmalloc", 1, 100, GFP_KERNEL);
	else
		say_may_alloc("kmalloc");
	kvfree(small);
	kvfree(large);
}

/* A worker frees the area, but the free is recorded when vfree() is called. */
static noinline void gap_vfree_deferred(void)
{
	void *area = vmalloc(PAGE_SIZE);

	local_bh_disable();
	vfree(area);
	local_bh_enable();
	say_alloc("vmalloc", 1, PAGE_SIZE, GFP_KERNEL);
	say_freed("vmalloc", 1, __func__);
}

/* vmap() maps pages that were allocated before. */
static noinline void gap_vmap(void)
{
	struct page *page = alloc_page(GFP_KERNEL);

	vunmap(vmap(&page, 1, VM_MAP, PAGE_KERNEL));
	__free_page(page);
	say_alloc("vmalloc", 0, 0, 0);
	say_alloc("pages", 1, PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", 1, __func__);
}

/* vfree() frees the array and the pages. */
static noinline void gap_vmap_put_pages(void)
{
	struct page **array = kmalloc(2 * sizeof(*array), GFP_KERNEL);

	array[0] = alloc_page(GFP_KERNEL);
	array[1] = alloc_page(GFP_KERNEL);
	vfree(vmap(array, 2, VM_MAP | VM_MAP_PUT_PAGES, PAGE_KERNEL));
	say_alloc("vmalloc", 1, 2 * PAGE_SIZE, 0);
	say_freed("vmalloc", 1, __func__);
	say_alloc("pages", 2, 2 * PAGE_SIZE, GFP_KERNEL);
	say_alloc("kmalloc", 1, 2 * sizeof(*array), GFP_KERNEL);
}

static noinline void gap_vmalloc_fails(void)
{
	if (vmalloc(totalram_pages() * PAGE_SIZE * 2))
		pr_err("more than all memory was there\n");
	vfree(NULL);
	say_alloc("vmalloc", 0, 0, 0);
	say_freed("vmalloc", 0, "*");
}

/*
 * The allocation of huge pages, of 1 or 2 MB, fails, as if memory were
 * fragmented, because a fatal signal is pending. The kernel then tries single
 * pages, which the signal does not prevent while the bulk allocator provides
 * them.
 */
static noinline void gap_vmalloc_huge_fails(void)
{
	void *area;

	spin_lock_irq(&current->sighand->siglock);
	sigaddset(&current->pending.signal, SIGKILL);
	set_tsk_thread_flag(current, TIF_SIGPENDING);
	spin_unlock_irq(&current->sighand->siglock);

	area = vmalloc_huge(SZ_2M, GFP_KERNEL);

	spin_lock_irq(&current->sighand->siglock);
	sigdelset(&current->pending.signal, SIGKILL);
	recalc_sigpending();
	spin_unlock_irq(&current->sighand->siglock);

	vfree(area);
	say_alloc_any("vmalloc", area ? 1 : 0, area ? SZ_2M : 0);
	say_freed("vmalloc", area ? 1 : 0, __func__);
}

/*
 * vrealloc() in place: a free, and an allocation of another size. The function
 * exists since Linux 6.12, and modules can call it since Linux 6.16.
 */
static noinline void gap_vrealloc(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	void *area = vmalloc(8 * PAGE_SIZE);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	area = vrealloc(area, 3 * PAGE_SIZE, GFP_KERNEL);
#else
	void *(*resize)(const void *area, size_t size, gfp_t gfp) =
		gap_symbol("vrealloc_noprof");

	if (!resize) {
		vfree(area);
		return;
	}
	area = resize(area, 3 * PAGE_SIZE, GFP_KERNEL);
#endif
	vfree(area);
	say_alloc("vmalloc", 2, 11 * PAGE_SIZE, GFP_KERNEL);
	say_freed("vmalloc", 2, __func__);
#endif
}

void gap_vmallocs(void)
{
	gap_path(gap_vmalloc());
	gap_path(gap_vmalloc_odd(5000));
	gap_path(gap_vmalloc_large());
	gap_path(gap_kvmalloc(6 << 20));
	gap_path(gap_vfree_deferred());
	gap_path(gap_vmap());
	gap_path(gap_vmap_put_pages());
	gap_path(gap_vmalloc_fails());
	gap_path(gap_vmalloc_huge_fails());
	gap_path(gap_vrealloc());
}
