/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of the newest kernel for the test modules, on older kernels. An entry that
 * replaces a function or a macro names the last version that needs the entry.
 */
#ifndef KMT_COMPAT_H
#define KMT_COMPAT_H

#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/version.h>

#include <uapi/linux/kmemtrace_abi.h>

/* Until Linux 6.7 the largest order is MAX_ORDER, until 6.3 MAX_ORDER - 1. */
#ifndef MAX_PAGE_ORDER
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define MAX_PAGE_ORDER	MAX_ORDER
#else
#define MAX_PAGE_ORDER	(MAX_ORDER - 1)
#endif
#endif

/* Until Linux 6.13 the function has another name. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define alloc_pages_bulk(gfp, n, pages)	alloc_pages_bulk_array(gfp, n, pages)
#endif

/* Since Linux 6.10 the symbol of many allocating functions has a suffix. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define KMT_NOPROF(name)	name "_noprof"
#else
#define KMT_NOPROF(name)	name
#endif

/* Until Linux 6.15 the parameter is the migrate type. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define ACR_FLAGS_NONE	MIGRATE_MOVABLE
#endif

/* Until Linux 6.12 the function of a timer is set separately. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#include <linux/hrtimer.h>

static inline void
hrtimer_setup_on_stack(struct hrtimer *timer,
		       enum hrtimer_restart (*function)(struct hrtimer *),
		       clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init_on_stack(timer, clock_id, mode);
	timer->function = function;
}
#endif

/*
 * Return the address that the record of a page has: see KMEMTRACE_PTR_PHYSICAL. Any
 * context.
 */
static inline u64 kmt_page_address(struct page *page)
{
	if (PageHighMem(page))
		return KMEMTRACE_PTR_PHYSICAL | page_to_phys(page);
	return (unsigned long)page_to_virt(page);
}

/*
 * Wait until the memory that was passed to kfree_rcu() is freed. Until Linux 6.11 no
 * function waits for it; a worker frees the memory within some seconds. Since Linux 7.3
 * modules cannot call that function: the end of a cache waits for all memory except
 * the objects in sheaves, which kmem_cache_shrink() flushes. Sleeps.
 */
static inline void kmt_kfree_rcu_barrier(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
	unsigned int type, i;

	kmem_cache_destroy(kmem_cache_create("kmt_barrier", 64, 0,
					     SLAB_NO_MERGE, NULL));
	for (type = 0; type < NR_KMALLOC_TYPES; type++)
		for (i = 0; i <= KMALLOC_SHIFT_HIGH; i++)
			if (kmalloc_caches[type][i])
				kmem_cache_shrink(kmalloc_caches[type][i]);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	kvfree_rcu_barrier();
#else
	msleep(6000);
#endif
	rcu_barrier();
}

#ifdef CONFIG_X86
#include <asm/apic.h>
#include <asm/nmi.h>

/* Send an NMI to a CPU. */
static inline void kmt_send_nmi_to(unsigned int cpu)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
	apic->send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
#else
	__apic_send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
#endif
}

/* Send an NMI to this CPU. Context: preemption off. */
static inline void kmt_send_nmi(void)
{
	kmt_send_nmi_to(smp_processor_id());
}
#endif

#endif
