// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: sets of buffers, and the memory order between their writers and
 * readers.
 *
 * The writer of a CPU publishes each record by storing buf->offset with release.
 * Its changes at the start of another sub-buffer are within a seqcount, so that a
 * reader on any CPU sees a sub-buffer and an offset that belong together.
 *
 * A reader copies without a lock and then checks whether the writer has entered
 * the sub-buffer meanwhile: the writer increments subbufs_produced before the first
 * record of a sub-buffer, and the reader loads it after the last record that it
 * copied.  In discard mode the writer does not enter a sub-buffer before the reader
 * has given it back, which the reader does with release.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/kernel.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>
#include <linux/math64.h>

#include "internal.h"
#include "buffer.h"

bool kmemtrace_overwrite __read_mostly;

static struct kmemtrace_reader *kmemtrace_reader_of(struct rchan_buf *buf)
{
	return per_cpu_ptr(kmemtrace_set_of(buf)->readers, buf->cpu);
}
NOKPROBE_SYMBOL(kmemtrace_reader_of);

static void kmemtrace_next_subbuf(struct rchan_buf *buf)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);
	size_t n = buf->chan->n_subbufs;
	size_t size = buf->chan->subbuf_size;

	kmemtrace_write_begin(&reader->seq);
	buf->padding[buf->subbufs_produced % n] = size - min(size, buf->offset);
	WRITE_ONCE(buf->subbufs_produced, buf->subbufs_produced + 1);
	buf->data = buf->start + buf->subbufs_produced % n * size;
	WRITE_ONCE(buf->offset, 0);
	/* Has a barrier: the count comes before the first record. */
	raw_write_seqcount_end(&reader->seq);
}
NOKPROBE_SYMBOL(kmemtrace_next_subbuf);

/* The sub-buffer of the reader, who may not have come to this filling yet. */
static size_t kmemtrace_reader_subbuf(struct rchan_buf *buf)
{
	size_t start = kmemtrace_reader_of(buf)->start.subbuf;
	/* Acquire: what is written comes after what the reader has copied. */
	size_t consumed = smp_load_acquire(&buf->subbufs_consumed);

	return (ssize_t)(start - consumed) > 0 ? start : consumed;
}
NOKPROBE_SYMBOL(kmemtrace_reader_subbuf);

static void kmemtrace_fill_next(struct rchan_buf *buf)
{
	kmemtrace_next_subbuf(buf);
	/* Only now may somebody sleep; soon, as this may be the scheduler. */
	if (kmemtrace_set_of(buf) == READ_ONCE(kmemtrace_live.buffers))
		kmemtrace_view_wake(&kmemtrace_live, buf->cpu);
}
NOKPROBE_SYMBOL(kmemtrace_fill_next);

/*
 * No: the reader has not yet taken the sub-buffer that comes next.
 * subbufs_consumed is the reader's; an old value of it only means that an event
 * is lost which might just have found room.
 */
bool kmemtrace_has_room(struct rchan_buf *buf)
{
	size_t consumed;

	if (kmemtrace_fits(buf))
		return true;
	/* It is one more than produced where all was read. */
	consumed = kmemtrace_reader_subbuf(buf);
	if (buf->subbufs_produced + 1 - consumed >= buf->chan->n_subbufs &&
	    !READ_ONCE(kmemtrace_overwrite))
		return false;
	kmemtrace_fill_next(buf);
	return true;
}
NOKPROBE_SYMBOL(kmemtrace_has_room);

bool kmemtrace_has_room_for(struct rchan_buf *buf, unsigned int records)
{
	size_t others = buf->chan->n_subbufs - 1;
	size_t size = buf->chan->subbuf_size;
	ssize_t unread;

	if (!READ_ONCE(kmemtrace_overwrite)) {
		unread = buf->subbufs_produced - kmemtrace_reader_subbuf(buf);
		others -= clamp_t(ssize_t, unread, 0, others);
	}
	return records <= (size - min(size, buf->offset)) /
			  kmemtrace_record_size +
			  others * (size / kmemtrace_record_size);
}
NOKPROBE_SYMBOL(kmemtrace_has_room_for);

/* Whatever the mode is by now: half of a mark would be worth nothing. */
void *kmemtrace_room(struct rchan_buf *buf)
{
	if (!kmemtrace_fits(buf))
		kmemtrace_fill_next(buf);
	return buf->data + buf->offset;
}
NOKPROBE_SYMBOL(kmemtrace_room);

static __always_inline void kmemtrace_lock_reader(struct kmemtrace_reader *reader,
						  struct kmemtrace_guard *guard)
	__acquires(&reader->lock)
{
	kmemtrace_lock(&reader->lock, guard);
	kmemtrace_test_point(KMEMTRACE_TEST_READER_LOCK);
}

/* The positions of the writer and of the reader at one moment. */
struct kmemtrace_state {
	size_t	produced;	/* sub-buffers before the writer's */
	size_t	offset;		/* of the writer in its own */
	size_t	end;		/* of the sub-buffer of the reader's position */
	bool	full;		/* that has room for no more */
};

/*
 * How many sub-buffers the writer is ahead of the reader.  -1: it will find that
 * its own is full, which the reader has read already.
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

static void kmemtrace_look(struct rchan_buf *buf, struct kmemtrace_state *state)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);
	size_t size = buf->chan->subbuf_size;
	size_t n = buf->chan->n_subbufs;
	size_t padding;
	unsigned int seq;

	do {
		seq = raw_read_seqcount_begin(&reader->seq);
		state->produced = READ_ONCE(buf->subbufs_produced);
		/* The records before it are whole. */
		state->offset = smp_load_acquire(&buf->offset);
		padding = READ_ONCE(buf->padding[buf->subbufs_consumed % n]);
	} while (read_seqcount_retry(&reader->seq, seq));
	/* Whatever the writer did, no reader leaves its sub-buffer. */
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
NOKPROBE_SYMBOL(kmemtrace_look);

/*
 * Bytes from the reader's position on that are there, in state's moment.  All
 * sub-buffers but the writer's are full.
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
 * The records before what is intact, which the reader can no longer take;
 * they are all full, as a session begins at the start of a sub-buffer.
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

/* Context: reader->lock. */
static void kmemtrace_move_to(struct rchan_buf *buf, size_t subbuf,
			      size_t bytes)
{
	buf->bytes_consumed = bytes;
	/* The copy is complete before the writer may enter the sub-buffer. */
	smp_store_release(&buf->subbufs_consumed, subbuf);
}
NOKPROBE_SYMBOL(kmemtrace_move_to);

/*
 * Goes to the filling that the writer has begun.  false: that is not the set's,
 * so that the buffer is empty.  Context: reader->lock.
 */
static bool kmemtrace_catch_up(struct rchan_buf *buf,
			       struct kmemtrace_reader *reader)
{
	struct kmemtrace_buffers *buffers = kmemtrace_set_of(buf);
	/* With where it starts. */
	unsigned int filling = smp_load_acquire(&reader->filling);

	if (reader->seen != filling) {
		reader->seen = filling;
		reader->turn++;
		reader->taken = 0;
		reader->missed = 0;
		reader->missed_told = 0;
		reader->last = buffers->filled_since;
		kmemtrace_move_to(buf, reader->start.subbuf,
				  reader->start.bytes);
	}
	return filling == READ_ONCE(buffers->filling);
}
NOKPROBE_SYMBOL(kmemtrace_catch_up);

/*
 * Moves the reader's position to where something can be taken, if anything can.
 * Context: reader->lock.
 */
static void kmemtrace_advance(struct rchan_buf *buf,
			      struct kmemtrace_reader *reader,
			      struct kmemtrace_state *state)
{
	u64 missed;

	for (;;) {
		kmemtrace_look(buf, state);
		missed = kmemtrace_overwritten(buf, state);
		if (missed) {
			reader->missed += missed;
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
 * Tells of what was overwritten, to whom comes to what is there now.  The first
 * record lost came after the last one that was taken.
 */
static void kmemtrace_fill_lost(struct kmemtrace_reader *reader,
				struct kmemtrace_taking *taking)
{
	u64 events = reader->missed - reader->missed_told;
	s64 next;

	taking->lost = (struct kmemtrace_event_lost) { .events = 0 };
	if (!events || !taking->bytes || kmemtrace_abi < 2)
		return;
	next = kmemtrace_timestamp(taking->from);
	taking->lost = (struct kmemtrace_event_lost) {
		.event_id = KMEMTRACE_EVENT_LOST,
		.event_size = kmemtrace_record_size,
		.node = KMEMTRACE_NODE_NONE,
		.events = events,
		.since = min(reader->last, next),
		.timestamp = next,
	};
}
NOKPROBE_SYMBOL(kmemtrace_fill_lost);

void kmemtrace_take(struct kmemtrace_buffers *buffers, unsigned int cpu,
		    size_t most, struct kmemtrace_taking *taking)
{
	struct rchan_buf *buf = kmemtrace_buffer(buffers, cpu);
	struct kmemtrace_reader *reader = per_cpu_ptr(buffers->readers, cpu);
	struct kmemtrace_state state;
	struct kmemtrace_guard guard;

	*taking = (struct kmemtrace_taking) { .bytes = 0 };
	if (!buf)
		return;
	kmemtrace_lock_reader(reader, &guard);
	if (!kmemtrace_catch_up(buf, reader))
		goto out;
	kmemtrace_advance(buf, reader, &state);
	taking->turn = reader->turn;
	taking->position.subbuf = buf->subbufs_consumed;
	taking->position.bytes = buf->bytes_consumed;
	taking->from = buf->start + buf->bytes_consumed +
		       buf->subbufs_consumed % buf->chan->n_subbufs *
		       buf->chan->subbuf_size;
	if (state.end > buf->bytes_consumed)
		taking->bytes = min(most, state.end - buf->bytes_consumed);
	kmemtrace_fill_lost(reader, taking);
out:
	kmemtrace_unlock(&reader->lock, &guard);
}
NOKPROBE_SYMBOL(kmemtrace_take);

int kmemtrace_give(struct kmemtrace_buffers *buffers, unsigned int cpu,
		   const struct kmemtrace_taking *taking, size_t bytes)
{
	struct rchan_buf *buf = kmemtrace_buffer(buffers, cpu);
	struct kmemtrace_reader *reader = per_cpu_ptr(buffers->readers, cpu);
	struct kmemtrace_state state;
	struct kmemtrace_guard guard;
	int err = -EAGAIN;
	s64 last = 0;

	if (bytes)
		last = kmemtrace_timestamp(taking->from + bytes -
					   kmemtrace_record_size);
	/* Copied, and read above, before the writer is looked for. */
	smp_rmb();
	kmemtrace_lock_reader(reader, &guard);
	if (!kmemtrace_catch_up(buf, reader) || taking->turn != reader->turn ||
	    taking->position.subbuf != buf->subbufs_consumed ||
	    taking->position.bytes != buf->bytes_consumed ||
	    !kmemtrace_is_intact(buf, READ_ONCE(buf->subbufs_produced)))
		goto out;
	reader->missed_told += taking->lost.events;
	reader->taken += bytes;
	if (bytes)
		reader->last = last;
	kmemtrace_move_to(buf, taking->position.subbuf,
			  taking->position.bytes + bytes);
	/* So that the writer gets room at once. */
	kmemtrace_advance(buf, reader, &state);
	err = 0;
out:
	kmemtrace_unlock(&reader->lock, &guard);
	return err;
}
NOKPROBE_SYMBOL(kmemtrace_give);

void kmemtrace_figures(struct kmemtrace_buffers *buffers, unsigned int cpu,
		       struct kmemtrace_figures *figures)
{
	struct rchan_buf *buf = kmemtrace_buffer(buffers, cpu);
	struct kmemtrace_reader *reader = per_cpu_ptr(buffers->readers, cpu);
	struct kmemtrace_state state;
	struct kmemtrace_guard guard;
	u64 overwritten;
	size_t full;

	*figures = (struct kmemtrace_figures) { .produced = 0 };
	if (!buf)
		return;
	full = rounddown(buffers->subbuf_size, kmemtrace_record_size);
	kmemtrace_lock_reader(reader, &guard);
	figures->carried = reader->carried;
	if (!kmemtrace_catch_up(buf, reader))
		goto out;
	kmemtrace_look(buf, &state);
	overwritten = kmemtrace_overwritten(buf, &state);
	figures->produced = (u64)(state.produced - reader->start.subbuf) *
			    full + state.offset - reader->start.bytes;
	figures->taken = reader->taken;
	figures->unread = kmemtrace_unread(buf, &state) -
			  overwritten * kmemtrace_record_size;
	figures->complete = figures->unread > state.offset;
	figures->missed = reader->missed + overwritten;
out:
	kmemtrace_unlock(&reader->lock, &guard);
}
NOKPROBE_SYMBOL(kmemtrace_figures);

/*
 * Begins at the start of a sub-buffer, so that those of a session are all full
 * but the last.  Returns which one that is.  Context: reader->lock.
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

	buffers->filled_since = now;
	/* Also for CPUs that will come: their buffers are new then. */
	for_each_possible_cpu(cpu) {
		buf = kmemtrace_buffer(buffers, cpu);
		reader = per_cpu_ptr(buffers->readers, cpu);
		kmemtrace_lock_reader(reader, &guard);
		reader->start.subbuf = buf ? kmemtrace_reset_buffer(buf) : 0;
		reader->start.bytes = 0;
		reader->filling = buffers->filling;
		reader->seen = reader->filling;
		reader->sealed = reader->filling - 1;
		reader->turn++;
		reader->lost_before = 0;
		reader->carried = 0;
		reader->taken = 0;
		reader->missed = 0;
		reader->missed_told = 0;
		reader->last = now;
		kmemtrace_unlock(&reader->lock, &guard);
	}
}
NOKPROBE_SYMBOL(kmemtrace_buffers_reset);

void kmemtrace_buffers_renew(struct kmemtrace_buffers *buffers, u64 now)
{
	buffers->filled_since = now;
	/* Before anybody finds the set to be live: kmemtrace_view_replace(). */
	WRITE_ONCE(buffers->filling, buffers->filling + 1);
}
NOKPROBE_SYMBOL(kmemtrace_buffers_renew);

bool kmemtrace_buffer_is_begun(struct rchan_buf *buf)
{
	return kmemtrace_reader_of(buf)->filling ==
	       READ_ONCE(kmemtrace_set_of(buf)->filling);
}
NOKPROBE_SYMBOL(kmemtrace_buffer_is_begun);

/* Begins at the start of a sub-buffer, as kmemtrace_reset() does. */
void kmemtrace_buffer_begin(struct rchan_buf *buf, u64 lost)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);

	if (kmemtrace_buffer_is_begun(buf))
		return;
	if (buf->offset)
		kmemtrace_next_subbuf(buf);
	reader->start.subbuf = buf->subbufs_produced;
	reader->start.bytes = 0;
	reader->lost_before = lost;
	/* Pairs with kmemtrace_catch_up(). */
	smp_store_release(&reader->filling,
			  READ_ONCE(kmemtrace_set_of(buf)->filling));
}
NOKPROBE_SYMBOL(kmemtrace_buffer_begin);

/*
 * carried: what was taken, of this and all before.  A buffer that was not begun
 * by now will not be: see kmemtrace_enter_buffer().
 */
static void kmemtrace_seal(struct rchan_buf *buf, u64 *carried)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);
	struct kmemtrace_guard guard;

	kmemtrace_lock_reader(reader, &guard);
	*carried = reader->carried;
	if (kmemtrace_catch_up(buf, reader)) {
		*carried += reader->taken;
		reader->turn++;
		reader->sealed_taken = reader->taken;
		reader->sealed_told = reader->missed_told;
		reader->sealed_last = reader->last;
		reader->lost_after = kmemtrace_lost(buf->cpu);
		/* Pairs with kmemtrace_buffer_left(). */
		smp_store_release(&reader->sealed, reader->seen);
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

	/* Between what is live and what was begun: the writer's other way round. */
	smp_mb();
	for_each_possible_cpu(cpu) {
		buf = kmemtrace_buffer(buffers, cpu);
		if (!buf)
			continue;
		kmemtrace_seal(buf, &carried);
		reader = per_cpu_ptr(next->readers, cpu);
		kmemtrace_lock_reader(reader, &guard);
		reader->carried = carried;
		kmemtrace_unlock(&reader->lock, &guard);
	}
}
NOKPROBE_SYMBOL(kmemtrace_buffers_seal);

/* The number of records of the writer's filling.  Context: the writer. */
static u64 kmemtrace_records(struct rchan_buf *buf)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);
	size_t records = buf->chan->subbuf_size / kmemtrace_record_size;

	return (u64)(buf->subbufs_produced - reader->start.subbuf) * records +
	       buf->offset / kmemtrace_record_size;
}
NOKPROBE_SYMBOL(kmemtrace_records);

bool kmemtrace_buffer_left(struct rchan_buf *buf, struct kmemtrace_left *left)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);

	/* Acquire: what the seal says comes before it. */
	if (smp_load_acquire(&reader->sealed) != reader->filling)
		return false;
	left->events = kmemtrace_records(buf) -
		       div_u64(reader->sealed_taken, kmemtrace_record_size);
	left->told = reader->sealed_told;
	left->since = reader->sealed_last;
	return true;
}
NOKPROBE_SYMBOL(kmemtrace_buffer_left);

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
	    reader->sealed == reader->seen) {
		kmemtrace_look(buf, &state);
		events = reader->lost_after - reader->lost_before +
			 reader->missed + kmemtrace_overwritten(buf, &state) -
			 reader->sealed_told;
	}
	kmemtrace_unlock(&reader->lock, &guard);
	return events;
}
NOKPROBE_SYMBOL(kmemtrace_sealed_overruns);

u64 kmemtrace_sealed_taken(struct kmemtrace_buffers *buffers, unsigned int cpu)
{
	struct rchan_buf *buf = kmemtrace_buffer(buffers, cpu);
	struct kmemtrace_reader *reader = per_cpu_ptr(buffers->readers, cpu);
	struct kmemtrace_guard guard;
	u64 bytes = 0;

	if (!buf)
		return 0;
	kmemtrace_lock_reader(reader, &guard);
	if (kmemtrace_catch_up(buf, reader) && reader->sealed == reader->seen)
		bytes = reader->taken - reader->sealed_taken;
	kmemtrace_unlock(&reader->lock, &guard);
	return bytes;
}
NOKPROBE_SYMBOL(kmemtrace_sealed_taken);
