/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of sizes of kmalloc(): that of the traced kernel, and those of other
 * allocators, for comparison.
 */
#ifndef KMEMTRACE_REPORT_SIZE_SETS_H
#define KMEMTRACE_REPORT_SIZE_SETS_H

#include "report/best-sizes.h"

/* Largest number of sizes in a set. */
#define KMT_SIZE_SET_MAX 64

typedef struct {
	const char *name;  /* in JSON */
	const char *title; /* in text */
	guint n;
	guint32 sizes[KMT_SIZE_SET_MAX]; /* ascending; the last is the limit */
} KmtSizeSet;

/* The sets that do not depend on the requests. */
typedef enum {
	KMT_SIZE_SET_POWERS,   /* powers of two */
	KMT_SIZE_SET_SLUB,     /* powers of two, and 96 and 192 */
	KMT_SIZE_SET_QUARTERS, /* four sizes for each doubling, as jemalloc */
	KMT_SIZE_SET_STEPS,    /* steps of 16 bytes up to 256, then four sizes
				* for each doubling */
	KMT_SIZE_SET_N
} KmtSizeSetKind;

/* Fill *set with the sizes from rule->min to rule->limit of a kind that have
 * the alignment of the rule. */
void kmt_size_set_fill(KmtSizeSet *set, KmtSizeSetKind kind,
		       const KmtSizeRule *rule);

/* Append a size, which exceeds all sizes of the set. */
void kmt_size_set_append(KmtSizeSet *set, guint32 size);

/* Insert a size; a size that the set has already is ignored, and so is each
 * size if the set is full. */
void kmt_size_set_insert(KmtSizeSet *set, guint32 size);

/* Return the index of the smallest size of the set that serves a request of up
 * to the limit. */
guint kmt_size_set_index(const KmtSizeSet *set, guint64 request);

/* Return whether the set keeps the alignment that the rule guarantees. */
gboolean kmt_size_set_is_aligned(const KmtSizeSet *set,
				 const KmtSizeRule *rule);

/* Return whether two sets have the same sizes. */
gboolean kmt_size_set_equals(const KmtSizeSet *set, const KmtSizeSet *other);

/*
 * Return the size that saves the most if it is added to a set, and keeps the
 * alignment of the rule, or 0 if no size saves anything. objects[s] is the
 * number of objects of s requested bytes. *saved receives the saving in bytes
 * by the cost of the rule, rounded down.
 */
guint32 kmt_size_set_best_addition(const KmtSizeSet *set,
				   const KmtSizeRule *rule,
				   const guint64 *objects, guint64 *saved);

/* Return the bytes that the objects take with a set by the cost of the rule,
 * rounded down. */
guint64 kmt_size_set_cost(const KmtSizeSet *set, const KmtSizeRule *rule,
			  const guint64 *objects);

#endif
