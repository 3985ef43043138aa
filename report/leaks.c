// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/allocator-memory.h"
#include "report/leaks.h"

/*
 * Return whether the recording of frees of this kind was switched off at any
 * time, or the recorder recorded only some of the events.
 */
static gboolean frees_are_off(const KmtAggregate *aggregate, KmtKind kind)
{
	guint off = aggregate->groups->options.capture->frees_not_recorded;

	if (kind == KMT_KIND_SLAB)
		return off & (1U << KMEMTRACE_TYPE_KMALLOC |
			      1U << KMEMTRACE_TYPE_CACHE);
	return kind < KMT_KIND_SLAB && off & (1U << kind);
}

static gboolean is_leak(const KmtAggregate *aggregate, const KmtGroup *group,
			KmtLeak *leak)
{
	const KmtDetail *detail = group->detail;
	const KmtGrowth *growth = &detail->growth;

	*leak = (KmtLeak){
		.group = group,
		.steps = growth->n_windows - 1,
		.grown = growth->grown,
		.in_use = group->totals.live_objects -
			  (group->deferred ? group->deferred->objects : 0),
		.frees = group->totals.frees};
	if (growth->n_windows < KMT_LEAK_MIN_WINDOWS ||
	    growth->last <= growth->first ||
	    leak->grown * 4 < leak->steps * 3 || leak->in_use < 2)
		return FALSE;
	leak->growth = growth->last - growth->first;
	leak->reused = kmt_report_field_get(kmt_report_field_find("reused"),
					    aggregate, group);
	if (frees_are_off(aggregate, group->kind) ||
	    (leak->reused.type == KMT_FIGURE_INTEGER &&
	     leak->reused.integer > group->totals.frees))
		leak->doubt = KMT_LEAK_FREES_MISSING;
	else if (kmt_allocator_memory_holds(aggregate, group, FALSE,
					    &leak->objects))
		leak->doubt = KMT_LEAK_ALLOCATOR;
	leak->age_median = kmt_histogram_percentile(&detail->ages, 50);
	leak->lifetime_p99 = kmt_histogram_percentile(&detail->lifetimes, 99);
	return !leak->frees || leak->age_median > leak->lifetime_p99;
}

static gint compare_leaks(gconstpointer a, gconstpointer b, gpointer user)
{
	const KmtLeak *x = a, *y = b;
	gint order;

	if (x->doubt != y->doubt)
		return x->doubt < y->doubt ? -1 : 1;
	if (x->growth != y->growth)
		return x->growth > y->growth ? -1 : 1;
	order = kmt_groups_compare(user, x->group, y->group);
	return order ? order : (gint)x->group->kind - (gint)y->group->kind;
}

GArray *kmt_leaks_find(const KmtAggregate *aggregate, KmtTableFilter filter,
		       gconstpointer user)
{
	const KmtGroups *groups = aggregate->groups;
	GArray *leaks = g_array_new(FALSE, FALSE, sizeof(KmtLeak));
	guint32 i;

	for (i = 0; i < groups->n_groups; i++) {
		const KmtGroup *group = kmt_groups_at(groups, i);
		KmtLeak leak;

		if (filter(group, user) && is_leak(aggregate, group, &leak))
			g_array_append_val(leaks, leak);
	}
	g_array_sort_with_data(leaks, compare_leaks, (gpointer)groups);
	return leaks;
}
