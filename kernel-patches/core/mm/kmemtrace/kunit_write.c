// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: KUnit tests of the layout of records, the buffers, the accounting of lost
 * events, and the counters and held objects of triggers.
 *
 * The tests of records and buffers write to a set of buffers of their own, which is
 * never live, and do not run while kmemtrace records events.  The tests of counters use
 * counters of their own.  The tests therefore neither need nor disturb a session.
 */

#include <kunit/test.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <uapi/linux/kmemtrace_abi.h>

#include "buffer.h"
#include "counter.h"
#include "format.h"
#include "guard.h"
#include "held.h"
#include "record.h"
#include "session.h"
#include "writer.h"

/* Geometry of the buffers of the tests. */
#define KMEMTRACE_TEST_SUBBUFS	4
#define KMEMTRACE_TEST_RECORDS	8	/* records of a sub-buffer */
#define KMEMTRACE_TEST_ROOM	(KMEMTRACE_TEST_SUBBUFS * KMEMTRACE_TEST_RECORDS)

/* The member priv of a test with buffers. */
struct kmemtrace_test_set {
	struct kmemtrace_buffers *buffers;
	unsigned int cpu;	/* a CPU that has a buffer */
	struct rchan_buf *buf;	/* the buffer of cpu in buffers */
	bool overwrite;		/* kmemtrace_overwrite before the test */
};

static int kmemtrace_test_open(struct kunit *test)
{
	struct kmemtrace_test_set *set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, set);
	/* The test changes kmemtrace_overwrite, which would disturb a session. */
	if (kmemtrace_is_recording())
		kunit_skip(test, "kmemtrace records: boot without kmemtrace.enable");
	if (kmemtrace_abi < 2)
		kunit_skip(test, "version 1 has no LOST records: boot without kmemtrace.abi");
	mutex_lock(&kmemtrace_mutex);
	set->buffers = kmemtrace_buffers_open(KMEMTRACE_TEST_SUBBUFS,
					      KMEMTRACE_TEST_RECORDS *
					      kmemtrace_record_size);
	mutex_unlock(&kmemtrace_mutex);
	KUNIT_ASSERT_FALSE(test, IS_ERR(set->buffers));
	set->cpu = get_cpu();
	put_cpu();
	set->buf = kmemtrace_buffer(set->buffers, set->cpu);
	KUNIT_ASSERT_NOT_NULL(test, set->buf);
	set->overwrite = kmemtrace_overwrite;
	kmemtrace_overwrite = false;
	test->priv = set;
	return 0;
}

static void kmemtrace_test_close(struct kunit *test)
{
	struct kmemtrace_test_set *set = test->priv;

	if (!set)
		return;
	kmemtrace_overwrite = set->overwrite;
	kmemtrace_buffers_put(set->buffers);
}

/* --- Layout of records ------------------------------------------------------------ */

/* If there is room, write a record by kmemtrace_write(), and copy it to @event. */
static void kmemtrace_test_write(struct kmemtrace_test_set *set, unsigned int context,
				 u8 event_id, u16 account, struct kmemtrace_event_v2 *event)
{
	struct kmemtrace_guard guard;
	struct rchan_buf *own;

	kmemtrace_guard_enter(&guard);
	if (kmemtrace_has_room(set->buf)) {
		size_t offset = set->buf->offset;
		void *slot = set->buf->data + offset;

		/* If the clock is a function call, kmemtrace_write() reads own after it. */
		own = raw_cpu_read(kmemtrace_cpus.own);
		raw_cpu_write(kmemtrace_cpus.own, set->buf);
		/* A buffer contains old records, so the slot is not all zeros. */
		memset(slot, 0xff, kmemtrace_record_size);
		kmemtrace_write(set->buf, offset, kmemtrace_record_size, context,
				event_id, KMEMTRACE_TYPE_KMALLOC, 0x1234,
				0xabcdef0123456789ULL, 100, 128, GFP_KERNEL, 3, 77,
				account);
		memcpy(event, slot, sizeof(*event));
		raw_cpu_write(kmemtrace_cpus.own, own);
	}
	kmemtrace_guard_leave(&guard);
}

static void kmemtrace_test_layout(struct kunit *test)
{
	struct kmemtrace_test_set *set = test->priv;
	struct kmemtrace_event_v2 event = {};
	u64 before = kmemtrace_clock();

	kmemtrace_test_write(set, 0, KMEMTRACE_EVENT_ALLOC, KMEMTRACE_FLAG_ACCOUNT, &event);
	KUNIT_EXPECT_EQ(test, event.v1.event_id, KMEMTRACE_EVENT_ALLOC);
	KUNIT_EXPECT_EQ(test, event.v1.type_id, KMEMTRACE_TYPE_KMALLOC);
	KUNIT_EXPECT_EQ(test, event.v1.event_size, kmemtrace_record_size);
	KUNIT_EXPECT_EQ(test, event.v1.node, 3);
	KUNIT_EXPECT_EQ(test, event.v1.call_site, 0x1234ULL);
	KUNIT_EXPECT_EQ(test, event.v1.ptr, 0xabcdef0123456789ULL);
	KUNIT_EXPECT_EQ(test, event.v1.bytes_req, 100ULL);
	KUNIT_EXPECT_EQ(test, event.v1.bytes_alloc, 128ULL);
	KUNIT_EXPECT_EQ(test, event.v1.gfp_flags, (__force u64)GFP_KERNEL);
	KUNIT_EXPECT_GE(test, (u64)event.v1.timestamp, before);
	KUNIT_EXPECT_LE(test, (u64)event.v1.timestamp, kmemtrace_clock());
	KUNIT_EXPECT_EQ(test, event.pid, (u32)current->pid);
	KUNIT_EXPECT_EQ(test, event.cache, 77);
	KUNIT_EXPECT_EQ(test, event.flags, KMEMTRACE_FLAG_ACCOUNT);
	KUNIT_EXPECT_EQ(test, set->buf->offset, (size_t)kmemtrace_record_size);
}

static void kmemtrace_test_context(struct kunit *test)
{
	struct kmemtrace_test_set *set = test->priv;
	struct kmemtrace_event_v2 event = {};

	kmemtrace_test_write(set, HARDIRQ_OFFSET, KMEMTRACE_EVENT_FREE, 0, &event);
	KUNIT_EXPECT_EQ(test, event.v1.event_id, KMEMTRACE_EVENT_FREE);
	KUNIT_EXPECT_EQ(test, event.flags, KMEMTRACE_FLAG_HARDIRQ);
	/* With soft interrupts disabled, the context is not a soft interrupt. */
	kmemtrace_test_write(set, SOFTIRQ_DISABLE_OFFSET, KMEMTRACE_EVENT_FREE, 0, &event);
	KUNIT_EXPECT_EQ(test, event.flags, 0);
}

/* While the inlined clock is in use, it is sched_clock(). */
static void kmemtrace_test_clock(struct kunit *test)
{
	struct kmemtrace_guard guard;
	u64 before, now, after;
	bool inlined;

	kmemtrace_guard_enter(&guard);
	kmemtrace_renew_inlined_clock(raw_cpu_ptr(&kmemtrace_cpus));
	before = kmemtrace_raw_clock();
	now = kmemtrace_inlined_clock();
	after = kmemtrace_raw_clock();
	/* Another CPU may have changed the factors meanwhile. */
	inlined = kmemtrace_clock_is_inlined();
	kmemtrace_guard_leave(&guard);
	if (!inlined)
		kunit_skip(test, "sched_clock() is not the TSC, or has changed");
	KUNIT_EXPECT_LE(test, before, now);
	KUNIT_EXPECT_LE(test, now, after);
}

/* --- Buffers ---------------------------------------------------------------------- */

/*
 * Write records with the timestamps @first, @first + 1, ..., until @n are written or
 * the buffer has no room.  Return the number of records.
 */
static unsigned int kmemtrace_test_fill(struct kmemtrace_test_set *set, u64 first,
					unsigned int n)
{
	unsigned int written = 0;
	unsigned long flags;

	local_irq_save(flags);
	for (; written < n && kmemtrace_has_room(set->buf); written++) {
		struct kmemtrace_event *event = set->buf->data + set->buf->offset;

		memset(event, 0, kmemtrace_record_size);
		event->event_id = KMEMTRACE_EVENT_FREE;
		event->event_size = kmemtrace_record_size;
		event->timestamp = first + written;
		kmemtrace_commit(set->buf, kmemtrace_record_size);
	}
	local_irq_restore(flags);
	return written;
}

/*
 * Read all records, which must have successive timestamps from @first on.  Return the
 * number of the records, and add the events of LOST records to @lost.
 */
static unsigned int kmemtrace_test_read(struct kunit *test, u64 first, u64 *lost)
{
	struct kmemtrace_test_set *set = test->priv;
	struct kmemtrace_acquired acquired;
	unsigned int n = 0;
	size_t at;

	for (;;) {
		kmemtrace_acquire_records(set->buffers, set->cpu, SIZE_MAX, &acquired);
		*lost += acquired.lost.events;
		if (!acquired.bytes)
			return n;
		for (at = 0; at < acquired.bytes; at += kmemtrace_record_size) {
			const struct kmemtrace_event *event = acquired.from + at;

			KUNIT_ASSERT_EQ(test, event->timestamp, (s64)(first + n));
			n++;
		}
		KUNIT_ASSERT_EQ(test, kmemtrace_release_records(set->buffers, set->cpu,
								&acquired, acquired.bytes), 0);
	}
}

/* In discard mode, a full buffer refuses the newest record. */
static void kmemtrace_test_discard(struct kunit *test)
{
	struct kmemtrace_test_set *set = test->priv;
	struct kmemtrace_buffer_stats stats;
	u64 lost = 0;

	KUNIT_EXPECT_TRUE(test, kmemtrace_has_room_for(set->buf, KMEMTRACE_TEST_ROOM));
	KUNIT_EXPECT_FALSE(test, kmemtrace_has_room_for(set->buf, KMEMTRACE_TEST_ROOM + 1));
	KUNIT_EXPECT_EQ(test, kmemtrace_test_fill(set, 1, 1000), KMEMTRACE_TEST_ROOM);
	KUNIT_EXPECT_FALSE(test, kmemtrace_has_room_for(set->buf, 1));
	kmemtrace_buffer_stats(set->buffers, set->cpu, &stats);
	KUNIT_EXPECT_EQ(test, stats.unread,
			(u64)KMEMTRACE_TEST_ROOM * kmemtrace_record_size);
	KUNIT_EXPECT_TRUE(test, stats.has_full_subbuf);
	KUNIT_EXPECT_EQ(test, kmemtrace_test_read(test, 1, &lost), KMEMTRACE_TEST_ROOM);
	KUNIT_EXPECT_EQ(test, lost, 0ULL);
	kmemtrace_buffer_stats(set->buffers, set->cpu, &stats);
	KUNIT_EXPECT_EQ(test, stats.unread, 0ULL);
	KUNIT_EXPECT_EQ(test, stats.overwritten, 0ULL);
	/* The room of records that were read can be used again. */
	KUNIT_EXPECT_EQ(test, kmemtrace_test_fill(set, 100, 1000), KMEMTRACE_TEST_ROOM);
	KUNIT_EXPECT_EQ(test, kmemtrace_test_read(test, 100, &lost), KMEMTRACE_TEST_ROOM);
}

/* In overwrite mode, reading reports the number of overwritten records. */
static void kmemtrace_test_overwrite(struct kunit *test)
{
	const unsigned int n = 10 * KMEMTRACE_TEST_ROOM + 3;
	struct kmemtrace_test_set *set = test->priv;
	struct kmemtrace_buffer_stats stats;
	unsigned int left;
	u64 lost = 0;

	kmemtrace_overwrite = true;
	KUNIT_ASSERT_EQ(test, kmemtrace_test_fill(set, 0, n), n);
	/* The writer's sub-buffer has three records; the others are full. */
	left = KMEMTRACE_TEST_ROOM - KMEMTRACE_TEST_RECORDS + 3;
	kmemtrace_buffer_stats(set->buffers, set->cpu, &stats);
	KUNIT_EXPECT_EQ(test, stats.overwritten, (u64)(n - left));
	KUNIT_EXPECT_EQ(test, kmemtrace_test_read(test, n - left, &lost), left);
	KUNIT_EXPECT_EQ(test, lost, (u64)(n - left));
	/* The loss is not reported again. */
	KUNIT_ASSERT_EQ(test, kmemtrace_test_fill(set, n, 5), 5U);
	KUNIT_EXPECT_EQ(test, kmemtrace_test_read(test, n, &lost), 5U);
	KUNIT_EXPECT_EQ(test, lost, (u64)(n - left));
}

/*
 * Releasing records fails if another reader has released them or the writer has
 * overwritten them.
 */
static void kmemtrace_test_release(struct kunit *test)
{
	struct kmemtrace_test_set *set = test->priv;
	struct kmemtrace_acquired first, second;
	u64 lost = 0;

	KUNIT_ASSERT_EQ(test, kmemtrace_test_fill(set, 1, 6), 6U);
	kmemtrace_acquire_records(set->buffers, set->cpu, 2 * kmemtrace_record_size, &first);
	kmemtrace_acquire_records(set->buffers, set->cpu, 2 * kmemtrace_record_size, &second);
	KUNIT_EXPECT_EQ(test, first.bytes, (size_t)2 * kmemtrace_record_size);
	KUNIT_EXPECT_EQ(test, kmemtrace_release_records(set->buffers, set->cpu, &first,
							first.bytes), 0);
	KUNIT_EXPECT_EQ(test, kmemtrace_release_records(set->buffers, set->cpu, &second,
							second.bytes), -EAGAIN);
	KUNIT_EXPECT_EQ(test, kmemtrace_test_read(test, 3, &lost), 4U);

	kmemtrace_overwrite = true;
	KUNIT_ASSERT_EQ(test, kmemtrace_test_fill(set, 100, 1), 1U);
	kmemtrace_acquire_records(set->buffers, set->cpu, SIZE_MAX, &first);
	KUNIT_ASSERT_EQ(test, kmemtrace_test_fill(set, 101, KMEMTRACE_TEST_ROOM),
			KMEMTRACE_TEST_ROOM);
	KUNIT_EXPECT_EQ(test, kmemtrace_release_records(set->buffers, set->cpu, &first,
							first.bytes), -EAGAIN);
}

/* --- Lost events ------------------------------------------------------------------ */

/* Write a LOST record if one is due.  Return the bytes that were written. */
static size_t kmemtrace_test_write_lost(struct kmemtrace_test_set *set,
					struct kmemtrace_cpu *kc,
					struct kmemtrace_event_lost *event)
{
	size_t before = set->buf->offset;
	unsigned long flags;

	local_irq_save(flags);
	kmemtrace_write_lost(kc, set->buf);
	if (set->buf->offset > before)
		memcpy(event, set->buf->data + before, sizeof(*event));
	local_irq_restore(flags);
	return set->buf->offset - before;
}

static void kmemtrace_test_lost(struct kunit *test)
{
	struct kmemtrace_test_set *set = test->priv;
	struct kmemtrace_event_lost event = {};
	struct kmemtrace_cpu kc = {
		.last = 50, .lost = 7, .reported = 2, .since = 60,
		.refused = ATOMIC_LONG_INIT(4), .reported_refused = 1,
	};

	seqcount_init(&kc.seq);
	KUNIT_ASSERT_EQ(test, kmemtrace_test_write_lost(set, &kc, &event),
			(size_t)kmemtrace_record_size);
	KUNIT_EXPECT_EQ(test, event.event_id, KMEMTRACE_EVENT_LOST);
	KUNIT_EXPECT_EQ(test, event.event_size, kmemtrace_record_size);
	KUNIT_EXPECT_EQ(test, event.node, KMEMTRACE_NODE_NONE);
	/* 7 - 2 events without room, and 4 - 1 refused events, are not reported yet. */
	KUNIT_EXPECT_EQ(test, event.events, 8ULL);
	/* The time of a refused event is unknown; since is that of the last record. */
	KUNIT_EXPECT_EQ(test, event.since, 50LL);
	KUNIT_EXPECT_GT(test, event.timestamp, 60LL);
	KUNIT_EXPECT_EQ(test, (s64)kc.last, event.timestamp);
	/* All lost events are reported now, so no other LOST record is due. */
	KUNIT_EXPECT_EQ(test, kmemtrace_test_write_lost(set, &kc, &event), (size_t)0);

	kc.lost += 3;
	kc.since = kc.last + 1;
	KUNIT_ASSERT_EQ(test, kmemtrace_test_write_lost(set, &kc, &event),
			(size_t)kmemtrace_record_size);
	KUNIT_EXPECT_EQ(test, event.events, 3ULL);
	KUNIT_EXPECT_LE(test, event.since, event.timestamp);
	KUNIT_EXPECT_EQ(test, kc.reported, kc.lost);
}

/* While the buffer has no room for a LOST record, the lost events stay unreported. */
static void kmemtrace_test_lost_without_room(struct kunit *test)
{
	struct kmemtrace_test_set *set = test->priv;
	struct kmemtrace_event_lost event = {};
	struct kmemtrace_cpu kc = { .lost = 1, .since = 1 };
	u64 lost = 0;

	seqcount_init(&kc.seq);
	KUNIT_ASSERT_EQ(test, kmemtrace_test_fill(set, 1, 1000), KMEMTRACE_TEST_ROOM);
	KUNIT_EXPECT_EQ(test, kmemtrace_test_write_lost(set, &kc, &event), (size_t)0);
	KUNIT_EXPECT_EQ(test, kc.reported, 0ULL);
	kc.lost += 2;
	KUNIT_ASSERT_EQ(test, kmemtrace_test_read(test, 1, &lost), KMEMTRACE_TEST_ROOM);
	/* The LOST record is the first record of the next sub-buffer. */
	local_irq_disable();
	kmemtrace_write_lost(&kc, set->buf);
	memcpy(&event, set->buf->data, sizeof(event));
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, set->buf->offset, (size_t)kmemtrace_record_size);
	KUNIT_EXPECT_EQ(test, event.event_id, KMEMTRACE_EVENT_LOST);
	KUNIT_EXPECT_EQ(test, event.events, 3ULL);
	KUNIT_EXPECT_EQ(test, kc.reported, 3ULL);
}

/* --- Counters of triggers --------------------------------------------------------- */

static void kmemtrace_test_counter(struct kunit *test)
{
	struct kmemtrace_counter counter = {};
	bool at_limit, above, below;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, kmemtrace_counter_init(&counter, 1000), 0);
	local_irq_disable();
	for (i = 0; i < 1000; i++)
		kmemtrace_counter_add(&counter, 1);
	at_limit = kmemtrace_counter_is_over(&counter);
	kmemtrace_counter_add(&counter, 1);
	above = kmemtrace_counter_is_over(&counter);
	kmemtrace_counter_add(&counter, -1500);
	below = kmemtrace_counter_is_over(&counter);
	local_irq_enable();
	KUNIT_EXPECT_FALSE(test, at_limit);
	KUNIT_EXPECT_TRUE(test, above);
	KUNIT_EXPECT_FALSE(test, below);
	KUNIT_EXPECT_EQ(test, kmemtrace_counter_sum(&counter), -499LL);
	kmemtrace_counter_set(&counter, 5000);
	KUNIT_EXPECT_EQ(test, kmemtrace_counter_sum(&counter), 5000LL);
	kmemtrace_counter_destroy(&counter);
}

static void kmemtrace_test_held(struct kunit *test)
{
	const u64 address = 0xffff888000010000ULL;
	const u64 slab = kmemtrace_held_key(address, KMEMTRACE_TYPE_KMALLOC);
	const u64 page = kmemtrace_held_key(address, KMEMTRACE_TYPE_PAGES);
	struct kmemtrace_held *held = kmemtrace_held_alloc(1 << 20);
	s64 change[6];

	KUNIT_ASSERT_NOT_NULL(test, held);
	/* Objects of kmalloc() and of caches have equal keys; pages have other keys. */
	KUNIT_EXPECT_EQ(test, slab, kmemtrace_held_key(address, KMEMTRACE_TYPE_CACHE));
	KUNIT_EXPECT_NE(test, slab, page);
	local_irq_disable();
	change[0] = kmemtrace_held_add(held, slab, 64);
	change[1] = kmemtrace_held_add(held, page, 4096);
	/* The free of the first object was not counted, and the address was reused. */
	change[2] = kmemtrace_held_add(held, slab, 96);
	change[3] = kmemtrace_held_remove(held, slab);
	change[4] = kmemtrace_held_remove(held, slab);
	change[5] = kmemtrace_held_remove(held, page);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, change[0], 64LL);
	KUNIT_EXPECT_EQ(test, change[1], 4096LL);
	KUNIT_EXPECT_EQ(test, change[2], 32LL);
	KUNIT_EXPECT_EQ(test, change[3], -96LL);
	KUNIT_EXPECT_EQ(test, change[4], 0LL);
	KUNIT_EXPECT_EQ(test, change[5], -4096LL);
	KUNIT_EXPECT_EQ(test, kmemtrace_held_stats(held).objects, 0ULL);
	KUNIT_EXPECT_EQ(test, kmemtrace_held_stats(held).unfollowed, 0ULL);
	kmemtrace_held_free(held);
}

static struct kunit_case kmemtrace_write_cases[] = {
	KUNIT_CASE(kmemtrace_test_layout),
	KUNIT_CASE(kmemtrace_test_context),
	KUNIT_CASE(kmemtrace_test_clock),
	KUNIT_CASE(kmemtrace_test_discard),
	KUNIT_CASE(kmemtrace_test_overwrite),
	KUNIT_CASE(kmemtrace_test_release),
	KUNIT_CASE(kmemtrace_test_lost),
	KUNIT_CASE(kmemtrace_test_lost_without_room),
	{}
};

static struct kunit_suite kmemtrace_write_suite = {
	.name = "kmemtrace_write",
	.init = kmemtrace_test_open,
	.exit = kmemtrace_test_close,
	.test_cases = kmemtrace_write_cases,
};

static struct kunit_case kmemtrace_count_cases[] = {
	KUNIT_CASE(kmemtrace_test_counter),
	KUNIT_CASE(kmemtrace_test_held),
	{}
};

static struct kunit_suite kmemtrace_count_suite = {
	.name = "kmemtrace_count",
	.test_cases = kmemtrace_count_cases,
};

kunit_test_suites(&kmemtrace_write_suite, &kmemtrace_count_suite);
