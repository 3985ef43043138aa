/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slabs of all simulated caches, in one array, and lists of them. A slab is
 * identified by its index; index 0 is never used and means "none".
 */
#ifndef KMEMTRACE_SLAB_SLAB_POOL_H
#define KMEMTRACE_SLAB_SLAB_POOL_H

#include <glib.h>

/* The list that a simulated slab is on. */
typedef enum {
	KMT_SIMULATED_ON_NONE, /* all objects are in use or in arrays of CPUs */
	KMT_SIMULATED_ON_CPU,  /* a CPU allocates from the slab, or has it on
				* its list of partial slabs */
	KMT_SIMULATED_ON_PARTIAL, /* the node's list of partial slabs */
	KMT_SIMULATED_ON_EMPTY,	  /* SLAB: the node's list of empty slabs */
} KmtSimulatedOn;

typedef struct {
	guint32 previous, next; /* neighbours on the list; 0: none */
	guint16 live;		/* objects that the kernel's code uses */
	guint16 free;		/* objects on the free list of the slab */
	guint16 on;		/* KmtSimulatedOn */
} KmtSimulatedSlab;

/* A doubly linked list of slabs. */
typedef struct {
	guint32 first, last; /* 0: the list is empty */
	guint32 n;
} KmtSlabList;

typedef struct {
	KmtSimulatedSlab *slabs;
	guint32 n; /* slabs in use or unused, including index 0 */
	guint32 n_allocated;
	guint32 unused; /* first slab that may be used again, linked by next */
} KmtSlabPool;

void kmt_slab_pool_init(KmtSlabPool *pool);
void kmt_slab_pool_clear(KmtSlabPool *pool);

/*
 * Return the index of a slab with no live and n free objects, which is on no
 * list. A pointer into pool->slabs becomes invalid. g_error() if there are 2^31
 * slabs.
 */
guint32 kmt_slab_pool_take(KmtSlabPool *pool, guint16 n);
/* Make the index of a slab that is on no list available. */
void kmt_slab_pool_put(KmtSlabPool *pool, guint32 slab);

/* Add a slab that is on no list at the first or the last position. */
void kmt_slab_list_prepend(KmtSlabPool *pool, KmtSlabList *list, guint32 slab);
void kmt_slab_list_append(KmtSlabPool *pool, KmtSlabList *list, guint32 slab);
/* Remove a slab from its list, which is @list. */
void kmt_slab_list_remove(KmtSlabPool *pool, KmtSlabList *list, guint32 slab);

#endif
