// SPDX-License-Identifier: GPL-2.0-or-later
/* Record, sort, and compare the decisions of the matcher. */
#include "config.h"

#include "fuzz/exercise-private.h"

#include "lib/input/namespace.h"

#include <string.h>

KmtExerciseObject kmt_exercise_object(const KmtMatchKeys *keys,
				      const KmtMatchObject *o)
{
	KmtMatchKey key = kmt_match_keys_of_class(keys, o->class_id);
	KmtMatchSize bytes = kmt_match_keys_size_of_class(keys, o->class_id);
	KmtExerciseObject object;

	memset(&object, 0, sizeof(object));
	object.ptr = o->ptr;
	object.alloc_time = o->timestamp;
	object.call_site = key.call_site;
	object.gfp_flags = key.gfp_flags;
	object.node = key.node;
	object.key_file = key.file;
	object.key_type = key.type;
	object.bytes_req = bytes.req;
	object.bytes_alloc = bytes.alloc;
	object.file = o->file;
	object.type = o->type;
	if (o->is_deferred) {
		object.is_deferred = TRUE;
		object.defer_time = o->defer.time;
		object.defer_site = o->defer.call_site;
		object.defer_file = o->defer.file;
	}
	return object;
}

gboolean kmt_exercise_has_object(KmtMatchSlowOp op, guint class)
{
	return op != KMT_MATCH_SLOW_UNMATCHED &&
	       op != KMT_MATCH_SLOW_UNMATCHED_DEFER &&
	       (op != KMT_MATCH_SLOW_DEFER || class != KMT_MATCH_DEFER_LATE);
}

KmtExerciseDecision *kmt_exercise_add_decision(KmtExercise *exercise,
					       KmtMatchSlowOp op,
					       const KmtMatchObject *object,
					       guint64 ptr, guint8 type,
					       guint16 file)
{
	GArray *decisions = exercise->decisions;
	KmtExerciseDecision *decision;

	g_array_set_size(decisions, decisions->len + 1);
	decision = &g_array_index(decisions, KmtExerciseDecision,
				  decisions->len - 1);
	memset(decision, 0, sizeof(*decision));
	decision->index = exercise->index;
	decision->op = (guint8)op;
	if (object)
		decision->object = kmt_exercise_object(exercise->keys, object);
	decision->ptr = ptr;
	decision->type = type;
	decision->file = file;
	return decision;
}

static gint compare_addresses(guint64 x, guint x_type, guint64 y, guint y_type)
{
	if (x != y)
		return x < y ? -1 : 1;
	return (gint)kmt_input_namespace_of(x_type) -
	       (gint)kmt_input_namespace_of(y_type);
}

/*
 * Order decisions by record.  Delayed decisions precede the others of the same
 * record, and are ordered by address: they concern different addresses and are
 * made in no fixed order.
 */
static gint compare_decisions(gconstpointer a, gconstpointer b)
{
	const KmtExerciseDecision *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	if (x->delayed != y->delayed)
		return x->delayed ? -1 : 1;
	return x->delayed ? compare_addresses(x->ptr, x->type, y->ptr, y->type)
			  : 0;
}

GArray *kmt_exercise_steal_decisions(KmtExercise *exercise)
{
	GArray *decisions = exercise->decisions;

	exercise->decisions =
		g_array_new(FALSE, FALSE, sizeof(KmtExerciseDecision));
	g_array_sort(decisions, compare_decisions);
	return decisions;
}

static gint compare_objects(gconstpointer a, gconstpointer b)
{
	const KmtExerciseObject *x = a, *y = b;

	return compare_addresses(x->ptr, x->type, y->ptr, y->type);
}

void kmt_exercise_append_object(gpointer array, const KmtMatchObject *object)
{
	GArray *objects = array;

	g_array_append_val(objects, *object);
}

GArray *kmt_exercise_sorted_objects(const KmtMatchKeys *keys,
				    const GArray *objects)
{
	GArray *sorted = g_array_sized_new(
		FALSE, FALSE, sizeof(KmtExerciseObject), objects->len);
	guint i;

	for (i = 0; i < objects->len; i++) {
		KmtExerciseObject object = kmt_exercise_object(
			keys, &g_array_index(objects, KmtMatchObject, i));

		g_array_append_val(sorted, object);
	}
	g_array_sort(sorted, compare_objects);
	for (i = 1; i < sorted->len; i++)
		g_assert_cmpint(
			compare_objects(
				&g_array_index(sorted, KmtExerciseObject,
					       i - 1),
				&g_array_index(sorted, KmtExerciseObject, i)),
			<, 0);
	return sorted;
}

void kmt_exercise_assert_same(GArray *a, GArray *b, const char *what)
{
	guint i, size = g_array_get_element_size(a);

	for (i = 0; i < MIN(a->len, b->len); i++)
		if (memcmp(a->data + i * size, b->data + i * size, size) != 0)
			g_error("%s: element %u of %u differs", what, i,
				a->len);
	if (a->len != b->len)
		g_error("%s: %u elements in one run, %u in the other", what,
			a->len, b->len);
}
