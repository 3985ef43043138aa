// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/size-sets.h"

static const KmtSizeSet empty_sets[KMT_SIZE_SET_N] = {
	[KMT_SIZE_SET_POWERS] = {.name = "powers", .title = "powers of two"},
	[KMT_SIZE_SET_SLUB] = {.name = "powers-96-192",
			       .title = "powers of two, 96, 192"},
	[KMT_SIZE_SET_QUARTERS] = {.name = "quarters",
				   .title = "four for each doubling"},
	[KMT_SIZE_SET_STEPS] = {.name = "steps-16",
				.title = "steps of 16, then four for each "
					 "doubling"},
};

/* Return whether a kind has a size. */
static gboolean is_size_of(KmtSizeSetKind kind, guint32 size)
{
	guint32 power = 1U << (31 - __builtin_clz(size));

	switch (kind) {
	case KMT_SIZE_SET_SLUB:
		return size == power || size == 96 || size == 192;
	case KMT_SIZE_SET_QUARTERS:
		return (size - power) * 4 % power == 0 &&
		       (size == power || size % 16 == 0);
	case KMT_SIZE_SET_STEPS:
		if (size <= 256)
			return size == power || size % 16 == 0;
		return (size - power) * 4 % power == 0;
	default:
		return size == power;
	}
}

void kmt_size_set_append(KmtSizeSet *set, guint32 size)
{
	if (set->n < KMT_SIZE_SET_MAX)
		set->sizes[set->n++] = size;
}

void kmt_size_set_fill(KmtSizeSet *set, KmtSizeSetKind kind,
		       const KmtSizeRule *rule)
{
	guint32 size;

	*set = empty_sets[kind];
	for (size = rule->min; size < rule->limit; size += rule->align)
		if (is_size_of(kind, size))
			kmt_size_set_append(set, size);
	kmt_size_set_append(set, rule->limit);
}

void kmt_size_set_insert(KmtSizeSet *set, guint32 size)
{
	guint i = kmt_size_set_index(set, size), j;

	if (set->n == KMT_SIZE_SET_MAX || set->sizes[i] == size)
		return;
	for (j = set->n++; j > i; j--)
		set->sizes[j] = set->sizes[j - 1];
	set->sizes[i] = size;
}

guint kmt_size_set_index(const KmtSizeSet *set, guint64 request)
{
	guint i = 0;

	while (i < set->n - 1 && set->sizes[i] < request)
		i++;
	return i;
}

gboolean kmt_size_set_is_aligned(const KmtSizeSet *set, const KmtSizeRule *rule)
{
	guint i;

	for (i = 0; i < set->n; i++)
		if (!kmt_size_rule_allows(rule, i ? set->sizes[i - 1] : 0,
					  set->sizes[i]))
			return FALSE;
	return TRUE;
}

gboolean kmt_size_set_equals(const KmtSizeSet *set, const KmtSizeSet *other)
{
	guint i;

	if (set->n != other->n)
		return FALSE;
	for (i = 0; i < set->n; i++)
		if (set->sizes[i] != other->sizes[i])
			return FALSE;
	return TRUE;
}

/* Return the cost of the objects of more than above and at most size bytes, if
 * each takes the cost of a size. */
static guint64 cost_of_range(const guint64 *objects, guint32 above,
			     guint32 size, guint64 cost)
{
	guint64 n = 0;
	guint32 request;

	for (request = above + 1; request <= size; request++)
		n += objects[request];
	return n * cost;
}

guint64 kmt_size_set_cost(const KmtSizeSet *set, const KmtSizeRule *rule,
			  const guint64 *objects)
{
	guint64 sum = 0;
	guint32 above = 0;
	guint i;

	for (i = 0; i < set->n; i++) {
		sum += cost_of_range(objects, above, set->sizes[i],
				     kmt_size_rule_cost(rule, set->sizes[i]));
		above = set->sizes[i];
	}
	return sum / KMT_SIZE_COST_UNIT;
}

guint32 kmt_size_set_best_addition(const KmtSizeSet *set,
				   const KmtSizeRule *rule,
				   const guint64 *objects, guint64 *saved)
{
	guint64 most = 0, old, new;
	guint32 best = 0, size;

	for (size = rule->min; size < rule->limit; size += rule->align) {
		guint i = kmt_size_set_index(set, size);
		guint32 below = i ? set->sizes[i - 1] : 0;

		if (set->sizes[i] == size ||
		    !kmt_size_rule_allows(rule, below, size) ||
		    !kmt_size_rule_allows(rule, size, set->sizes[i]))
			continue;
		old = kmt_size_rule_cost(rule, set->sizes[i]);
		new = kmt_size_rule_cost(rule, size);
		if (new >= old)
			continue;
		new = cost_of_range(objects, below, size, old - new);
		if (new > most) {
			most = new;
			best = size;
		}
	}
	*saved = most / KMT_SIZE_COST_UNIT;
	return best;
}
