/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: a fast unwinder for the usual stacks of the running task. */
#ifndef _MM_KMEMTRACE_UNWIND_H
#define _MM_KMEMTRACE_UNWIND_H

/* Maximum number of functions between an event's call site and the unwinder. */
#define KMEMTRACE_STACK_OURS	12

/*
 * Store the return addresses of the running task from @call_site on, at most @max.
 * Return how many were stored; 0 where only stack_trace_save() can unwind this
 * stack.  Context: preemption is off.
 */
unsigned int kmemtrace_unwind(unsigned long call_site, unsigned long *entries,
			      unsigned int max);

/*
 * Allocate the table of the unwinder, and follow modules.  Without memory for the table,
 * kmemtrace_unwind() returns 0 for all stacks.  Context: early boot, one CPU runs.
 */
void kmemtrace_unwind_init(void);

#endif /* _MM_KMEMTRACE_UNWIND_H */
