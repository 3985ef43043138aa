// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of the matcher: growth of the object table, removal and movement
 * of its entries, and the uses of addresses by other CPUs.
 */
#include "config.h"

#include "lib/match/cross-uses.h"
#include "lib/match/object-table.h"

static gboolean was_forgotten(const KmtMatchTable *table, guint64 ptr,
			      guint8 type)
{
	KmtMatchEntry e = {
		.hash = kmt_input_address_hash(table->seed, ptr, type)};

	kmt_match_entry_set_type(&e, type);
	return kmt_match_table_was_evicted(table, &e);
}

/*
 * The hash seed of the tests that limit the number of places. With one random
 * seed in some hundreds, many addresses at equal distances have neighbouring
 * homes, and the table needs a few MB more.
 */
#define SEED G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)

/* The table stays small while no address is live. */
static void test_table_removes_closed_entries(void)
{
	KmtMatchTable table;
	guint64 i;

	kmt_match_table_init(&table, SEED, 0, FALSE);
	for (i = 1; i <= 1000000; i++) {
		guint64 hash = kmt_input_address_hash(table.seed, i * 8, 0);
		KmtMatchEntry *e;

		g_assert_null(kmt_match_table_find(&table, hash, FALSE));
		e = kmt_match_table_add(&table, hash, 0, G_MININT64,
					(gint64)i - 10);
		e->last_ts = (gint64)i;
		g_assert_true(kmt_match_table_find(&table, hash, FALSE) == e);
		g_assert_null(kmt_match_table_find(
			&table,
			kmt_input_address_hash(table.seed, i * 8,
					       KMEMTRACE_TYPE_PAGES),
			TRUE));
		g_assert_cmpuint(kmt_match_entry_address(&table, e), ==, i * 8);
	}
	g_assert_cmpuint(kmt_match_table_bytes(&table), <, 1 << 18);
	g_assert_true(was_forgotten(&table, 8, KMEMTRACE_TYPE_KMALLOC));
	g_assert_false(was_forgotten(&table, 8, KMEMTRACE_TYPE_PAGES));
	g_assert_false(was_forgotten(&table, 8000000, KMEMTRACE_TYPE_KMALLOC));
	kmt_match_table_clear(&table);
}

/*
 * Live addresses remain in the table, which uses at most 48 bytes per live
 * address, as object-table.h documents.
 */
static void test_table_size(void)
{
	enum { N = 1000000 };
	KmtMatchTable table;
	guint64 i;

	kmt_match_table_init(&table, 0, 0, FALSE);
	for (i = 1; i <= N; i++) {
		guint64 hash = kmt_input_address_hash(table.seed, i * 64, 0);
		KmtMatchEntry *e = kmt_match_table_add(&table, hash, 0,
						       G_MININT64, G_MAXINT64);

		e->flags = KMT_MATCH_ENTRY_LIVE;
	}
	for (i = 1; i <= N; i++) {
		guint64 hash = kmt_input_address_hash(table.seed, i * 64, 0);

		g_assert_nonnull(kmt_match_table_find(&table, hash, FALSE));
	}
	g_assert_cmpuint(kmt_match_table_bytes(&table), <=, 48 * (guint64)N);
	kmt_match_table_clear(&table);
}

/*
 * Each address keeps its entry, and the index of its record, while the table
 * grows and entries are exchanged. The table reports that prefetched homes are
 * invalid exactly when it has grown.
 */
static void test_table_moves_entries(void)
{
	enum { N = 60000 };
	KmtMatchTable table;
	guint64 i, round, n_homes;

	kmt_match_table_init(&table, 0, N + 1, TRUE);
	for (i = 1; i <= N; i++) {
		guint64 hash = kmt_input_address_hash(table.seed, i * 64, 0);
		KmtMatchEntry *e;

		n_homes = table.n;
		table.moved = FALSE;
		e = kmt_match_table_add(&table, hash, KMEMTRACE_TYPE_CACHE,
					G_MININT64, 0);
		g_assert_true(table.moved == (table.n != n_homes));
		e->class_id = (guint32)i;
		*kmt_match_table_alloc_index(&table, e) = i;
	}
	for (round = 0; round < 2; round++) {
		for (i = 1; i <= N; i++) {
			guint64 hash =
				kmt_input_address_hash(table.seed, i * 64, 0);
			KmtMatchEntry *e = kmt_match_table_at(
				&table, kmt_match_table_prefetch(&table, hash),
				hash);

			g_assert_true(e == kmt_match_table_home(&table, hash));
			g_assert_cmphex(e->hash, ==, hash);
			g_assert_cmpuint(e->class_id, ==, i);
			g_assert_cmpuint(kmt_match_entry_type(e), ==,
					 KMEMTRACE_TYPE_CACHE);
			g_assert_cmpuint(
				*kmt_match_table_alloc_index(&table, e), ==, i);
		}
	}
	g_assert_cmpuint(table.n_entries, ==, N);
	g_assert_null(kmt_match_table_find(
		&table, kmt_input_address_hash(table.seed, 32, 0),
		KMT_INPUT_NAMESPACE_SLAB));
	g_assert_cmpuint(
		kmt_match_table_move_home(
			&table, kmt_input_address_hash(table.seed, 32, 0))
			->state,
		==, 0);
	kmt_match_table_clear(&table);
}

/*
 * kmt_match_table_add_at() adds an entry as kmt_match_table_add() does, until
 * the table is nearly full, and never in the last place or with an index.
 */
static void test_table_add_at(void)
{
	KmtMatchTable table;
	guint64 i, n;

	kmt_match_table_init(&table, SEED, 0, FALSE);
	n = table.n * 4 / 5;
	for (i = 1; i <= n + 1; i++) {
		guint64 hash = kmt_input_address_hash(table.seed, i * 64, 0);
		KmtMatchEntry *unused = kmt_match_table_move_home(&table, hash);
		KmtMatchEntry *e = kmt_match_table_add_at(&table, hash, unused);

		g_assert_true((e != NULL) == (i <= n));
		if (!e)
			break;
		kmt_match_entry_set_type(e, 0);
		e->class_id = (guint32)i;
		g_assert_true(e == kmt_match_table_home(&table, hash));
		g_assert_cmpuint(table.n_entries, ==, i);
	}
	for (i = 1; i <= n; i++) {
		const KmtMatchEntry *e = kmt_match_table_find(
			&table, kmt_input_address_hash(table.seed, i * 64, 0),
			KMT_INPUT_NAMESPACE_SLAB);

		g_assert_nonnull(e);
		g_assert_cmpuint(e->class_id, ==, i);
	}
	kmt_match_table_clear(&table);

	kmt_match_table_init(&table, 1, 0, FALSE);
	g_assert_null(kmt_match_table_add_at(
		&table, G_MAXUINT64,
		table.entries + kmt_match_table_places(&table) - 1));
	kmt_match_table_clear(&table);
	kmt_match_table_init(&table, 1, 0, TRUE);
	g_assert_null(kmt_match_table_add_at(&table, 1, table.entries));
	kmt_match_table_clear(&table);
}

/* More entries than there are places after the last home have homes near the
 * end, so the table grows before it is full. */
static void test_table_end(void)
{
	enum { N = 200, SHIFT = 40 };
	KmtMatchTable table;
	guint64 i, n_homes;

	kmt_match_table_init(&table, 1, N, FALSE);
	n_homes = table.n;
	for (i = 1; i <= N; i++)
		kmt_match_table_add(&table, -(i << SHIFT), 0, G_MININT64, 0);
	g_assert_cmpuint(table.n, >, n_homes);
	for (i = 1; i <= N; i++) {
		const KmtMatchEntry *e = kmt_match_table_find(
			&table, -(i << SHIFT), KMT_INPUT_NAMESPACE_SLAB);

		g_assert_nonnull(e);
		g_assert_cmphex(e->hash, ==, -(i << SHIFT));
	}
	g_assert_cmpuint(table.n_entries, ==, N);
	kmt_match_table_clear(&table);
}

/* The table accepts an address with the hash 0, which is also the hash of
 * unused places. */
static void test_table_hash_of_unused_places(void)
{
	const guint64 ptr = kmt_input_namespace_bits(KMEMTRACE_TYPE_PAGES);
	KmtMatchTable table;
	KmtMatchEntry *e;

	kmt_match_table_init(&table, 1, 1, FALSE);
	g_assert_cmphex(
		kmt_input_address_hash(table.seed, ptr, KMEMTRACE_TYPE_PAGES),
		==, 0);
	g_assert_null(
		kmt_match_table_find(&table, 0, KMT_INPUT_NAMESPACE_PAGES));
	g_assert_cmpuint(kmt_match_table_move_home(&table, 0)->state, ==, 0);
	e = kmt_match_table_add(&table, 0, KMEMTRACE_TYPE_PAGES, G_MININT64, 0);
	g_assert_true(e == kmt_match_table_find(&table, 0,
						KMT_INPUT_NAMESPACE_PAGES));
	g_assert_true(e == kmt_match_table_move_home(&table, 0));
	g_assert_null(
		kmt_match_table_find(&table, 0, KMT_INPUT_NAMESPACE_PERCPU));
	g_assert_null(
		kmt_match_table_find(&table, 0, KMT_INPUT_NAMESPACE_SLAB));
	g_assert_cmphex(kmt_match_entry_address(&table, e), ==, ptr);
	kmt_match_table_clear(&table);
}

/* The table of uses agrees with an array of the last times, for few addresses
 * that are used often and for more than the initial table has places. */
static void test_cross_uses(void)
{
	enum { N = 3000, TOLERANCE = 1000, ROUNDS = 100000 };
	static const guint n_addresses[] = {1, 20, N};
	g_autofree gint64 *times = g_new(gint64, N);
	KmtMatchCrossUses uses;
	gint64 now = G_MININT64;
	guint i, j;

	kmt_match_cross_uses_init(&uses, TOLERANCE);
	for (i = 0; i < N; i++)
		times[i] = G_MAXINT64; /* none */
	for (i = 0; i < ROUNDS; i++) {
		guint n = n_addresses[i / 5000 % G_N_ELEMENTS(n_addresses)];
		guint address = (guint)g_random_int_range(0, (gint)n);
		/* The hashes of two namespaces may be equal. */
		guint64 hash = (address / 2 + 1) *
			       G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
		KmtInputNamespace space = address % 2
						  ? KMT_INPUT_NAMESPACE_PERCPU
						  : KMT_INPUT_NAMESPACE_PAGES;

		now += g_random_int_range(0, 3);
		if (i % 2) {
			times[address] = now;
			kmt_match_cross_uses_set(&uses, hash, space, now, now);
		}
		for (j = 0; j < 3; j++, now += TOLERANCE * (i % 97 == 0))
			g_assert_cmpint(kmt_match_cross_uses_has(&uses, hash,
								 space, now),
					==,
					times[address] != G_MAXINT64 &&
						now - times[address] <=
							TOLERANCE);
	}
	kmt_match_cross_uses_clear(&uses);
}

/* With many current times, the table has fewer than three places for each. */
static void test_cross_uses_size(void)
{
	enum { N = 25000, MAX_BITS = 16 };
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);
	KmtMatchCrossUses uses;
	guint i;

	kmt_match_cross_uses_init(&uses, 0);
	for (i = 0; i < N; i++) {
		guint64 hash = (guint64)g_rand_int(rand) << 32 | i;

		kmt_match_cross_uses_set(&uses, hash, KMT_INPUT_NAMESPACE_SLAB,
					 0, 0);
	}
	g_assert_cmpuint(uses.bits, <=, MAX_BITS);
	kmt_match_cross_uses_clear(&uses);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/table/removes-closed-entries",
			test_table_removes_closed_entries);
	g_test_add_func("/table/size", test_table_size);
	g_test_add_func("/table/moves-entries", test_table_moves_entries);
	g_test_add_func("/table/add-at", test_table_add_at);
	g_test_add_func("/table/end", test_table_end);
	g_test_add_func("/table/hash-of-unused-places",
			test_table_hash_of_unused_places);
	g_test_add_func("/cross-uses", test_cross_uses);
	g_test_add_func("/cross-uses/size", test_cross_uses_size);
	return g_test_run();
}
