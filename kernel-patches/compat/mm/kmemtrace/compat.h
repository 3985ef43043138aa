/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: everything that differs between kernel versions.
 */
#ifndef _MM_KMEMTRACE_COMPAT_H
#define _MM_KMEMTRACE_COMPAT_H

#include <linux/hardirq.h>
#include <linux/io.h>
#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/sched/clock.h>
#if defined(CONFIG_X86) && defined(CONFIG_PARAVIRT)
#include <asm/paravirt.h>
#endif

#include <uapi/linux/kmemtrace_abi.h>

#include "../slab.h"

/*
 * struct kmem_cache is private to mm/ in some versions and the boot cache of
 * SLOB leaves object_size at 0.
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

/* Its number in the table of caches; 0: none. */
static __always_inline u16 kmemtrace_cache_number(const struct kmem_cache *s)
{
	return s->kmemtrace_number;
}

/* The cache of a slab object; NULL: it has none, or does not know it. */
static __always_inline struct kmem_cache *kmemtrace_cache_of(const void *object)
{
#ifdef CONFIG_SLOB
	return NULL;
#else
	struct slab *slab = virt_to_slab(object);

	return slab ? slab->slab_cache : NULL;
#endif
}

/* Bytes that a slab object takes, also a large one of kmalloc(); 0: unknown. */
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

/* Bytes in use, as /proc/slabinfo counts; 0 where it cannot be told. */
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

/* The tag of KASAN is not part of the address: free may not see the same. */
static __always_inline u64 kmemtrace_object(const void *ptr)
{
	return (unsigned long)kasan_reset_tag(ptr);
}

static __always_inline u64 kmemtrace_page(struct page *page)
{
	if (PageHighMem(page))
		return KMEMTRACE_PTR_PHYSICAL | page_to_phys(page);
	return kmemtrace_object(page_to_virt(page));
}

/* sched_clock() without the call in between. */
static __always_inline u64 kmemtrace_sched_clock(void)
{
#if defined(CONFIG_X86) && defined(CONFIG_PARAVIRT)
	return paravirt_sched_clock();
#else
	return sched_clock();
#endif
}

/* Whether sched_clock() is one clock for all CPUs. */
static __always_inline bool kmemtrace_sched_clock_stable(void)
{
#ifdef CONFIG_HAVE_UNSTABLE_SCHED_CLOCK
	return sched_clock_stable();
#else
	return true;
#endif
}

/* context: preempt_count(). */
static __always_inline bool kmemtrace_in_interrupt(unsigned int context)
{
#ifdef CONFIG_PREEMPT_RT
	return (context & HARDIRQ_MASK) || in_serving_softirq();
#else
	return context & (HARDIRQ_MASK | SOFTIRQ_OFFSET);
#endif
}

static __always_inline u16 kmemtrace_interrupt_flags(unsigned int context)
{
	return (context & HARDIRQ_MASK ? KMEMTRACE_FLAG_HARDIRQ : 0) |
	       (in_serving_softirq() ? KMEMTRACE_FLAG_SOFTIRQ : 0);
}

#endif /* _MM_KMEMTRACE_COMPAT_H */
