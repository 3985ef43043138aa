// SPDX-License-Identifier: GPL-2.0-only
/* kmalloc, caches, and the functions that free their objects. */
#include "kmt_gap.h"

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

static struct kmem_cache *gap_cache;
static void *objects[N];

static noinline void gap_kfree_all(unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		kfree(objects[i]);
}

/* For a constant size, kmalloc() calls another function of the allocator. */
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
	say_freed("kmalloc", N, "kfree_sensitive|gap_kmalloc_variable");
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

/* kmemdup() allocates for its caller. */
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

/* Above the largest cache of kmalloc: the pages have a record of their own. */
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
	say_freed("kmalloc", N,
		  "krealloc|krealloc_noprof|krealloc_node_align_noprof");
	say_freed("kmalloc", N, "gap_kfree_all");
}

/* krealloc() in place: a free, and an allocation of another size. */
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

/* Free N objects of the cache. Inline, so that the caller is the call site. */
static __always_inline void gap_free_objects(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		kmem_cache_free(gap_cache, objects[i]);
}

static noinline void gap_cache_alloc(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmem_cache_alloc(gap_cache, GFP_KERNEL);
	gap_free_objects();
	say_alloc("cache", N, N * 200, GFP_KERNEL);
	say_freed("cache", N, __func__);
}

static noinline void gap_cache_alloc_node(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmem_cache_alloc_node(gap_cache, GFP_KERNEL, 0);
	gap_free_objects();
	say_alloc("cache", N, N * 200, GFP_KERNEL);
	say_freed("cache", N, __func__);
}

static noinline void gap_cache_alloc_lru(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmem_cache_alloc_lru(gap_cache, NULL, GFP_KERNEL);
	gap_free_objects();
	say_alloc("cache", N, N * 200, GFP_KERNEL);
	say_freed("cache", N, __func__);
}

static noinline void gap_cache_bulk(void)
{
	if (kmem_cache_alloc_bulk(gap_cache, GFP_KERNEL, BULK, objects))
		kmem_cache_free_bulk(gap_cache, BULK, objects);
	say_alloc("cache", BULK, BULK * 200, GFP_KERNEL);
	say_freed("cache", BULK, __func__);
}

/* A constructor prevents that the cache is merged with others of its size. */
static void gap_construct(void *object)
{
}

/* kfree() frees an object of any cache since Linux 6.4. */
static noinline void gap_cache_kfree(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = kmem_cache_alloc(gap_cache, GFP_KERNEL);
	for (i = 0; i < N; i++)
		kfree(objects[i]);
	say_alloc("cache", N, N * 200, GFP_KERNEL);
	say_freed("cache", N, __func__);
#endif
}

/* Allowed in any context. An allocation that cannot take a lock fails. */
static noinline void gap_kmalloc_nolock(size_t size)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	unsigned long i, n = 0;

	for (i = 0; i < N; i++) {
		objects[n] = kmalloc_nolock(size, 0, NUMA_NO_NODE);
		n += !!objects[n];
	}
	for (i = 0; i < n; i++)
		kfree_nolock(objects[i]);
	say_alloc_any("kmalloc", n, n * size);
	say_freed("kmalloc", n, __func__);
#endif
}

int gap_slab(void)
{
	static const char data[77];

	gap_cache = kmem_cache_create("kmt_gap", 200, 0, 0, gap_construct);
	if (!gap_cache)
		return -ENOMEM;

	gap_path(gap_kmalloc_constant());
	gap_path(gap_kmalloc_variable(333));
	gap_path(gap_kmalloc_node(90));
	gap_path(gap_kcalloc(7));
	gap_path(gap_kmemdup(data, sizeof(data)));
	gap_path(gap_kmalloc_large_constant());
	gap_path(gap_kmalloc_large_variable(150000));
	gap_path(gap_kmalloc_nothing(0));
	gap_path(gap_kmalloc_fails((size_t)PAGE_SIZE << (MAX_PAGE_ORDER + 1)));
	gap_path(gap_krealloc_moves());
	gap_path(gap_krealloc_stays());
	gap_path(gap_kfree_bulk());
	gap_path(gap_kfree_bulk_large());
	gap_path(gap_cache_alloc());
	gap_path(gap_cache_alloc_node());
	gap_path(gap_cache_alloc_lru());
	gap_path(gap_cache_bulk());
	gap_path(gap_cache_kfree());
	gap_path(gap_kmalloc_nolock(110));
	return 0;
}

void gap_slab_end(void)
{
	kmem_cache_destroy(gap_cache);
}
