// SPDX-License-Identifier: GPL-2.0-or-later
/* Cases of the class table that the captures of other tests do not reach. */
#include "config.h"

#include "lib/match/class-table.h"

#define EVENT_SIZE KMEMTRACE_EVENT_SIZE_V2

static struct kmemtrace_event alloc_new(guint64 call_site, guint64 bytes_req,
					guint64 bytes_alloc)
{
	return (struct kmemtrace_event){
		.event_id = KMEMTRACE_EVENT_ALLOC,
		.type_id = KMEMTRACE_TYPE_KMALLOC,
		.event_size = EVENT_SIZE,
		.node = KMEMTRACE_NODE_NONE,
		.call_site = call_site,
		.bytes_req = bytes_req,
		.bytes_alloc = bytes_alloc,
	};
}

/* Check that the class of an ALLOC has this number, before and after a lookup
 * that may move it to another slot. */
static void expect(KmtMatchClassTable *table,
		   const struct kmemtrace_event *event, guint32 values,
		   guint32 number)
{
	const KmtMatchClass *found;

	found = kmt_match_class_table_peek(table, table->slots, event);
	if (found && !values)
		g_assert_cmpuint(found->number, ==, number);
	g_assert_cmpuint(kmt_match_class_table_get(table, event, values), ==,
			 number);
	found = kmt_match_class_of_number(table, number);
	g_assert_cmpuint(found->call_site, ==, event->call_site);
	g_assert_cmpuint(found->seeded_req ^ table->req_seed, ==,
			 event->bytes_req);
	g_assert_cmpuint(found->bytes_alloc, ==, event->bytes_alloc);
	g_assert_cmpuint(found->values, ==, values);
	g_assert_cmpuint(kmt_match_class_type(found), ==, event->type_id);
}

/* Return the mean number of slots that a lookup skips. */
static double mean_distance(const KmtMatchClassTable *table)
{
	const gsize mask = ((gsize)1 << (64 - table->slots.shift)) - 1;
	guint64 sum = 0;
	gsize i;

	for (i = 0; i <= mask; i++) {
		const KmtMatchClass *class = table->slots.array[i];

		if (class->head)
			sum += (i - (kmt_match_class_hash(
					     table, class->call_site,
					     class->values, class->seeded_req,
					     class->bytes_alloc) >>
				     table->slots.shift)) &
			       mask;
	}
	return (double)sum / table->n;
}

/* Number the ALLOCs of a grid of properties, twice. */
static void number_grid(guint shift, guint n_sites, guint n_req, guint n_alloc)
{
	KmtMatchClassTable *table = kmt_match_class_table_new(EVENT_SIZE);
	guint round, i, j, k;

	/* Some seeds are bad for some grids. The test has good ones. */
	table->site_seed = G_GUINT64_CONSTANT(0x8c6ef30a9d21b457);
	table->req_seed = G_GUINT64_CONSTANT(0x25d97fe814c3a60b);
	table->factor = G_GUINT64_CONSTANT(0xb5c18e6e62e3d3ad);
	for (round = 0; round < 2; round++) {
		guint32 number = 0;

		for (i = 0; i < n_sites; i++)
			for (j = 0; j < n_req; j++)
				for (k = 0; k < n_alloc; k++) {
					struct kmemtrace_event event =
						alloc_new((guint64)i << shift,
							  (guint64)j << shift,
							  (guint64)k << shift);

					expect(table, &event, 0, number++);
				}
		g_assert_cmpuint(table->n, ==, n_sites * n_req * n_alloc);
	}
	g_assert_cmpfloat(mean_distance(table), <, 4);
	kmt_match_class_table_free(table);
}

/* Properties that differ only in their lowest or only in their highest bits. */
static void test_grids(void)
{
	static const guint shifts[] = {0, 12, 32, 54};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(shifts); i++) {
		number_grid(shifts[i], 1000, 1, 1);
		number_grid(shifts[i], 1, 1000, 1);
		number_grid(shifts[i], 1, 1, 1000);
		number_grid(shifts[i], 500, 250, 1);
		number_grid(shifts[i], 500, 1, 250);
		number_grid(shifts[i], 1, 500, 250);
		number_grid(shifts[i], 60, 60, 30);
	}
}

/* Classes that differ only in the kind have the same first slot, so each lookup
 * moves its class there, in place of the preceding one. */
static void test_collisions(void)
{
	KmtMatchClassTable *table = kmt_match_class_table_new(EVENT_SIZE);
	struct kmemtrace_event event = alloc_new(1000, 8, 8);
	const guint n = KMEMTRACE_TYPE_VMALLOC + 1;
	guint i;

	for (i = 0; i < 3 * n; i++) {
		const KmtMatchClass *found;

		event.type_id = (guint8)(i % n);
		if (i > n) /* type 0 was first */
			g_assert_null(kmt_match_class_table_peek(
				table, table->slots, &event));
		expect(table, &event, 0, i % n);
		found = kmt_match_class_table_peek(table, table->slots, &event);
		/* A new class is in the first slot only if that was empty. */
		if (i == 0 || i >= n) {
			g_assert_nonnull(found);
			g_assert_cmpuint(found->number, ==, i % n);
		}
	}
	g_assert_cmpuint(table->n, ==, n);
	kmt_match_class_table_free(table);
}

/* ALLOCs that differ only in values of their keys. */
static void test_values(void)
{
	KmtMatchClassTable *table = kmt_match_class_table_new(EVENT_SIZE);
	const struct kmemtrace_event event = alloc_new(1000, 8, 8);
	guint32 round, i;

	for (round = 0; round < 2; round++)
		for (i = 0; i < 100000; i++)
			expect(table, &event, i, i);
	kmt_match_class_table_free(table);
}

/* The size of the record and the node do not affect the class. */
static void test_unusual_records(void)
{
	KmtMatchClassTable *table = kmt_match_class_table_new(EVENT_SIZE);
	struct kmemtrace_event event = alloc_new(1000, 8, 8);

	expect(table, &event, 0, 0);
	event.node = 0;
	g_assert_null(kmt_match_class_table_peek(table, table->slots, &event));
	expect(table, &event, 0, 0);
	event.node = KMEMTRACE_NODE_NONE;
	event.event_size = KMEMTRACE_EVENT_SIZE_V1;
	g_assert_null(kmt_match_class_table_peek(table, table->slots, &event));
	expect(table, &event, 0, 0);
	g_assert_cmpuint(table->n, ==, 1);
	kmt_match_class_table_free(table);
}

/* The properties of an empty slot are those of no ALLOC. */
static void test_zeros(void)
{
	KmtMatchClassTable *table = kmt_match_class_table_new(0);
	struct kmemtrace_event event = alloc_new(0, table->req_seed, 0);

	event.event_size = 0;
	g_assert_null(kmt_match_class_table_peek(table, table->slots, &event));
	expect(table, &event, 0, 0);
	kmt_match_class_table_free(table);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/class-table/grids", test_grids);
	g_test_add_func("/class-table/collisions", test_collisions);
	g_test_add_func("/class-table/values", test_values);
	g_test_add_func("/class-table/unusual-records", test_unusual_records);
	g_test_add_func("/class-table/zeros", test_zeros);
	return g_test_run();
}
