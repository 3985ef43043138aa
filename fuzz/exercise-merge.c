// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparison of merging record by record with merging in blocks. */
#include "config.h"

#include "fuzz/exercise-private.h"

typedef struct {
	KmtMatchMerge *by_record;
	KmtMatchMerge *by_block;
	guint64 *next;	    /* for each file: lowest index of its next record */
	gint64 now;	    /* merged time of the last record, in ns */
	gint64 first, last; /* lowest and highest timestamp, in ns */
} MergeCheck;

/* Compare a record of a block with the next record of check->by_record. */
static void check_record(MergeCheck *check, const KmtMatchEvent *item)
{
	guint file = item->file;
	struct kmemtrace_event event, copy;
	KmtMatchPosition position;

	g_assert_true(
		kmt_match_merge_next(check->by_record, &event, &position));
	copy = *item->event;
	if (copy.event_id != KMEMTRACE_EVENT_ALLOC)
		kmt_input_clear_free_fields(&copy);
	g_assert_cmpmem(&event, sizeof(event), &copy, sizeof(copy));
	kmt_input_cpu_file_get(position.file, position.index, &copy);
	g_assert_cmpmem(&event, sizeof(event), &copy, sizeof(copy));
	g_assert_cmpuint(position.file->position, ==, file);
	g_assert_cmpuint(position.index, >=, check->next[file]);
	check->next[file] = position.index + 1;
	check->now = MAX(check->now, event.timestamp);
	g_assert_cmpint(item->now, ==, check->now);
	check->first = MIN(check->first, event.timestamp);
	check->last = MAX(check->last, event.timestamp);
}

static void check_blocks(MergeCheck *check)
{
	KmtMatchEvent items[KMT_MATCH_BLOCK_RECORDS];
	KmtMatchOrder order;
	KmtMatchShardQueue queue = {
		.seed = 1, .n_shards = 1, .order = &order, .items = items};
	KmtMatchBlock block;
	guint i;

	kmt_match_order_init_identity(&order, items);
	kmt_match_block_init(&block);
	while (kmt_match_merge_fill(check->by_block, &block, &queue)) {
		guint n_allocs = 0;

		for (i = 0; i < block.n; i++) {
			g_assert_true(order.items[i] == &items[i]);
			g_assert_cmpuint(items[i].index, ==, i);
			g_assert_cmpuint(items[i].op, ==,
					 items[i].event->event_id ==
							 KMEMTRACE_EVENT_DEFER
						 ? KMT_MATCH_STEP_DEFER
						 : items[i].event->event_id);
			if (items[i].op == KMT_MATCH_STEP_ALLOC)
				g_assert_true(order.allocs[n_allocs++] ==
					      &items[i]);
			check_record(check, &items[i]);
		}
		g_assert_cmpuint(n_allocs, ==, queue.n_allocs);
	}
	kmt_match_block_clear(&block);
}

/* Check the counts of both merges after the last record. */
static void check_end(const MergeCheck *check)
{
	KmtMatchMerge *a = check->by_record, *b = check->by_block;
	struct kmemtrace_event event;
	KmtMatchPosition position;
	gint64 first, last;

	g_assert_false(kmt_match_merge_next(a, &event, &position));
	g_assert_cmpuint(kmt_match_merge_skipped(a), ==,
			 kmt_match_merge_skipped(b));
	g_assert_cmpuint(kmt_match_merge_gap_records(a), ==,
			 kmt_match_merge_gap_records(b));
	g_assert_cmpuint(kmt_match_merge_unordered(a), ==,
			 kmt_match_merge_unordered(b));
	if (kmt_match_merge_time_range(a, &first, &last)) {
		g_assert_cmpint(check->first, ==, first);
		g_assert_cmpint(check->last, ==, last);
	} else {
		g_assert_cmpint(check->first, >, check->last);
	}
}

void kmt_exercise_check_merge(const KmtInputCapture *capture)
{
	g_autoptr(KmtMatchMerge) by_record = kmt_match_merge_new(capture);
	g_autoptr(KmtMatchMerge) by_block = kmt_match_merge_new(capture);
	g_autofree guint64 *next = g_new0(guint64, capture->files->len);
	MergeCheck check = {
		.by_record = by_record,
		.by_block = by_block,
		.next = next,
		.now = G_MININT64,
		.first = G_MAXINT64,
		.last = G_MININT64,
	};

	check_blocks(&check);
	check_end(&check);
}
