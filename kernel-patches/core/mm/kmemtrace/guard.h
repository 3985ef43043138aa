/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: the state of each CPU's writer, and the guard against events inside of
 * the tracer.
 *
 * Re-entry
 * --------
 * Interrupts being off does not stop an event in the middle of a record: a
 * function that the writer calls may WARN, or may carry somebody's kprobe, and
 * either may allocate.  Such an event would write to the slot of the outer record,
 * which then ends behind its sub-buffer.  So the CPU's buffer is replaced by
 * kmemtrace_busy from the room check to the commit.  A nested event finds no room
 * there, goes to the slow path, and is refused and counted as lost.  Interrupts are
 * off all that time, so one guard serves all contexts; events in NMI context are
 * refused before they reach the guard.  The whole path is notrace (see the
 * Makefile) and NOKPROBE_SYMBOL, which keeps most nested events away.
 *
 * A nested event is counted before the filter sees it, so the count of lost events
 * may include events that the filter would drop.
 *
 * Readers hold the same guard while they hold a lock: see kmemtrace_lock().  A
 * nested event that fires a trigger would take a snapshot, which needs those
 * locks, and the counters of triggers have locks of their own.
 */
#ifndef _MM_KMEMTRACE_GUARD_H
#define _MM_KMEMTRACE_GUARD_H

#include <linux/atomic.h>
#include <linux/irqflags.h>
#include <linux/mmdebug.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/*
 * The state of a CPU's writer.  Other CPUs read lost and refused, set limit to
 * -1, and change the other members only while no CPU writes.
 */
struct kmemtrace_cpu {
	/*
	 * Highest offset in the sub-buffer at which a record may be written.  -1
	 * sends the next event to the slow path, see kmemtrace_make_room(); this
	 * is also the value while nothing is recorded, so that an event has only
	 * this to compare.
	 */
	int			limit;
	/* own, or &kmemtrace_busy while a record is being written. */
	struct rchan_buf	*buf;
	/* The buffer of this CPU; &kmemtrace_no_buf: none. */
	struct rchan_buf	*own;
	u64			last;		/* timestamp of the last record */
	u64			lost;		/* events without a record */
	u64			reported;	/* of lost, in LOST records */
	u64			since;		/* timestamp of the first unreported */
	seqcount_t		seq;		/* of lost, for 32-bit readers */
	/* Events in NMI context, and events nested in the writing of another. */
	atomic_long_t		refused;
	unsigned long		reported_refused;
};

DECLARE_PER_CPU_ALIGNED(struct kmemtrace_cpu, kmemtrace_cpus);

/* A buffer that never has room, because its limit is -1. */
extern struct rchan_buf kmemtrace_no_buf;

/* A buffer that never has room, whatever the limit is. */
extern struct rchan_buf kmemtrace_busy;

struct kmemtrace_guard {
	unsigned long	flags;
	bool		nested;		/* another pair is around this one */
};

/*
 * Between enter and leave an event on this CPU is refused and counted as lost.
 * Interrupts are off in between, and the pairs may nest.  Context: any but NMI.
 */
void kmemtrace_guard_enter(struct kmemtrace_guard *guard);
void kmemtrace_guard_leave(const struct kmemtrace_guard *guard);

/*
 * kmemtrace_guard_enter() and raw_spin_lock() in one, and their counterparts.
 * Every lock of the readers and of snapshots is taken this way.  Context: any but
 * NMI.
 */
void kmemtrace_lock(raw_spinlock_t *lock, struct kmemtrace_guard *guard)
	__acquires(lock);
void kmemtrace_unlock(raw_spinlock_t *lock, const struct kmemtrace_guard *guard)
	__releases(lock);

/*
 * Return whether the caller is inside of the tracer: in a guarded section, or
 * nested in the writing of a record.  Any context.
 */
bool kmemtrace_is_guarded(void);

/*
 * Count an event as lost that interrupted the writer, in NMI context or nested
 * in it.  Any context.
 */
void kmemtrace_count_refused(void);

/*
 * Return the number of events of a CPU that were not recorded in this session.
 * Any context.
 */
u64 kmemtrace_lost(unsigned int cpu);

/*
 * Whether events are recorded.  Written by kmemtrace_writer_start() and
 * kmemtrace_writer_stop() only.
 *
 * It is set when all probes are attached and cleared before the first one goes, so
 * that a trace begins and ends for all paths at one moment.  Attaching takes
 * milliseconds, in which a page that is freed and allocated again would have only
 * one of these events recorded, and its next free would have no allocation.
 */
extern bool kmemtrace_recording;

/* Return whether events are recorded at this moment.  Any context. */
bool kmemtrace_is_recording(void);

/*
 * Send the next event of each CPU to the slow path, where it finds what has
 * changed: see kmemtrace_make_room().  Any context.
 */
void kmemtrace_recheck(void);

/* Initialise the state of all CPUs.  Context: early boot. */
void kmemtrace_guard_init(void);

/*
 * Acquire this CPU's buffer for the slow path.  Return false, and count the event
 * as lost, where the event is nested in the writing of another one.  Context:
 * interrupts are off, from here to kmemtrace_end_write().
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

#endif /* _MM_KMEMTRACE_GUARD_H */
