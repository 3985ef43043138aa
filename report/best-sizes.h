/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The best set of N sizes of kmalloc() for given requests: the set with which
 * the objects take the fewest bytes. Dynamic programming finds the optimum for
 * each N. Only requested sizes need to be tried, because another size can be
 * reduced to the largest request that it serves. If the rule has a function for
 * the cost, the optimum is that of all sets of requested sizes.
 */
#ifndef KMEMTRACE_REPORT_BEST_SIZES_H
#define KMEMTRACE_REPORT_BEST_SIZES_H

#include <glib.h>

/* The alignment of kmalloc() that a set of sizes must keep. An object has the
 * alignment of its size class, the largest power of two that divides the size
 * of the class. */
typedef enum {
	/* No guarantee beyond the smallest alignment. */
	KMT_SIZE_ALIGN_NONE,
	/* A request of a power of two is aligned to itself (Linux 5.4). */
	KMT_SIZE_ALIGN_POWERS,
	/* A request is aligned to its largest power-of-two divisor (Linux
	 * 6.11). */
	KMT_SIZE_ALIGN_DIVISORS,
} KmtSizeAlign;

/* Bytes that an object of a class takes, in units of 1 / KMT_SIZE_COST_UNIT. */
#define KMT_SIZE_COST_UNIT 256

typedef struct {
	guint32 align; /* each size is a multiple of it; a power of two */
	guint32 min;   /* smallest size, a multiple of align */
	guint32 limit; /* largest size, which each set contains */
	KmtSizeAlign guarantee;
	/* The bytes that an object of this size takes, with its share of what a
	 * slab cannot use, in units of 1 / KMT_SIZE_COST_UNIT; NULL: the size
	 * itself. */
	guint64 (*cost)(gpointer user, guint32 size);
	gpointer user; /* first argument of cost */
} KmtSizeRule;

/* Return the bytes that an object of a class of this size takes, in units of 1
 * / KMT_SIZE_COST_UNIT. */
static inline guint64 kmt_size_rule_cost(const KmtSizeRule *rule, guint32 size)
{
	return rule->cost ? rule->cost(rule->user, size)
			  : (guint64)size * KMT_SIZE_COST_UNIT;
}

typedef struct KmtBestSizes KmtBestSizes;

/*
 * Return whether size may be the next larger size after previous in a set that
 * keeps the guarantee of a rule. previous is 0 for the smallest size.
 */
gboolean kmt_size_rule_allows(const KmtSizeRule *rule, guint32 previous,
			      guint32 size);

/*
 * Find the best sets of 1 to max_n sizes. objects[s] is the number of objects
 * of s requested bytes, for s from 0 to rule->limit; size 0 is ignored.
 */
KmtBestSizes *kmt_best_sizes_new(const guint64 *objects,
				 const KmtSizeRule *rule, guint max_n);
void kmt_best_sizes_free(KmtBestSizes *best);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtBestSizes, kmt_best_sizes_free)

/*
 * Store the best set of n sizes in sizes, in ascending order, and the cost of
 * all objects with this set, rounded down to bytes, in *bytes; each may be
 * NULL. n is from 1 to max_n. Return FALSE if no set of exactly n sizes is
 * possible, because there are fewer requested sizes or the guarantee needs
 * more.
 */
gboolean kmt_best_sizes_get(const KmtBestSizes *best, guint n, guint32 *sizes,
			    guint64 *bytes);

#endif
