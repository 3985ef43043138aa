// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: the slow path of the writer, and records of other kinds.  See writer.h. */

#include <linux/kernel.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "buffer.h"
#include "operation.h"
#include "record.h"
#include "view.h"

DEFINE_STATIC_KEY_TRUE(kmemtrace_v2);

/*
 * The filter and the watcher; NULL: none.  While there is a filter or a watcher, all
 * events except annotations go through kmemtrace_record_slow().
 */
static kmemtrace_filter_fn *kmemtrace_filter_hook __read_mostly;
static const struct kmemtrace_watcher *kmemtrace_watcher __read_mostly;

void kmemtrace_writer_set_filter(kmemtrace_filter_fn *filter)
{
	WRITE_ONCE(kmemtrace_filter_hook, filter);
	kmemtrace_recheck();
}

void kmemtrace_writer_set_watcher(const struct kmemtrace_watcher *watcher)
{
	WRITE_ONCE(kmemtrace_watcher, watcher);
	kmemtrace_recheck();
}

/*
 * Count an event that finds no room.  Context: between kmemtrace_begin_write() and
 * kmemtrace_end_write().
 */
static noinline void kmemtrace_count_lost(struct kmemtrace_cpu *kc)
{
	if (kc->lost == kc->reported)
		kc->since = max(kmemtrace_raw_clock(), kc->last);
	kmemtrace_write_begin(&kc->seq);
	kc->lost++;
	raw_write_seqcount_end(&kc->seq);
}
NOKPROBE_SYMBOL(kmemtrace_count_lost);

/*
 * The time of a refused event is not known; the event occurred while the last record
 * was made, or later.  Unread records that a snapshot took from the live reader are
 * lost events, too; their time may be long before the last record.
 */
void kmemtrace_write_lost(struct kmemtrace_cpu *kc, struct rchan_buf *buf)
{
	unsigned long refused = atomic_long_read(&kc->refused);
	u64 events = kc->lost - kc->reported + refused - kc->reported_refused;
	struct kmemtrace_event_lost *event;
	u64 since = kc->last, now;

	if (!events || kmemtrace_abi < 2 || !kmemtrace_has_room(buf))
		return;
	if (kc->lost != kc->reported)
		since = refused == kc->reported_refused ? kc->since :
						      min(kc->since, kc->last);
	now = max(kmemtrace_raw_clock(), kc->last);
	event = buf->data + buf->offset;
	memset(event, 0, kmemtrace_record_size);
	*event = (struct kmemtrace_event_lost) {
		.event_id = KMEMTRACE_EVENT_LOST,
		.event_size = kmemtrace_record_size,
		.node = KMEMTRACE_NODE_NONE,
		.events = events,
		.since = min(since, now),
		.timestamp = now,
	};
	kc->last = now;
	kc->reported = kc->lost;
	kc->reported_refused = refused;
	kmemtrace_commit(buf, kmemtrace_record_size);
}
NOKPROBE_SYMBOL(kmemtrace_write_lost);

bool kmemtrace_leave_buffer(struct kmemtrace_cpu *kc)
{
	struct kmemtrace_unread_events left;

	if (kc->own == &kmemtrace_no_buf)
		return true;
	if (!kmemtrace_sealed_unread(kc->own, &left))
		return false;
	if (left.events > left.reported)
		kc->since = kc->lost == kc->reported ? left.since :
						   min(kc->since, left.since);
	kmemtrace_write_begin(&kc->seq);
	kc->lost += left.events;
	raw_write_seqcount_end(&kc->seq);
	kc->reported += left.reported;
	kc->own = &kmemtrace_no_buf;
	return true;
}
NOKPROBE_SYMBOL(kmemtrace_leave_buffer);

/*
 * A snapshot changes the live set, and then kmemtrace_buffers_seal() reads which CPUs
 * have entered the epoch of the old set.  This function enters an epoch, and then reads
 * which set is live.  So if both run at the same time, the snapshot seals this buffer,
 * or this function returns NULL and the CPU does not write to the buffer, or both.  A
 * CPU that wrote to a buffer that is never sealed could never leave the buffer.
 */
struct rchan_buf *kmemtrace_enter_buffer(struct kmemtrace_cpu *kc,
					 struct kmemtrace_buffers *live,
					 struct rchan_buf *buf)
{
	if (likely(kc->own == buf && kmemtrace_buffer_is_current(buf)))
		return buf;
	if (!kmemtrace_leave_buffer(kc)) {
		WRITE_ONCE(kc->limit, -1);
		return kc->own;
	}
	kc->own = buf;
	kmemtrace_buffer_enter_epoch(buf, kc->reported + kc->reported_refused);
	/* Pairs with kmemtrace_buffers_seal(). */
	smp_mb();
	/* Acquire: read the epoch of the set after the pointer to the live set. */
	if (likely(smp_load_acquire(&kmemtrace_live.buffers) == live) &&
	    likely(kmemtrace_buffer_is_current(buf)))
		return buf;
	kc->own = &kmemtrace_no_buf;
	return NULL;
}
NOKPROBE_SYMBOL(kmemtrace_enter_buffer);

/*
 * Handle all cases in which the limit admits no record: the sub-buffer is full, events
 * were lost, the live set has changed, there is a filter or a watcher, records have
 * stacks, or nothing is recorded.  Return the buffer, which has room for a record.
 * Return NULL if nothing is recorded or there is no room.  @is_event: if there is no
 * room, count a lost event.  Context: between kmemtrace_begin_write() and
 * kmemtrace_end_write().
 */
static noinline struct rchan_buf *kmemtrace_make_room(bool is_event)
{
	struct kmemtrace_cpu *kc = raw_cpu_ptr(&kmemtrace_cpus);
	struct kmemtrace_buffers *live;
	struct rchan_buf *buf;

again:
	do {
		if (!READ_ONCE(kmemtrace_recording)) {
			WRITE_ONCE(kc->limit, -1);
			return NULL;
		}
		live = READ_ONCE(kmemtrace_live.buffers);
		buf = kmemtrace_buffer(live, raw_smp_processor_id());
		if (!buf)
			goto no_room;
		WRITE_ONCE(kc->limit,
			   (int)(buf->chan->subbuf_size - kmemtrace_record_size));
		/*
		 * Orders the limit before the reads of all that changes with it:
		 * the refused events, the filter, the watcher, whether to record,
		 * and where.  Pairs with smp_mb() in kmemtrace_recheck(): either
		 * the change is seen here, or the limit is set to -1 after this.
		 */
		smp_mb();
	} while (!READ_ONCE(kmemtrace_recording) ||
		 READ_ONCE(kmemtrace_live.buffers) != live);
	kmemtrace_test_point(KMEMTRACE_TEST_ROOM);
	kmemtrace_check_clock();
	kmemtrace_renew_inlined_clock(kc);
	/* Send each event to kmemtrace_record_slow(), which calls these functions. */
	if (READ_ONCE(kmemtrace_filter_hook) || READ_ONCE(kmemtrace_watcher) ||
	    kmemtrace_with_stacks())
		WRITE_ONCE(kc->limit, -1);
	buf = kmemtrace_enter_buffer(kc, live, buf);
	if (!buf)
		goto again;
	kmemtrace_write_lost(kc, buf);
	if (kmemtrace_has_room(buf))
		return buf;
no_room:
	/* The next event takes the slow path, too, and tries again to find room. */
	WRITE_ONCE(kc->limit, -1);
	if (is_event)
		kmemtrace_count_lost(kc);
	return NULL;
}
NOKPROBE_SYMBOL(kmemtrace_make_room);

bool kmemtrace_begin_records(unsigned int n)
{
	struct kmemtrace_cpu *kc = raw_cpu_ptr(&kmemtrace_cpus);
	struct rchan_buf *buf;

	if (in_nmi()) {
		kmemtrace_count_refused();
		return false;
	}
	if (!kmemtrace_begin_write(kc))
		return false;
	buf = kc->own;
	if ((int)buf->offset > READ_ONCE(kc->limit)) {
		buf = kmemtrace_make_room(true);
		if (!buf)
			goto no_room;
	}
	kmemtrace_test_point(KMEMTRACE_TEST_MARK);
	if (kmemtrace_has_room_for(buf, n))
		return true;
	kmemtrace_count_lost(kc);
no_room:
	/* The next event takes the slow path, which writes a LOST record if due. */
	WRITE_ONCE(kc->limit, -1);
	kmemtrace_end_write(kc);
	return false;
}
NOKPROBE_SYMBOL(kmemtrace_begin_records);

void *kmemtrace_next_record(void)
{
	return kmemtrace_record_slot(raw_cpu_read(kmemtrace_cpus.own));
}
NOKPROBE_SYMBOL(kmemtrace_next_record);

void kmemtrace_commit_record(void)
{
	kmemtrace_commit(raw_cpu_read(kmemtrace_cpus.own),
			 kmemtrace_record_size);
}
NOKPROBE_SYMBOL(kmemtrace_commit_record);

u64 kmemtrace_record_time(void)
{
	return kmemtrace_cpu_clock();
}
NOKPROBE_SYMBOL(kmemtrace_record_time);

void kmemtrace_end_records(void)
{
	kmemtrace_end_write(raw_cpu_ptr(&kmemtrace_cpus));
}
NOKPROBE_SYMBOL(kmemtrace_end_records);

/*
 * Save the stack of an event and return its number.  Meanwhile restore the interrupt
 * state @flags of the event, because the depot acquires locks and unwinding takes long.
 * Other events may use the room meanwhile, so the caller has to reserve room again.
 * Context: as kmemtrace_make_room().
 */
static u32 kmemtrace_stack_of(struct kmemtrace_cpu *kc, unsigned long call_site,
			      unsigned long *flags)
{
	u32 stack;

	kmemtrace_end_write(kc);
	kmemtrace_test_leave(KMEMTRACE_TEST_RECORD_SLOW);
	raw_local_irq_restore(*flags);
	stack = kmemtrace_save_stack(call_site);
	raw_local_irq_save(*flags);
	kmemtrace_test_enter(KMEMTRACE_TEST_RECORD_SLOW);
	/* This succeeds, because a nested event was refused before. */
	kmemtrace_begin_write(kc);
	return stack;
}
NOKPROBE_SYMBOL(kmemtrace_stack_of);

static __always_inline void
kmemtrace_put_stack(struct kmemtrace_event_v2s *event, u32 stack)
{
	event->stack = stack;
	event->reserved = 0;
}

/* noinline, so that the fast path saves no registers across calls. */
noinline void kmemtrace_record_slow(u8 event_id, u8 type_id,
				    unsigned long call_site, u64 ptr,
				    size_t bytes_req, size_t bytes_alloc,
				    gfp_t gfp_flags, int node, u16 cache,
				    u16 account)
{
	const struct kmemtrace_watcher *watcher;
	kmemtrace_filter_fn *passes;
	struct rchan_buf *buf = NULL;
	struct kmemtrace_cpu *kc;
	unsigned long flags;
	void *counted = NULL;
	unsigned long site;
	u32 stack = 0;

	if (in_nmi()) {
		kmemtrace_count_refused();
		return;
	}
	/*
	 * The RCU section protects the filter and the watcher, up to the end of
	 * fire().  It also keeps the task on this CPU while kmemtrace_stack_of()
	 * enables interrupts.
	 */
	rcu_read_lock_sched_notrace();
	site = kmemtrace_call_site(event_id, call_site, gfp_flags);
	raw_local_irq_save(flags);
	kc = raw_cpu_ptr(&kmemtrace_cpus);
	if (!kmemtrace_begin_write(kc)) {
		raw_local_irq_restore(flags);
		rcu_read_unlock_sched_notrace();
		return;
	}
	kmemtrace_test_enter(KMEMTRACE_TEST_RECORD_SLOW);
	passes = READ_ONCE(kmemtrace_filter_hook);
	if (!passes || passes(event_id, type_id, ptr, bytes_alloc, cache))
		buf = kmemtrace_make_room(true);
	if (buf && kmemtrace_with_stacks()) {
		stack = kmemtrace_stack_of(kc, call_site, &flags);
		/* An interrupt's event may have used the room or changed the buffer. */
		if (kc->own != buf || !kmemtrace_fits(buf))
			buf = kmemtrace_make_room(true);
	}
	if (buf) {
		if (kmemtrace_with_stacks())
			kmemtrace_put_stack(buf->data + buf->offset, stack);
		kmemtrace_write(buf, buf->offset, kmemtrace_record_size,
				preempt_count(), event_id, type_id, site,
				ptr, bytes_req, bytes_alloc, gfp_flags, node,
				cache, account);
	}
	watcher = READ_ONCE(kmemtrace_watcher);
	if (watcher && READ_ONCE(kmemtrace_recording))
		counted = watcher->count(event_id, type_id, call_site, ptr,
					 bytes_alloc);
	kmemtrace_end_write(kc);
	kmemtrace_test_leave(KMEMTRACE_TEST_RECORD_SLOW);
	raw_local_irq_restore(flags);
	/* fire() disables interrupts again, in the way that lockdep can see. */
	if (unlikely(counted))
		watcher->fire(counted, call_site);
	rcu_read_unlock_sched_notrace();
}
NOKPROBE_SYMBOL(kmemtrace_record_slow);

void kmemtrace_write_stop(const char *why, unsigned long caller)
{
	struct kmemtrace_event_stop *event;
	struct rchan_buf *buf;

	if (kmemtrace_abi < 2)
		return;
	buf = kmemtrace_make_room(false);
	if (!buf)
		return;
	event = buf->data + buf->offset;
	memset(event, 0, kmemtrace_record_size);
	event->event_id = KMEMTRACE_EVENT_STOP;
	event->event_size = kmemtrace_record_size;
	event->node = KMEMTRACE_NODE_NONE;
	event->call_site = caller;
	strscpy(event->why, why, sizeof(event->why));
	event->pid = current->pid;
	event->timestamp = kmemtrace_cpu_clock();
	kmemtrace_commit(buf, kmemtrace_record_size);
}
NOKPROBE_SYMBOL(kmemtrace_write_stop);
