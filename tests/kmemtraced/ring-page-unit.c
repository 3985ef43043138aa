// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode pages of the ring buffer that the tests build word by word: layouts of
 * events, times, losses, names of tasks, and the self-allocation filter.
 */
#include "config.h"

#include <glib.h>
#include <string.h>

#include "lib/capture/error.h"
#include "tests/kmemtraced/ring-page-fixture.h"

#ifdef HAVE_TRACEEVENT
#include <kbuffer.h>
#endif
/*
 * Compare the decoded times and counts with those that libtraceevent, if it is
 * available, decodes from the same page.
 */
static void compare_times(RingFixture *f)
{
#ifdef HAVE_TRACEEVENT
	struct kbuffer *k =
		kbuffer_alloc(KBUFFER_LSIZE_8, G_BYTE_ORDER == G_LITTLE_ENDIAN
						       ? KBUFFER_ENDIAN_LITTLE
						       : KBUFFER_ENDIAN_BIG);
	unsigned long long time;
	gsize i = 0;

	g_assert_cmpint(kbuffer_load_subbuffer(k, f->page.bytes), ==, 0);
	for (; kbuffer_read_event(k, &time); kbuffer_next_event(k, NULL), i++) {
		g_assert_cmpuint(i, <, f->n);
		g_assert_cmpint((gint64)time, ==, f->out[i].v1.timestamp);
	}
	g_assert_cmpuint(i, ==, f->n);
	kbuffer_free(k);
#endif
}

static void test_fields(RingFixture *f, gconstpointer data)
{
	const struct kmemtrace_event_v2 *e = f->out;

	page_start(&f->page, 1000);
	put_kmalloc(&f->page, 0, 0xffff888000001000);
	put_kfree(&f->page, 0xffff888000001000, 1, 0);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpuint(f->n, ==, 2);
	g_assert_cmpuint(e->v1.event_id, ==, KMEMTRACE_EVENT_ALLOC);
	g_assert_cmpuint(e->v1.type_id, ==, KMEMTRACE_TYPE_KMALLOC);
	g_assert_cmpuint(e->v1.event_size, ==, 64);
	g_assert_cmpint(e->v1.node, ==, -1);
	g_assert_cmphex(e->v1.call_site, ==, 0xffffffff81000010);
	g_assert_cmphex(e->v1.ptr, ==, 0xffff888000001000);
	g_assert_cmpuint(e->v1.bytes_req, ==, 100);
	g_assert_cmpuint(e->v1.bytes_alloc, ==, 128);
	g_assert_cmphex(e->v1.gfp_flags, ==, 0xcc0);
	g_assert_cmpint(e->v1.timestamp, ==, 1000);
	g_assert_cmpuint(e[1].v1.event_id, ==, KMEMTRACE_EVENT_FREE);
	g_assert_cmpint(e[1].v1.node, ==, -1);
	g_assert_cmpuint(e[1].v1.bytes_req + e[1].v1.bytes_alloc +
				 e[1].v1.gfp_flags,
			 ==, 0);
	g_assert_cmpint(e[1].v1.timestamp, ==, 1001);
	g_assert_cmpuint(e->pid, ==, 1);
	g_assert_cmpuint(e->cache + e->flags, ==, 0);
	compare_times(f);
}

static void put_pages(RingPage *page, guint64 pfn, guint32 order)
{
	struct __attribute__((packed)) {
		guint16 type;
		guint8 flags, preempt;
		gint32 pid;
		guint64 pfn;
		guint32 order;
	} e = {ID_PAGES, 0, 0, 1, pfn, order};

	put_data(page, 1, &e, sizeof(e), FALSE);
}

static void test_pages(RingFixture *f, gconstpointer data)
{
	page_start(&f->page, 0);
	put_pages(&f->page, 5, 3);
	put_pages(&f->page, G_MAXUINT64, 0);
	put_pages(&f->page, 0, 0);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpuint(f->n, ==, 2);
	g_assert_cmphex(f->out[0].v1.ptr, ==,
			KMEMTRACE_PTR_PHYSICAL | 5 * 4096);
	g_assert_cmpuint(f->out[0].v1.bytes_req, ==, 8 * 4096);
	g_assert_cmpuint(f->out[0].v1.bytes_alloc, ==, 8 * 4096);
	g_assert_cmpuint(f->out[0].v1.call_site, ==, 0);
	g_assert_cmpint(f->out[0].v1.node, ==, -1);
	g_assert_cmphex(f->out[1].v1.ptr, ==, KMEMTRACE_PTR_PHYSICAL);
	g_assert_cmpuint(f->ring.counters.no_memory, ==, 1);
}

/* Events of all types of the ring buffer but padding follow in one page. */
static void test_times(RingFixture *f, gconstpointer data)
{
	const guint64 extend = NS(3) << 27 | 5, stamp = NS(1) << 40;
	KmallocEvent e = kmalloc_event(0x4000);

	page_start(&f->page, 1000);
	put_kmalloc(&f->page, 7, 0x1000);
	put_extend(&f->page, 30, extend);
	put_kmalloc(&f->page, 0, 0x2000);
	put_extend(&f->page, 31, stamp);
	put_kmalloc(&f->page, 2, 0x3000);
	put_data(&f->page, 3, &e, sizeof(e), TRUE);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpuint(f->n, ==, 4);
	g_assert_cmpint(f->out[0].v1.timestamp, ==, 1007);
	g_assert_cmpint(f->out[1].v1.timestamp, ==, (gint64)(1007 + extend));
	g_assert_cmpint(f->out[2].v1.timestamp, ==, (gint64)stamp + 2);
	g_assert_cmpint(f->out[3].v1.timestamp, ==, (gint64)stamp + 5);
	g_assert_cmphex(f->out[3].v1.ptr, ==, 0x4000);
	g_assert_cmpuint(f->ring.counters.damaged, ==, 0);
	compare_times(f);
}

/*
 * An absolute time stamp has 59 bits; the decoder takes the upper bits from the
 * page's time.
 */
static void test_time_of_64_bits(RingFixture *f, gconstpointer data)
{
	const guint64 base = NS(1) << 61, stamp = base + (NS(1) << 59) + 5;

	page_start(&f->page, base + (NS(1) << 59) - 10);
	put_kmalloc(&f->page, 0, 0x1000);
	put_extend(&f->page, 31, stamp & ((NS(1) << 59) - 1));
	put_kmalloc(&f->page, 0, 0x2000);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpuint(f->n, ==, 2);
	g_assert_cmpint(f->out[1].v1.timestamp, ==, (gint64)stamp);
}

/* Padding is either a discarded event or the unused end of a page. */
static void test_padding(RingFixture *f, gconstpointer data)
{
	page_start(&f->page, 1000);
	put_kmalloc(&f->page, 1, 0x1000);
	put_word(&f->page, event_head(29, 1));
	put_word(&f->page, 12);
	put_word(&f->page, 0xdead);
	put_word(&f->page, 0xbeef);
	put_kmalloc(&f->page, 2, 0x2000);
	put_word(&f->page, event_head(29, 40));
	put_word(&f->page, 8);
	put_word(&f->page, 0xdead);
	put_kmalloc(&f->page, 2, 0x3000);
	put_word(&f->page, event_head(29, 0));
	put_kmalloc(&f->page, 2, 0x4000);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpuint(f->n, ==, 3);
	g_assert_cmpint(f->out[1].v1.timestamp, ==, 1003);
	g_assert_cmpint(f->out[2].v1.timestamp, ==, 1045);
	g_assert_cmphex(f->out[2].v1.ptr, ==, 0x3000);
	g_assert_cmpuint(f->ring.counters.damaged, ==, 0);
}

static void test_missed_events(RingFixture *f, gconstpointer data)
{
	static const guint64 flags[] = {0, MISSED, MISSED | 1U << 30, 0};
	const guint64 lost = 9;
	struct kmemtrace_event_lost record;

	for (guint i = 0; i < G_N_ELEMENTS(flags); i++) {
		page_start(&f->page, 1000 * (i + 1));
		put_kmalloc(&f->page, 0, 0x1000);
		page_end(&f->page, flags[i]);
		/* If bit 30 of the commit word is set, the kernel stores the
		 * number of lost events after the data. */
		memcpy(f->page.bytes + HEADER + f->page.used, &lost,
		       sizeof(lost));
		ring_decode(f, PAGE);
		if (i != 2) {
			g_assert_cmpuint(f->n, ==, 1);
			continue;
		}
		g_assert_cmpuint(f->n, ==, 2);
		memcpy(&record, &f->out[0], sizeof(record));
		g_assert_cmpuint(record.event_id, ==, KMEMTRACE_EVENT_LOST);
		g_assert_cmpuint(record.event_size, ==, 64);
		g_assert_cmpuint(record.events, ==, lost);
		g_assert_cmpint(record.since, ==, 2000);
		g_assert_cmpint(record.timestamp, ==, 3000);
		g_assert_cmpint(f->out[1].v1.timestamp, ==, 3000);
	}
	g_assert_cmpuint(f->ring.counters.gaps, ==, 2);
	g_assert_cmpint(f->ring.counters.lost_from, ==, 1000);
	g_assert_cmpint(f->ring.counters.lost_until, ==, 3000);
	g_assert_cmpuint(f->ring.counters.damaged, ==, 0);
}

static void test_clock_that_goes_back(RingFixture *f, gconstpointer data)
{
	page_start(&f->page, 2000);
	put_kmalloc(&f->page, 0, 0x1000);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	page_start(&f->page, 1000);
	put_kmalloc(&f->page, 0, 0x2000);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpint(f->out[0].v1.timestamp, ==, 2000);
	g_assert_cmpuint(f->ring.counters.backwards, ==, 1);
}

static void test_nothing(RingFixture *f, gconstpointer data)
{
	page_start(&f->page, 1000);
	put_kmalloc(&f->page, 0, 0);
	put_kfree(&f->page, 0, 1, 0);
	put_kfree(&f->page, 16, 1, 0);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpuint(f->n, ==, 0);
	g_assert_cmpuint(f->ring.counters.no_memory, ==, 3);
	page_start(&f->page, 1000);
	page_end(&f->page, 0);
	g_assert_cmpuint(kmtd_ring_begin(&f->ring, f->page.bytes, PAGE), ==, 0);
	g_assert_cmpuint(kmtd_ring_next(&f->ring, f->out, 1), ==, 0);
}

static void test_other_tracepoints(RingFixture *f, gconstpointer data)
{
	static const guint16 ids[] = {0, 5, ID_PAGES + 1, 0xffff};

	page_start(&f->page, 1000);
	for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
		KmallocEvent e = kmalloc_event(0x1000);

		e.type = ids[i];
		put_data(&f->page, 1, &e, sizeof(e), FALSE);
	}
	put_kmalloc(&f->page, 1, 0x1000);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpuint(f->n, ==, 1);
	g_assert_cmpuint(f->ring.counters.unknown, ==, 4);
}

static void put_rename(RingPage *page, guint32 delta, gint32 pid, gsize n_bytes)
{
	struct __attribute__((packed)) {
		guint16 type;
		guint8 flags, preempt;
		gint32 pid;
		char old_name[8], name[20];
	} e = {ID_RENAME, 0, 0, pid, "before", "nineteen bytes long"};

	put_data(page, delta, &e, n_bytes, FALSE);
}

/*
 * Changes of task names are stored, but do not become records. When the array
 * is full, the older half is dropped.
 */
static void test_names(RingFixture *f, gconstpointer data)
{
	KmtdTaskChanges changes;
	const KmtTracepointTaskChange *change;

	f->format->tasks[KMT_TASK_RENAME] =
		(KmtTracepointTask){36, ID_RENAME, {4, 4}, {16, 20}, {8, 8}};
	kmtd_task_changes_init(&changes);
	f->ring.changes = &changes;
	page_start(&f->page, 1000);
	put_kmalloc(&f->page, 1, 0x1000);
	put_rename(&f->page, 2, 5, 36);
	put_rename(&f->page, 2, 6, 32);
	put_kmalloc(&f->page, 1, 0x2000);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpuint(f->n, ==, 2);
	g_assert_cmpint(f->out[1].v1.timestamp, ==, 1006);
	g_assert_cmpuint(f->ring.counters.records, ==, 2);
	g_assert_cmpuint(f->ring.counters.unknown, ==, 0);
	g_assert_cmpuint(f->ring.counters.damaged, ==, 1);
	g_assert_cmpuint(changes.array->len, ==, 1);
	change = &g_array_index(changes.array, KmtTracepointTaskChange, 0);
	g_assert_cmpint(change->time, ==, 1003);
	g_assert_cmpuint(change->pid, ==, 5);
	g_assert_true(change->renamed);
	g_assert_cmpstr(change->old_name, ==, "before");
	g_assert_cmpstr(change->name, ==, "nineteen bytes ");
	for (guint i = 0; i < KMTD_TASK_CHANGES_MAX; i++) {
		KmtTracepointTaskChange more = {.time = 2000 + i, .pid = i};

		kmtd_task_changes_add(&changes, &more);
	}
	g_assert_cmpuint(changes.n_dropped, ==, KMTD_TASK_CHANGES_MAX / 2);
	g_assert_cmpint(changes.dropped_until, ==,
			2000 + KMTD_TASK_CHANGES_MAX / 2 - 2);
	g_assert_cmpuint(changes.array->len, ==, KMTD_TASK_CHANGES_MAX / 2 + 1);
	change = &g_array_index(changes.array, KmtTracepointTaskChange, 0);
	g_assert_cmpint(change->time, ==, changes.dropped_until + 1);
	kmtd_task_changes_clear(&changes);
}

/*
 * Newer 64-bit kernels store each field that the decoder needs of a slab
 * allocation, except the node, in 8 bytes; the decoder reads such an event
 * without a loop.
 */
static void test_wide_fields(RingFixture *f, gconstpointer data)
{
	struct __attribute__((packed)) {
		guint16 type;
		guint8 flags, preempt;
		gint32 pid;
		guint64 call_site, ptr, req, alloc, gfp;
		gint32 node;
	} e = {ID_KMALLOC, 0, 0, 1, 0x11, 0x2222, 3, 4, 0x123456789, 2};
	KmtTracepoint *p = f->format->by_id->pdata[ID_KMALLOC];

	g_assert_false(p->wide);
	p->gfp_flags = (KmtTracepointSlot){40, 8};
	p->node = (KmtTracepointSlot){48, 4};
	p->min_bytes = sizeof(e);
	kmt_tracepoint_prepare(p, 4096, 0);
	g_assert_true(p->wide);
	page_start(&f->page, 1000);
	put_data(&f->page, 1, &e, sizeof(e), FALSE);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpuint(f->n, ==, 1);
	g_assert_cmphex(f->out[0].v1.call_site, ==, 0x11);
	g_assert_cmphex(f->out[0].v1.ptr, ==, 0x2222);
	g_assert_cmpuint(f->out[0].v1.bytes_req, ==, 3);
	g_assert_cmpuint(f->out[0].v1.bytes_alloc, ==, 4);
	g_assert_cmphex(f->out[0].v1.gfp_flags, ==, 0x123456789);
	g_assert_cmpint(f->out[0].v1.node, ==, 2);
}

/*
 * When the output array is full, the next call continues with the next event.
 */
static void test_in_pieces(RingFixture *f, gconstpointer data)
{
	gsize total = 0, n;

	page_start(&f->page, 1000);
	for (guint i = 0; i < 50; i++)
		put_kmalloc(&f->page, 1, 0x1000 + 16 * i);
	page_end(&f->page, 0);
	kmtd_ring_begin(&f->ring, f->page.bytes, PAGE);
	while ((n = kmtd_ring_next(&f->ring, f->out + total, 7)) > 0)
		total += n;
	g_assert_cmpuint(total, ==, 50);
	for (guint i = 0; i < 50; i++)
		g_assert_cmphex(f->out[i].v1.ptr, ==, 0x1000 + 16 * i);
}

/*
 * Decode a page that is cut at each length. The decoder reports damage, omits
 * the event that is cut, and reads no byte after the cut: the copy ends at the
 * cut, so that AddressSanitizer and valgrind find a read beyond.
 */
static void test_cut_pages(RingFixture *f, gconstpointer data)
{
	KmallocEvent e = kmalloc_event(0x3000);
	gsize used;

	page_start(&f->page, 1000);
	put_kmalloc(&f->page, 1, 0x1000);
	put_extend(&f->page, 30, 1);
	put_data(&f->page, 1, &e, sizeof(e), TRUE);
	put_word(&f->page, event_head(29, 1));
	put_word(&f->page, 8);
	put_word(&f->page, 0);
	put_kmalloc(&f->page, 1, 0x2000);
	page_end(&f->page, 0);
	used = HEADER + f->page.used;
	for (gsize n = 0; n < used; n++) {
		g_autofree guint8 *copy = g_memdup2(f->page.bytes, MAX(n, 1));

		kmtd_ring_init(&f->ring, f->format, NULL);
		kmtd_ring_begin(&f->ring, copy, n);
		f->n = kmtd_ring_next(&f->ring, f->out, 10);
		g_assert_cmpuint(f->n, <, 3);
		g_assert_cmpuint(f->ring.counters.damaged, >, 0);
	}
	kmtd_ring_init(&f->ring, f->format, NULL);
	ring_decode(f, used);
	g_assert_cmpuint(f->n, ==, 3);
	g_assert_cmpuint(f->ring.counters.damaged, ==, 0);
}

/*
 * Set each byte after the page's time to each value. The decoder must not
 * crash, and returns no more records than the page has room for.
 */
static void test_damaged_pages(RingFixture *f, gconstpointer data)
{
	gsize used;

	page_start(&f->page, 1000);
	put_kmalloc(&f->page, 1, 0x1000);
	put_kfree(&f->page, 0x1000, OUR_TID, 0);
	page_end(&f->page, 0);
	used = HEADER + f->page.used;
	for (gsize at = 8; at < used; at++)
		for (guint value = 0; value < 256; value++) {
			g_autofree guint8 *copy =
				g_memdup2(f->page.bytes, used);

			copy[at] = (guint8)value;
			kmtd_ring_init(&f->ring, f->format, &f->tasks);
			kmtd_ring_begin(&f->ring, copy, used);
			f->n = kmtd_ring_next(&f->ring, f->out,
					      G_N_ELEMENTS(f->out));
			g_assert_cmpuint(f->n, <=, used / 12);
		}
}

/* Events that are too short for their fields count as damaged. */
static void test_short_events(RingFixture *f, gconstpointer data)
{
	KmallocEvent e = kmalloc_event(0x1000);

	page_start(&f->page, 1000);
	put_data(&f->page, 1, &e, KMALLOC_LEN - 4, FALSE);
	put_data(&f->page, 1, &e, 4, FALSE);
	put_kmalloc(&f->page, 1, 0x2000);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpuint(f->n, ==, 1);
	g_assert_cmpuint(f->ring.counters.damaged, ==, 2);
}

/*
 * Allocations by kmemtraced's own thread are omitted, as are its frees of these
 * objects. Recorded are its frees of other objects, all events of other tasks,
 * and events of an interrupt during that thread.
 */
static void test_own_events(RingFixture *f, gconstpointer data)
{
	static const guint64 ptrs[] = {0x2000, 0x3000, 0x3000,
				       0x4000, 0x5000, 0x5000};

	page_start(&f->page, 1000);
	/* Own allocation: omitted. */
	put_task_kmalloc(&f->page, 0x1000, OUR_TID, 0);
	/* Interrupt, and another task: both recorded. */
	put_task_kmalloc(&f->page, 0x2000, OUR_TID, SOFTIRQ);
	put_task_kmalloc(&f->page, 0x3000, 1, 0);
	/* Free of an own object: omitted; of another task's object: recorded.
	 */
	put_kfree(&f->page, 0x1000, OUR_TID, 0);
	put_kfree(&f->page, 0x3000, OUR_TID, 0);
	/* Own allocation: omitted; its free by another task: recorded. */
	put_task_kmalloc(&f->page, 0x4000, OUR_TID, 0);
	put_kfree(&f->page, 0x4000, 1, 0);
	/* Own allocation: omitted. Another task allocates the same address, so
	 * the own object was freed without an event: the other allocation, and
	 * the own free of that object, are recorded. */
	put_task_kmalloc(&f->page, 0x5000, OUR_TID, 0);
	put_task_kmalloc(&f->page, 0x5000, 1, 0);
	put_kfree(&f->page, 0x5000, OUR_TID, 0);
	page_end(&f->page, 0);
	ring_decode(f, PAGE);
	g_assert_cmpuint(f->ring.counters.own, ==, 4);
	g_assert_cmpuint(f->n, ==, G_N_ELEMENTS(ptrs));
	for (guint i = 0; i < G_N_ELEMENTS(ptrs); i++)
		g_assert_cmphex(f->out[i].v1.ptr, ==, ptrs[i]);
}

static void test_own_set_when_full(RingFixture *f, gconstpointer data)
{
	g_autofree KmtdSelfFilter *set = g_new0(KmtdSelfFilter, 1);
	guint kept = 0;

	for (guint64 i = 1; i <= 3 * KMTD_SELF_FILTER_SLOTS; i++)
		kmtd_self_filter_add(set, i * 64);
	for (guint64 i = 1; i <= 3 * KMTD_SELF_FILTER_SLOTS; i++)
		kept += (guint)kmtd_self_filter_remove(set, i * 64);
	g_assert_cmpuint(kept, >, KMTD_SELF_FILTER_SLOTS / 2);
	g_assert_cmpuint(kept, <=, KMTD_SELF_FILTER_SLOTS);
	for (guint i = 0; i < KMTD_SELF_FILTER_BUCKETS; i++)
		g_assert_cmpuint(set->n_used[i], ==, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*test)(RingFixture *f, gconstpointer data);
	} tests[] = {
		{"/page/fields", test_fields},
		{"/page/pages", test_pages},
		{"/page/times", test_times},
		{"/page/time-of-64-bits", test_time_of_64_bits},
		{"/page/padding", test_padding},
		{"/page/missed-events", test_missed_events},
		{"/page/clock-that-goes-back", test_clock_that_goes_back},
		{"/page/nothing", test_nothing},
		{"/page/other-tracepoints", test_other_tracepoints},
		{"/page/wide-fields", test_wide_fields},
		{"/page/names", test_names},
		{"/page/in-pieces", test_in_pieces},
		{"/page/cut", test_cut_pages},
		{"/page/damaged", test_damaged_pages},
		{"/page/short-events", test_short_events},
		{"/own/events", test_own_events},
		{"/own/full", test_own_set_when_full},
	};

	g_test_init(&argc, &argv, NULL);
	for (gsize i = 0; i < G_N_ELEMENTS(tests); i++)
		g_test_add(tests[i].name, RingFixture, NULL, ring_set_up,
			   tests[i].test, ring_tear_down);
	return g_test_run();
}
