/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of kmt_gap share. Most files cover a kind of
 * memory or some contexts.
 */
#ifndef KMT_GAP_H
#define KMT_GAP_H

#define pr_fmt(fmt) "kmt_gap: " fmt

#include <linux/printk.h>

#include "kmt_compat.h"

/* Enough small objects to fill more than one slab. */
#define N	100
#define BULK	64
#define MARK_OBJECTS	3
#define MARK_BYTES	8192

#define say_alloc(type, count, bytes, gfp)				\
	pr_info("alloc %s %s %lu %lu %#x\n", __func__, type,		\
		(unsigned long)(count), (unsigned long)(bytes),		\
		(__force unsigned int)(gfp))

/* Print the expected allocations if their gfp flags differ. */
#define say_alloc_any(type, count, bytes)				\
	pr_info("alloc %s %s %lu %lu -\n", __func__, type,		\
		(unsigned long)(count), (unsigned long)(bytes))

/* Announce that allocations of this type may be recorded, and need not. */
#define say_may_alloc(type)						\
	pr_info("maybe %s %s\n", __func__, type)

#define say_freed(type, count, by)					\
	pr_info("freed %s %s %lu %s\n", __func__, type,		\
		(unsigned long)(count), by)

/* Print where all pages of this path lie; see kmt_gap_main.c. */
#define say_within(first, nr)						\
	pr_info("within %#llx %lu\n", kmt_page_address(first), nr)

/*
 * Print the expected hand-overs to kfree_rcu() by the function that uses the
 * macro.
 */
#define say_deferred(type, count)					\
	pr_info("defer %s %s %lu\n", __func__, type, (unsigned long)(count))

/* Print the allocations, hand-overs, and later frees of the same memory. */
#define say_handed_over(type, count, bytes, gfp)			\
	do {								\
		say_alloc(type, count, bytes, gfp);			\
		say_deferred(type, count);				\
		say_freed(type, count, "*");				\
	} while (0)

/*
 * Take a path: call a function, with a mark before the call. The mark of the
 * next path ends this path, for tests/vm/sources.py, which attributes events
 * without a call site to paths.
 */
#define gap_path(call)							\
	do {								\
		mark_path();						\
		call;							\
	} while (0)

/*
 * Allocate and free MARK_OBJECTS objects of MARK_BYTES bytes, which each
 * tracepoint of kmalloc() reports, and print their addresses. Sleeps.
 */
void mark_path(void);

/* Return an error if there is no memory for a cache. */
int gap_slab(void);
void gap_slab_end(void);
/* Return an error if there is no memory for a cache. */
int gap_rcus(void);
/* Wait until kfree_rcu() has freed all memory, and destroy the cache. */
void gap_rcus_end(void);
/* Return an error if there is no memory for a cache. */
int gap_sheaves(void);
/* Destroy the cache that gap_sheaves() left, whose sheaves have objects. */
void gap_sheaves_end(void);
void gap_pages(void);
void gap_contig(void);
void gap_vmallocs(void);
void gap_percpus(void);
/*
 * Return the address of a function or a variable that modules cannot refer to,
 * or print a line and return NULL.
 */
void *gap_symbol(const char *name);
void gap_contexts(void);
/*
 * Make events in @n_events NMIs; @storm: the NMIs interrupt the allocators at
 * random points. Return 0 or a negative errno.
 */
int gap_nmis(int n_events, bool storm);

#endif
