// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the writer's side of a buffer, and the memory order between writer and
 * readers.
 *
 * The writer of a CPU publishes each record by storing buf->offset with release.
 * When the writer begins another sub-buffer, it changes buf in a write section of
 * reader->seq, so that a reader on any CPU sees a sub-buffer and an offset that belong
 * together.
 *
 * A reader copies records without a lock and then checks whether the writer has
 * entered the same sub-buffer again meanwhile: the writer increments subbufs_produced
 * before it writes the first record of a sub-buffer, and the reader loads
 * subbufs_produced after it has copied its last record.  In discard mode the writer
 * does not enter a sub-buffer again before the readers have released the sub-buffer, by
 * storing subbufs_consumed with release.
 */

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/math64.h>

#include "buffer.h"
#include "guard.h"
#include "view.h"

bool kmemtrace_overwrite __read_mostly;

void kmemtrace_next_subbuf(struct rchan_buf *buf)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);
	size_t n = buf->chan->n_subbufs;
	size_t size = buf->chan->subbuf_size;

	kmemtrace_write_begin(&reader->seq);
	buf->padding[buf->subbufs_produced % n] = size - min(size, buf->offset);
	WRITE_ONCE(buf->subbufs_produced, buf->subbufs_produced + 1);
	buf->data = buf->start + buf->subbufs_produced % n * size;
	WRITE_ONCE(buf->offset, 0);
	/*
	 * The write section ends with smp_wmb(), which orders subbufs_produced before
	 * the first record of the sub-buffer.  Pairs with smp_rmb() in
	 * kmemtrace_release_records().
	 */
	raw_write_seqcount_end(&reader->seq);
}
NOKPROBE_SYMBOL(kmemtrace_next_subbuf);

/*
 * Return the number of the sub-buffer of the readers' position.  If the readers have
 * not entered the writer's epoch yet, that position is the start of the writer's epoch.
 */
static size_t kmemtrace_reader_subbuf(struct rchan_buf *buf)
{
	size_t start = kmemtrace_reader_of(buf)->start.subbuf;
	/* Acquire: in discard mode the writer overwrites only copied records. */
	size_t consumed = smp_load_acquire(&buf->subbufs_consumed);

	return (ssize_t)(start - consumed) > 0 ? start : consumed;
}
NOKPROBE_SYMBOL(kmemtrace_reader_subbuf);

static void kmemtrace_fill_next(struct rchan_buf *buf)
{
	kmemtrace_next_subbuf(buf);
	/*
	 * Queues an irq_work that wakes the readers.  To wake them here is impossible,
	 * because the scheduler may have caused the event with its locks held.
	 */
	if (kmemtrace_set_of(buf) == READ_ONCE(kmemtrace_live.buffers))
		kmemtrace_view_wake(&kmemtrace_live, buf->cpu);
}
NOKPROBE_SYMBOL(kmemtrace_fill_next);

/*
 * The readers write subbufs_consumed.  If the writer reads an old value, the worst case
 * is that an event is lost although the readers have just released a sub-buffer.
 */
bool kmemtrace_has_room(struct rchan_buf *buf)
{
	size_t consumed;

	if (kmemtrace_fits(buf))
		return true;
	/* consumed is subbufs_produced + 1 if the full current sub-buffer was read. */
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

/*
 * kmemtrace_has_room_for() has found room for all records of an annotation.  If the
 * mode has changed from overwrite to discard meanwhile, the remaining records of the
 * annotation still overwrite old ones, because a part of an annotation is of no use.
 */
void *kmemtrace_record_slot(struct rchan_buf *buf)
{
	if (!kmemtrace_fits(buf))
		kmemtrace_fill_next(buf);
	return buf->data + buf->offset;
}
NOKPROBE_SYMBOL(kmemtrace_record_slot);

void kmemtrace_buffers_begin_epoch(struct kmemtrace_buffers *buffers, u64 now)
{
	buffers->epoch_start = now;
	/* The caller makes the set live afterwards, by kmemtrace_view_replace(). */
	WRITE_ONCE(buffers->epoch, buffers->epoch + 1);
}
NOKPROBE_SYMBOL(kmemtrace_buffers_begin_epoch);

bool kmemtrace_buffer_is_current(struct rchan_buf *buf)
{
	return kmemtrace_reader_of(buf)->writer_epoch ==
	       READ_ONCE(kmemtrace_set_of(buf)->epoch);
}
NOKPROBE_SYMBOL(kmemtrace_buffer_is_current);

/* An epoch begins at the start of a sub-buffer, as after kmemtrace_buffers_reset(). */
void kmemtrace_buffer_enter_epoch(struct rchan_buf *buf, u64 lost)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);

	if (kmemtrace_buffer_is_current(buf))
		return;
	if (buf->offset)
		kmemtrace_next_subbuf(buf);
	reader->start.subbuf = buf->subbufs_produced;
	reader->start.bytes = 0;
	reader->lost_before = lost;
	/* Pairs with kmemtrace_catch_up(). */
	smp_store_release(&reader->writer_epoch,
			  READ_ONCE(kmemtrace_set_of(buf)->epoch));
}
NOKPROBE_SYMBOL(kmemtrace_buffer_enter_epoch);

/*
 * Return the number of records that were written in the writer's epoch, including
 * records that were read or overwritten.  Context: the writer.
 */
static u64 kmemtrace_records(struct rchan_buf *buf)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);
	size_t records = buf->chan->subbuf_size / kmemtrace_record_size;

	return (u64)(buf->subbufs_produced - reader->start.subbuf) * records +
	       buf->offset / kmemtrace_record_size;
}
NOKPROBE_SYMBOL(kmemtrace_records);

bool kmemtrace_sealed_unread(struct rchan_buf *buf, struct kmemtrace_unread_events *left)
{
	struct kmemtrace_reader *reader = kmemtrace_reader_of(buf);

	/* Pairs with the release in kmemtrace_seal(). */
	if (smp_load_acquire(&reader->sealed_epoch) != reader->writer_epoch)
		return false;
	left->events = kmemtrace_records(buf) -
		       div_u64(reader->sealed_consumed, kmemtrace_record_size);
	left->reported = reader->sealed_reported;
	left->since = reader->sealed_timestamp;
	return true;
}
NOKPROBE_SYMBOL(kmemtrace_sealed_unread);
