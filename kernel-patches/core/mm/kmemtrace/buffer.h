/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: sets of buffers, one buffer for each CPU.
 *
 * memory.c allocates the buffers from relay.  buffer.c has the writer's side of a
 * buffer, and reader.c the readers' side.
 *
 * CPUs record events into the live set.  A set is used several times: as the live set,
 * as a snapshot, and as the live set again.  An epoch of a set begins when the set is
 * emptied, and ends when the set is emptied the next time.  A CPU enters an epoch when
 * it writes its first record of that epoch to the set.
 */
#ifndef _MM_KMEMTRACE_BUFFER_H
#define _MM_KMEMTRACE_BUFFER_H

#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/relay.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>

#include <uapi/linux/kmemtrace_abi.h>

#include "format.h"

/* A position in a buffer.  A position never decreases while the set exists. */
struct kmemtrace_position {
	size_t	subbuf;		/* number of whole sub-buffers before the position */
	size_t	bytes;		/* bytes before the position in its sub-buffer */
};

/*
 * The state of one CPU in a set, in addition to its struct rchan_buf.  The members
 * subbufs_consumed and bytes_consumed of the rchan_buf are the readers' position.  This
 * struct also exists for a CPU without a buffer.
 */
struct kmemtrace_reader {
	/*
	 * Protects the members up to version, and the readers' position.  The writer
	 * does not acquire the lock, and readers copy records without it, so a slow
	 * reader delays neither the writer nor other readers.  Context: any but NMI.
	 */
	raw_spinlock_t	lock;
	u64		consumed;	/* bytes that were read in this epoch */
	u64		overwritten;	/* records that were overwritten unread */
	/* The part of overwritten that LOST records have reported. */
	u64		overwritten_reported;
	/* Timestamp of the last record that was read, or of the start of the epoch. */
	s64		last_timestamp;
	unsigned int	reader_epoch;	/* epoch of the four members above */
	/* Bytes that were read in this session from this CPU's former live buffers. */
	u64		consumed_earlier;
	/*
	 * Counter that is incremented when the set is sealed or emptied.  Records that
	 * were acquired before are then no longer valid.
	 */
	unsigned int	version;

	/*
	 * Values of other members at the moment when the set was sealed.  The writer
	 * reads these values, except lost_after, only if sealed_epoch is equal to
	 * writer_epoch.
	 */
	unsigned int	sealed_epoch;	/* differs from writer_epoch if not sealed */
	u64		sealed_consumed; /* consumed */
	u64		sealed_reported; /* overwritten_reported */
	s64		sealed_timestamp; /* last_timestamp */
	u64		lost_after;	/* kmemtrace_lost() of the CPU */

	/* The writer begins each sub-buffer in a write section of this seqcount. */
	seqcount_t	seq;
	/*
	 * The following members are written by the writer when it enters an epoch, and
	 * by kmemtrace_buffers_reset().
	 */
	unsigned int	writer_epoch;	/* the epoch that the writer has entered last */
	struct kmemtrace_position start; /* first record of writer_epoch */
	/* Lost events that LOST records had reported before this epoch. */
	u64		lost_before;
};

/*
 * A set of buffers.  The set exists as long as there is a reference to it.  The pages
 * of its buffers exist as long as the set exists or a reader maps the pages.
 */
struct kmemtrace_buffers {
	refcount_t	refs;
	struct rchan	*chan;		/* chan->private_data is this set */
	/* Number of the current epoch; a buffer with another writer_epoch is empty. */
	unsigned int	epoch;
	u64		epoch_start;	/* timestamp of the start of the epoch, in ns */
	unsigned int	subbufs;	/* sub-buffers of each CPU */
	unsigned int	subbuf_size;	/* bytes */
	struct kmemtrace_reader __percpu *readers;
};

/*
 * Allocate an empty set, with a buffer for each CPU that is online or that has a
 * buffer in the live set.  @subbuf_size: in bytes, a multiple of the record size.
 * Return the set with one reference, or ERR_PTR(-ENOMEM) after logging the failure.
 * Context: kmemtrace_mutex is held.  Sleeps.
 */
struct kmemtrace_buffers *kmemtrace_buffers_open(unsigned int subbufs,
						 unsigned int subbuf_size);

/*
 * Release a reference to a set, and free the set with the last reference.  @buffers
 * may be NULL.  Sleeps.
 */
void kmemtrace_buffers_put(struct kmemtrace_buffers *buffers);

/*
 * Return the buffer of a CPU, or NULL if the CPU was never online while @buffers
 * existed and had no buffer in the live set when @buffers was allocated.  Any context.
 * The caller has a reference to @buffers and needs no lock: a walk over all possible
 * CPUs finds no buffer or a complete buffer, also while another CPU brings @cpu up.
 */
static __always_inline struct rchan_buf *
kmemtrace_buffer(struct kmemtrace_buffers *buffers, unsigned int cpu)
{
	/* Pairs with smp_store_release() in relay_publish_buf(). */
	return smp_load_acquire(per_cpu_ptr(buffers->chan->buf, cpu));
}

/* Return the set of a buffer.  Any context. */
static __always_inline struct kmemtrace_buffers *
kmemtrace_set_of(const struct rchan_buf *buf)
{
	return buf->chan->private_data;
}

/* Return the struct kmemtrace_reader of a buffer.  Any context. */
static __always_inline struct kmemtrace_reader *
kmemtrace_reader_of(struct rchan_buf *buf)
{
	return per_cpu_ptr(kmemtrace_set_of(buf)->readers, buf->cpu);
}

/*
 * True: when a buffer is full, overwrite its oldest sub-buffer.  False: lose the
 * newest event.  The writer reads this variable when a sub-buffer is full, and for each
 * annotation.  The variable may change at any time.
 */
extern bool kmemtrace_overwrite;

/* --- The writer's side ---------------------------------------------------------- */

/*
 * Begin the next sub-buffer of a buffer.  Context: interrupts are off, and the caller
 * is the writer of the buffer, or no CPU writes to the buffer.
 */
void kmemtrace_next_subbuf(struct rchan_buf *buf);

/*
 * Return whether the current sub-buffer has room for one record.  Context: the writer
 * of the buffer.
 */
static __always_inline bool kmemtrace_fits(const struct rchan_buf *buf)
{
	return buf->offset + kmemtrace_record_size <= buf->chan->subbuf_size;
}

/*
 * Return whether the buffer has room for one record.  If there is room and the current
 * sub-buffer is full, begin the next sub-buffer.  Context: interrupts are off, and the
 * caller is the writer of the buffer, on its CPU or while no event is recorded.
 */
bool kmemtrace_has_room(struct rchan_buf *buf);

/*
 * Return whether the buffer has room for @records consecutive records.  The function
 * does not change the buffer.  Context: the writer of the buffer, interrupts off.
 */
bool kmemtrace_has_room_for(struct rchan_buf *buf, unsigned int records);

/*
 * Return the address of the next record, and begin the next sub-buffer if the current
 * sub-buffer is full.  kmemtrace_has_room_for() must have found room.  Context: the
 * writer of the buffer, interrupts off.
 */
void *kmemtrace_record_slot(struct rchan_buf *buf);

/*
 * Return whether the writer is in the current epoch of the set.  Context: the writer
 * of the buffer, interrupts off.
 */
bool kmemtrace_buffer_is_current(struct rchan_buf *buf);

/*
 * Enter the current epoch of the set in this buffer, which empties the buffer.  Do
 * nothing if the writer is in this epoch already.  @lost: number of lost events of the
 * CPU that LOST records have reported in this session.  Context: the writer of the
 * buffer, interrupts off.
 */
void kmemtrace_buffer_enter_epoch(struct rchan_buf *buf, u64 lost);

/* The records of a sealed buffer that were not read before the buffer was sealed. */
struct kmemtrace_unread_events {
	u64	events;		/* number of these records, even overwritten ones */
	u64	reported;	/* part of events that LOST records report already */
	u64	since;		/* sealed_timestamp of struct kmemtrace_reader */
};

/*
 * Count the records of a sealed buffer that were not read before the buffer was sealed,
 * and store the counts in @unread.  Return false if the buffer is not sealed.  Context:
 * the writer of the buffer, interrupts off.
 */
bool kmemtrace_sealed_unread(struct rchan_buf *buf,
			     struct kmemtrace_unread_events *unread);

/* --- Life of a set --------------------------------------------------------------- */

/*
 * Empty a new set, or the live set when a session begins or kmemtrace is reset.  @now:
 * the current time.  Context: any but NMI.  No CPU writes to the set; readers may read
 * from the set.
 */
void kmemtrace_buffers_reset(struct kmemtrace_buffers *buffers, u64 now);

/*
 * Begin a new epoch of a set that becomes live.  A CPU may still be writing a record
 * of the previous epoch, so each CPU empties its own buffer when it enters the epoch.
 * @now: timestamp of the start.  Context: any but NMI.
 */
void kmemtrace_buffers_begin_epoch(struct kmemtrace_buffers *buffers, u64 now);

/*
 * Seal @buffers after @next has replaced it as the live set: no further CPU enters the
 * epoch of @buffers.  A CPU that has entered the epoch may write to @buffers until its
 * first event after kmemtrace_recheck().  A reader that has acquired records of
 * @buffers must acquire them again.  Context: any but NMI.
 */
void kmemtrace_buffers_seal(struct kmemtrace_buffers *buffers,
			    struct kmemtrace_buffers *next);

/* --- The readers' side ----------------------------------------------------------- */

/*
 * Return the number of events of a CPU that are missing in a sealed set: lost in this
 * session and not reported by LOST records of earlier sets, or overwritten unread.
 * Overwritten records that were reported to the reader of the live set are not counted.
 * Return 0 if the CPU has no buffer or the set is not sealed.  Context: any but NMI;
 * the caller has a reference to the set.
 */
u64 kmemtrace_sealed_overruns(struct kmemtrace_buffers *buffers,
			      unsigned int cpu);

/*
 * Return the number of bytes of a CPU that were read after the set was sealed, or 0 if
 * the CPU has no buffer or the set is not sealed.  Context: any but NMI; the caller has
 * a reference to the set.
 */
u64 kmemtrace_sealed_consumed(struct kmemtrace_buffers *buffers, unsigned int cpu);

/* Statistics of one CPU in a set.  All members are 0 if the CPU has no buffer. */
struct kmemtrace_buffer_stats {
	u64	produced;	/* bytes written in this epoch */
	u64	consumed;	/* bytes read in this epoch */
	u64	consumed_earlier; /* see struct kmemtrace_reader */
	u64	unread;		/* bytes that a reader can acquire now */
	/* Whether a part of unread is in a sub-buffer that the writer has left. */
	bool	has_full_subbuf;
	u64	overwritten;	/* records overwritten unread in this epoch */
};

/*
 * Store the statistics of a CPU in @stats.  Context: any but NMI; the caller has a
 * reference to the set.
 */
void kmemtrace_buffer_stats(struct kmemtrace_buffers *buffers, unsigned int cpu,
			    struct kmemtrace_buffer_stats *stats);

/*
 * Records that a reader has acquired.  The reader copies the records without a lock
 * and then releases them.  Acquired records stay in the buffer: another reader may
 * acquire and release them, too, and in overwrite mode the writer may overwrite them.
 * If either has happened, the release fails, and the reader discards its copy.
 */
struct kmemtrace_acquired {
	struct kmemtrace_position position;	/* of the first record */
	/* reader->version at the acquisition; the release fails if it has changed. */
	unsigned int	version;
	const void	*from;		/* address of the first record */
	size_t		bytes;		/* whole records; 0: no unread record */
	/*
	 * A LOST record for the reader to return before the acquired records.  In a
	 * record that is larger than this struct, zeros follow the struct.  events is 0
	 * if there is no LOST record.
	 */
	struct kmemtrace_event_lost lost;
};

/*
 * Acquire the oldest unread records of a CPU, at most @most bytes, and store them in
 * @acquired.  @most: a multiple of the record size, or SIZE_MAX.  Context: any but NMI;
 * the caller has a reference to the set, and keeps the reference or a mapping of the
 * buffer while it reads the records.
 */
void kmemtrace_acquire_records(struct kmemtrace_buffers *buffers, unsigned int cpu,
			       size_t most, struct kmemtrace_acquired *acquired);

/*
 * Release the first @bytes bytes of the acquired records, which the reader has copied;
 * the other acquired records remain unread.  @buffers: the set that the records were
 * acquired from.  The writer may overwrite the released records afterwards.  The LOST
 * record counts as read.  Return 0; or -EAGAIN if the records were overwritten or
 * released by another reader, or if the set was sealed or emptied: the caller then has
 * to discard its copy.  Context: any but NMI; the caller has a reference to the set.
 */
int kmemtrace_release_records(struct kmemtrace_buffers *buffers, unsigned int cpu,
			      const struct kmemtrace_acquired *acquired,
			      size_t bytes);

#endif /* _MM_KMEMTRACE_BUFFER_H */
