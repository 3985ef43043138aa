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
#include "writer.h"

/* Return the time now, which is not before the last timestamp of this CPU. */
static __always_inline u64 kmemtrace_cpu_clock(void)
{
	u64 now = kmemtrace_raw_clock();
	u64 last = raw_cpu_read(kmemtrace_cpus.last);

	if (unlikely((s64)(now - last) < 0))
		now = last;
	raw_cpu_write(kmemtrace_cpus.last, now);
	return now;
}

static __always_inline void kmemtrace_commit(struct rchan_buf *buf, size_t size)
{
	/*
	 * The record exists for a reader, also on another CPU, from here on.  Pairs
	 * with smp_load_acquire() in kmemtrace_read_state().
	 */
	smp_store_release(&buf->offset, buf->offset + size);
}

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
 * Write a record where there is room.  @size: of a record of version 2, in bytes.
 * @context: preempt_count().  @account: KMEMTRACE_FLAG_ACCOUNT or 0.  The clock is a
 * call: it comes when few values have to be kept across it.
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
 * Record an event.  Each instruction counts here: see bench/kernel of the kmemtrace
 * tools.  Context: any.
 */
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

#endif /* _MM_KMEMTRACE_RECORD_H */
