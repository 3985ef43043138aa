// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes each way through the allocators a known number of times and prints what
 * a complete trace must show of it.  Every way is a function of its own, never
 * inlined, so that call_site tells them apart.  Lines:
 *
 *   kmt_gap: alloc FUNCTION TYPE COUNT BYTES_REQ GFP
 *	FUNCTION made COUNT allocations for BYTES_REQ bytes in all, each with
 *	these gfp flags ("-": of no interest)
 *   kmt_gap: freed FUNCTION TYPE COUNT BY
 *	of these, COUNT were freed by the function BY ("*": by anyone; "A|B":
 *	by B if the compiler has put it inline into A)
 *   kmt_gap: pages ADDRESS...
 *	each of these pages was allocated and freed, by functions of the kernel
 *   kmt_gap: lost COUNT
 *	so many events happened in NMI context
 */
#define pr_fmt(fmt) "kmt_gap: " fmt

#include <linux/gfp.h>
#include <linux/hardirq.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include <trace/events/kmem.h>

/* Enough to fill slabs and the arrays of kfree_rcu() more than once. */
#define N	100
#define BULK	64
#define CANDIDATES 20

static struct kmem_cache *gap_cache;
static void *objects[N];
static struct page *pages[N];

#define say_alloc(type, count, bytes, gfp)				\
	pr_info("alloc %s %s %lu %lu %#x\n", __func__, type,		\
		(unsigned long)(count), (unsigned long)(bytes),		\
		(__force unsigned int)(gfp))

/* With flags of several kinds. */
#define say_alloc_any(type, count, bytes)				\
	pr_info("alloc %s %s %lu %lu -\n", __func__, type,		\
		(unsigned long)(count), (unsigned long)(bytes))

#define say_freed(type, count, by)					\
	pr_info("freed %s %s %lu %s\n", __func__, type,		\
		(unsigned long)(count), by)

static noinline void gap_kfree_all(unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		kfree(objects[i]);
}

/* A compiler that knows the size takes another function than one that does not. */
static noinline void gap_kmalloc_constant(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmalloc(100, GFP_KERNEL);
	for (i = 0; i < N; i++)
		kfree(objects[i]);
	say_alloc("kmalloc", N, N * 100, GFP_KERNEL);
	say_freed("kmalloc", N, __func__);
}

static noinline void gap_kmalloc_variable(size_t size)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmalloc(size, GFP_NOWAIT);
	for (i = 0; i < N; i++)
		kfree_sensitive(objects[i]);
	say_alloc("kmalloc", N, N * size, GFP_NOWAIT);
	say_freed("kmalloc", N, "kfree_sensitive");
}

static noinline void gap_kmalloc_node(size_t size)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmalloc_node(size, GFP_KERNEL, 0);
	for (i = 0; i < N; i++)
		kfree(objects[i]);
	say_alloc("kmalloc", N, N * size, GFP_KERNEL);
	say_freed("kmalloc", N, __func__);
}

static noinline void gap_kcalloc(size_t n)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kcalloc(n, 24, GFP_KERNEL);
	for (i = 0; i < N; i++)
		kfree(objects[i]);
	say_alloc("kmalloc", N, N * n * 24, GFP_KERNEL | __GFP_ZERO);
	say_freed("kmalloc", N, __func__);
}

/* kstrdup() and kmemdup() allocate for their caller. */
static noinline void gap_kmemdup(const void *data, size_t size)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmemdup(data, size, GFP_KERNEL);
	for (i = 0; i < N; i++)
		kfree(objects[i]);
	say_alloc("kmalloc", N, N * size, GFP_KERNEL);
	say_freed("kmalloc", N, __func__);
}

/* Larger than any cache of kmalloc: the pages have a record of their own. */
static noinline void gap_kmalloc_large_constant(void)
{
	objects[0] = kmalloc(200000, GFP_KERNEL);
	kfree(objects[0]);
	say_alloc("kmalloc", 1, 200000, GFP_KERNEL);
	say_freed("kmalloc", 1, __func__);
}

static noinline void gap_kmalloc_large_variable(size_t size)
{
	unsigned long i;

	for (i = 0; i < 4; i++)
		objects[i] = kmalloc(size, GFP_KERNEL);
	for (i = 0; i < 4; i++)
		kfree(objects[i]);
	say_alloc("kmalloc", 4, 4 * size, GFP_KERNEL);
	say_freed("kmalloc", 4, __func__);
}

static noinline void gap_kmalloc_nothing(size_t zero)
{
	unsigned long i;

	for (i = 0; i < N; i++) {
		kfree(kmalloc(zero, GFP_KERNEL));
		kfree(NULL);
	}
	say_alloc("kmalloc", 0, 0, GFP_KERNEL);
}

static noinline void gap_kmalloc_fails(size_t size)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		kfree(kmalloc(size, GFP_NOWAIT | __GFP_NOWARN));
	say_alloc("kmalloc", 0, 0, GFP_NOWAIT | __GFP_NOWARN);
	say_alloc("pages", 0, 0, 0);
}

static noinline void gap_krealloc_moves(void)
{
	unsigned long i;

	for (i = 0; i < N; i++) {
		objects[i] = krealloc(NULL, 40, GFP_KERNEL);
		objects[i] = krealloc(objects[i], 1000, GFP_KERNEL);
	}
	say_alloc("kmalloc", 2 * N, N * 1040, GFP_KERNEL);
	gap_kfree_all(N);
	say_freed("kmalloc", N, "krealloc");
	say_freed("kmalloc", N, "gap_kfree_all");
}

/* The object stays where it is: a free and an allocation of other size. */
static noinline void gap_krealloc_stays(void)
{
	unsigned long i;

	for (i = 0; i < N; i++) {
		objects[i] = kmalloc(100, GFP_KERNEL);
		objects[i] = krealloc(objects[i], 60, GFP_KERNEL);
	}
	for (i = 0; i < N; i++)
		kfree(objects[i]);
	say_alloc("kmalloc", 2 * N, N * 160, GFP_KERNEL);
	say_freed("kmalloc", 2 * N, __func__);
}

static noinline void gap_kfree_bulk(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmalloc(i & 1 ? 60 : 700, GFP_KERNEL);
	kfree_bulk(N, objects);
	say_alloc("kmalloc", N, N / 2 * 760, GFP_KERNEL);
	say_freed("kmalloc", N, __func__);
}

static noinline void gap_kfree_bulk_large(void)
{
	unsigned long i;

	for (i = 0; i < 4; i++)
		objects[i] = kmalloc(200000, GFP_KERNEL);
	kfree_bulk(4, objects);
	say_alloc("kmalloc", 4, 4 * 200000, GFP_KERNEL);
	say_freed("kmalloc", 4, __func__);
}

struct gap_rcu {
	struct rcu_head head;
	char data[240];
};

/*
 * Freed by a worker, in bulk or, if that has no memory for its arrays, one by
 * one.  The host looks for the free of each of these addresses.
 */
static noinline void gap_kfree_rcu(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		kfree_rcu((struct gap_rcu *)kmalloc(sizeof(struct gap_rcu),
						    GFP_KERNEL), head);
	say_alloc("kmalloc", N, N * sizeof(struct gap_rcu), GFP_KERNEL);
	say_freed("kmalloc", N, "*");
}

static noinline void gap_cache_alloc(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmem_cache_alloc(gap_cache, GFP_KERNEL);
	for (i = 0; i < N; i++)
		kmem_cache_free(gap_cache, objects[i]);
	say_alloc("cache", N, N * 200, GFP_KERNEL);
	say_freed("cache", N, __func__);
}

static noinline void gap_cache_alloc_node(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmem_cache_alloc_node(gap_cache, GFP_KERNEL, 0);
	for (i = 0; i < N; i++)
		kmem_cache_free(gap_cache, objects[i]);
	say_alloc("cache", N, N * 200, GFP_KERNEL);
	say_freed("cache", N, __func__);
}

static noinline void gap_cache_alloc_lru(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmem_cache_alloc_lru(gap_cache, NULL, GFP_KERNEL);
	for (i = 0; i < N; i++)
		kmem_cache_free(gap_cache, objects[i]);
	say_alloc("cache", N, N * 200, GFP_KERNEL);
	say_freed("cache", N, __func__);
}

static noinline void gap_cache_bulk(void)
{
	int n;

	n = kmem_cache_alloc_bulk(gap_cache, GFP_KERNEL, BULK, objects);
	if (n)
		kmem_cache_free_bulk(gap_cache, n, objects);
	say_alloc("cache", BULK, BULK * 200, GFP_KERNEL);
	say_freed("cache", BULK, __func__);
}

static noinline void gap_alloc_page(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		pages[i] = alloc_page(GFP_KERNEL);
	for (i = 0; i < N; i++)
		__free_page(pages[i]);
	say_alloc("pages", N, N * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", N, __func__);
}

static noinline void gap_alloc_pages_node(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		pages[i] = alloc_pages_node(0, GFP_KERNEL, 1);
	for (i = 0; i < N; i++)
		__free_pages(pages[i], 1);
	say_alloc("pages", N, N * PAGE_SIZE * 2, GFP_KERNEL);
	say_freed("pages", N, __func__);
}

static noinline void gap_alloc_pages_compound(void)
{
	unsigned long i;

	for (i = 0; i < 8; i++)
		pages[i] = alloc_pages(GFP_KERNEL | __GFP_COMP, 4);
	for (i = 0; i < 8; i++)
		__free_pages(pages[i], 4);
	say_alloc("pages", 8, 8 * PAGE_SIZE * 16, GFP_KERNEL | __GFP_COMP);
	say_freed("pages", 8, __func__);
}

static noinline void gap_get_free_pages(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = (void *)__get_free_pages(GFP_KERNEL, 1);
	for (i = 0; i < N; i++)
		free_pages((unsigned long)objects[i], 1);
	say_alloc("pages", N, N * PAGE_SIZE * 2, GFP_KERNEL);
	say_freed("pages", N, __func__);
}

static noinline void gap_get_zeroed_page(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = (void *)get_zeroed_page(GFP_KERNEL);
	for (i = 0; i < N; i++)
		free_page((unsigned long)objects[i]);
	say_alloc("pages", N, N * PAGE_SIZE, GFP_KERNEL | __GFP_ZERO);
	say_freed("pages", N, __func__);
}

/* 8 pages are taken and 3 of them given back: the trace tells of 5. */
static noinline void gap_alloc_pages_exact(void)
{
	unsigned long i;

	for (i = 0; i < 10; i++)
		objects[i] = alloc_pages_exact(4 * PAGE_SIZE + 100, GFP_KERNEL);
	for (i = 0; i < 10; i++)
		free_pages_exact(objects[i], 4 * PAGE_SIZE + 100);
	say_alloc("pages", 50, 10 * (4 * PAGE_SIZE + 100), GFP_KERNEL);
	say_freed("pages", 50, __func__);
}

/* As a whole, then as the 4 pages that it becomes. */
static noinline void gap_split_page(void)
{
	unsigned long i, k;

	for (i = 0; i < 10; i++) {
		pages[i] = alloc_pages(GFP_KERNEL, 2);
		split_page(pages[i], 2);
	}
	for (i = 0; i < 10; i++)
		for (k = 0; k < 4; k++)
			__free_page(pages[i] + k);
	pr_info("alloc %s pages 50 %lu -\n", __func__, 80 * PAGE_SIZE);
	say_freed("pages", 50, __func__);
}

/* Somebody else holds the first page: the record lives until he lets go. */
static noinline void gap_free_pages_held(void)
{
	unsigned long i;

	for (i = 0; i < 10; i++) {
		pages[i] = alloc_pages(GFP_KERNEL, 2);
		get_page(pages[i]);
		__free_pages(pages[i], 2);
		put_page(pages[i]);
	}
	say_alloc("pages", 10, 40 * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", 10, "gap_free_pages_held|folio_put");
}

static noinline void gap_alloc_pages_bulk_array(void)
{
	unsigned long i, n = 0, got;

	memset(pages, 0, sizeof(pages));
	while (n < BULK) {
		got = alloc_pages_bulk_array(GFP_KERNEL, BULK, pages);
		if (got == n)
			break;
		n = got;
	}
	for (i = 0; i < n; i++)
		__free_page(pages[i]);
	say_alloc("pages", BULK, BULK * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", BULK, __func__);
}

static noinline void gap_alloc_pages_bulk_list(void)
{
	unsigned long n = 0, got;
	LIST_HEAD(list);

	while (n < BULK) {
		got = alloc_pages_bulk_list(GFP_KERNEL, BULK - n, &list);
		if (!got)
			break;
		n += got;
	}
	put_pages_list(&list);
	say_alloc("pages", BULK, BULK * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", BULK, __func__);
}

static noinline void gap_put_page(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		pages[i] = alloc_page(GFP_KERNEL);
	for (i = 0; i < N; i++)
		put_page(pages[i]);
	say_alloc("pages", N, N * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", N, "gap_put_page|folio_put");
}

static noinline void gap_release_pages(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		pages[i] = alloc_page(GFP_KERNEL);
	release_pages(pages, N);
	say_alloc("pages", N, N * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", N, __func__);
}

static noinline void gap_folio_alloc(void)
{
	struct folio *folio;
	unsigned long i;

	for (i = 0; i < N; i++) {
		folio = folio_alloc(GFP_KERNEL, 0);
		folio_put(folio);
	}
	say_alloc("pages", N, N * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", N, "gap_folio_alloc|folio_put");
}

/* --- vmalloc ----------------------------------------------------------------- */

/* Of the pages the kernel is the caller: these have to come and go. */
static noinline void gap_vmalloc(void)
{
	struct page *first, *last;
	void *area;

	area = vmalloc(50 * PAGE_SIZE);
	if (!area)
		return;
	first = vmalloc_to_page(area);
	last = vmalloc_to_page(area + 49 * PAGE_SIZE);
	pr_info("pages %#lx %#lx\n", (unsigned long)page_address(first),
		(unsigned long)page_address(last));
	vfree(area);
	say_alloc("vmalloc", 1, 50 * PAGE_SIZE, GFP_KERNEL);
	say_freed("vmalloc", 1, __func__);
}

/* All but the last have whole pages. */
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

/* The array of the pages of so many takes vmalloc itself. */
static noinline void gap_vmalloc_large(void)
{
	unsigned long size = 600 * PAGE_SIZE;

	vfree(vmalloc(size));
	say_alloc_any("vmalloc", 2, size + 600 * sizeof(struct page *));
	say_freed("vmalloc", 2, "*");
}

/* Larger than what kmalloc gives, and whole huge pages. */
static noinline void gap_kvmalloc(size_t size)
{
	void *small = kvmalloc(100, GFP_KERNEL);
	void *large = kvmalloc(size, GFP_KERNEL);

	if (!is_vmalloc_addr(large))
		pr_err("kmalloc() gave %zu bytes\n", size);
	say_alloc_any("vmalloc", 2, size + size / PAGE_SIZE * sizeof(void *));
	say_freed("vmalloc", 2, "kvfree|gap_kvmalloc");
	kvfree(small);
	kvfree(large);
}

/* Freed by a worker, but told when it is given back. */
static noinline void gap_vfree_deferred(void)
{
	void *area = vmalloc(PAGE_SIZE);

	local_bh_disable();
	vfree(area);
	local_bh_enable();
	say_alloc("vmalloc", 1, PAGE_SIZE, GFP_KERNEL);
	say_freed("vmalloc", 1, __func__);
}

/* Maps what others allocated. */
static noinline void gap_vmap(void)
{
	struct page *page = alloc_page(GFP_KERNEL);

	vunmap(vmap(&page, 1, VM_MAP, PAGE_KERNEL));
	__free_page(page);
	say_alloc("vmalloc", 0, 0, 0);
	say_alloc("pages", 1, PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", 1, __func__);
}

/* The array and the pages are vfree()'s. */
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

/* --- Per-CPU memory ---------------------------------------------------------- */

#define for_each_cpu_bytes(bytes) ((bytes) * num_possible_cpus())

static noinline void gap_alloc_percpu(void)
{
	u64 __percpu *counters[N];
	unsigned long i;

	for (i = 0; i < N; i++)
		counters[i] = alloc_percpu(u64);
	for (i = 0; i < N; i++)
		free_percpu(counters[i]);
	say_alloc("percpu", N, for_each_cpu_bytes(N * sizeof(u64)), GFP_KERNEL);
	say_freed("percpu", N, __func__);
}

/* Which is what is rounded up. */
static noinline void gap_alloc_percpu_odd(size_t size)
{
	free_percpu(__alloc_percpu(size, 1));
	say_alloc("percpu", 1, for_each_cpu_bytes(size), GFP_KERNEL);
	say_freed("percpu", 1, __func__);
}

static noinline void gap_alloc_percpu_gfp(void)
{
	u64 __percpu *counter;

	local_irq_disable();
	counter = alloc_percpu_gfp(u64, GFP_NOWAIT);
	free_percpu(counter);
	local_irq_enable();
	say_alloc("percpu", !!counter, for_each_cpu_bytes(sizeof(u64)),
		  GFP_NOWAIT);
	say_freed("percpu", !!counter, __func__);
}

static noinline void gap_alloc_percpu_fails(size_t size)
{
	if (__alloc_percpu_gfp(size, 8, GFP_KERNEL | __GFP_NOWARN))
		pr_err("%zu bytes for each CPU were there\n", size);
	free_percpu(NULL);
	say_alloc("percpu", 0, 0, 0);
	say_freed("percpu", 0, "*");
}

#ifdef CONFIG_CONTIG_ALLOC
/* Frees what it allocates but remembers where it was. */
static noinline void contig_candidates(void)
{
	int i;

	for (i = 0; i < CANDIDATES; i++)
		pages[i] = alloc_pages(GFP_HIGHUSER_MOVABLE | __GFP_COMP,
				       MAX_ORDER - 1);
	for (i = 0; i < CANDIDATES; i++)
		if (pages[i])
			__free_pages(pages[i], MAX_ORDER - 1);
}

/* Refused where somebody came in between, so the next place is tried. */
static noinline void gap_alloc_contig_range(void)
{
	const unsigned long nr = 40;
	unsigned long pfn;
	int i;

	contig_candidates();
	for (i = 0; i < CANDIDATES; i++) {
		if (!pages[i])
			continue;
		pfn = page_to_pfn(pages[i]) + 10;
		if (alloc_contig_range(pfn, pfn + nr, MIGRATE_MOVABLE,
				       GFP_KERNEL))
			continue;
		free_contig_range(pfn, nr);
		say_alloc("pages", nr, nr * PAGE_SIZE, GFP_KERNEL);
		say_freed("pages", nr, __func__);
		return;
	}
	pr_info("no contiguous range was free\n");
}
#endif

/* --- Contexts -------------------------------------------------------------- */

static noinline void gap_hardirq_allocates(void *unused)
{
	kfree(kmalloc(120, GFP_ATOMIC));
	barrier();	/* no tail call: kfree() would see our caller */
}

static void gap_hardirq(void)
{
	int cpu = get_cpu();
	unsigned long i;

	for (i = 0; i < N; i++)
		smp_call_function_single(cpumask_any_but(cpu_online_mask, cpu),
					 gap_hardirq_allocates, NULL, 1);
	put_cpu();
	pr_info("alloc gap_hardirq_allocates kmalloc %d %d %#x\n", N, N * 120,
		(__force unsigned int)GFP_ATOMIC);
	pr_info("freed gap_hardirq_allocates kmalloc %d gap_hardirq_allocates\n",
		N);
}

static noinline void gap_softirq_allocates(struct tasklet_struct *unused)
{
	kfree(kmalloc(130, GFP_ATOMIC));
	barrier();
}

static void gap_softirq(void)
{
	DECLARE_TASKLET(tasklet, gap_softirq_allocates);
	unsigned long i;

	for (i = 0; i < N; i++) {
		tasklet_schedule(&tasklet);
		while (READ_ONCE(tasklet.state))
			cond_resched();
	}
	tasklet_kill(&tasklet);
	pr_info("alloc gap_softirq_allocates kmalloc %d %d %#x\n", N, N * 130,
		(__force unsigned int)GFP_ATOMIC);
	pr_info("freed gap_softirq_allocates kmalloc %d gap_softirq_allocates\n",
		N);
}

static noinline void gap_irqs_off(void)
{
	unsigned long flags, i;

	local_irq_save(flags);
	for (i = 0; i < N; i++)
		kfree(kmalloc(140, GFP_ATOMIC));
	local_irq_restore(flags);
	say_alloc("kmalloc", N, N * 140, GFP_ATOMIC);
	say_freed("kmalloc", N, __func__);
}

static noinline void gap_other_cpu_frees(void *object)
{
	kfree(object);
	barrier();
}

static noinline void gap_freed_elsewhere(void)
{
	int cpu = get_cpu();
	unsigned long i;

	for (i = 0; i < N; i++)
		smp_call_function_single(cpumask_any_but(cpu_online_mask, cpu),
					 gap_other_cpu_frees,
					 kmalloc(150, GFP_ATOMIC), 1);
	put_cpu();
	say_alloc("kmalloc", N, N * 150, GFP_ATOMIC);
	say_freed("kmalloc", N, "gap_other_cpu_frees");
}

/* --- NMI ------------------------------------------------------------------- */

static int nmi_events;
module_param(nmi_events, int, 0400);
MODULE_PARM_DESC(nmi_events, "Do nothing but so many events in NMI context");

static atomic_t nmi_left;

/* The allocators must not be called here; their tracepoints can be. */
static int gap_nmi(unsigned int type, struct pt_regs *regs)
{
	if (atomic_read(&nmi_left) <= 0)
		return NMI_DONE;
	trace_kfree(_THIS_IP_, &nmi_left);
	atomic_dec(&nmi_left);
	return NMI_HANDLED;
}

static int gap_nmis(void)
{
	int i, err;

	err = register_nmi_handler(NMI_LOCAL, gap_nmi, 0, "kmt_gap");
	if (err)
		return err;
	for (i = nmi_events; i > 0; i--) {
		atomic_set(&nmi_left, 1);
		preempt_disable();
		apic->send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
		preempt_enable();
		while (atomic_read(&nmi_left) > 0)
			cpu_relax();
	}
	unregister_nmi_handler(NMI_LOCAL, "kmt_gap");
	pr_info("lost %d\n", nmi_events);
	return 0;
}

/* A cache with a constructor is not merged with others of its size. */
static void gap_construct(void *object)
{
}

static int __init gap_init(void)
{
	static const char data[77];

	if (nmi_events)
		return gap_nmis();

	gap_cache = kmem_cache_create("kmt_gap", 200, 0, 0, gap_construct);
	if (!gap_cache)
		return -ENOMEM;

	gap_kmalloc_constant();
	gap_kmalloc_variable(333);
	gap_kmalloc_node(90);
	gap_kcalloc(7);
	gap_kmemdup(data, sizeof(data));
	gap_kmalloc_large_constant();
	gap_kmalloc_large_variable(150000);
	gap_kmalloc_nothing(0);
	gap_kmalloc_fails((size_t)PAGE_SIZE << MAX_ORDER);
	gap_krealloc_moves();
	gap_krealloc_stays();
	gap_kfree_bulk();
	gap_kfree_bulk_large();
	gap_kfree_rcu();
	gap_cache_alloc();
	gap_cache_alloc_node();
	gap_cache_alloc_lru();
	gap_cache_bulk();
	gap_alloc_page();
	gap_alloc_pages_node();
	gap_alloc_pages_compound();
	gap_get_free_pages();
	gap_get_zeroed_page();
	gap_alloc_pages_exact();
	gap_split_page();
	gap_free_pages_held();
	gap_alloc_pages_bulk_array();
	gap_alloc_pages_bulk_list();
	gap_put_page();
	gap_release_pages();
	gap_folio_alloc();
	gap_vmalloc();
	gap_vmalloc_odd(5000);
	gap_vmalloc_large();
	gap_kvmalloc(6 << 20);
	gap_vfree_deferred();
	gap_vmap();
	gap_vmap_put_pages();
	gap_vmalloc_fails();
	gap_alloc_percpu();
	gap_alloc_percpu_odd(13);
	gap_alloc_percpu_gfp();
	gap_alloc_percpu_fails(1 << 20);
#ifdef CONFIG_CONTIG_ALLOC
	gap_alloc_contig_range();
#endif
	gap_irqs_off();
	gap_softirq();
	if (num_online_cpus() > 1) {
		gap_hardirq();
		gap_freed_elsewhere();
	}

	/* What kfree_rcu() was given is freed when this returns, or soon. */
	rcu_barrier();
	kmem_cache_destroy(gap_cache);
	pr_info("done\n");
	return 0;
}

static void __exit gap_exit(void)
{
}

module_init(gap_init);
module_exit(gap_exit);
MODULE_DESCRIPTION("Takes each path of the allocators a known number of times");
MODULE_LICENSE("GPL");
