// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: operations of several records that share one stack. */

#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/kmemtrace.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "guard.h"
#include "operation.h"

u32 (*kmemtrace_save_stack)(unsigned long call_site) __ro_after_init;

/*
 * The operations of a CPU, one for each context.  Each is a copy of the argument of
 * kmemtrace_operation_enter().  call_site 0: the context has no operation.
 */
struct kmemtrace_operations {
	struct kmemtrace_operation	context[KMEMTRACE_CONTEXTS];
};

static DEFINE_PER_CPU(struct kmemtrace_operations, kmemtrace_operations);

struct kmemtrace_operation *kmemtrace_operation_here(void)
{
	struct kmemtrace_operations *here = raw_cpu_ptr(&kmemtrace_operations);

	return &here->context[interrupt_context_level()];
}
NOKPROBE_SYMBOL(kmemtrace_operation_here);

void __kmemtrace_operation_enter(const struct kmemtrace_operation *op)
{
	preempt_disable_notrace();
	if (!in_nmi())
		*kmemtrace_operation_here() = *op;
}
NOKPROBE_SYMBOL(__kmemtrace_operation_enter);

void __kmemtrace_operation_leave(struct kmemtrace_operation *op)
{
	struct kmemtrace_operation *here;

	if (!in_nmi()) {
		here = kmemtrace_operation_here();
		/* A nested operation, in a probe, may have replaced or ended op. */
		if (here->call_site == op->call_site)
			*op = *here;
		here->call_site = 0;
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(__kmemtrace_operation_leave);

void __kmemtrace_operation_begin(struct kmemtrace_operation *op)
{
	if (!kmemtrace_with_stacks() || !kmemtrace_is_recording() || in_nmi() ||
	    in_kmemtrace_wrapper(op->call_site))
		return;
	op->stack = kmemtrace_save_stack(op->call_site);
	op->saved = true;
}
NOKPROBE_SYMBOL(__kmemtrace_operation_begin);

void kmemtrace_operations_reset(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&kmemtrace_operations, cpu), 0,
		       sizeof(struct kmemtrace_operations));
}
