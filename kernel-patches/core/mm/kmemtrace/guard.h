/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: the state of each CPU's writer, and the guard against events inside of
 * the tracer.
 *
 * Re-entry
 * --------
 * An event can occur in the middle of a record although interrupts are off: a function
 * that the writer calls may WARN or have a kprobe, and both may allocate.  Such a
 * nested event would write to the slot of the outer record, and the outer record could
 * then end behind its sub-buffer.  kmemtrace_busy therefore replaces the CPU's buffer
 * from the room check to the commit.  A nested event finds no room in kmemtrace_busy,
 * enters the slow path, and is refused and counted as lost.  Interrupts are off during
 * the whole time, so one guard serves all contexts.  Events in NMI context are refused
 * before they reach the guard.  All functions that the writer calls in kmemtrace are
 * notrace (see the Makefile) and NOKPROBE_SYMBOL, which prevents most nested events.
 *
 * A nested event is counted before a filter is called, so the count of lost events
 * may include events that the filter would drop.
 *
 * Readers of buffers are in a guarded section while they hold a lock, too: see
 * kmemtrace_lock().  Without the guard, a nested event could fire a trigger, whose
 * counter has a lock and whose snapshot acquires the locks that the reader holds.
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

#ifdef CONFIG_X86
#include <asm/cyc2ns.h>
#endif

/*
 * The state of a CPU's writer.  Other CPUs may read lost and refused and set limit to
 * -1 at any time.  They change other members only while this CPU is offline or no CPU
 * writes.
 */
struct kmemtrace_cpu {
	/*
	 * Highest offset in the sub-buffer at which a record may be written.  The
	 * value -1 sends the next event to the slow path: see kmemtrace_make_room().
	 * The limit is also -1 while nothing is recorded, so the fast path has only
	 * one comparison.
	 */
	int			limit;
	/* Equals own, or &kmemtrace_busy in a guarded section or while writing. */
	struct rchan_buf	*buf;
	/* The buffer that this CPU writes to, or &kmemtrace_no_buf. */
	struct rchan_buf	*own;
	u64			last;		/* time of the last record or reset */
#ifdef CONFIG_X86
	struct cyc2ns_copy	tsc;		/* for the inlined clock */
#endif
	/* Lost events for the reasons "no room" and "moved" of writer.h. */
	u64			lost;
	u64			reported;	/* part of lost in LOST records */
	/* Lower bound of the times of the events of lost that are not reported yet. */
	u64			since;
	seqcount_t		seq;		/* protects lost, for 32-bit readers */
	/* Lost events in an NMI, a guarded section, or the writing of a record. */
	atomic_long_t		refused;
	unsigned long		reported_refused; /* part of refused in LOST records */
};

DECLARE_PER_CPU_ALIGNED(struct kmemtrace_cpu, kmemtrace_cpus);

/*
 * The buffer of a CPU that writes to no set.  The limit of such a CPU is -1, so the
 * buffer never has room.
 */
extern struct rchan_buf kmemtrace_no_buf;

/* A buffer that never has room, because its offset is above every limit. */
extern struct rchan_buf kmemtrace_busy;

/* The state of a CPU before kmemtrace_guard_enter(). */
struct kmemtrace_guard {
	unsigned long	flags;		/* of interrupts */
	bool		nested;		/* in a guarded section, or writing a record */
};

/*
 * Begin a guarded section, and store the state before it in @guard.  In the section
 * interrupts are off, and an event on this CPU is refused and counted as lost.
 * Guarded sections may nest.  Context: any but NMI.
 */
void kmemtrace_guard_enter(struct kmemtrace_guard *guard);

/*
 * End the guarded section that kmemtrace_guard_enter() began with @guard, and restore
 * the state of interrupts.  Context: any but NMI.
 */
void kmemtrace_guard_leave(const struct kmemtrace_guard *guard);

/*
 * Begin a guarded section and acquire @lock.  The locks of views, readers, snapshots,
 * and tags are acquired in a guarded section only.  The locks of counters (counter.h)
 * and of tables of live objects (held.h) are no raw_spinlock_t: the writer acquires
 * them while it writes a record, and other code after kmemtrace_guard_enter().
 * Context: any but NMI.
 */
void kmemtrace_lock(raw_spinlock_t *lock, struct kmemtrace_guard *guard)
	__acquires(lock);

/*
 * Release @lock and end the guarded section that kmemtrace_lock() began with @guard.
 * Context: any but NMI.
 */
void kmemtrace_unlock(raw_spinlock_t *lock, const struct kmemtrace_guard *guard)
	__releases(lock);

/*
 * Return whether this CPU is inside of the tracer: in a guarded section, or writing a
 * record.  Any context.
 */
bool kmemtrace_is_guarded(void);

/*
 * Count a refused event as lost.  An event is refused in an NMI, or if it is nested in
 * a guarded section or in the writing of a record.  The event is not counted while
 * nothing is recorded.  Any context, preemption off.
 */
void kmemtrace_count_refused(void);

/*
 * Return the number of events of a CPU that were lost in this session, except
 * overwritten ones: see writer.h.  Context: any but NMI, which may have interrupted the
 * write section of the seqcount.
 */
u64 kmemtrace_lost(unsigned int cpu);

/*
 * Whether events are recorded.  Only kmemtrace_writer_start() and
 * kmemtrace_writer_stop() write the variable.
 *
 * The variable is set after all probes were attached, and cleared before the first
 * probe is detached, so that recording begins and ends for all events at one moment.
 * Attaching the probes takes milliseconds.  Without the variable a page that is freed
 * and allocated again in that time could have a record of only one of these events,
 * and the next free of the page would have no allocation.
 */
extern bool kmemtrace_recording;

/* Return whether events are recorded at this moment.  Any context. */
bool kmemtrace_is_recording(void);

/*
 * Send the next event of each CPU to the slow path, which rereads the state that has
 * changed: see kmemtrace_make_room().  The function has a full memory barrier after
 * the caller's change.  Any context.
 */
void kmemtrace_recheck(void);

/* Initialise the state of all CPUs.  Context: early boot, one CPU runs. */
void kmemtrace_guard_init(void);

/*
 * Acquire this CPU's buffer for the slow path.  Return false, and count the event as
 * lost, if the event is nested in a guarded section or in the writing of another
 * record.  A caller that does not record an event calls this function only where
 * nesting is impossible, so that no event is counted wrongly.  Context: interrupts are
 * off, from this call to kmemtrace_end_write().
 */
static __always_inline bool kmemtrace_begin_write(struct kmemtrace_cpu *kc)
{
	if (unlikely(READ_ONCE(kc->buf) == &kmemtrace_busy)) {
		kmemtrace_count_refused();
		return false;
	}
	WRITE_ONCE(kc->buf, &kmemtrace_busy);
	/* A nested event is on this CPU, so a compiler barrier is enough. */
	barrier();
	return true;
}

/*
 * Release the buffer that kmemtrace_begin_write() acquired.  Context: interrupts are
 * off.
 */
static __always_inline void kmemtrace_end_write(struct kmemtrace_cpu *kc)
{
	barrier();
	WRITE_ONCE(kc->buf, kc->own);
}

/*
 * Begin a write section of a seqcount, which raw_write_seqcount_end() ends.  The raw
 * functions are used, because lockdep does not see that the writer has interrupts off.
 * Context: interrupts are off, because a reader that interrupts the section would wait
 * for ever.
 */
static __always_inline void kmemtrace_write_begin(seqcount_t *seq)
{
	VM_WARN_ON_ONCE(!irqs_disabled());
	raw_write_seqcount_begin(seq);
}

#endif /* _MM_KMEMTRACE_GUARD_H */
