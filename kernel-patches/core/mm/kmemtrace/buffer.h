/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: sets of buffers, one buffer for each CPU.
 *
 * relay allocates the buffers (memory.c).  buffer.c has the writer's side and
 * reader.c the readers' side.  A position in a buffer is a number of sub-buffers
 * and of bytes in the sub-buffer that follows; it never decreases while the set
 * exists.
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

struct kmemtrace_position {
	size_t	subbuf;
	size_t	bytes;
};

/*
 * The state of one CPU in a set beside its struct rchan_buf, in which
 * subbufs_consumed and bytes_consumed are the readers' position.  It also exists
 * for a CPU without a buffer.
 */
struct kmemtrace_reader {
	/*
	 * Protects the members up to turn, and the readers' position.  No writer
	 * takes the lock, and nothing is copied under it, so no reader can delay
	 * a writer or another reader.  Context: any but NMI.
	 */
	raw_spinlock_t	lock;
	u64		taken;		/* bytes, in this filling */
	u64		missed;		/* records overwritten unread */
	u64		missed_reported; /* of missed, in LOST records */
	s64		last;		/* timestamp of the last record taken */
	unsigned int	seen;		/* the filling that these figures are of */
	u64		carried;	/* bytes taken from earlier sets */
	unsigned int	turn;		/* incremented when the records change */

	/*
	 * Written when the set is sealed: the filling, and what its reader had
	 * taken by then.  The writer reads these once sealed is its filling.
	 */
	unsigned int	sealed;
	u64		sealed_taken;
	u64		sealed_reported;
	s64		sealed_last;
	u64		lost_after;	/* the writer's lost events by then */

	/* Written by the writer when it begins another sub-buffer. */
	seqcount_t	seq;
	/*
	 * Written by the writer when it begins another filling: its number, its
	 * start, and the lost events that were reported before it.
	 */
	unsigned int	filling;
	struct kmemtrace_position start;
	u64		lost_before;
};

/*
 * A set of buffers.  It exists as long as there is a reference, and its pages as
 * long as they are mapped.
 */
struct kmemtrace_buffers {
	refcount_t	refs;
	struct rchan	*chan;		/* its private_data is this set */
	/*
	 * Number of times that the set was emptied for other records.  A buffer
	 * whose writer has not begun this filling yet is empty.
	 */
	unsigned int	filling;
	u64		filled_since;	/* timestamp */
	unsigned int	subbufs;
	unsigned int	subbuf_size;	/* bytes */
	struct kmemtrace_reader __percpu *readers;
};

/*
 * Allocate an empty set, with a buffer for each CPU that has one in the live set.
 * Return the set with one reference, or ERR_PTR(-ENOMEM), which is logged.
 * Context: kmemtrace_mutex is held.  Sleeps.
 */
struct kmemtrace_buffers *kmemtrace_buffers_open(unsigned int subbufs,
						 unsigned int subbuf_size);

/*
 * Release a reference to a set, and free the set with the last one.  @buffers may
 * be NULL.  Sleeps.
 */
void kmemtrace_buffers_put(struct kmemtrace_buffers *buffers);

/*
 * Return the buffer of a CPU, or NULL if the CPU was never online since the set was
 * allocated.  No lock is needed: a walk over all possible CPUs finds no buffer or a
 * complete one, also while another CPU brings @cpu up.
 */
static __always_inline struct rchan_buf *
kmemtrace_buffer(struct kmemtrace_buffers *buffers, unsigned int cpu)
{
	/* Pairs with the release in relay_publish_buf(). */
	return smp_load_acquire(per_cpu_ptr(buffers->chan->buf, cpu));
}

/* Return the set that a buffer belongs to. */
static __always_inline struct kmemtrace_buffers *
kmemtrace_set_of(const struct rchan_buf *buf)
{
	return buf->chan->private_data;
}

/* Return the state of a buffer's readers. */
static __always_inline struct kmemtrace_reader *
kmemtrace_reader_of(struct rchan_buf *buf)
{
	return per_cpu_ptr(kmemtrace_set_of(buf)->readers, buf->cpu);
}

/*
 * Overwrite the oldest sub-buffer instead of losing the newest event.  Read when a
 * sub-buffer is full; may change at any time.
 */
extern bool kmemtrace_overwrite;

/*
 * Begin the next sub-buffer.  Context: the writer of the buffer, or no CPU writes.
 */
void kmemtrace_next_subbuf(struct rchan_buf *buf);

/*
 * Return whether the current sub-buffer has room for a record.  Context: the writer.
 */
static __always_inline bool kmemtrace_fits(const struct rchan_buf *buf)
{
	return buf->offset + kmemtrace_record_size <= buf->chan->subbuf_size;
}

/*
 * Return whether the buffer has room for one record, and go to the next sub-buffer
 * if the current one is full.  Context: the writer of the buffer, with interrupts
 * off, on the CPU of the buffer or while no event is recorded.
 */
bool kmemtrace_has_room(struct rchan_buf *buf);

/* Return whether the buffer has room for so many records.  Context: as above. */
bool kmemtrace_has_room_for(struct rchan_buf *buf, unsigned int records);

/*
 * Return the address of the next record, for which kmemtrace_has_room_for() found
 * room.  Context: as above.
 */
void *kmemtrace_room(struct rchan_buf *buf);

/*
 * Drop all records of a set and begin a session in it.  @now: timestamp.
 * Context: any but NMI; no CPU writes to the set, readers may read.
 */
void kmemtrace_buffers_reset(struct kmemtrace_buffers *buffers, u64 now);

/*
 * Begin another filling of a set that a CPU may still be writing a record to: each
 * CPU empties its own buffer when it comes to the set.  @now: timestamp.  Context:
 * any but NMI.
 */
void kmemtrace_buffers_renew(struct kmemtrace_buffers *buffers, u64 now);

/*
 * End the current filling of a set, after @next has become the live set.  Records
 * that a reader took and has not given back must be taken again.  Context: any but
 * NMI.
 */
void kmemtrace_buffers_seal(struct kmemtrace_buffers *buffers,
			    struct kmemtrace_buffers *next);

/*
 * Return whether the writer has begun the current filling of the set in this
 * buffer.  Context: as kmemtrace_has_room().
 */
bool kmemtrace_buffer_is_begun(struct rchan_buf *buf);

/*
 * Begin the current filling of the set in this buffer.  @lost: the lost events of
 * the CPU so far that are in LOST records.  Context: as kmemtrace_has_room().
 */
void kmemtrace_buffer_begin(struct rchan_buf *buf, u64 lost);

/* Events of a sealed buffer that the reader of the live buffers did not get. */
struct kmemtrace_left {
	u64	events;
	u64	reported;	/* of events, already in LOST records */
	u64	since;		/* timestamp before the first of them */
};

/*
 * Return false where the buffer is not sealed.  Context: as kmemtrace_has_room().
 */
bool kmemtrace_buffer_left(struct rchan_buf *buf, struct kmemtrace_left *left);

/*
 * Return how many events were lost, or overwritten unread, while a sealed set was
 * live, without the events that were reported to its live reader.  Context: any but NMI.
 */
u64 kmemtrace_sealed_overruns(struct kmemtrace_buffers *buffers,
			      unsigned int cpu);

/* Return the bytes taken from a set since it was sealed.  Context: any but NMI. */
u64 kmemtrace_sealed_taken(struct kmemtrace_buffers *buffers, unsigned int cpu);

/* The figures of one CPU; 0 if the CPU has no buffer. */
struct kmemtrace_figures {
	u64	produced;	/* bytes written in this session */
	u64	taken;		/* bytes taken from this set in this session */
	u64	carried;	/* bytes taken before from sets that are sealed */
	u64	unread;		/* bytes that can be taken now */
	bool	complete;	/* some of unread is in a full sub-buffer */
	u64	missed;		/* records overwritten unread */
};

/* Context: any but NMI; the caller has a reference to the set. */
void kmemtrace_figures(struct kmemtrace_buffers *buffers, unsigned int cpu,
		       struct kmemtrace_figures *figures);

/*
 * Records that a reader has taken.  The reader copies them without a lock and gives
 * them back.  They stay in the buffer meanwhile: another reader may take them, too,
 * and in overwrite mode the writer may overwrite them.  Giving back then fails, and
 * the reader discards its copy.
 */
struct kmemtrace_taking {
	struct kmemtrace_position position;
	unsigned int	turn;
	const void	*from;		/* the first of these bytes, whole records */
	size_t		bytes;		/* 0: there are no records now */
	/*
	 * A LOST record that comes before them, as large as any other record.
	 * events is 0 if there is none.
	 */
	struct kmemtrace_event_lost lost;
};

/*
 * Take at most @most bytes, a multiple of the size of a record.  Context: any but
 * NMI; the caller has a reference to the set.
 */
void kmemtrace_take(struct kmemtrace_buffers *buffers, unsigned int cpu,
		    size_t most, struct kmemtrace_taking *taking);

/*
 * Give taken records back.  @bytes: how many of them were used, whole records; the
 * LOST record counts as used.  Return 0, or -EAGAIN where the copy has to be
 * discarded.  Context: as for kmemtrace_take().
 */
int kmemtrace_give(struct kmemtrace_buffers *buffers, unsigned int cpu,
		   const struct kmemtrace_taking *taking, size_t bytes);

#endif /* _MM_KMEMTRACE_BUFFER_H */
