/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: everything that differs between kernel versions.
 */
#ifndef _MM_KMEMTRACE_COMPAT_H
#define _MM_KMEMTRACE_COMPAT_H

#include "slab.h"

/*
 * struct kmem_cache is private to mm/ in some versions and the boot cache of
 * SLOB leaves object_size at 0.
 */
static __always_inline size_t kmemtrace_cache_bytes_req(struct kmem_cache *s)
{
	return s->object_size ?: s->size;
}

static __always_inline size_t kmemtrace_cache_bytes_alloc(struct kmem_cache *s)
{
	return s->size;
}

#endif /* _MM_KMEMTRACE_COMPAT_H */
