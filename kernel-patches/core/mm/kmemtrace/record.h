/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: the fast path of an event, which is inlined into each probe.
 */
#ifndef _MM_KMEMTRACE_RECORD_H
#define _MM_KMEMTRACE_RECORD_H

#include <linux/irqflags.h>
#include <linux/kmemtrace_test.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include <uapi/linux/kmemtrace_abi.h>

#include "clock.h"
#include "compat.h"
#include "guard.h"
#include "inlined_clock.h"
#include "tags.h"
#include "writer.h"

/*
 * Return @now, or the last timestamp of this CPU if the clock has stepped back, and
 * store the result as the last timestamp.  Unit: nanoseconds.  Context: interrupts are
 * off.
 */
static __always_inline u64 kmemtrace_not_back(u64 now)
{
	u64 last = raw_cpu_read(kmemtrace_cpus.last);

	if (unlikely((s64)(now - last) < 0))
		now = last;
	raw_cpu_write(kmemtrace_cpus.last, now);
	return now;
}

/* Return a timestamp for a record, in nanoseconds.  Context: interrupts are off. */
static __always_inline u64 kmemtrace_cpu_clock(void)
{
	return kmemtrace_not_back(kmemtrace_raw_clock());
}

/*
 * Move the writer's position to @offset, in bytes from the beginning of the sub-buffer,
 * and so publish the records before @offset.  Context: the writer of the buffer,
 * interrupts off.
 */
static __always_inline void kmemtrace_publish(struct rchan_buf *buf, size_t offset)
{
	/*
	 * A reader on any CPU that reads the new offset also reads the complete
	 * record.  Pairs with smp_load_acquire() in kmemtrace_read_state().
	 */
	smp_store_release(&buf->offset, offset);
}

/*
 * Publish the record of @size bytes at the writer's position.  Context: the writer of
 * the buffer, interrupts off.
 */
static __always_inline void kmemtrace_commit(struct rchan_buf *buf, size_t size)
{
	kmemtrace_publish(buf, buf->offset + size);
}

/* Store the fields of version 1 except the timestamp.  @event_size: in bytes. */
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
 * Store the timestamp of the record at the writer's position, which is @offset in @buf,
 * and commit the record of @size bytes.  Return the buffer.  Context: the writer,
 * interrupts off.
 *
 * The timestamp is stored last.  If the clock is a function call, the address of the
 * record is computed again after the call, because loading the address again costs less
 * than preserving registers across the call.
 */
static __always_inline struct rchan_buf *
kmemtrace_finish(struct rchan_buf *buf, size_t offset, size_t size)
{
	struct kmemtrace_event *event;
	u64 now;

	if (kmemtrace_clock_is_inlined()) {
		now = kmemtrace_not_back(kmemtrace_inlined_clock());
	} else {
		now = kmemtrace_not_back(kmemtrace_raw_clock());
		buf = raw_cpu_read(kmemtrace_cpus.own);
		offset = buf->offset;
	}
	event = buf->data + offset;
	event->timestamp = now;
	kmemtrace_publish(buf, offset + size);
	return buf;
}

/*
 * Write and commit a record to the buffer of this CPU, which has room.  Return the
 * buffer.  @offset: the writer's position in @buf.  @size: size of a record, in bytes;
 * unused for version 1.  The caller has written the bytes beyond struct
 * kmemtrace_event_v2, because the memory may contain an old record.  @context:
 * preempt_count().  @account: KMEMTRACE_FLAG_ACCOUNT or 0.  Context: the writer of the
 * buffer, interrupts off, kmemtrace_cpus.buf is &kmemtrace_busy.
 */
static __always_inline struct rchan_buf *
kmemtrace_write(struct rchan_buf *buf, size_t offset, u16 size,
		unsigned int context, u8 event_id, u8 type_id,
		unsigned long call_site, u64 ptr, size_t bytes_req,
		size_t bytes_alloc, gfp_t gfp_flags, int node, u16 cache,
		u16 account)
{
	struct kmemtrace_event_v2 *event = buf->data + offset;

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
		return kmemtrace_finish(buf, offset, size);
	}
	kmemtrace_fill(&event->v1, event_id, type_id, sizeof(event->v1),
		       call_site, ptr, bytes_req, bytes_alloc, gfp_flags, node);
	return kmemtrace_finish(buf, offset, sizeof(event->v1));
}

/*
 * Record an event.  This is the fast path, in which each instruction counts: see
 * bench/kernel of the kmemtrace tools.  @call_site: return address; the record may
 * have the allocation tag instead: see kmemtrace_call_site().  @ptr: address of the
 * memory.  @bytes_req and @bytes_alloc: requested and allocated bytes, 0 except for an
 * allocation.  @node: requested NUMA node.  @cache: number of the cache, or
 * KMEMTRACE_CACHE_NONE.  @account: KMEMTRACE_FLAG_ACCOUNT or 0.  Any context.
 */
static __always_inline void
kmemtrace_record(u8 event_id, u8 type_id, unsigned long call_site, u64 ptr,
		 size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
		 int node, u16 cache, u16 account)
{
	unsigned int context = preempt_count();
	struct rchan_buf *buf;
	unsigned long flags;
	unsigned long site;
	size_t offset;

	if (unlikely(context & NMI_MASK))
		goto slow;

	/*
	 * If the limit sends this event to the slow path, which looks up the call site,
	 * do not look it up here.  If the task moves to another CPU after this test,
	 * the slow path may repeat the lookup, which does no harm.
	 */
	if (kmemtrace_may_have_tag(event_id) && raw_cpu_read(kmemtrace_cpus.limit) < 0)
		goto slow;
	site = kmemtrace_call_site(event_id, call_site, gfp_flags);
	/* Use the raw function: a tracer of the interrupt flags may cause an event. */
	raw_local_irq_save(flags);
	kmemtrace_test_enter(KMEMTRACE_TEST_RECORD);
	buf = raw_cpu_read(kmemtrace_cpus.buf);
	offset = buf->offset;
	if (likely((int)offset <= raw_cpu_read(kmemtrace_cpus.limit))) {
		/*
		 * Do what kmemtrace_begin_write() does, without its test: the buffer
		 * is not kmemtrace_busy, because kmemtrace_busy never has room.
		 */
		raw_cpu_write(kmemtrace_cpus.buf, &kmemtrace_busy);
		barrier();
		buf = kmemtrace_write(buf, offset,
				      sizeof(struct kmemtrace_event_v2),
				      context, event_id, type_id, site,
				      ptr, bytes_req, bytes_alloc, gfp_flags,
				      node, cache, account);
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

/*
 * Record an allocation.  @account: whether the cache accounts its objects to memory
 * cgroups; __GFP_ACCOUNT in @gfp_flags also sets the flag.  The other parameters are
 * those of kmemtrace_record().  Any context.
 */
static __always_inline void
kmemtrace_record_alloc(u8 type_id, unsigned long call_site, u64 ptr,
		       size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
		       int node, u16 cache, bool account)
{
	account = kmemtrace_accounts() &&
		  (account || (gfp_flags & __GFP_ACCOUNT));
	kmemtrace_record(KMEMTRACE_EVENT_ALLOC, type_id, call_site, ptr,
			 bytes_req, bytes_alloc, gfp_flags, node, cache,
			 account ? KMEMTRACE_FLAG_ACCOUNT : 0);
}

/* Record a free.  The parameters are those of kmemtrace_record().  Any context. */
static __always_inline void
kmemtrace_record_free(u8 type_id, unsigned long call_site, u64 ptr, u16 cache)
{
	kmemtrace_record(KMEMTRACE_EVENT_FREE, type_id, call_site, ptr, 0, 0,
			 (__force gfp_t)0, KMEMTRACE_NODE_NONE, cache, 0);
}

/*
 * Record that memory was handed over to be freed later.  The parameters are those of
 * kmemtrace_record().  Any context.
 */
static __always_inline void
kmemtrace_record_defer(u8 type_id, unsigned long call_site, u64 ptr, u16 cache)
{
	kmemtrace_record(KMEMTRACE_EVENT_DEFER, type_id, call_site, ptr, 0, 0,
			 (__force gfp_t)0, KMEMTRACE_NODE_NONE, cache, 0);
}

#endif /* _MM_KMEMTRACE_RECORD_H */
