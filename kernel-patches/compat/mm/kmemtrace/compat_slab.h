/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: properties of caches and slab objects, which the kernel versions store
 * differently.  This is the only file of kmemtrace that includes mm/slab.h.
 */
#ifndef _MM_KMEMTRACE_COMPAT_SLAB_H
#define _MM_KMEMTRACE_COMPAT_SLAB_H

#include <linux/mm.h>
#include <linux/version.h>

#include "../slab.h"

/*
 * Return the size of a cache's objects that the creator of the cache requested, in
 * bytes.  The boot cache of SLOB has an object_size of 0; return its member size
 * instead.
 */
static __always_inline size_t
kmemtrace_cache_bytes_req(const struct kmem_cache *s)
{
	return s->object_size ?: s->size;
}

/* Return the bytes that a cache allocates for each object. */
static __always_inline size_t
kmemtrace_cache_bytes_alloc(const struct kmem_cache *s)
{
	return s->size;
}

/* Return the number of a cache in the table of caches, or 0 if it has none. */
static __always_inline u16 kmemtrace_cache_number(const struct kmem_cache *s)
{
	return s->kmemtrace_number;
}

/*
 * Return the cache of an object that kmalloc() or a cache allocated.  Return NULL for
 * a large object of kmalloc(), which has no cache, and with SLOB, which does not
 * store the cache.
 */
static __always_inline struct kmem_cache *kmemtrace_cache_of(const void *object)
{
#ifdef CONFIG_SLOB
	return NULL;
#else
	struct slab *slab = virt_to_slab(object);

	return slab ? slab->slab_cache : NULL;
#endif
}

/*
 * Return the cache of an object that kfree() frees, or NULL if kmalloc() allocated the
 * object.  Since Linux 6.4 kfree() also frees the objects of caches.  If a cache is
 * merged with one of kmalloc(), the kernel cannot tell their objects apart, and the
 * function returns NULL.  With CONFIG_SLAB_BUCKETS, some objects of kmalloc() are in
 * caches of their users, and the function returns these caches.
 */
static __always_inline struct kmem_cache *kmemtrace_kfree_cache(const void *object)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	struct slab *slab = virt_to_slab(object);

	/* The slab of an object in use has a cache. */
	return slab && !(slab->slab_cache->flags & SLAB_KMALLOC) ?
		       slab->slab_cache : NULL;
#else
	return NULL;
#endif
}

/*
 * Return the allocated bytes of an object of kmalloc() or of a cache, or 0 if the
 * allocator does not store the size.
 */
static __always_inline size_t kmemtrace_bytes_of(const void *object)
{
#ifdef CONFIG_SLOB
	return 0;
#else
	struct kmem_cache *s = kmemtrace_cache_of(object);

	return s ? kmemtrace_cache_bytes_alloc(s) :
		   folio_size(virt_to_folio(object));
#endif
}

/*
 * Return the bytes of a cache's objects that are in use, as /proc/slabinfo counts
 * them, or 0 if the allocator does not count them.  Context: slab_mutex is held.
 */
static __always_inline u64 kmemtrace_cache_held(struct kmem_cache *s)
{
#if defined(CONFIG_SLAB) || defined(CONFIG_SLUB_DEBUG)
	struct slabinfo info = {};

	get_slabinfo(s, &info);
	return (u64)info.active_objs * kmemtrace_cache_bytes_alloc(s);
#else
	return 0;
#endif
}

#endif /* _MM_KMEMTRACE_COMPAT_SLAB_H */
