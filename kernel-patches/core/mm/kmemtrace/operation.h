/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: operations.  An operation is one call of an allocator that makes several
 * records, as a bulk allocation does; its records share one stack.
 *
 * <linux/kmemtrace.h> defines struct kmemtrace_operation.  stacks.c registers the
 * function that saves a stack.  If no function is registered, records have no stacks,
 * and kmemtrace_operation_enter() and kmemtrace_operation_leave() do nothing.
 */
#ifndef _MM_KMEMTRACE_OPERATION_H
#define _MM_KMEMTRACE_OPERATION_H

#include <linux/types.h>

struct kmemtrace_operation;

/* Number of contexts that record events: task, softirq and hardirq. */
#define KMEMTRACE_CONTEXTS		3

/*
 * The function that saves the current stack from @call_site on and returns its number,
 * or 0 if the stack gets no number.  Context of the function: any but NMI.  The pointer
 * is NULL if records have no stacks, and does not change after boot.
 */
extern u32 (*kmemtrace_save_stack)(unsigned long call_site);

/* Return whether records have stacks.  Any context. */
static __always_inline bool kmemtrace_with_stacks(void)
{
	return kmemtrace_save_stack;
}

/* Out-of-line parts of kmemtrace_operation_enter() and kmemtrace_operation_leave(). */
void __kmemtrace_operation_enter(const struct kmemtrace_operation *op);
void __kmemtrace_operation_leave(struct kmemtrace_operation *op);

/*
 * Make @op the operation of this CPU and context: records with the call site of @op
 * share one stack until kmemtrace_operation_leave().  Preemption is off until then.
 * Context: any; in NMI context the function only disables preemption.
 */
static __always_inline void
kmemtrace_operation_enter(const struct kmemtrace_operation *op)
{
	if (kmemtrace_with_stacks())
		__kmemtrace_operation_enter(op);
}

/*
 * End the operation of this CPU and context, and store the number of the stack in @op
 * if a record has saved the stack.  Context: that of kmemtrace_operation_enter().
 */
static __always_inline void
kmemtrace_operation_leave(struct kmemtrace_operation *op)
{
	if (kmemtrace_with_stacks())
		__kmemtrace_operation_leave(op);
}

/*
 * Evaluate @record, which makes one record, as a part of operation @op.  The first
 * record of the operation saves the stack, and later records of the operation have the
 * number of this stack.
 */
#define kmemtrace_part(op, record)					\
	do {								\
		kmemtrace_operation_enter(op);				\
		(record);						\
		kmemtrace_operation_leave(op);				\
	} while (0)

/*
 * Return the operation of this CPU and context.  Its call_site is 0 if there is no
 * operation.  Context: any but NMI, preemption off.
 */
struct kmemtrace_operation *kmemtrace_operation_here(void);

/* End the operations of all CPUs.  Context: no event is recorded. */
void kmemtrace_operations_reset(void);

#endif /* _MM_KMEMTRACE_OPERATION_H */
