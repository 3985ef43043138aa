/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A count of allocations and frees that is independent of the hooks of kmemtrace, for
 * tests/vm/coverage.py.
 *
 * The page allocator calls the hooks of PAGE_OWNER for each range of pages that it
 * prepares for use or for its free lists.  The slab allocator calls the hooks of KASAN
 * for each object that it hands out or takes back.  In the files of mm/, the macros
 * below write an annotation for each of these calls; then they call the function of
 * the same name.
 */
#ifndef _LINUX_KMT_COVERAGE_H
#define _LINUX_KMT_COVERAGE_H

#include <linux/kasan.h>
#include <linux/page_owner.h>
#include <linux/types.h>
#include <linux/version.h>

struct kmem_cache;
struct page;

/* The operation that an annotation describes; tests/vm/coverage.py has the same values. */
enum kmt_coverage_operation {
	KMT_COVERAGE_ALLOC,	/* prepared for use, or handed out */
	KMT_COVERAGE_FREE,	/* prepared for the free lists, or taken back */
	KMT_COVERAGE_CHANGE,	/* split into smaller allocations, or resized in place */
};

/**
 * kmt_coverage_pages - write an annotation for pages
 * @operation: what happens to the pages
 * @page: the first page
 * @nr_pages: number of pages
 *
 * Context: any but NMI, with any locks held.
 */
void kmt_coverage_pages(enum kmt_coverage_operation operation,
			const struct page *page, unsigned long nr_pages);

/**
 * kmt_coverage_object - write an annotation for a slab object
 * @operation: what happens to the object
 * @s: cache of the object, or NULL for pages that kmalloc() allocated
 * @object: the object; NULL and ZERO_SIZE_PTR are ignored
 * @size: bytes that were requested, if @s is NULL; 0: not known
 *
 * Context: any but NMI, with any locks held.
 */
void kmt_coverage_object(enum kmt_coverage_operation operation,
			 const struct kmem_cache *s, const void *object,
			 size_t size);

/* A macro does not expand its own name, so each macro calls the original function. */

#define set_page_owner(page, order, gfp_mask)				\
	do {								\
		kmt_coverage_pages(KMT_COVERAGE_ALLOC, page,		\
				   1UL << (order));			\
		set_page_owner(page, order, gfp_mask);			\
	} while (0)

#define reset_page_owner(page, order)					\
	do {								\
		kmt_coverage_pages(KMT_COVERAGE_FREE, page,		\
				   1UL << (order));			\
		reset_page_owner(page, order);				\
	} while (0)

/* Linux 6.9 replaced the number of pages by the orders. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
#define split_page_owner(page, nr)					\
	do {								\
		kmt_coverage_pages(KMT_COVERAGE_CHANGE, page, nr);	\
		split_page_owner(page, nr);				\
	} while (0)
#else
#define split_page_owner(page, old_order, new_order)			\
	do {								\
		kmt_coverage_pages(KMT_COVERAGE_CHANGE, page,		\
				   1UL << (old_order));			\
		split_page_owner(page, old_order, new_order);		\
	} while (0)
#endif

#define kasan_slab_alloc(s, object, flags, init)			\
	({								\
		void *__object = (object);				\
									\
		kmt_coverage_object(KMT_COVERAGE_ALLOC, s, __object, 0); \
		kasan_slab_alloc(s, __object, flags, init);		\
	})

#define kasan_slab_free(s, object, args...)				\
	({								\
		kmt_coverage_object(KMT_COVERAGE_FREE, s, object, 0);	\
		kasan_slab_free(s, object, args);			\
	})

#define kasan_kmalloc_large(ptr, size, flags)				\
	({								\
		kmt_coverage_object(KMT_COVERAGE_ALLOC, NULL, ptr, size); \
		kasan_kmalloc_large(ptr, size, flags);			\
	})

#define kasan_kfree_large(ptr)						\
	({								\
		kmt_coverage_object(KMT_COVERAGE_FREE, NULL, ptr, 0);	\
		kasan_kfree_large(ptr);					\
	})

#define kasan_krealloc(object, new_size, flags)				\
	({								\
		kmt_coverage_object(KMT_COVERAGE_CHANGE, NULL, object, 0); \
		kasan_krealloc(object, new_size, flags);		\
	})

#endif /* _LINUX_KMT_COVERAGE_H */
