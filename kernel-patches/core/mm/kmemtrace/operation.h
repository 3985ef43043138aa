/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: operations of several records that share one stack.
 *
 * <linux/kmemtrace.h> defines struct kmemtrace_operation.  stacks.c registers the
 * function that saves a stack; without it the functions here do nothing.
 */
#ifndef _MM_KMEMTRACE_OPERATION_H
#define _MM_KMEMTRACE_OPERATION_H

#include <linux/types.h>

struct kmemtrace_operation;

/* Contexts that record events: task, softirq, hardirq. */
#define KMEMTRACE_CONTEXTS		3

/*
 * Return the number of the stack below an allocator that returns to @call_site; 0
 * if the stack has no number.  Context: any but NMI.  NULL: records have no stacks.
 * It does not change after boot.
 */
extern u32 (*kmemtrace_save_stack)(unsigned long call_site);

static __always_inline bool kmemtrace_with_stacks(void)
{
	return kmemtrace_save_stack;
}

/*
 * Between enter and leave, the records of this CPU and context with the call site
 * of @op share one stack: enter copies @op, and leave copies the stack back to
 * @op.  Preemption is off in between.  Context: any; an NMI records nothing.
 */
void __kmemtrace_operation_enter(const struct kmemtrace_operation *op);
void __kmemtrace_operation_leave(struct kmemtrace_operation *op);

static __always_inline void
kmemtrace_operation_enter(const struct kmemtrace_operation *op)
{
	if (kmemtrace_with_stacks())
		__kmemtrace_operation_enter(op);
}

static __always_inline void
kmemtrace_operation_leave(struct kmemtrace_operation *op)
{
	if (kmemtrace_with_stacks())
		__kmemtrace_operation_leave(op);
}

/*
 * Make one record as a part of operation @op.  The first record of the operation
 * unwinds the stack, and the others use the same number.
 */
#define kmemtrace_part(op, record)					\
	do {								\
		kmemtrace_operation_enter(op);				\
		(record);						\
		kmemtrace_operation_leave(op);				\
	} while (0)

/*
 * Return the operation of this CPU and context, whose call_site is 0 if there is
 * none.  Context: preemption is off, no NMI.
 */
struct kmemtrace_operation *kmemtrace_operation_here(void);

/* Forget the operations of all CPUs.  Context: no event is recorded. */
void kmemtrace_operations_reset(void);

#endif /* _MM_KMEMTRACE_OPERATION_H */
