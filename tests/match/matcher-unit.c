// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cases of lib/match and lib/input that no capture of another test reaches: the
 * address set, the merge of many files, and the detection of a capture's
 * format. One unit: the cases share a capture in memory.
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "lib/match/address-set.h"
#include "lib/match/matcher.h"
#include "lib/match/object-table.h"

static void test_addrset_exact(void)
{
	static const guint64 odd[] = {
		0,
		1,
		7,
		8,
		4096,
		G_GUINT64_CONSTANT(0xffff888000001000),
		G_GUINT64_CONSTANT(0xffff888000001001),
		G_GUINT64_CONSTANT(0x8000000000000000),
		G_MAXUINT64,
		G_MAXUINT64 - 4095,
	};
	guint shift, i, j;

	for (shift = 3; shift <= 12; shift += 9) {
		KmtMatchAddressSet *set = kmt_match_address_set_new(shift);

		for (i = 0; i < G_N_ELEMENTS(odd); i++) {
			for (j = 0; j < G_N_ELEMENTS(odd); j++)
				g_assert_cmpint(kmt_match_address_set_contains(
							set, odd[j]),
						==, j < i);
			g_assert_false(
				kmt_match_address_set_contains(set, odd[i]));
			kmt_match_address_set_add(set, odd[i]);
			g_assert_true(
				kmt_match_address_set_contains(set, odd[i]));
		}
		kmt_match_address_set_free(set);
	}
}

static void test_addrset_grows(void)
{
	KmtMatchAddressSet *set = kmt_match_address_set_new(3);
	const guint64 step = 8 * 512; /* distance of two addresses in different
				       * blocks of the set */
	guint64 i;

	for (i = 0; i < 10000; i++) {
		g_assert_false(kmt_match_address_set_contains(set, i * step));
		kmt_match_address_set_add(set, i * step);
		g_assert_false(
			kmt_match_address_set_contains(set, i * step + 8));
	}
	for (i = 0; i < 10000; i++)
		g_assert_true(kmt_match_address_set_contains(set, i * step));
	kmt_match_address_set_free(set);
}

/* ---- captures in memory ---- */

static KmtInputCapture *capture_new(guint files)
{
	KmtInputCapture *capture = g_new0(KmtInputCapture, 1);
	guint i;

	capture->files = g_ptr_array_new_with_free_func(g_free);
	capture->record_size = KMEMTRACE_EVENT_SIZE_V1;
	for (i = 0; i < files; i++) {
		KmtInputCpuFile *file = g_new0(KmtInputCpuFile, 1);

		file->cpu = file->position = i;
		file->record_size = KMEMTRACE_EVENT_SIZE_V1;
		g_ptr_array_add(capture->files, file);
	}
	return capture;
}

static struct kmemtrace_event make_event(guint event_id, guint64 ptr,
					 gint64 timestamp)
{
	return (struct kmemtrace_event){.event_id = event_id,
					.event_size = KMEMTRACE_EVENT_SIZE_V1,
					.ptr = ptr,
					.timestamp = timestamp,
					.node = KMEMTRACE_NODE_NONE};
}

static void test_merge_many_files(void)
{
	enum { FILES = 256, EACH = 50 };
	g_autofree struct kmemtrace_event *events =
		g_new0(struct kmemtrace_event, FILES * EACH);
	g_autoptr(KmtInputCapture) capture = capture_new(FILES);
	g_autoptr(KmtMatchMerge) merge = NULL;
	struct kmemtrace_event event;
	KmtMatchPosition position;
	gint64 last = G_MININT64;
	guint i, n = 0, last_cpu = 0;
	guint64 next[FILES] = {0};

	for (i = 0; i < FILES * EACH; i++)
		events[i] = make_event(1, 8, (i % EACH) * (1 + i / EACH % 3));
	for (i = 0; i < FILES; i++) {
		KmtInputCpuFile *file = capture->files->pdata[i];

		/* The files have 0 to EACH records. */
		file->map = (const guint8 *)&events[i * EACH];
		file->n_records = i % (EACH + 1);
		n += i % (EACH + 1);
	}
	merge = kmt_match_merge_new(capture);
	while (kmt_match_merge_next(merge, &event, &position)) {
		guint cpu = position.file->cpu;

		g_assert_cmpint(event.timestamp, >=, last);
		if (event.timestamp == last)
			g_assert_cmpuint(cpu, >=, last_cpu);
		g_assert_cmpuint(position.index, ==, next[cpu]++);
		last = event.timestamp;
		last_cpu = cpu;
		n--;
	}
	g_assert_cmpuint(n, ==, 0);
	g_assert_false(kmt_match_merge_next(merge, &event, &position));
}

static KmtMatcher *matcher_new(const KmtInputCapture *capture,
			       gint64 tolerance_ns)
{
	static const KmtMatchOps ops;
	/* With so many shards, min_entries of this shard's table is 1, so that
	 * the matcher often removes entries. */
	const KmtMatchOptions options = {.clock_tolerance_ns = tolerance_ns,
					 .shards = KMT_MATCH_MIN_ENTRIES};

	return kmt_matcher_new(capture, &options, &ops, NULL);
}

static void count_live(gpointer user, const KmtMatchObject *object)
{
	++*(guint *)user;
}

/*
 * More live addresses than the initial table has entries, and many more
 * addresses that are allocated and freed. The matcher removes closed entries
 * from the table, but remembers in its address set that an address was used.
 */
static void test_matcher_remembers_use_of_addresses(void)
{
	enum { LIVE = 20000, PASSING = 200000 };
	g_autoptr(KmtInputCapture) capture = capture_new(1);
	g_autoptr(KmtMatcher) matcher = matcher_new(capture, 1000);
	KmtMatchPosition position = {capture->files->pdata[0], 0};
	struct kmemtrace_event event;
	gint64 t = 0;
	guint live = 0;
	guint i;

	for (i = 0; i < LIVE; i++) {
		event = make_event(1, 0x1000 + 8 * i, t++);
		kmt_matcher_process(matcher, &event, &position);
	}
	for (i = 0; i < PASSING; i++) {
		event = make_event(1, 0x10000000 + 16 * i, t += 100);
		kmt_matcher_process(matcher, &event, &position);
		event = make_event(2, 0x10000000 + 16 * i, t++);
		kmt_matcher_process(matcher, &event, &position);
	}
	for (i = 0; i < PASSING; i++) {
		event = make_event(2, 0x10000000 + 16 * i, t += 5000);
		kmt_matcher_process(matcher, &event, &position);
		event = make_event(2, 0x10000008 + 16 * i, t++);
		kmt_matcher_process(matcher, &event, &position);
	}
	kmt_matcher_finish(matcher);
	kmt_matcher_foreach_live(matcher, count_live, &live);
	g_assert_cmpuint(live, ==, LIVE);
	g_assert_cmpuint(kmt_matcher_findings(matcher)
				 ->unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED],
			 ==, PASSING);
	g_assert_cmpuint(kmt_matcher_findings(matcher)
				 ->unmatched[KMT_MATCH_UNMATCHED_BEFORE_TRACE],
			 ==, PASSING);
}

/* Timestamps may have any 64-bit value. */
static void test_extreme_times(void)
{
	static const gint64 times[] = {G_MININT64,     -1,	  0, 1,
				       G_MAXINT64 - 1, G_MAXINT64};
	guint i, meta;

	for (meta = 0; meta < 2; meta++) {
		struct kmemtrace_event events[G_N_ELEMENTS(times)];
		g_autoptr(KmtInputCapture) capture = capture_new(2);
		g_autoptr(KmtMatcher) matcher = NULL;
		KmtMatchPosition position = {capture->files->pdata[0], 0};

		if (meta) {
			capture->meta = g_key_file_new();
			capture->continues = TRUE;
		}
		for (i = 0; i < G_N_ELEMENTS(times); i++)
			events[i] = make_event(1 + i / 4 % 2, 8, times[i]);
		for (i = 0; i < 2; i++) {
			KmtInputCpuFile *file = capture->files->pdata[i];

			file->map = (const guint8 *)events;
			file->n_records = G_N_ELEMENTS(times);
		}
		matcher = matcher_new(capture, 1000000000);
		for (i = 0; i < G_N_ELEMENTS(times); i++) {
			position.file = capture->files->pdata[i % 2];
			kmt_matcher_process(matcher, &events[i], &position);
		}
		kmt_matcher_finish(matcher);
	}
}

/* Pass one record of a CPU to the matcher. */
static void process_record(KmtMatcher *matcher, KmtInputCapture *capture,
			   guint cpu, guint event_id, guint64 ptr,
			   gint64 timestamp)
{
	struct kmemtrace_event event = make_event(event_id, ptr, timestamp);
	KmtMatchPosition position = {capture->files->pdata[cpu], 0};

	kmt_matcher_process(matcher, &event, &position);
}

/* Pass the end of the capture to the matcher, and check the unmatched frees. */
static void finish(KmtMatcher *matcher, guint n_before_trace,
		   guint n_unexplained)
{
	const guint64 *unmatched = kmt_matcher_findings(matcher)->unmatched;

	kmt_matcher_finish(matcher);
	g_assert_cmpuint(unmatched[KMT_MATCH_UNMATCHED_BEFORE_TRACE], ==,
			 n_before_trace);
	g_assert_cmpuint(unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED], ==,
			 n_unexplained);
}

/*
 * For the duration of the clock tolerance, the matcher remembers that another
 * CPU used an address, even if the table removes older entries meanwhile.
 */
static void test_matcher_remembers_for_the_tolerance(void)
{
	enum { N = 30000 };
	g_autoptr(KmtInputCapture) capture = capture_new(2);
	g_autoptr(KmtMatcher) matcher = matcher_new(capture, 1000);
	gint64 t = 0;
	guint i;

	for (i = 0; i < N; i++) {
		guint64 ptr = 0x1000 + 64 * i;

		/* In the real order, CPU 1 allocates, CPU 0 frees and allocates
		 * again, and CPU 1 frees. The clock of CPU 0 is ahead by less
		 * than the tolerance. */
		process_record(matcher, capture, 1, 1, ptr, t++);
		process_record(matcher, capture, 1, 2, ptr, t++);
		/* Two other addresses fill the table, so that old entries are
		 * removed. */
		process_record(matcher, capture, 0, 1, ptr + 8, t++);
		process_record(matcher, capture, 0, 1, ptr + 16, t++);
		process_record(matcher, capture, 0, 2, ptr, t++);
		process_record(matcher, capture, 0, 1, ptr, t++);
	}
	finish(matcher, 0, 0);
}

/*
 * The first ALLOC and a FREE of each address have the same time, so the FREE
 * may belong to an allocation before the trace. The second FREE decides this,
 * long after the table removed the address. A third FREE is unexplained.
 */
static void test_matcher_ambiguous_free_after_removal(void)
{
	enum { N = 20000 };
	g_autoptr(KmtInputCapture) capture = capture_new(2);
	g_autoptr(KmtMatcher) matcher = matcher_new(capture, 1000);
	gint64 t = 0;
	guint i, pass;

	for (i = 0; i < N; i++) {
		process_record(matcher, capture, 0, 1, 0x1000 + 64 * i,
			       t += 100);
		process_record(matcher, capture, 1, 2, 0x1000 + 64 * i, t);
	}
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < N; i++)
			process_record(matcher, capture, 0, 2, 0x1000 + 64 * i,
				       t += 100);
	finish(matcher, N, N);
}

/*
 * The first FREE of each address has the time of the first ALLOC, so it may
 * belong to an allocation before the trace. In this test, that is decided after
 * the address was allocated again. A FREE after the table has removed the
 * address is unexplained.
 */
static void test_matcher_ambiguous_free_while_live(void)
{
	enum { N = 20000 };
	g_autoptr(KmtInputCapture) capture = capture_new(2);
	g_autoptr(KmtMatcher) matcher = matcher_new(capture, 1000);
	gint64 t = 0;
	guint i;

	for (i = 0; i < N; i++) {
		guint64 ptr = 0x1000 + 64 * i;

		process_record(matcher, capture, 0, 1, ptr, t += 5000);
		process_record(matcher, capture, 1, 2, ptr, t);
		process_record(matcher, capture, 1, 2, ptr, t += 5000);
		process_record(matcher, capture, 1, 1, ptr, t += 10);
		process_record(matcher, capture, 1, 2, ptr, t += 5000);
	}
	for (i = 0; i < N; i++)
		process_record(matcher, capture, 1, 2, 0x1000 + 64 * i,
			       t += 5000);
	finish(matcher, N, N);
}

/*
 * The merge counts records whose time goes backwards and records that it cannot
 * use.
 */
static void test_merge_counts(void)
{
	static const gint64 times[] = {5, 9, 3, 3, 10, 1};
	struct kmemtrace_event events[G_N_ELEMENTS(times)];
	g_autoptr(KmtInputCapture) capture = capture_new(1);
	KmtInputCpuFile *file = capture->files->pdata[0];
	g_autoptr(KmtMatchMerge) merge = NULL;
	KmtMatchEvent items[KMT_MATCH_BLOCK_RECORDS];
	KmtMatchOrder order;
	KmtMatchShardQueue queue = {
		.seed = 1, .n_shards = 1, .order = &order, .items = items};
	KmtMatchBlock block;
	guint i;

	for (i = 0; i < G_N_ELEMENTS(times); i++)
		events[i] = make_event(1, 8, times[i]);
	events[5].event_id = 3;
	file->map = (const guint8 *)events;
	file->n_records = G_N_ELEMENTS(times);
	merge = kmt_match_merge_new(capture);
	kmt_match_block_init(&block);
	kmt_match_order_init_identity(&order, items);
	g_assert_true(kmt_match_merge_fill(merge, &block, &queue));
	g_assert_cmpuint(block.n, ==, 5);
	g_assert_cmpint(items[2].event->timestamp, ==, 3);
	g_assert_cmpint(items[2].now, ==, 9);
	g_assert_false(kmt_match_merge_fill(merge, &block, &queue));
	g_assert_cmpuint(block.n, ==, 0);
	g_assert_cmpuint(kmt_match_merge_unordered(merge), ==, 1);
	g_assert_cmpuint(kmt_match_merge_skipped(merge), ==, 1);
	kmt_match_block_clear(&block);
}

static void test_free_has_no_leftovers(void)
{
	struct kmemtrace_event event = make_event(2, 8, 1);
	g_autoptr(KmtInputCapture) capture = capture_new(1);
	KmtInputCpuFile *file = capture->files->pdata[0];

	event.node = 5;
	event.bytes_req = event.bytes_alloc = event.gfp_flags = 7;
	file->map = (const guint8 *)&event;
	file->n_records = 1;
	kmt_input_cpu_file_get(file, 0, &event);
	g_assert_cmpint(event.node, ==, KMEMTRACE_NODE_NONE);
	g_assert_cmpuint(event.bytes_req, ==, 0);
	g_assert_cmpuint(event.bytes_alloc, ==, 0);
	g_assert_cmpuint(event.gfp_flags, ==, 0);
}

/* ---- captures on disk ---- */

/*
 * Write a file with n records of size bytes, in native or swapped byte order.
 * Each record has its size in its size field; first_size replaces the size in
 * the first record unless it is 0. Returns the path, which the caller frees.
 */
static char *write_records(const char *dir, const char *name, guint n,
			   guint size, gboolean swapped, guint first_size)
{
	g_autofree guint8 *data = g_malloc0((gsize)n * size + 1);
	char *path = g_build_filename(dir, name, NULL);
	guint i;

	for (i = 0; i < n; i++) {
		guint16 size_field = i || !first_size ? size : first_size;

		data[(gsize)i * size] = KMEMTRACE_EVENT_ALLOC;
		if (swapped)
			size_field = GUINT16_SWAP_LE_BE(size_field);
		memcpy(data + (gsize)i * size + 2, &size_field,
		       sizeof(size_field));
	}
	g_assert_true(g_file_set_contents(path, (char *)data,
					  (gssize)((gsize)n * size), NULL));
	return path;
}

static void check_format(guint n, guint size, gboolean swapped,
			 guint first_size)
{
	g_autofree char *dir = g_dir_make_tmp("kmt-XXXXXX", NULL);
	g_autofree char *path =
		write_records(dir, "cpu3.out", n, size, swapped, first_size);
	const char *const operands[] = {dir, NULL};
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtInputCapture) capture =
		kmt_input_capture_open(operands, NULL, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(capture->record_size, ==, size);
	g_assert_cmpint(capture->swapped, ==, swapped);
	g_assert_cmpuint(capture->n_records, ==, n);
	g_assert_cmpuint(((KmtInputCpuFile *)capture->files->pdata[0])->cpu, ==,
			 3);
	unlink(path);
	rmdir(dir);
}

static void test_format_is_guessed(void)
{
	static const guint sizes[] = {56, 64, 72, 256, 312, 1000, 0x3800};
	guint i, swapped;

	for (i = 0; i < G_N_ELEMENTS(sizes); i++) {
		for (swapped = 0; swapped < 2; swapped++) {
			check_format(1, sizes[i], (gboolean)swapped, 0);
			check_format(3, sizes[i], (gboolean)swapped, 0);
		}
	}
	/* The file is long enough for one record of 0x3800 bytes, which is 56
	 * in the other byte order. */
	check_format(400, 56, FALSE, 0);
	check_format(400, 56, TRUE, 0);
	/* The first record has an invalid size. */
	check_format(20, 56, FALSE, 64);
	check_format(20, 56, TRUE, 64);
	check_format(20, 56, TRUE, 3);
}

/*
 * Zeros behind the first record, as after an interrupted copy, do not prevent
 * the detection of the file's format.
 */
static void test_format_after_a_hole(void)
{
	g_autofree char *dir = g_dir_make_tmp("kmt-XXXXXX", NULL);
	g_autofree char *path =
		write_records(dir, "cpu0.out", 1000, 64, TRUE, 0);
	const char *const operands[] = {path, NULL};
	g_autofree char *data = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtInputCapture) capture = NULL;
	gsize size;

	g_assert_true(g_file_get_contents(path, &data, &size, NULL));
	memset(data + 64, 0, 300 * 64);
	g_assert_true(g_file_set_contents(path, data, (gssize)size, NULL));
	capture = kmt_input_capture_open(operands, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(capture->record_size, ==, 64);
	g_assert_true(capture->swapped);
	unlink(path);
	rmdir(dir);
}

/*
 * A file with zeros behind a record of another size is read in the format of
 * the other files, and is no reason to refuse the capture, even if it is the
 * first file.
 */
static void test_format_of_noise(void)
{
	g_autofree char *dir = g_dir_make_tmp("kmt-XXXXXX", NULL);
	g_autofree char *noise =
		write_records(dir, "cpu0.out", 20, 56, FALSE, 112);
	g_autofree char *good = write_records(dir, "cpu1.out", 20, 64, TRUE, 0);
	const char *const operands[] = {dir, NULL};
	g_autofree char *data = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtInputCapture) capture = NULL;
	gsize size;
	guint i;

	/* The first record has the event_size 112; the other 19 records are
	 * filled with zeros. */
	g_assert_true(g_file_get_contents(noise, &data, &size, NULL));
	for (i = 1; i < 20; i++)
		memset(data + (gsize)i * 56, 0, 56);
	g_assert_true(g_file_set_contents(noise, data, (gssize)size, NULL));
	capture = kmt_input_capture_open(operands, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(capture->record_size, ==, 64);
	g_assert_true(capture->swapped);
	unlink(noise);
	unlink(good);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/addrset/exact", test_addrset_exact);
	g_test_add_func("/addrset/grows", test_addrset_grows);
	g_test_add_func("/merge/many-files", test_merge_many_files);
	g_test_add_func("/matcher/remembers-use-of-addresses",
			test_matcher_remembers_use_of_addresses);
	g_test_add_func("/capture/free-releases-all",
			test_free_has_no_leftovers);
	g_test_add_func("/capture/format-is-guessed", test_format_is_guessed);
	g_test_add_func("/capture/format-after-a-hole",
			test_format_after_a_hole);
	g_test_add_func("/capture/format-of-noise", test_format_of_noise);
	g_test_add_func("/merge/counts", test_merge_counts);
	g_test_add_func("/matcher/remembers-for-the-tolerance",
			test_matcher_remembers_for_the_tolerance);
	g_test_add_func("/matcher/ambiguous-free-after-removal",
			test_matcher_ambiguous_free_after_removal);
	g_test_add_func("/matcher/ambiguous-free-while-live",
			test_matcher_ambiguous_free_while_live);
	g_test_add_func("/matcher/extreme-times", test_extreme_times);
	return g_test_run();
}
