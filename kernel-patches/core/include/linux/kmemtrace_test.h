/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: points in kmemtrace where a test module can run code, and measurements
 * for the tests.  Without CONFIG_KMEMTRACE_TEST all of these are no-ops.
 */
#ifndef _LINUX_KMEMTRACE_TEST_H
#define _LINUX_KMEMTRACE_TEST_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

/**
 * enum kmemtrace_test_point - points that call the hook of a test module
 * @KMEMTRACE_TEST_SLOT: the room for a record is reserved, and the record is not
 *	written yet
 * @KMEMTRACE_TEST_ROOM: the slow path is about to reserve room
 * @KMEMTRACE_TEST_MARK: the room for the records of an annotation is about to be tested
 * @KMEMTRACE_TEST_STACK: a stack is about to be unwound; interrupts may be on
 * @KMEMTRACE_TEST_READER_LOCK: the lock of a struct kmemtrace_reader was acquired
 * @KMEMTRACE_TEST_VIEW_LOCK: the lock of a struct kmemtrace_view was acquired
 * @KMEMTRACE_TEST_SNAPSHOT_LOCK: the lock of the snapshots was acquired
 * @KMEMTRACE_TEST_COUNTER_LOCK: the lock of a struct kmemtrace_counter was acquired to
 *	read the sum
 * @KMEMTRACE_TEST_POINTS: number of points
 */
enum kmemtrace_test_point {
	KMEMTRACE_TEST_SLOT,
	KMEMTRACE_TEST_ROOM,
	KMEMTRACE_TEST_MARK,
	KMEMTRACE_TEST_STACK,
	KMEMTRACE_TEST_READER_LOCK,
	KMEMTRACE_TEST_VIEW_LOCK,
	KMEMTRACE_TEST_SNAPSHOT_LOCK,
	KMEMTRACE_TEST_COUNTER_LOCK,
	KMEMTRACE_TEST_POINTS,
};

/**
 * enum kmemtrace_test_stacks - counters of the stacks of records
 * @KMEMTRACE_TEST_FAST: stacks that kmemtrace_unwind() unwound
 * @KMEMTRACE_TEST_SLOW: stacks that stack_trace_save() unwound
 * @KMEMTRACE_TEST_WRONG: stacks that both functions unwound, with different results
 * @KMEMTRACE_TEST_SEARCHED: stacks that were not in the CPU's cache of recent stacks
 * @KMEMTRACE_TEST_STACKS: number of counters
 */
enum kmemtrace_test_stacks {
	KMEMTRACE_TEST_FAST,
	KMEMTRACE_TEST_SLOW,
	KMEMTRACE_TEST_WRONG,
	KMEMTRACE_TEST_SEARCHED,
	KMEMTRACE_TEST_STACKS,
};

/**
 * enum kmemtrace_test_section - code whose duration with interrupts off is measured
 * @KMEMTRACE_TEST_RECORD: the fast path of recording an event
 * @KMEMTRACE_TEST_RECORD_SLOW: the slow path of recording an event, without saving the
 *	stack
 * @KMEMTRACE_TEST_STACK_SAVED: saving the stack of an event, with the interrupt state
 *	of the event; not measured if interrupts are on
 * @KMEMTRACE_TEST_RECORDS: writing an annotation
 * @KMEMTRACE_TEST_SPLIT: recording the split of pages, with the interrupt state of the
 *	caller; not measured if interrupts are on
 * @KMEMTRACE_TEST_SNAPSHOT: taking a snapshot
 * @KMEMTRACE_TEST_SECTIONS: number of sections
 */
enum kmemtrace_test_section {
	KMEMTRACE_TEST_RECORD,
	KMEMTRACE_TEST_RECORD_SLOW,
	KMEMTRACE_TEST_STACK_SAVED,
	KMEMTRACE_TEST_RECORDS,
	KMEMTRACE_TEST_SPLIT,
	KMEMTRACE_TEST_SNAPSHOT,
	KMEMTRACE_TEST_SECTIONS,
};

#ifdef CONFIG_KMEMTRACE_TEST

/**
 * kmemtrace_test_enter - begin to measure a section on this CPU
 * @section: the section
 *
 * Context: any but NMI, preemption off.
 */
void kmemtrace_test_enter(enum kmemtrace_test_section section);

/**
 * kmemtrace_test_leave - end the measurement that kmemtrace_test_enter() began
 * @section: the section
 *
 * Store the duration, in units of get_cycles(), if it is the longest of this section
 * and CPU.  A section that ends with interrupts on is not measured.
 *
 * Context: any but NMI, preemption off.
 */
void kmemtrace_test_leave(enum kmemtrace_test_section section);

/*
 * True with kmemtrace.test_latency: allocate a buffer for each possible CPU, also if
 * the CPU was never online, and do not compare stacks.
 */
extern bool kmemtrace_test_latency;

/* The counters of stacks, indexed by enum kmemtrace_test_stacks. */
extern atomic_long_t kmemtrace_test_stacks[KMEMTRACE_TEST_STACKS];

/**
 * struct kmemtrace_test_hook - the hook that a test module sets
 * @func: called at each point, on any CPU and in any context but NMI; may allocate
 *	without sleeping; NULL: no hook
 */
struct kmemtrace_test_hook {
	void (*func)(enum kmemtrace_test_point point);
};

/* The hook.  A test module changes it by WRITE_ONCE(). */
extern struct kmemtrace_test_hook kmemtrace_test_hook;

/**
 * kmemtrace_test_point - call the hook of a test module, if there is one
 * @point: the point that was reached
 *
 * Context: any but NMI.
 */
static __always_inline void
kmemtrace_test_point(enum kmemtrace_test_point point)
{
	void (*func)(enum kmemtrace_test_point point) =
		READ_ONCE(kmemtrace_test_hook.func);

	if (unlikely(func))
		func(point);
}

#else

#define kmemtrace_test_latency	false

static __always_inline void
kmemtrace_test_enter(enum kmemtrace_test_section section)
{
}

static __always_inline void
kmemtrace_test_leave(enum kmemtrace_test_section section)
{
}

static __always_inline void
kmemtrace_test_point(enum kmemtrace_test_point point)
{
}

#endif

#endif /* _LINUX_KMEMTRACE_TEST_H */
