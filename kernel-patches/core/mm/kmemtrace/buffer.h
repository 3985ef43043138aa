/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: sets of buffers, one buffer for each CPU, and the files that show
 * them.
 *
 * relay allocates the buffers (memory.c), buffer.c orders the
 * writer and the readers of a buffer.  A position in a buffer is a number of
 * sub-buffers and of bytes in the one that follows; it never goes back while the
 * set exists.
 */
#ifndef _MM_KMEMTRACE_BUFFER_H
#define _MM_KMEMTRACE_BUFFER_H

#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/mmdebug.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/relay.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <uapi/linux/kmemtrace_abi.h>

#include "internal.h"

struct kmemtrace_position {
	size_t	subbuf;
	size_t	bytes;
};

/*
 * The state of one CPU in a set beside its struct rchan_buf, in which
 * subbufs_consumed and bytes_consumed are the readers' position.  Exists also for
 * a CPU without a buffer.
 */
struct kmemtrace_reader {
	/*
	 * Guards what follows, and the position against other readers.  No
	 * writer takes it, and nothing is copied under it, so that no reader
	 * can keep anybody waiting.  Any context but NMI.
	 */
	raw_spinlock_t	lock;
	u64		taken;		/* bytes, in this session */
	u64		missed;		/* records overwritten before taken */
	u64		missed_told;	/* of them, in LOST records */
	s64		last;		/* timestamp of the last one taken */
	unsigned int	seen;		/* the filling that all this is of */
	u64		carried;	/* taken from the sets before it */
	unsigned int	turn;		/* one more each time it changes hands */

	/*
	 * When the set was sealed: of which filling, and what its reader had by
	 * then.  The writer looks at it, once that is its filling.
	 */
	unsigned int	sealed;
	u64		sealed_taken;
	u64		sealed_told;
	s64		sealed_last;
	u64		lost_after;	/* by the writer, up to then */

	/* The writer's: it begins another sub-buffer, */
	seqcount_t	seq;
	/* and another filling: where, and what it had lost and told before. */
	unsigned int	filling;
	struct kmemtrace_position start;
	u64		lost_before;
};

/*
 * A set of buffers.  It exists as long as somebody has a reference, and its
 * pages as long as they are mapped.
 */
struct kmemtrace_buffers {
	refcount_t	refs;
	struct rchan	*chan;		/* its private_data is this set */
	/*
	 * How often it was emptied for other records.  A buffer whose writer has
	 * not come to this filling yet is empty.
	 */
	unsigned int	filling;
	u64		filled_since;	/* timestamp */
	unsigned int	subbufs;
	unsigned int	subbuf_size;	/* bytes */
	struct kmemtrace_reader __percpu *readers;
};

/*
 * Makes a set, empty, for all CPUs that the live one is for; ERR_PTR(-ENOMEM) if
 * there is no memory for it.  With kmemtrace_mutex held.  put frees it with the
 * last reference.  Both sleep.
 */
struct kmemtrace_buffers *kmemtrace_buffers_open(unsigned int subbufs,
						 unsigned int subbuf_size);
void kmemtrace_buffers_put(struct kmemtrace_buffers *buffers);

/*
 * The buffer of a CPU; NULL: the CPU was never online since the set was made.
 * Needs no lock: a walker of all possible CPUs sees no buffer or a complete one,
 * also while another CPU brings @cpu up.
 */
static __always_inline struct rchan_buf *
kmemtrace_buffer(struct kmemtrace_buffers *buffers, unsigned int cpu)
{
	/* Pairs with the release in relay_publish_buf(). */
	return smp_load_acquire(per_cpu_ptr(buffers->chan->buf, cpu));
}

/* The set that a buffer belongs to. */
static __always_inline struct kmemtrace_buffers *
kmemtrace_set_of(const struct rchan_buf *buf)
{
	return buf->chan->private_data;
}

/*
 * Register the callback that creates the files of a CPU before it runs.
 * Context: one CPU runs, before the first set is made.
 */
void __init kmemtrace_memory_init(void);

/*
 * Overwrite the oldest sub-buffer instead of losing the newest event.  Looked at
 * when a sub-buffer is full; may change at any time.
 */
extern bool kmemtrace_overwrite;

/*
 * Begin a write section, which raw_write_seqcount_end() ends.  Interrupts are off,
 * because a reader that interrupts the section would wait for ever.  The raw
 * functions are used because lockdep does not see that interrupts are off.
 */
static __always_inline void kmemtrace_write_begin(seqcount_t *seq)
{
	VM_WARN_ON_ONCE(!irqs_disabled());
	raw_write_seqcount_begin(seq);
}

/* Whether the writer's sub-buffer has room for a record.  Context: the writer. */
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
 * that a reader took and has not given back have to be taken again.  Context: any
 * but NMI.
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
 * the CPU so far that are in records of losses.  Context: as kmemtrace_has_room().
 */
void kmemtrace_buffer_begin(struct rchan_buf *buf, u64 lost);

/* Events of a sealed buffer that the reader of the live buffers did not get. */
struct kmemtrace_left {
	u64	events;
	u64	told;		/* of them, already in records of losses */
	u64	since;		/* timestamp before the first of them */
};

/*
 * Return false where the buffer is not sealed.  Context: as kmemtrace_has_room().
 */
bool kmemtrace_buffer_left(struct rchan_buf *buf, struct kmemtrace_left *left);

/*
 * Return how many events were lost, or overwritten unread, while a sealed set was
 * live, without those that its live reader was told of.  Context: any but NMI.
 */
u64 kmemtrace_sealed_overruns(struct kmemtrace_buffers *buffers,
			      unsigned int cpu);

/* Return the bytes taken from a set since it was sealed.  Context: any but NMI. */
u64 kmemtrace_sealed_taken(struct kmemtrace_buffers *buffers, unsigned int cpu);

/* The counts of one CPU; 0 if it has no buffer. */
struct kmemtrace_figures {
	u64	produced;	/* bytes, in this session */
	u64	taken;		/* likewise */
	u64	carried;	/* taken before, from sets that are sealed */
	u64	unread;		/* bytes that are there to be taken */
	bool	complete;	/* some of these in a sub-buffer that is full */
	u64	missed;		/* records overwritten and not taken */
};

void kmemtrace_figures(struct kmemtrace_buffers *buffers, unsigned int cpu,
		       struct kmemtrace_figures *figures);

/*
 * A reader takes records, copies them without a lock, and gives them back.  Taken
 * records stay in the buffer: another reader may take them too, and in overwrite
 * mode the writer may overwrite them.  Giving back then fails, and the reader
 * discards its copy.
 */
struct kmemtrace_taking {
	struct kmemtrace_position position;
	unsigned int	turn;
	const void	*from;		/* the first of these bytes, whole records */
	size_t		bytes;		/* 0: nothing is there now */
	/* To come before them, unless events is 0; needs as much room as one. */
	struct kmemtrace_event_lost lost;
};

/*
 * Takes at most so many bytes, a multiple of the record's size.  give: 0, or
 * -EAGAIN.  bytes: how many of them were used, whole records; the LOST record
 * is taken to be used.  Any context but NMI; the caller has a reference.
 */
void kmemtrace_take(struct kmemtrace_buffers *buffers, unsigned int cpu,
		    size_t most, struct kmemtrace_taking *taking);
int kmemtrace_give(struct kmemtrace_buffers *buffers, unsigned int cpu,
		   const struct kmemtrace_taking *taking, size_t bytes);

struct kmemtrace_view;

/* The file cpu<n> of a view; there for ever, once it is made. */
struct kmemtrace_cpu_file {
	struct kmemtrace_view	*view;
	unsigned int		cpu;
	struct dentry		*dentry;	/* NULL: not made yet */
	wait_queue_head_t	wait;
	struct irq_work		wake;
};

/*
 * A place where a set of buffers is seen: the live ones, or a snapshot.  Holds a
 * reference to its set.
 */
struct kmemtrace_view {
	raw_spinlock_t	lock;		/* any context but NMI */
	struct kmemtrace_buffers *buffers;	/* may be NULL */
	unsigned int	generation;	/* one more with each other set */
	/* An open file goes on with another set; else it gets ESTALE. */
	bool		follows;
	struct dentry	*dir;		/* of the files; NULL: not yet */
	struct kmemtrace_cpu_file __percpu *files;
};

/* Where events are recorded, and the snapshot, if there is one. */
extern struct kmemtrace_view kmemtrace_live;
extern struct kmemtrace_view kmemtrace_snapshot_view;

/* Before any other call. */
void __init kmemtrace_view_init(struct kmemtrace_view *view);

/* The set that is there now, with a reference, or NULL; and its generation. */
struct kmemtrace_buffers *kmemtrace_view_get(struct kmemtrace_view *view,
					     unsigned int *generation);

/*
 * Puts another set, or NULL, in the place and returns the old one; the
 * references go along.  Any context but NMI.  In kmemtrace_live,
 * kmemtrace_writer_look() then sends the next event of each CPU to the new set;
 * a record may still be under way to the old one when it returns.
 */
struct kmemtrace_buffers *
kmemtrace_view_replace(struct kmemtrace_view *view,
		       struct kmemtrace_buffers *buffers);

/*
 * Makes the file cpu<n>, if the directory and the live buffer are there and it is
 * not; for all CPUs.  Both sleep; the first may be called by CPU hotplug.
 */
void kmemtrace_view_make_file(struct kmemtrace_view *view, unsigned int cpu);
void kmemtrace_view_make_files(struct kmemtrace_view *view);

/*
 * Wakes those who wait for a CPU's records, or for those of any: soon, from any
 * context but NMI.
 */
void kmemtrace_view_wake(struct kmemtrace_view *view, unsigned int cpu);
void kmemtrace_view_wake_all(struct kmemtrace_view *view);

/*
 * When it returns no CPU's writer looks at the set any more.  It must not be in
 * kmemtrace_live.  Sleeps.
 */
void kmemtrace_writer_leave(struct kmemtrace_buffers *buffers);

#endif /* _MM_KMEMTRACE_BUFFER_H */
