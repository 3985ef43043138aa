/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: points in the writer where a test module can run code, with
 * CONFIG_KMEMTRACE_TEST.  Without it they are nothing.
 */
#ifndef _LINUX_KMEMTRACE_TEST_H
#define _LINUX_KMEMTRACE_TEST_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

enum kmemtrace_test_point {
	/* The room for a record is found, and the record is not written yet. */
	KMEMTRACE_TEST_SLOT,
	/* The slow path is about to reserve room. */
	KMEMTRACE_TEST_ROOM,
	/* The records of an annotation are about to be written. */
	KMEMTRACE_TEST_MARK,
	/* A stack is about to be unwound; interrupts may be on. */
	KMEMTRACE_TEST_STACK,
	/* A lock was just acquired. */
	KMEMTRACE_TEST_READER_LOCK,
	KMEMTRACE_TEST_VIEW_LOCK,
	KMEMTRACE_TEST_SNAPSHOT_LOCK,
	KMEMTRACE_TEST_COUNTER_LOCK,
	KMEMTRACE_TEST_POINTS,
};

/* How the stacks of records were found. */
enum kmemtrace_test_stacks {
	KMEMTRACE_TEST_FAST,		/* by kmemtrace_unwind() */
	KMEMTRACE_TEST_SLOW,		/* by stack_trace_save() */
	KMEMTRACE_TEST_WRONG,		/* the former differs from the latter */
	KMEMTRACE_TEST_SEARCHED,	/* not among a CPU's recent ones */
	KMEMTRACE_TEST_STACKS,
};

/* Code that runs with interrupts off, in the tracer or because of it. */
enum kmemtrace_test_section {
	KMEMTRACE_TEST_RECORD,		/* the fast path */
	KMEMTRACE_TEST_RECORD_SLOW,	/* the slow path without the stack */
	KMEMTRACE_TEST_STACK_SAVED,	/* interrupts are as the caller has them */
	KMEMTRACE_TEST_RECORDS,		/* an annotation */
	KMEMTRACE_TEST_SPLIT,		/* a huge page, by its caller */
	KMEMTRACE_TEST_SNAPSHOT,
	KMEMTRACE_TEST_SECTIONS,
};

#ifdef CONFIG_KMEMTRACE_TEST

/*
 * Measure a section on this CPU, and keep the longest one, in ticks of the TSC.
 * A section that runs with interrupts on is not measured.  Context: preemption is
 * off.
 */
void kmemtrace_test_enter(enum kmemtrace_test_section section);
void kmemtrace_test_leave(enum kmemtrace_test_section section);

/*
 * Give a buffer to each possible CPU, as if it had been online, and do not compare
 * stacks.
 */
extern bool kmemtrace_test_latency;

extern atomic_long_t kmemtrace_test_stacks[KMEMTRACE_TEST_STACKS];

/*
 * Called at each point, on any CPU and in any context but NMI; NULL: nothing is.
 * The function may allocate without sleeping.
 */
struct kmemtrace_test_hook {
	void (*func)(enum kmemtrace_test_point point);
};

extern struct kmemtrace_test_hook kmemtrace_test_hook;

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
