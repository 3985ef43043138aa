/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: caches and slab objects, which differ between kernel versions.  No
 * other file of kmemtrace includes mm/slab.h.
 */
#ifndef _MM_KMEMTRACE_COMPAT_SLAB_H
#define _MM_KMEMTRACE_COMPAT_SLAB_H

#include <linux/mm.h>

#include "../slab.h"

/*
 * Return the requested and the allocated size of a cache's objects.  struct
 * kmem_cache is private to mm/ in some versions, and the boot cache of SLOB leaves
 * object_size at 0.
 */
static __always_inline size_t
kmemtrace_cache_bytes_req(const struct kmem_cache *s)
{
	return s->object_size ?: s->size;
}

static __always_inline size_t
kmemtrace_cache_bytes_alloc(const struct kmem_cache *s)
{
	return s->size;
}

/* Return the number of a cache in the table of caches; 0: none. */
static __always_inline u16 kmemtrace_cache_number(const struct kmem_cache *s)
{
	return s->kmemtrace_number;
}

/*
 * Return the cache of a slab object, or NULL if the object has none or the allocator
 * does not store it.
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
 * Return the bytes that a slab object takes, which may be a large one of kmalloc();
 * 0: unknown.
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
 * Return the bytes in use of a cache, as /proc/slabinfo counts them; 0: unknown.
 * Context: slab_mutex is held.
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
