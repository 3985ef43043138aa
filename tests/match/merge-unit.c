// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The merge of random files, record by record and in blocks, against a sort.
 */
#include "config.h"

#include <string.h>

#include "lib/match/merge.h"

#define SEED G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)

/* Shards of the second merge in blocks. */
#define SHARDS 3

/* A usable record, as the merge must return it. */
typedef struct {
	gint64 now; /* merged time */
	guint file;
	guint64 index;
	const KmtInputRawEvent *event;
} Expected;

/* How the times of a file advance. */
typedef enum {
	TIMES_ALTERNATE, /* the files alternate */
	TIMES_RUNS,	 /* each file has many records in succession */
	TIMES_EQUAL,	 /* many records have equal times */
	TIMES_BACKWARDS, /* some times are below the previous one */
	TIMES_EXTREME,	 /* any 64-bit value */
	TIMES_FAR,	 /* steps that a key of the tree cannot represent */
	N_TIMES
} Times;

static gint64 next_time(GRand *rand, Times times, gint64 t)
{
	switch (times) {
	case TIMES_ALTERNATE:
		return t + g_rand_int_range(rand, 1, 100);
	case TIMES_RUNS:
		return t + (g_rand_int_range(rand, 0, 40) ? 1 : 2000);
	case TIMES_EQUAL:
		return t + (g_rand_int_range(rand, 0, 8) ? 0 : 1);
	case TIMES_BACKWARDS:
		return t + 10 * g_rand_int_range(rand, -2, 10);
	case TIMES_FAR:
		return t + (g_rand_int_range(rand, 0, 30)
				    ? 5
				    : G_GINT64_CONSTANT(1) << 49);
	default:
		return (gint64)((guint64)g_rand_int(rand) << 32 |
				g_rand_int(rand));
	}
}

/* Damage a record so that the merge must skip it. */
static void damage(GRand *rand, struct kmemtrace_event *event)
{
	switch (g_rand_int_range(rand, 0, 5)) {
	case 0:
		event->event_id = (guint8)(g_rand_boolean(rand) ? 0 : 9);
		break;
	case 1:
		event->type_id = (guint8)g_rand_int_range(rand, 5, 256);
		break;
	case 2:
		event->event_size++;
		break;
	case 3:
		event->event_size ^= 0x100;
		break;
	default:
		event->ptr = 0;
	}
	event->timestamp = next_time(rand, TIMES_EXTREME, 0);
}

/* Fill a file with n random records; append the usable ones to expected.
 * Return the number of unusable records. */
static guint fill_file(GRand *rand, KmtInputCpuFile *file, Times times, guint n,
		       guint damaged, GArray *expected)
{
	guint8 *records = g_malloc0((gsize)(n + 1) * file->record_size);
	gint64 t = times == TIMES_FAR ? G_MININT64 / 2 : 1000, now = G_MININT64;
	guint n_damaged = 0, i;

	for (i = 0; i < n; i++) {
		guint8 *record = records + i * file->record_size;
		struct kmemtrace_event event = {
			.event_id = (guint8)g_rand_int_range(rand, 1, 3),
			.type_id = (guint8)g_rand_int_range(rand, 0, 3),
			.event_size = (guint16)file->record_size,
			.node = KMEMTRACE_NODE_NONE,
			.ptr = (guint64)g_rand_int_range(rand, 1, 1000) << 3};

		t = next_time(rand, times, t);
		event.timestamp = t;
		if (damaged && !g_rand_int_range(rand, 0, (gint)damaged)) {
			damage(rand, &event);
			n_damaged++;
		} else {
			Expected e = {.now = MAX(now, t),
				      .file = file->position,
				      .index = i,
				      .event = (KmtInputRawEvent *)record};

			now = e.now;
			g_array_append_val(expected, e);
		}
		memcpy(record, &event, sizeof(event));
	}
	/* A usable record after the end, which the merge must not read. */
	if (expected->len)
		memcpy(records + (gsize)n * file->record_size,
		       g_array_index(expected, Expected, expected->len - 1)
			       .event,
		       file->record_size);
	file->map = records;
	file->n_records = n;
	return n_damaged;
}

static gint compare_expected(gconstpointer a, gconstpointer b)
{
	const Expected *x = a, *y = b;

	if (x->now != y->now)
		return x->now < y->now ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void check_by_record(const KmtInputCapture *capture,
			    const GArray *expected)
{
	g_autoptr(KmtMatchMerge) merge = kmt_match_merge_new(capture);
	struct kmemtrace_event event;
	KmtMatchPosition position;
	guint i;

	for (i = 0; i < expected->len; i++) {
		const Expected *e = &g_array_index(expected, Expected, i);

		g_assert_true(kmt_match_merge_next(merge, &event, &position));
		g_assert_cmpuint(position.file->position, ==, e->file);
		g_assert_cmpuint(position.index, ==, e->index);
		g_assert_cmpint(event.timestamp, ==, e->event->timestamp);
	}
	g_assert_false(kmt_match_merge_next(merge, &event, &position));
}

static void check_item(const KmtMatchEvent *item, const Expected *e,
		       guint index)
{
	g_assert_true(item->event == e->event);
	g_assert_cmpint(item->now, ==, e->now);
	g_assert_cmpuint(item->file, ==, e->file);
	g_assert_cmpuint(item->index, ==, index);
	g_assert_cmpuint(item->op, ==, e->event->event_id);
	g_assert_cmpuint(item->type, ==, e->event->type_id);
	g_assert_cmpuint(item->flag, ==, FALSE);
	g_assert_cmpuint(
		item->hash, ==,
		kmt_input_address_hash(SEED, e->event->ptr, e->event->type_id));
}

/* Check the positions of the files after the first n records. */
static void check_ends(const KmtMatchBlock *block, const GArray *expected,
		       guint n)
{
	guint64 end;
	guint i;

	for (i = 0; i < n; i++) {
		const Expected *e = &g_array_index(expected, Expected, i);

		end = g_array_index(block->ends, guint64, e->file);
		g_assert_cmpuint(e->index, <, end);
	}
	for (; i < expected->len; i++) {
		const Expected *e = &g_array_index(expected, Expected, i);

		end = g_array_index(block->ends, guint64, e->file);
		g_assert_cmpuint(e->index, >=, end);
	}
}

static void check_by_block(const KmtInputCapture *capture,
			   const GArray *expected, guint shards, guint skipped)
{
	g_autoptr(KmtMatchMerge) merge = kmt_match_merge_new(capture);
	g_autofree KmtMatchEvent *items =
		g_new(KmtMatchEvent, shards * KMT_MATCH_BLOCK_RECORDS);
	g_autofree KmtMatchOrder *order = g_new0(KmtMatchOrder, 1);
	KmtMatchEvent *next[SHARDS];
	KmtMatchShardQueue queue = {.seed = SEED,
				    .n_shards = shards,
				    .order = order,
				    .items = items,
				    .next = next};
	KmtMatchBlock block;
	guint done = 0, i;

	kmt_match_block_init(&block);
	if (shards == 1)
		kmt_match_order_init_identity(order, items);
	for (;;) {
		guint n_allocs = 0;

		for (i = 0; i < shards; i++)
			next[i] = items + i * KMT_MATCH_BLOCK_RECORDS;
		if (!kmt_match_merge_fill(merge, &block, &queue))
			break;
		g_assert_cmpuint(block.n, ==, queue.n);
		g_assert_cmpuint(done + block.n, <=, expected->len);
		for (i = 0; i < block.n; i++) {
			check_item(order->items[i],
				   &g_array_index(expected, Expected, done++),
				   i);
			if (order->items[i]->op == KMT_MATCH_STEP_ALLOC)
				g_assert_true(order->allocs[n_allocs++] ==
					      order->items[i]);
		}
		g_assert_cmpuint(n_allocs, ==, queue.n_allocs);
		check_ends(&block, expected, done);
	}
	g_assert_cmpuint(done, ==, expected->len);
	g_assert_cmpuint(kmt_match_merge_skipped(merge), ==, skipped);
	kmt_match_block_clear(&block);
}

/* Merge the records up to a time after the first one. */
static void check_stop(const KmtInputCapture *capture, const GArray *expected,
		       gint64 stop_ns)
{
	g_autoptr(KmtMatchMerge) merge = kmt_match_merge_new(capture);
	g_autofree KmtMatchEvent *items =
		g_new(KmtMatchEvent, KMT_MATCH_BLOCK_RECORDS);
	g_autofree KmtMatchOrder *order = g_new0(KmtMatchOrder, 1);
	KmtMatchShardQueue queue = {
		.seed = SEED, .n_shards = 1, .order = order, .items = items};
	KmtMatchBlock block;
	guint n = 0, done = 0;
	gint64 until;

	kmt_match_block_init(&block);
	kmt_match_order_init_identity(order, items);
	if (!expected->len ||
	    __builtin_add_overflow(g_array_index(expected, Expected, 0).now,
				   stop_ns, &until))
		until = G_MAXINT64;
	while (n < expected->len &&
	       g_array_index(expected, Expected, n).now <= until)
		n++;
	kmt_match_merge_stop_after(merge, stop_ns, 0);
	while (kmt_match_merge_fill(merge, &block, &queue))
		done += block.n;
	g_assert_cmpuint(done, ==, n);
	g_assert_cmpint(kmt_match_merge_stopped(merge), ==, n < expected->len);
	kmt_match_block_clear(&block);
}

static void check_merge(GRand *rand, guint files, Times times, guint damaged,
			gboolean mixed_sizes)
{
	g_autoptr(KmtInputCapture) capture = g_new0(KmtInputCapture, 1);
	g_autoptr(GArray) expected =
		g_array_new(FALSE, FALSE, sizeof(Expected));
	guint i, skipped = 0;

	capture->files = g_ptr_array_new_with_free_func(g_free);
	for (i = 0; i < files; i++) {
		KmtInputCpuFile *file = g_new0(KmtInputCpuFile, 1);
		guint n = (guint)g_rand_int_range(rand, 0, 6000) / files;

		file->capture = capture;
		file->cpu = file->position = i;
		file->record_size = mixed_sizes && i % 2
					    ? KMEMTRACE_EVENT_SIZE_V2
					    : KMEMTRACE_EVENT_SIZE_V1;
		g_ptr_array_add(capture->files, file);
		skipped += fill_file(rand, file, times, n, damaged, expected);
	}
	g_array_sort(expected, compare_expected);
	check_by_record(capture, expected);
	check_by_block(capture, expected, 1, skipped);
	check_by_block(capture, expected, SHARDS, skipped);
	check_stop(capture, expected, 2000);
	check_stop(capture, expected, 0);
	for (i = 0; i < files; i++) {
		KmtInputCpuFile *file = capture->files->pdata[i];

		g_free((gpointer)file->map);
		file->map = NULL;
	}
}

static void test_order(void)
{
	static const guint files[] = {1, 2, 3, 4, 7, 33};
	g_autoptr(GRand) rand = g_rand_new_with_seed(18);
	guint i, times, damaged;

	for (i = 0; i < G_N_ELEMENTS(files); i++)
		for (times = 0; times < N_TIMES; times++)
			for (damaged = 0; damaged <= 100; damaged += 50)
				check_merge(rand, files[i], times, damaged,
					    damaged == 50);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/merge/order", test_order);
	return g_test_run();
}
