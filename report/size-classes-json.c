// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds the comparison of the sizes of kmalloc() to the JSON report. */
#include "config.h"

#include "report/size-classes.h"

static const char *const moments[KMT_SIZE_N_MOMENTS] = {"peak", "end",
							"allocations"};
static const char *const guarantees[] = {
	[KMT_SIZE_ALIGN_NONE] = "none",
	[KMT_SIZE_ALIGN_POWERS] = "powers",
	[KMT_SIZE_ALIGN_DIVISORS] = "divisors",
};

static void add_sizes(KmtJson *json, const guint32 *sizes, guint n)
{
	guint i;

	kmt_json_begin_array(json, "sizes");
	for (i = 0; i < n; i++)
		kmt_json_u64(json, NULL, sizes[i]);
	kmt_json_end_array(json);
}

/* Add the members of a set. */
static void add_set(KmtJson *json, const KmtSizeClasses *classes, guint i)
{
	const KmtSizeSet *set = &g_array_index(classes->sets, KmtSizeSet, i);
	const KmtSizeResult *result =
		&g_array_index(classes->results, KmtSizeResult, i);

	kmt_json_begin_object(json, NULL);
	kmt_json_text(json, "name", set->name);
	add_sizes(json, set->sizes, set->n);
	kmt_json_flag(json, "aligned",
		      kmt_size_set_is_aligned(set, &classes->rule));
	kmt_json_u64(json, "waste_at_peak", result->waste_at_peak);
	kmt_json_u64(json, "waste_at_end", result->waste_at_end);
	kmt_json_u64(json, "waste_largest", result->waste_largest);
	kmt_json_double(json, "waste_average", result->waste_average);
	kmt_json_u64(json, "slabs_at_peak", result->slabs_at_peak);
	kmt_json_u64(json, "slabs_at_end", result->slabs_at_end);
	kmt_json_u64(json, "slabs_largest", result->slabs_largest);
	kmt_json_end_object(json);
}

/* Add the best sets of a moment. */
static void add_best(KmtJson *json, const KmtSizeClasses *classes,
		     KmtSizeMoment moment)
{
	guint max_n = g_array_index(classes->sets, KmtSizeSet, 0).n +
		      KMT_SIZE_CLASSES_MORE;
	guint32 sizes[KMT_SIZE_SET_MAX];
	guint64 bytes;
	guint n;

	kmt_json_begin_array(json, "best");
	for (n = 1; n <= MIN(max_n, KMT_SIZE_SET_MAX); n++) {
		if (!kmt_best_sizes_get(classes->best[moment], n, sizes,
					&bytes))
			continue;
		kmt_json_begin_object(json, NULL);
		add_sizes(json, sizes, n);
		kmt_json_u64(json, "bytes", bytes);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

/* Add the requests of a moment, and what the sets mean for them. */
static void add_moment(KmtJson *json, const KmtSizeClasses *classes,
		       KmtSizeMoment moment)
{
	const KmtSizeDemand *demand = classes->demand;
	const KmtSizeAddition *addition = &classes->additions[moment];
	guint i;

	kmt_json_begin_object(json, moments[moment]);
	kmt_json_u64(json, "objects", demand->n_objects[moment]);
	kmt_json_u64(json, "requested", demand->requested[moment]);
	kmt_json_u64(json, "allocated", demand->allocated[moment]);
	kmt_json_begin_object(json, "bytes");
	for (i = 0; i < classes->sets->len; i++) {
		const KmtSizeSet *set =
			&g_array_index(classes->sets, KmtSizeSet, i);

		kmt_json_u64(json, set->name,
			     kmt_size_set_cost(set, &classes->rule,
					       demand->objects[moment]));
	}
	kmt_json_end_object(json);
	kmt_json_known_u64(json, "additional_size", addition->size != 0,
			   addition->size);
	kmt_json_u64(json, "additional_size_saves", addition->saved);
	add_best(json, classes, moment);
	kmt_json_end_object(json);
}

void kmt_size_classes_json(const KmtSizeClasses *classes, KmtJson *json,
			   const KmtReport *report)
{
	guint i;

	kmt_json_begin_object(json, "size_classes");
	kmt_json_text(json, "not_compared", classes->omitted);
	if (classes->omitted) {
		kmt_json_end_object(json);
		return;
	}
	kmt_json_flag(json, "doubtful", kmt_report_is_lossy(report));
	kmt_json_u64(json, "align", classes->rule.align);
	kmt_json_u64(json, "smallest", classes->rule.min);
	kmt_json_u64(json, "largest", classes->rule.limit);
	kmt_json_text(json, "guarantee", guarantees[classes->rule.guarantee]);
	kmt_json_u64(json, "large_objects", classes->demand->large);
	kmt_json_begin_array(json, "sets");
	for (i = 0; i < classes->sets->len; i++)
		add_set(json, classes, i);
	kmt_json_end_array(json);
	for (i = 0; i < KMT_SIZE_N_MOMENTS; i++)
		add_moment(json, classes, (KmtSizeMoment)i);
	kmt_json_end_object(json);
}
