/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of kmt_gap share. Each file covers one kind of
 * memory, or one context, with one call.
 */
#ifndef KMT_GAP_H
#define KMT_GAP_H

#define pr_fmt(fmt) "kmt_gap: " fmt

#include <linux/printk.h>

#include "kmt_compat.h"

/* Enough objects to fill slabs and the arrays of kfree_rcu() more than once. */
#define N	100
#define BULK	64

#define say_alloc(type, count, bytes, gfp)				\
	pr_info("alloc %s %s %lu %lu %#x\n", __func__, type,		\
		(unsigned long)(count), (unsigned long)(bytes),		\
		(__force unsigned int)(gfp))

/* Print the expected allocations if their gfp flags differ. */
#define say_alloc_any(type, count, bytes)				\
	pr_info("alloc %s %s %lu %lu -\n", __func__, type,		\
		(unsigned long)(count), (unsigned long)(bytes))

#define say_freed(type, count, by)					\
	pr_info("freed %s %s %lu %s\n", __func__, type,		\
		(unsigned long)(count), by)

/* Return an error if there is no memory for a cache. */
int gap_slab(void);
/* Wait until kfree_rcu() has freed all objects. */
void gap_slab_end(void);
void gap_pages(void);
void gap_vmallocs(void);
void gap_percpus(void);
void gap_contexts(void);
int gap_nmis(int n_events);

#endif
