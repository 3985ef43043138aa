// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the writer of records.
 *
 * Writers
 * -------
 * Each CPU writes to its own buffer with interrupts off, so it has one writer
 * at a time, and nothing in memory that is written per event is shared between
 * CPUs.  An NMI could interrupt that writer; an event in NMI context is
 * therefore not recorded but counted as lost.  The writer takes no lock,
 * allocates nothing and wakes nobody (the wake-up of a reader is left to an
 * irq_work), so it may be called by the scheduler, by timekeeping and with
 * any lock held.
 *
 * Re-entry
 * --------
 * Interrupts being off does not stop an event in the middle of a record: a
 * function that the writer calls may WARN, or carry a probe of somebody else,
 * and either may allocate.  Such an event would write to the slot of the outer
 * record, which then ends behind its sub-buffer.  So the CPU's buffer is
 * replaced by kmemtrace_busy from the room check to the commit.  A nested event
 * finds no room there, goes to the slow path, and is refused and counted as
 * lost.  Interrupts are off all that time, so that one guard serves all
 * contexts; NMIs are refused before they come to it.  The whole path is notrace
 * (mm/Makefile) and NOKPROBE_SYMBOL, which keeps most nested events away.
 *
 * A nested event is counted before the filter sees it, so that the count of lost
 * events may include events that the filter would drop.
 *
 * Readers hold the same guard while they hold a lock: kmemtrace_lock().  A nested
 * event that fires a trigger would take a snapshot, which needs those locks, and
 * the counters of triggers have locks of their own.
 *
 * Readers
 * -------
 * See buffer.c.  Readers and writers never wait for each other.
 *
 * Loss
 * ----
 * A CPU counts its own records that find no room.  In overwrite mode each record
 * finds room, and the reader counts the records that were overwritten unread.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <trace/events/kmem.h>

#include <linux/kmemtrace.h>
#include <linux/kmemtrace_test.h>

#include "internal.h"
#include "buffer.h"
#include "clock.h"
#include "compat.h"

/*
 * The state of a CPU's writer.  Other CPUs read lost and refused, set limit to
 * -1, and change the rest only while no CPU writes.
 */
struct kmemtrace_cpu {
	/*
	 * A record may be written at this offset of the sub-buffer or before.
	 * -1: see kmemtrace_make_room(); also while nothing is recorded, so
	 * that an event has only this to look at.
	 */
	int			limit;
	/* own, or &kmemtrace_busy while a record is being written. */
	struct rchan_buf	*buf;
	/* The buffer of this CPU; &kmemtrace_no_buf: none. */
	struct rchan_buf	*own;
	u64			last;		/* timestamp */
	u64			lost;
	u64			told;		/* of them, in LOST records */
	u64			since;		/* first one not told yet */
	seqcount_t		seq;		/* of lost, for 32-bit readers */
	/* Events in NMI context, and events nested in the writing of another. */
	atomic_long_t		refused;
	unsigned long		told_refused;
};

/* Never has room: its limit is -1. */
static struct rchan_buf kmemtrace_no_buf;

/* Never has room, whatever the limit is. */
static struct rchan_buf kmemtrace_busy = {
	.offset	= INT_MAX,
};

static DEFINE_PER_CPU_ALIGNED(struct kmemtrace_cpu, kmemtrace_cpus) = {
	.limit	= -1,
	.buf	= &kmemtrace_no_buf,
	.own	= &kmemtrace_no_buf,
};

/* Off with kmemtrace.abi=1. */
static DEFINE_STATIC_KEY_TRUE(kmemtrace_v2);

/*
 * Set when all probes are attached and cleared before the first one goes, so
 * that a trace begins and ends for all paths at one moment.  Attaching takes
 * milliseconds, in which a page freed and allocated again would have only the
 * first of these recorded, and its next free would be one of nothing.
 */
static bool kmemtrace_recording __read_mostly;

/* Each event goes through kmemtrace_record_slow(), to be counted by triggers. */
static bool kmemtrace_watched __read_mostly;

/* The time now, which is not before the last timestamp of this CPU. */
static __always_inline u64 kmemtrace_cpu_clock(void)
{
	u64 now = kmemtrace_raw_clock();
	u64 last = raw_cpu_read(kmemtrace_cpus.last);

	if (unlikely((s64)(now - last) < 0))
		now = last;
	raw_cpu_write(kmemtrace_cpus.last, now);
	return now;
}

static noinline void kmemtrace_count_lost(struct kmemtrace_cpu *kc)
{
	if (kc->lost == kc->told)
		kc->since = max(kmemtrace_raw_clock(), kc->last);
	kmemtrace_write_begin(&kc->seq);
	kc->lost++;
	raw_write_seqcount_end(&kc->seq);
}
NOKPROBE_SYMBOL(kmemtrace_count_lost);

/*
 * Count an event as lost that interrupted the writer, in NMI context or nested
 * in it.  The writer may be anywhere, so only the count and the limit are
 * changed.  The limit sends the next event to the slow path, which writes the
 * LOST record.
 */
static noinline void kmemtrace_count_refused(void)
{
	struct kmemtrace_cpu *kc = raw_cpu_ptr(&kmemtrace_cpus);

	if (!READ_ONCE(kmemtrace_recording))
		return;
	atomic_long_inc(&kc->refused);
	WRITE_ONCE(kc->limit, -1);
}
NOKPROBE_SYMBOL(kmemtrace_count_refused);

/*
 * Acquire the CPU's buffer for the slow path.  Returns false, and counts the
 * event as lost, where the event is nested in the writing of another one.
 * Context: interrupts are off, from here to kmemtrace_end_write().
 */
static __always_inline bool kmemtrace_begin_write(struct kmemtrace_cpu *kc)
{
	if (unlikely(READ_ONCE(kc->buf) == &kmemtrace_busy)) {
		kmemtrace_count_refused();
		return false;
	}
	WRITE_ONCE(kc->buf, &kmemtrace_busy);
	/* A nested event is on this CPU: the compiler's order is enough. */
	barrier();
	return true;
}

/* Release what kmemtrace_begin_write() acquired. */
static __always_inline void kmemtrace_end_write(struct kmemtrace_cpu *kc)
{
	barrier();
	WRITE_ONCE(kc->buf, kc->own);
}

bool kmemtrace_is_guarded(void)
{
	/* Where interrupts are on, the CPU may change between address and load. */
	return irqs_disabled() &&
	       raw_cpu_read(kmemtrace_cpus.buf) == &kmemtrace_busy;
}
NOKPROBE_SYMBOL(kmemtrace_is_guarded);

void kmemtrace_guard_enter(struct kmemtrace_guard *guard)
{
	local_irq_save(guard->flags);
	guard->nested = raw_cpu_read(kmemtrace_cpus.buf) == &kmemtrace_busy;
	raw_cpu_write(kmemtrace_cpus.buf, &kmemtrace_busy);
	/* A nested event is on this CPU: the compiler's order is enough. */
	barrier();
}
NOKPROBE_SYMBOL(kmemtrace_guard_enter);

void kmemtrace_guard_leave(const struct kmemtrace_guard *guard)
{
	if (!guard->nested)
		kmemtrace_end_write(raw_cpu_ptr(&kmemtrace_cpus));
	local_irq_restore(guard->flags);
}
NOKPROBE_SYMBOL(kmemtrace_guard_leave);

void kmemtrace_lock(raw_spinlock_t *lock, struct kmemtrace_guard *guard)
	__acquires(lock)
{
	kmemtrace_guard_enter(guard);
	raw_spin_lock(lock);
}
NOKPROBE_SYMBOL(kmemtrace_lock);

void kmemtrace_unlock(raw_spinlock_t *lock, const struct kmemtrace_guard *guard)
	__releases(lock)
{
	raw_spin_unlock(lock);
	kmemtrace_guard_leave(guard);
}
NOKPROBE_SYMBOL(kmemtrace_unlock);

static __always_inline void kmemtrace_commit(struct rchan_buf *buf, size_t size)
{
	/* Only now does the record exist for a reader, also on another CPU. */
	smp_store_release(&buf->offset, buf->offset + size);
}

/*
 * Write a LOST record for the events that this CPU lost since the last one, if
 * there are any and there is room.  The time of a refused event is not known; it
 * is after that of the last record.  Events that a snapshot took from the live
 * reader may have been lost long before that record.
 */
static void kmemtrace_write_lost(struct kmemtrace_cpu *kc,
				 struct rchan_buf *buf)
{
	unsigned long refused = atomic_long_read(&kc->refused);
	u64 events = kc->lost - kc->told + refused - kc->told_refused;
	struct kmemtrace_event_lost *event;
	u64 since = kc->last, now;

	if (!events || kmemtrace_abi < 2 || !kmemtrace_has_room(buf))
		return;
	if (kc->lost != kc->told)
		since = refused == kc->told_refused ? kc->since :
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
	kc->told = kc->lost;
	kc->told_refused = refused;
	kmemtrace_commit(buf, kmemtrace_record_size);
}
NOKPROBE_SYMBOL(kmemtrace_write_lost);

/*
 * Leaves the buffer that this CPU writes to for another, and counts what the
 * reader of the live buffers did not get of it.  false: not yet.
 */
static bool kmemtrace_leave_buffer(struct kmemtrace_cpu *kc)
{
	struct kmemtrace_left left;

	if (kc->own == &kmemtrace_no_buf)
		return true;
	if (!kmemtrace_buffer_left(kc->own, &left))
		return false;
	if (left.events > left.told)
		kc->since = kc->lost == kc->told ? left.since :
						   min(kc->since, left.since);
	kmemtrace_write_begin(&kc->seq);
	kc->lost += left.events;
	raw_write_seqcount_end(&kc->seq);
	kc->told += left.told;
	kc->own = &kmemtrace_no_buf;
	return true;
}
NOKPROBE_SYMBOL(kmemtrace_leave_buffer);

/*
 * Go to this CPU's buffer of the live set.  Return that buffer; or the current
 * one, where a snapshot is being taken and has not sealed it yet; or NULL where
 * the live set has changed meanwhile.
 *
 * kmemtrace_buffers_seal() changes the live set and then reads which buffers were
 * begun; this function begins a buffer and then reads which set is live.  So a
 * buffer that was begun is either sealed or not written to.  A buffer that is not
 * sealed could never be left.
 */
static struct rchan_buf *kmemtrace_enter_buffer(struct kmemtrace_cpu *kc,
						struct kmemtrace_buffers *live,
						struct rchan_buf *buf)
{
	if (likely(kc->own == buf && kmemtrace_buffer_is_begun(buf)))
		return buf;
	if (!kmemtrace_leave_buffer(kc)) {
		WRITE_ONCE(kc->limit, -1);
		return kc->own;
	}
	kc->own = buf;
	kmemtrace_buffer_begin(buf, kc->told + kc->told_refused);
	/* Pairs with kmemtrace_buffers_seal(). */
	smp_mb();
	/* Acquire: its filling is as new as that it is live. */
	if (likely(smp_load_acquire(&kmemtrace_live.buffers) == live) &&
	    likely(kmemtrace_buffer_is_begun(buf)))
		return buf;
	kc->own = &kmemtrace_no_buf;
	return NULL;
}
NOKPROBE_SYMBOL(kmemtrace_enter_buffer);

/*
 * Handle the rare cases: the sub-buffer is full, events were lost, the live set
 * has changed, or nothing is recorded.  Return the buffer with room for a record,
 * or NULL where nothing is recorded or there is no room; with @is_event the latter
 * is counted as a lost event.
 * Context: between kmemtrace_begin_write() and kmemtrace_end_write().
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
		 * Before what changes with the limit is looked at: the count of
		 * those in NMI, whether to record, and where.  Pairs with
		 * kmemtrace_writer_look(): either the change is seen here, or
		 * the limit is set there after this.
		 */
		smp_mb();
	} while (!READ_ONCE(kmemtrace_recording) ||
		 READ_ONCE(kmemtrace_live.buffers) != live);
	kmemtrace_test_point(KMEMTRACE_TEST_ROOM);
	kmemtrace_look_at_clock();
	/* They are asked in kmemtrace_record_slow(). */
	if (rcu_access_pointer(kmemtrace_filter) ||
	    READ_ONCE(kmemtrace_watched) ||
	    kmemtrace_with_stacks)
		WRITE_ONCE(kc->limit, -1);
	buf = kmemtrace_enter_buffer(kc, live, buf);
	if (!buf)
		goto again;
	kmemtrace_write_lost(kc, buf);
	if (kmemtrace_has_room(buf))
		return buf;
no_room:
	/* The next event looks again, and there may be no buffer to look into. */
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
	/* The next event takes the slow path, which writes the LOST record. */
	WRITE_ONCE(kc->limit, -1);
	kmemtrace_end_write(kc);
	return false;
}
NOKPROBE_SYMBOL(kmemtrace_begin_records);

void *kmemtrace_next_record(void)
{
	return kmemtrace_room(raw_cpu_read(kmemtrace_cpus.own));
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

static __always_inline void
kmemtrace_fill(struct kmemtrace_event *event, u8 event_id, u8 type_id,
	       u16 event_size, unsigned long call_site, u64 ptr,
	       size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags, int node)
{
	event->event_id = event_id;
	event->type_id = type_id;
	event->event_size = event_size;
	event->node = node;
	event->call_site = call_site;
	event->ptr = ptr;
	event->bytes_req = bytes_req;
	event->bytes_alloc = bytes_alloc;
	event->gfp_flags = (__force u64)gfp_flags;
}

/*
 * Writes a record where there is room.  size: of one of version 2.  context:
 * preempt_count().  account: as KMEMTRACE_FLAG_ACCOUNT, or 0.  The clock is a
 * call: it comes when little is left to be kept across it.
 */
static __always_inline void
kmemtrace_write(struct rchan_buf *buf, u16 size, unsigned int context,
		u8 event_id, u8 type_id, unsigned long call_site, u64 ptr,
		size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags, int node,
		u16 cache, u16 account)
{
	struct kmemtrace_event_v2 *event = buf->data + buf->offset;

	kmemtrace_test_point(KMEMTRACE_TEST_SLOT);
	if (static_branch_likely(&kmemtrace_v2)) {
		kmemtrace_fill(&event->v1, event_id, type_id, size,
			       call_site, ptr, bytes_req, bytes_alloc,
			       gfp_flags, node);
		event->pid = current->pid;
		event->cache = cache;
		event->flags = account;
		if (unlikely(kmemtrace_in_interrupt(context)))
			event->flags |= kmemtrace_interrupt_flags(context);
		event->v1.timestamp = kmemtrace_cpu_clock();
		kmemtrace_commit(buf, size);
	} else {
		kmemtrace_fill(&event->v1, event_id, type_id,
			       sizeof(event->v1), call_site, ptr, bytes_req,
			       bytes_alloc, gfp_flags, node);
		event->v1.timestamp = kmemtrace_cpu_clock();
		kmemtrace_commit(buf, sizeof(event->v1));
	}
}

/*
 * The stack of an event, with interrupts as the event had them: the depot takes
 * locks, and unwinding takes long.  Other events may take the room meanwhile, so
 * that the caller has to look for it again.  Context: as kmemtrace_make_room().
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
	/* Not nested: otherwise it would have been refused before. */
	kmemtrace_begin_write(kc);
	return stack;
}
NOKPROBE_SYMBOL(kmemtrace_stack_of);

/* By itself, so that the usual case has nothing to keep across calls. */
static noinline void
kmemtrace_record_slow(u8 event_id, u8 type_id, unsigned long call_site,
		      u64 ptr, size_t bytes_req, size_t bytes_alloc,
		      gfp_t gfp_flags, int node, u16 cache, u16 account)
{
	struct kmemtrace_trigger *trigger = NULL;
	struct rchan_buf *buf = NULL;
	struct kmemtrace_cpu *kc;
	unsigned long flags;
	u32 stack = 0;

	if (in_nmi()) {
		kmemtrace_count_refused();
		return;
	}
	/*
	 * Protects the filter and the trigger, from being found to being fired;
	 * also keeps the task on this CPU while interrupts are on in between.
	 */
	rcu_read_lock_sched_notrace();
	raw_local_irq_save(flags);
	kc = raw_cpu_ptr(&kmemtrace_cpus);
	if (!kmemtrace_begin_write(kc)) {
		raw_local_irq_restore(flags);
		rcu_read_unlock_sched_notrace();
		return;
	}
	kmemtrace_test_enter(KMEMTRACE_TEST_RECORD_SLOW);
	if (kmemtrace_filter_passes(event_id, type_id, ptr, bytes_alloc, cache))
		buf = kmemtrace_make_room(true);
	if (buf && kmemtrace_with_stacks) {
		stack = kmemtrace_stack_of(kc, call_site, &flags);
		/* An event of an interrupt may have taken the room. */
		if (kc->own != buf || !kmemtrace_fits(buf))
			buf = kmemtrace_make_room(true);
	}
	if (buf) {
		if (kmemtrace_with_stacks)
			kmemtrace_put_stack(buf->data + buf->offset, stack);
		kmemtrace_write(buf, kmemtrace_record_size, preempt_count(),
				event_id, type_id, call_site, ptr, bytes_req,
				bytes_alloc, gfp_flags, node, cache, account);
	}
	if (READ_ONCE(kmemtrace_watched) && READ_ONCE(kmemtrace_recording))
		trigger = kmemtrace_trigger_count(event_id, type_id, call_site,
						  ptr, bytes_alloc);
	kmemtrace_end_write(kc);
	kmemtrace_test_leave(KMEMTRACE_TEST_RECORD_SLOW);
	raw_local_irq_restore(flags);
	/* With locks, so where lockdep knows about interrupts. */
	if (unlikely(trigger))
		kmemtrace_trigger_fire(trigger, call_site);
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

/* Each instruction counts here: see bench/kernel of the kmemtrace tools. */
static __always_inline void
kmemtrace_record(u8 event_id, u8 type_id, unsigned long call_site, u64 ptr,
		 size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
		 int node, u16 cache, u16 account)
{
	unsigned int context = preempt_count();
	struct rchan_buf *buf;
	unsigned long flags;

	if (unlikely(context & NMI_MASK))
		goto slow;

	/* raw: the tracing of interrupt flags may itself end up here. */
	raw_local_irq_save(flags);
	kmemtrace_test_enter(KMEMTRACE_TEST_RECORD);
	buf = raw_cpu_read(kmemtrace_cpus.buf);
	if (likely((int)buf->offset <= raw_cpu_read(kmemtrace_cpus.limit))) {
		/* As kmemtrace_begin_write(), which needs no test here. */
		raw_cpu_write(kmemtrace_cpus.buf, &kmemtrace_busy);
		barrier();
		kmemtrace_write(buf, sizeof(struct kmemtrace_event_v2), context,
				event_id, type_id, call_site, ptr, bytes_req,
				bytes_alloc, gfp_flags, node, cache, account);
		barrier();
		raw_cpu_write(kmemtrace_cpus.buf, buf);
		kmemtrace_test_leave(KMEMTRACE_TEST_RECORD);
		raw_local_irq_restore(flags);
		return;
	}
	raw_local_irq_restore(flags);
slow:
	kmemtrace_record_slow(event_id, type_id, call_site, ptr, bytes_req,
			      bytes_alloc, gfp_flags, node, cache, account);
}

static __always_inline void
kmemtrace_record_alloc(u8 type_id, unsigned long call_site, u64 ptr,
		       size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
		       int node, u16 cache, bool account)
{
	account = IS_ENABLED(CONFIG_MEMCG_KMEM) &&
		  (account || (gfp_flags & __GFP_ACCOUNT));
	kmemtrace_record(KMEMTRACE_EVENT_ALLOC, type_id, call_site, ptr,
			 bytes_req, bytes_alloc, gfp_flags, node, cache,
			 account ? KMEMTRACE_FLAG_ACCOUNT : 0);
}

static __always_inline void
kmemtrace_record_free(u8 type_id, unsigned long call_site, u64 ptr, u16 cache)
{
	kmemtrace_record(KMEMTRACE_EVENT_FREE, type_id, call_site, ptr, 0, 0,
			 (__force gfp_t)0, KMEMTRACE_NODE_NONE, cache, 0);
}

/*
 * The probes.  Failed allocations, kfree(NULL) and kmalloc(0), which takes no
 * memory, are no events; neither is the kfree() of the latter.
 */
static void probe_kmalloc(void *data, unsigned long call_site, const void *ptr,
			  size_t bytes_req, size_t bytes_alloc,
			  gfp_t gfp_flags, int node)
{
	if (ZERO_OR_NULL_PTR(ptr))
		return;
	kmemtrace_record_alloc(KMEMTRACE_TYPE_KMALLOC, call_site,
			       kmemtrace_object(ptr), bytes_req, bytes_alloc,
			       gfp_flags, node, KMEMTRACE_CACHE_NONE, false);
}
NOKPROBE_SYMBOL(probe_kmalloc);

static void probe_kmemtrace_kmalloc(void *data, unsigned long call_site,
				    const void *ptr, size_t bytes_req,
				    size_t bytes_alloc, gfp_t gfp_flags)
{
	probe_kmalloc(data, call_site, ptr, bytes_req, bytes_alloc, gfp_flags,
		      NUMA_NO_NODE);
}
NOKPROBE_SYMBOL(probe_kmemtrace_kmalloc);

static void probe_kfree(void *data, unsigned long call_site, const void *ptr)
{
	if (ZERO_OR_NULL_PTR(ptr))
		return;
	kmemtrace_record_free(KMEMTRACE_TYPE_KMALLOC, call_site,
			      kmemtrace_object(ptr), KMEMTRACE_CACHE_NONE);
}
NOKPROBE_SYMBOL(probe_kfree);

static void probe_cache_alloc(void *data, unsigned long call_site,
			      const void *ptr, struct kmem_cache *s,
			      gfp_t gfp_flags, int node)
{
	if (!ptr)
		return;
	kmemtrace_record_alloc(KMEMTRACE_TYPE_CACHE, call_site,
			       kmemtrace_object(ptr),
			       kmemtrace_cache_bytes_req(s),
			       kmemtrace_cache_bytes_alloc(s), gfp_flags, node,
			       kmemtrace_cache_number(s),
			       s->flags & SLAB_ACCOUNT);
}
NOKPROBE_SYMBOL(probe_cache_alloc);

static void probe_kmemtrace_cache_alloc(void *data, unsigned long call_site,
					const void *ptr, struct kmem_cache *s,
					gfp_t gfp_flags)
{
	probe_cache_alloc(data, call_site, ptr, s, gfp_flags, NUMA_NO_NODE);
}
NOKPROBE_SYMBOL(probe_kmemtrace_cache_alloc);

static void probe_cache_free(void *data, unsigned long call_site,
			     const void *ptr, const struct kmem_cache *s)
{
	if (!ptr)
		return;
	kmemtrace_record_free(KMEMTRACE_TYPE_CACHE, call_site,
			      kmemtrace_object(ptr), kmemtrace_cache_number(s));
}
NOKPROBE_SYMBOL(probe_cache_free);

static void probe_page_alloc(void *data, unsigned long call_site,
			     struct page *page, size_t bytes_req,
			     size_t bytes_alloc, gfp_t gfp_flags, int node)
{
	/* Whether the local node was named or none cannot be told here. */
	if (node == numa_mem_id())
		node = NUMA_NO_NODE;
	kmemtrace_record_alloc(KMEMTRACE_TYPE_PAGES, call_site,
			       kmemtrace_page(page), bytes_req, bytes_alloc,
			       gfp_flags, node, KMEMTRACE_CACHE_NONE, false);
}
NOKPROBE_SYMBOL(probe_page_alloc);

static void probe_page_free(void *data, unsigned long call_site,
			    struct page *page)
{
	kmemtrace_record_free(KMEMTRACE_TYPE_PAGES, call_site,
			      kmemtrace_page(page), KMEMTRACE_CACHE_NONE);
}
NOKPROBE_SYMBOL(probe_page_free);

/* A per-CPU pointer has no KASAN tag to reset. */
static void probe_percpu_alloc(void *data, unsigned long call_site,
			       const void *ptr, size_t bytes_req,
			       size_t bytes_alloc, gfp_t gfp_flags)
{
	kmemtrace_record_alloc(KMEMTRACE_TYPE_PERCPU, call_site,
			       (unsigned long)ptr, bytes_req, bytes_alloc,
			       gfp_flags, NUMA_NO_NODE, KMEMTRACE_CACHE_NONE,
			       false);
}
NOKPROBE_SYMBOL(probe_percpu_alloc);

static void probe_percpu_free(void *data, unsigned long call_site,
			      const void *ptr)
{
	kmemtrace_record_free(KMEMTRACE_TYPE_PERCPU, call_site,
			      (unsigned long)ptr, KMEMTRACE_CACHE_NONE);
}
NOKPROBE_SYMBOL(probe_percpu_free);

static void probe_vmalloc_alloc(void *data, unsigned long call_site,
				const void *ptr, size_t bytes_req,
				size_t bytes_alloc, gfp_t gfp_flags, int node)
{
	kmemtrace_record_alloc(KMEMTRACE_TYPE_VMALLOC, call_site,
			       kmemtrace_object(ptr), bytes_req, bytes_alloc,
			       gfp_flags, node, KMEMTRACE_CACHE_NONE, false);
}
NOKPROBE_SYMBOL(probe_vmalloc_alloc);

static void probe_vmalloc_free(void *data, unsigned long call_site,
			       const void *ptr)
{
	kmemtrace_record_free(KMEMTRACE_TYPE_VMALLOC, call_site,
			      kmemtrace_object(ptr), KMEMTRACE_CACHE_NONE);
}
NOKPROBE_SYMBOL(probe_vmalloc_free);

struct kmemtrace_probe {
	enum kmemtrace_probes probes;
	const char *name;
	int (*attach)(void);
	void (*detach)(void);
};

#define KMEMTRACE_PROBE(tracepoint, probe)				\
static int attach_##tracepoint(void)					\
{									\
	return register_trace_##tracepoint(probe, NULL);		\
}									\
static void detach_##tracepoint(void)					\
{									\
	unregister_trace_##tracepoint(probe, NULL);			\
}

KMEMTRACE_PROBE(kfree, probe_kfree)
KMEMTRACE_PROBE(kmem_cache_free, probe_cache_free)
KMEMTRACE_PROBE(kmemtrace_kfree, probe_kfree)
KMEMTRACE_PROBE(kmemtrace_cache_free, probe_cache_free)
KMEMTRACE_PROBE(kmemtrace_page_free, probe_page_free)
KMEMTRACE_PROBE(kmalloc, probe_kmalloc)
KMEMTRACE_PROBE(kmem_cache_alloc, probe_cache_alloc)
KMEMTRACE_PROBE(kmemtrace_kmalloc, probe_kmemtrace_kmalloc)
KMEMTRACE_PROBE(kmemtrace_cache_alloc, probe_kmemtrace_cache_alloc)
KMEMTRACE_PROBE(kmemtrace_page_alloc, probe_page_alloc)
KMEMTRACE_PROBE(kmemtrace_percpu_free, probe_percpu_free)
KMEMTRACE_PROBE(kmemtrace_percpu_alloc, probe_percpu_alloc)
KMEMTRACE_PROBE(kmemtrace_vmalloc_free, probe_vmalloc_free)
KMEMTRACE_PROBE(kmemtrace_vmalloc_alloc, probe_vmalloc_alloc)

#define KMEMTRACE_PROBE_ENTRY(belongs_to, tracepoint)			\
	{								\
		.probes = KMEMTRACE_PROBES_##belongs_to,		\
		.name = #tracepoint,					\
		.attach = attach_##tracepoint,				\
		.detach = detach_##tracepoint,				\
	}

static const struct kmemtrace_probe kmemtrace_probes[] = {
	KMEMTRACE_PROBE_ENTRY(KFREE, kfree),
	KMEMTRACE_PROBE_ENTRY(CACHE_FREE, kmem_cache_free),
	KMEMTRACE_PROBE_ENTRY(KFREE, kmemtrace_kfree),
	KMEMTRACE_PROBE_ENTRY(CACHE_FREE, kmemtrace_cache_free),
	KMEMTRACE_PROBE_ENTRY(PAGE_FREE, kmemtrace_page_free),
	KMEMTRACE_PROBE_ENTRY(KMALLOC, kmalloc),
	KMEMTRACE_PROBE_ENTRY(CACHE_ALLOC, kmem_cache_alloc),
	KMEMTRACE_PROBE_ENTRY(KMALLOC, kmemtrace_kmalloc),
	KMEMTRACE_PROBE_ENTRY(CACHE_ALLOC, kmemtrace_cache_alloc),
	KMEMTRACE_PROBE_ENTRY(PAGE_ALLOC, kmemtrace_page_alloc),
	KMEMTRACE_PROBE_ENTRY(PERCPU_FREE, kmemtrace_percpu_free),
	KMEMTRACE_PROBE_ENTRY(PERCPU_ALLOC, kmemtrace_percpu_alloc),
	KMEMTRACE_PROBE_ENTRY(VMALLOC_FREE, kmemtrace_vmalloc_free),
	KMEMTRACE_PROBE_ENTRY(VMALLOC_ALLOC, kmemtrace_vmalloc_alloc),
};

/* Detach those of the first @n entries of the table that belong to @probes. */
static void kmemtrace_detach(enum kmemtrace_probes probes, unsigned int n)
{
	while (n--)
		if (kmemtrace_probes[n].probes == probes)
			kmemtrace_probes[n].detach();
}

int kmemtrace_writer_attach(enum kmemtrace_probes probes)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(kmemtrace_probes); i++) {
		if (kmemtrace_probes[i].probes != probes)
			continue;
		err = kmemtrace_probes[i].attach();
		if (err) {
			pr_err("cannot attach to tracepoint %s: %d\n",
			       kmemtrace_probes[i].name, err);
			kmemtrace_detach(probes, i);
			return err;
		}
	}
	return 0;
}

void kmemtrace_writer_detach(enum kmemtrace_probes probes)
{
	kmemtrace_detach(probes, ARRAY_SIZE(kmemtrace_probes));
}

/*
 * Wait until no CPU is inside of a probe or writes a record.  A record is written
 * with interrupts off, which synchronize_rcu() waits for.  Since Linux 7.0 the
 * kernel calls probes in a section that synchronize_rcu() does not wait for, so the
 * probes are waited for first.
 */
void kmemtrace_writer_wait(void)
{
	tracepoint_synchronize_unregister();
	synchronize_rcu();
}

struct kmemtrace_visit {
	void (*func)(struct kmemtrace_cpu *kc, unsigned int cpu, void *data);
	void *data;
};

static void kmemtrace_visit_here(void *data)
{
	const struct kmemtrace_visit *visit = data;

	visit->func(raw_cpu_ptr(&kmemtrace_cpus), raw_smp_processor_id(),
		    visit->data);
}
NOKPROBE_SYMBOL(kmemtrace_visit_here);

/*
 * Call @func for each possible CPU, with interrupts off and outside of the guard:
 * on the CPU itself, where an interrupt cannot come into a guarded section, or
 * here, while the CPU is offline.  Sleeps.
 */
static void kmemtrace_visit_cpus(void (*func)(struct kmemtrace_cpu *kc,
					      unsigned int cpu, void *data),
				 void *data)
{
	struct kmemtrace_visit visit = { .func = func, .data = data };
	unsigned long flags;
	unsigned int cpu;

	cpus_read_lock();
	on_each_cpu(kmemtrace_visit_here, &visit, 1);
	local_irq_save(flags);
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			func(per_cpu_ptr(&kmemtrace_cpus, cpu), cpu, data);
	local_irq_restore(flags);
	cpus_read_unlock();
}

static void kmemtrace_forget(struct kmemtrace_cpu *kc, unsigned int cpu,
			     void *data)
{
	kc->lost = 0;
	kc->told = 0;
	atomic_long_set(&kc->refused, 0);
	kc->told_refused = 0;
	/* The CPU's loss in a snapshot belongs to the session before. */
	kc->own = &kmemtrace_no_buf;
	kc->buf = kc->own;
}
NOKPROBE_SYMBOL(kmemtrace_forget);

void kmemtrace_writer_forget(void)
{
	kmemtrace_visit_cpus(kmemtrace_forget, NULL);
}

static void kmemtrace_tell_lost(struct kmemtrace_cpu *kc, unsigned int cpu,
				void *data)
{
	struct kmemtrace_buffers *live = kmemtrace_live.buffers;
	struct rchan_buf *buf = kmemtrace_buffer(live, cpu);

	if (!buf || !kmemtrace_begin_write(kc))
		return;
	kmemtrace_write_lost(kc, kmemtrace_enter_buffer(kc, live, buf));
	kmemtrace_end_write(kc);
}
NOKPROBE_SYMBOL(kmemtrace_tell_lost);

void kmemtrace_writer_tell_lost(void)
{
	kmemtrace_visit_cpus(kmemtrace_tell_lost, NULL);
}

u64 kmemtrace_lost(unsigned int cpu)
{
	struct kmemtrace_cpu *kc = per_cpu_ptr(&kmemtrace_cpus, cpu);
	unsigned int start;
	u64 lost;

	do {
		start = raw_read_seqcount_begin(&kc->seq);
		lost = kc->lost;
	} while (read_seqcount_retry(&kc->seq, start));

	return lost + atomic_long_read(&kc->refused);
}
NOKPROBE_SYMBOL(kmemtrace_lost);

void kmemtrace_writer_start(void)
{
	kmemtrace_writer_forget();
	/* All that a session begins with comes before its first record. */
	smp_store_release(&kmemtrace_recording, true);
}

bool kmemtrace_is_recording(void)
{
	return READ_ONCE(kmemtrace_recording);
}
NOKPROBE_SYMBOL(kmemtrace_is_recording);

void kmemtrace_writer_watch(bool on)
{
	WRITE_ONCE(kmemtrace_watched, on);
	kmemtrace_writer_look();
}

void kmemtrace_writer_look(void)
{
	unsigned int cpu;

	/* Pairs with kmemtrace_make_room(): its limit is set before this one. */
	smp_mb();
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(&kmemtrace_cpus, cpu)->limit, -1);
}
NOKPROBE_SYMBOL(kmemtrace_writer_look);

void kmemtrace_writer_stop(void)
{
	WRITE_ONCE(kmemtrace_recording, false);
	kmemtrace_writer_look();
}
NOKPROBE_SYMBOL(kmemtrace_writer_stop);

static void kmemtrace_leave(struct kmemtrace_cpu *kc, unsigned int cpu,
			    void *buffers)
{
	if (kc->own == &kmemtrace_no_buf ||
	    kmemtrace_set_of(kc->own) != buffers || !kmemtrace_begin_write(kc))
		return;
	WRITE_ONCE(kc->limit, -1);
	kmemtrace_leave_buffer(kc);
	kc->own = &kmemtrace_no_buf;
	kmemtrace_end_write(kc);
}
NOKPROBE_SYMBOL(kmemtrace_leave);

/* An event reads its CPU's buf before it compares the limit. */
void kmemtrace_writer_leave(struct kmemtrace_buffers *buffers)
{
	kmemtrace_visit_cpus(kmemtrace_leave, buffers);
}

/* Context: one CPU runs, and kmemtrace_abi is settled. */
void __init kmemtrace_writer_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		seqcount_init(&per_cpu_ptr(&kmemtrace_cpus, cpu)->seq);
	if (kmemtrace_abi < 2)
		static_branch_disable(&kmemtrace_v2);
}
