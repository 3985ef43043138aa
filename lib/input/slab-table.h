/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slabs of each cache, from the file named "slabinfo" of a capture: a copy
 * of /proc/slabinfo, which kmemtraced reads when tracing is switched off.
 *
 * A KmtInputSlabTable does not change after its creation, so any thread may
 * read it without a lock.
 */
#ifndef KMEMTRACE_INPUT_SLAB_TABLE_H
#define KMEMTRACE_INPUT_SLAB_TABLE_H

#include "lib/input/capture.h"

/* The row of a cache. The name belongs to the table. */
typedef struct {
	const char *name; /* any bytes but NUL */
	guint64 active;	  /* objects that are not free on a list of the node;
			   * free objects that a CPU has count as active */
	guint64 objects;  /* objects in all slabs */
	guint64 size;	  /* bytes that an object occupies in its slab */
	guint64 slab_objects; /* objects of a slab */
	guint64 slab_pages;   /* pages of a slab */
	/* Tunables of SLAB, which are 0 with SLUB: the objects in the array of
	 * a CPU, the objects moved at once, and the factor of the shared array.
	 */
	guint64 limit, batch, shared;
	guint64 slabs; /* slabs, including empty slabs */
} KmtInputSlabRow;

typedef struct KmtInputSlabTable KmtInputSlabTable;

/*
 * Read the table of a capture. The function never fails. A missing table is
 * empty. Invalid lines are skipped, and a warning reports them. The caller
 * frees the result.
 */
KmtInputSlabTable *kmt_input_slab_table_new(const KmtInputCapture *capture);
void kmt_input_slab_table_free(KmtInputSlabTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputSlabTable, kmt_input_slab_table_free)

/* Return the rows in the order of the file, and set *n to their number. The
 * table owns the array. */
const KmtInputSlabRow *kmt_input_slab_table_get(const KmtInputSlabTable *table,
						guint *n);

/*
 * Return the row of a cache, or NULL if there is none or if several caches have
 * this name.
 */
const KmtInputSlabRow *kmt_input_slab_table_find(const KmtInputSlabTable *table,
						 const char *name);

/*
 * Return the warning about the table, or NULL. The table owns the string.
 */
const char *kmt_input_slab_table_warning(const KmtInputSlabTable *table);

#endif
