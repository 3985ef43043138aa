// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the readers' side of a buffer: a reader acquires records, copies them
 * without a lock, and releases them.  buffer.c describes the memory order.
 */

#include <linux/kernel.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>

#include "buffer.h"
#include "guard.h"

static __always_inline void kmemtrace_lock_reader(struct kmemtrace_reader *reader,
						  struct kmemtrace_guard *guard)
	__acquires(&reader->lock)
{
	kmemtrace_lock(&reader->lock, guard);
	kmemtrace_test_point(KMEMTRACE_TEST_READER_LOCK);
}

/* The positions of the writer and of the readers at one moment. */
struct kmemtrace_state {
	size_t	produced;	/* number of sub-buffers that the writer has left */
	size_t	offset;		/* bytes of records in the writer's sub-buffer */
	size_t	end;		/* bytes of records in the readers' sub-buffer */
	bool	full;		/* the readers' sub-buffer has no room for a record */
};

/*
 * Return how many sub-buffers the writer is ahead of the readers.  -1: the writer's
 * own sub-buffer is full and has been read, and the writer has not left it yet.
 */
static ssize_t kmemtrace_ahead(size_t produced, size_t consumed)
{
	return produced - consumed;
}
NOKPROBE_SYMBOL(kmemtrace_ahead);

static bool kmemtrace_is_intact(struct rchan_buf *buf, size_t produced)
{
	return kmemtrace_ahead(produced, buf->subbufs_consumed) <
	       (ssize_t)buf->chan->n_subbufs;
}
NOKPROBE_SYMBOL(kmemtrace_is_intact);

static void kmemtrace_read_state(struct rchan_buf *buf, struct kmemtrace_state *state)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);
	size_t size = buf->chan->subbuf_size;
	size_t n = buf->chan->n_subbufs;
	size_t padding;
	unsigned int seq;

	do {
		seq = raw_read_seqcount_begin(&reader->seq);
		state->produced = READ_ONCE(buf->subbufs_produced);
		/* All records before the offset are complete. */
		state->offset = smp_load_acquire(&buf->offset);
		padding = READ_ONCE(buf->padding[buf->subbufs_consumed % n]);
	} while (read_seqcount_retry(&reader->seq, seq));
	/* Whatever the writer has stored, a reader stays inside of its sub-buffer. */
	state->offset = min(state->offset, size);
	padding = min(padding, size);
	switch (kmemtrace_ahead(state->produced, buf->subbufs_consumed)) {
	case -1:
		state->end = 0;
		state->full = false;
		break;
	case 0:
		state->end = state->offset;
		state->full = state->end + kmemtrace_record_size > size;
		break;
	default:
		state->end = size - padding;
		state->full = true;
	}
}
NOKPROBE_SYMBOL(kmemtrace_read_state);

/*
 * Return the unread bytes at the moment of @state.  All sub-buffers but the writer's
 * are full.
 */
static u64 kmemtrace_unread(struct rchan_buf *buf,
			    const struct kmemtrace_state *state)
{
	size_t full = rounddown(buf->chan->subbuf_size, kmemtrace_record_size);
	ssize_t subbufs = kmemtrace_ahead(state->produced,
					  buf->subbufs_consumed);

	return (s64)subbufs * full + state->offset - buf->bytes_consumed;
}
NOKPROBE_SYMBOL(kmemtrace_unread);

/*
 * Return how many records from the readers' position on the writer had overwritten at
 * the moment of @state.  The sub-buffers of these records were full, because an epoch
 * begins at the start of a sub-buffer.
 */
static u64 kmemtrace_overwritten(struct rchan_buf *buf,
				 const struct kmemtrace_state *state)
{
	size_t subbufs = state->produced - buf->subbufs_consumed;
	size_t records = buf->chan->subbuf_size / kmemtrace_record_size;

	if (kmemtrace_is_intact(buf, state->produced))
		return 0;
	return (u64)(subbufs - buf->chan->n_subbufs + 1) * records -
	       buf->bytes_consumed / kmemtrace_record_size;
}
NOKPROBE_SYMBOL(kmemtrace_overwritten);

/* Set the readers' position.  Context: reader->lock is held. */
static void kmemtrace_move_to(struct rchan_buf *buf, size_t subbuf,
			      size_t bytes)
{
	buf->bytes_consumed = bytes;
	/*
	 * The reader's copy is complete before the writer may overwrite the copied
	 * sub-buffer.  Pairs with kmemtrace_reader_subbuf().
	 */
	smp_store_release(&buf->subbufs_consumed, subbuf);
}
NOKPROBE_SYMBOL(kmemtrace_move_to);

/*
 * If the writer has entered another epoch than the readers, move the readers to the
 * start of the writer's epoch.  Return false if the writer's epoch is not the current
 * epoch of the set; the buffer then counts as empty.  Context: reader->lock is held.
 */
static bool kmemtrace_catch_up(struct rchan_buf *buf,
			       struct kmemtrace_reader *reader)
{
	struct kmemtrace_buffers *buffers = kmemtrace_set_of(buf);
	/* Read start after this; pairs with kmemtrace_buffer_enter_epoch(). */
	unsigned int filling = smp_load_acquire(&reader->writer_epoch);

	if (reader->reader_epoch != filling) {
		reader->reader_epoch = filling;
		reader->version++;
		reader->consumed = 0;
		reader->overwritten = 0;
		reader->overwritten_reported = 0;
		reader->last_timestamp = buffers->epoch_start;
		kmemtrace_move_to(buf, reader->start.subbuf,
				  reader->start.bytes);
	}
	return filling == READ_ONCE(buffers->epoch);
}
NOKPROBE_SYMBOL(kmemtrace_catch_up);

/*
 * Move the readers' position to the next record that can be acquired, if there is
 * one, and count the records before this position that were overwritten unread.
 * Context: reader->lock is held.
 */
static void kmemtrace_advance(struct rchan_buf *buf,
			      struct kmemtrace_reader *reader,
			      struct kmemtrace_state *state)
{
	u64 missed;

	for (;;) {
		kmemtrace_read_state(buf, state);
		missed = kmemtrace_overwritten(buf, state);
		if (missed) {
			reader->overwritten += missed;
			kmemtrace_move_to(buf, state->produced -
					  buf->chan->n_subbufs + 1, 0);
		} else if (state->full && buf->bytes_consumed >= state->end) {
			kmemtrace_move_to(buf, buf->subbufs_consumed + 1, 0);
		} else {
			return;
		}
	}
}
NOKPROBE_SYMBOL(kmemtrace_advance);

static s64 kmemtrace_timestamp(const void *record)
{
	const struct kmemtrace_event *event = record;

	return READ_ONCE(event->timestamp);
}
NOKPROBE_SYMBOL(kmemtrace_timestamp);

/*
 * Prepare a LOST record for the records that were overwritten before the acquired
 * ones.  The loss began after the last record that was read.
 */
static void kmemtrace_fill_lost(struct kmemtrace_reader *reader,
				struct kmemtrace_acquired *acquired)
{
	u64 events = reader->overwritten - reader->overwritten_reported;
	s64 next;

	acquired->lost = (struct kmemtrace_event_lost) { .events = 0 };
	if (!events || !acquired->bytes || kmemtrace_abi < 2)
		return;
	next = kmemtrace_timestamp(acquired->from);
	acquired->lost = (struct kmemtrace_event_lost) {
		.event_id = KMEMTRACE_EVENT_LOST,
		.event_size = kmemtrace_record_size,
		.node = KMEMTRACE_NODE_NONE,
		.events = events,
		.since = min(reader->last_timestamp, next),
		.timestamp = next,
	};
}
NOKPROBE_SYMBOL(kmemtrace_fill_lost);

void kmemtrace_acquire_records(struct kmemtrace_buffers *buffers, unsigned int cpu,
		    size_t most, struct kmemtrace_acquired *acquired)
{
	struct rchan_buf *buf = kmemtrace_buffer(buffers, cpu);
	struct kmemtrace_reader *reader = per_cpu_ptr(buffers->readers, cpu);
	struct kmemtrace_state state;
	struct kmemtrace_guard guard;

	*acquired = (struct kmemtrace_acquired) { .bytes = 0 };
	if (!buf)
		return;
	kmemtrace_lock_reader(reader, &guard);
	if (!kmemtrace_catch_up(buf, reader))
		goto out;
	kmemtrace_advance(buf, reader, &state);
	acquired->version = reader->version;
	acquired->position.subbuf = buf->subbufs_consumed;
	acquired->position.bytes = buf->bytes_consumed;
	acquired->from = buf->start + buf->bytes_consumed +
		       buf->subbufs_consumed % buf->chan->n_subbufs *
		       buf->chan->subbuf_size;
	if (state.end > buf->bytes_consumed)
		acquired->bytes = min(most, state.end - buf->bytes_consumed);
	kmemtrace_fill_lost(reader, acquired);
out:
	kmemtrace_unlock(&reader->lock, &guard);
}
NOKPROBE_SYMBOL(kmemtrace_acquire_records);

int kmemtrace_release_records(struct kmemtrace_buffers *buffers, unsigned int cpu,
		   const struct kmemtrace_acquired *acquired, size_t bytes)
{
	struct rchan_buf *buf = kmemtrace_buffer(buffers, cpu);
	struct kmemtrace_reader *reader = per_cpu_ptr(buffers->readers, cpu);
	struct kmemtrace_state state;
	struct kmemtrace_guard guard;
	int err = -EAGAIN;
	s64 last = 0;

	if (bytes)
		last = kmemtrace_timestamp(acquired->from + bytes -
					   kmemtrace_record_size);
	/*
	 * The caller's copy of the records and the read of the timestamp come before
	 * the read of the writer's position.  Pairs with the write section in
	 * kmemtrace_next_subbuf().
	 */
	smp_rmb();
	kmemtrace_lock_reader(reader, &guard);
	if (!kmemtrace_catch_up(buf, reader) || acquired->version != reader->version ||
	    acquired->position.subbuf != buf->subbufs_consumed ||
	    acquired->position.bytes != buf->bytes_consumed ||
	    !kmemtrace_is_intact(buf, READ_ONCE(buf->subbufs_produced)))
		goto out;
	reader->overwritten_reported += acquired->lost.events;
	reader->consumed += bytes;
	if (bytes)
		reader->last_timestamp = last;
	kmemtrace_move_to(buf, acquired->position.subbuf,
			  acquired->position.bytes + bytes);
	/* Let the writer reuse this sub-buffer now if it is full and was read. */
	kmemtrace_advance(buf, reader, &state);
	err = 0;
out:
	kmemtrace_unlock(&reader->lock, &guard);
	return err;
}
NOKPROBE_SYMBOL(kmemtrace_release_records);

void kmemtrace_buffer_stats(struct kmemtrace_buffers *buffers, unsigned int cpu,
		       struct kmemtrace_buffer_stats *figures)
{
	struct rchan_buf *buf = kmemtrace_buffer(buffers, cpu);
	struct kmemtrace_reader *reader = per_cpu_ptr(buffers->readers, cpu);
	struct kmemtrace_state state;
	struct kmemtrace_guard guard;
	u64 overwritten;
	size_t full;

	*figures = (struct kmemtrace_buffer_stats) { .produced = 0 };
	if (!buf)
		return;
	full = rounddown(buffers->subbuf_size, kmemtrace_record_size);
	kmemtrace_lock_reader(reader, &guard);
	figures->consumed_earlier = reader->consumed_earlier;
	if (!kmemtrace_catch_up(buf, reader))
		goto out;
	kmemtrace_read_state(buf, &state);
	overwritten = kmemtrace_overwritten(buf, &state);
	figures->produced = (u64)(state.produced - reader->start.subbuf) *
			    full + state.offset - reader->start.bytes;
	figures->consumed = reader->consumed;
	figures->unread = kmemtrace_unread(buf, &state) -
			  overwritten * kmemtrace_record_size;
	figures->has_full_subbuf = figures->unread > state.offset;
	figures->overwritten = reader->overwritten + overwritten;
out:
	kmemtrace_unlock(&reader->lock, &guard);
}
NOKPROBE_SYMBOL(kmemtrace_buffer_stats);

/*
 * Empty a buffer: move the writer and the readers to the start of a sub-buffer, so that
 * all sub-buffers of the new epoch but the last one are full.  Return the number of
 * sub-buffers before this start.  Context: reader->lock is held, and no CPU writes to
 * the buffer.
 */
static size_t kmemtrace_reset_buffer(struct rchan_buf *buf)
{
	if (buf->offset)
		kmemtrace_next_subbuf(buf);
	kmemtrace_move_to(buf, buf->subbufs_produced, 0);
	return buf->subbufs_produced;
}
NOKPROBE_SYMBOL(kmemtrace_reset_buffer);

void kmemtrace_buffers_reset(struct kmemtrace_buffers *buffers, u64 now)
{
	struct kmemtrace_reader *reader;
	struct rchan_buf *buf;
	struct kmemtrace_guard guard;
	unsigned int cpu;

	buffers->epoch_start = now;
	/* Includes CPUs without a buffer: a buffer that is added later is empty. */
	for_each_possible_cpu(cpu) {
		buf = kmemtrace_buffer(buffers, cpu);
		reader = per_cpu_ptr(buffers->readers, cpu);
		kmemtrace_lock_reader(reader, &guard);
		reader->start.subbuf = buf ? kmemtrace_reset_buffer(buf) : 0;
		reader->start.bytes = 0;
		reader->writer_epoch = buffers->epoch;
		reader->reader_epoch = reader->writer_epoch;
		reader->sealed_epoch = reader->writer_epoch - 1;
		reader->version++;
		reader->lost_before = 0;
		reader->consumed_earlier = 0;
		reader->consumed = 0;
		reader->overwritten = 0;
		reader->overwritten_reported = 0;
		reader->last_timestamp = now;
		kmemtrace_unlock(&reader->lock, &guard);
	}
}
NOKPROBE_SYMBOL(kmemtrace_buffers_reset);

/*
 * Seal a buffer: store the readers' state at the moment when its set ceases to be live.
 * @carried: receives the bytes that were read from the CPU's buffers of this set and of
 * all sets that were live before.  A CPU that has not entered the epoch of the set yet
 * will not enter the epoch afterwards: see kmemtrace_enter_buffer().
 */
static void kmemtrace_seal(struct rchan_buf *buf, u64 *carried)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);
	struct kmemtrace_guard guard;

	kmemtrace_lock_reader(reader, &guard);
	*carried = reader->consumed_earlier;
	if (kmemtrace_catch_up(buf, reader)) {
		*carried += reader->consumed;
		reader->version++;
		reader->sealed_consumed = reader->consumed;
		reader->sealed_reported = reader->overwritten_reported;
		reader->sealed_timestamp = reader->last_timestamp;
		reader->lost_after = kmemtrace_lost(buf->cpu);
		/* Pairs with kmemtrace_sealed_unread(). */
		smp_store_release(&reader->sealed_epoch, reader->reader_epoch);
	}
	kmemtrace_unlock(&reader->lock, &guard);
}
NOKPROBE_SYMBOL(kmemtrace_seal);

void kmemtrace_buffers_seal(struct kmemtrace_buffers *buffers,
			    struct kmemtrace_buffers *next)
{
	struct kmemtrace_reader *reader;
	struct rchan_buf *buf;
	struct kmemtrace_guard guard;
	unsigned int cpu;
	u64 carried;

	/*
	 * Orders the change of the live set before the reads of the epochs that the
	 * CPUs have entered.  Pairs with smp_mb() in kmemtrace_enter_buffer(), which
	 * orders the entry of an epoch before the read of the live set.
	 */
	smp_mb();
	for_each_possible_cpu(cpu) {
		buf = kmemtrace_buffer(buffers, cpu);
		if (!buf)
			continue;
		kmemtrace_seal(buf, &carried);
		reader = per_cpu_ptr(next->readers, cpu);
		kmemtrace_lock_reader(reader, &guard);
		reader->consumed_earlier = carried;
		kmemtrace_unlock(&reader->lock, &guard);
	}
}
NOKPROBE_SYMBOL(kmemtrace_buffers_seal);

u64 kmemtrace_sealed_overruns(struct kmemtrace_buffers *buffers,
			      unsigned int cpu)
{
	struct rchan_buf *buf = kmemtrace_buffer(buffers, cpu);
	struct kmemtrace_reader *reader = per_cpu_ptr(buffers->readers, cpu);
	struct kmemtrace_state state;
	struct kmemtrace_guard guard;
	u64 events = 0;

	if (!buf)
		return 0;
	kmemtrace_lock_reader(reader, &guard);
	if (kmemtrace_catch_up(buf, reader) &&
	    reader->sealed_epoch == reader->reader_epoch) {
		kmemtrace_read_state(buf, &state);
		events = reader->lost_after - reader->lost_before +
			 reader->overwritten + kmemtrace_overwritten(buf, &state) -
			 reader->sealed_reported;
	}
	kmemtrace_unlock(&reader->lock, &guard);
	return events;
}
NOKPROBE_SYMBOL(kmemtrace_sealed_overruns);

u64 kmemtrace_sealed_consumed(struct kmemtrace_buffers *buffers, unsigned int cpu)
{
	struct rchan_buf *buf = kmemtrace_buffer(buffers, cpu);
	struct kmemtrace_reader *reader = per_cpu_ptr(buffers->readers, cpu);
	struct kmemtrace_guard guard;
	u64 bytes = 0;

	if (!buf)
		return 0;
	kmemtrace_lock_reader(reader, &guard);
	if (kmemtrace_catch_up(buf, reader) && reader->sealed_epoch == reader->reader_epoch)
		bytes = reader->consumed - reader->sealed_consumed;
	kmemtrace_unlock(&reader->lock, &guard);
	return bytes;
}
NOKPROBE_SYMBOL(kmemtrace_sealed_consumed);
