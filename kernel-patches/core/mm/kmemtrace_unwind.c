// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: a fast unwinder for the running task.
 *
 * The kernel's unwinder takes some 200 instructions for a frame, because it
 * copes with any stack.  Nearly all stacks of events are plain: calls, one below
 * the other, down to the entry from user space, an interrupt, or the start of a
 * kernel thread.  This file unwinds those in some 15 instructions for a frame.
 * It reads the same facts as the kernel's unwinder and refuses everything else,
 * so that a stack is either the one that stack_trace_save() returns, or is left
 * to that.  Refused are return addresses that a tracer has replaced, code that
 * is neither the kernel's nor a module's, registers of an exception in the
 * kernel, and a frame that leaves its stack.
 *
 * With frame pointers, each frame has the address of the next one.
 *
 * With ORC, the size of a frame follows from its return address, where the frame
 * is addressed by the stack pointer.  Where one is addressed by BP, the stack is
 * unwound anew with BP, which the frames of callees have.  A table caches what the ORC data says of
 * each return address.  It is emptied when a module comes or goes, as another
 * module's code may come to the same addresses.  No code of a module that goes
 * is on any stack by then, so that nothing old is put in afterwards.
 *
 * CONFIG_KMEMTRACE_TEST compares each stack with the kernel's unwinder.
 */

#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/rethook.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <asm/sections.h>

#include "kmemtrace_internal.h"

#if defined(CONFIG_X86_64) && \
	(defined(CONFIG_UNWINDER_FRAME_POINTER) || defined(CONFIG_UNWINDER_ORC))

/* Bytes of the stack, from the frame where it was entered to its end. */
struct kmemtrace_bounds {
	unsigned long	end;		/* the first byte behind it */
	bool		is_task;	/* the task's, not the interrupts' */
};

static __always_inline unsigned long kmemtrace_irq_stack_end(void)
{
	return (unsigned long)raw_cpu_read(hardirq_stack_ptr);
}

/* Find the stack that address lies in; false: neither of these. */
static __always_inline bool kmemtrace_find_stack(unsigned long address,
						 struct kmemtrace_bounds *bounds)
{
	unsigned long task = (unsigned long)task_stack_page(current);
	unsigned long irq_end = kmemtrace_irq_stack_end();

	if (likely(address - task < THREAD_SIZE)) {
		bounds->end = task + THREAD_SIZE;
		bounds->is_task = true;
		return true;
	}
	bounds->end = irq_end;
	bounds->is_task = false;
	return address < irq_end && address >= irq_end - IRQ_STACK_SIZE + 8;
}

/* Return addresses that the tracers of returns put in place of others. */
static __always_inline bool kmemtrace_is_trampoline(unsigned long ip)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (unlikely(ip == (unsigned long)return_to_handler))
		return true;
#endif
#ifdef CONFIG_RETHOOK
	if (unlikely(is_rethook_trampoline(ip)))
		return true;
#endif
	return is_kretprobe_trampoline(ip);
}

/*
 * The depot cuts a stack behind the entry of an interrupt; see
 * filter_irq_stacks().
 */
static bool kmemtrace_is_irqentry(unsigned long ip)
{
	return (ip >= (unsigned long)__irqentry_text_start &&
		ip < (unsigned long)__irqentry_text_end) ||
	       (ip >= (unsigned long)__softirqentry_text_start &&
		ip < (unsigned long)__softirqentry_text_end);
}

enum kmemtrace_step {
	KMEMTRACE_STEP_ON,
	KMEMTRACE_STEP_DONE,
	KMEMTRACE_STEP_REFUSED,
};

#ifdef CONFIG_UNWINDER_FRAME_POINTER

/* The kernel's text up to here has no entry of an interrupt. */
static unsigned long kmemtrace_plain_end __ro_after_init;

/* Also generated code, which has frames as well. */
static __always_inline bool kmemtrace_is_module_text(unsigned long ip)
{
#ifdef CONFIG_MODULES
	return ip - MODULES_VADDR < MODULES_END - MODULES_VADDR;
#else
	return false;
#endif
}

/*
 * Other text: the caller stores ip, and then goes on, or is done behind the entry
 * of an interrupt.  Text of another origin is refused.
 */
static noinline enum kmemtrace_step kmemtrace_other_text(unsigned long ip)
{
	if (kmemtrace_is_irqentry(ip))
		return KMEMTRACE_STEP_DONE;
	/* Also init code, while it is there. */
	return core_kernel_text(ip) ? KMEMTRACE_STEP_ON :
				      KMEMTRACE_STEP_REFUSED;
}
NOKPROBE_SYMBOL(kmemtrace_other_text);

/*
 * The frame at bp does not have the address of another one above it: it is the
 * last, or the first on the stack of interrupts, or this is refused.  on: *next
 * is the next one.
 */
static noinline enum kmemtrace_step
kmemtrace_last_frame(unsigned long bp, unsigned long next,
		     struct kmemtrace_bounds *bounds)
{
	unsigned long regs = (unsigned long)task_pt_regs(current);
	bool was_task = bounds->is_task;

	/* System call: the entry code cleared it. */
	if (!next && bp == regs - 2 * sizeof(long))
		return KMEMTRACE_STEP_DONE;
	/* Exception or interrupt, which encodes the address of its registers. */
	if (next == regs + 1)
		return KMEMTRACE_STEP_DONE;
	if (was_task || next % sizeof(long) ||
	    !kmemtrace_find_stack(next, bounds) || !bounds->is_task ||
	    next + 2 * sizeof(long) > bounds->end)
		return KMEMTRACE_STEP_REFUSED;
	return KMEMTRACE_STEP_ON;
}
NOKPROBE_SYMBOL(kmemtrace_last_frame);

/* Go from frame *bp to the next one. */
static __always_inline enum kmemtrace_step
kmemtrace_next_frame(unsigned long *bp, struct kmemtrace_bounds *bounds)
{
	unsigned long next = READ_ONCE_NOCHECK(*(unsigned long *)*bp);
	enum kmemtrace_step step;

	if (unlikely(next <= *bp || next % sizeof(long) ||
		     next > bounds->end - 2 * sizeof(long))) {
		step = kmemtrace_last_frame(*bp, next, bounds);
		if (step != KMEMTRACE_STEP_ON)
			return step;
	}
	*bp = next;
	return KMEMTRACE_STEP_ON;
}

static __always_inline unsigned long kmemtrace_return_address(unsigned long bp)
{
	return READ_ONCE_NOCHECK(((unsigned long *)bp)[1]);
}

static __always_inline unsigned int
kmemtrace_walk(unsigned long bp, unsigned long call_site,
	       unsigned long *entries, unsigned int max)
{
	enum kmemtrace_step step = KMEMTRACE_STEP_ON;
	unsigned long plain = kmemtrace_plain_end - (unsigned long)_stext;
	struct kmemtrace_bounds bounds;
	unsigned int n = 0, skipped = 0;
	unsigned long ip;

	if (!kmemtrace_find_stack(bp, &bounds))
		return 0;
	while (kmemtrace_return_address(bp) != call_site)
		if (++skipped > KMEMTRACE_STACK_OURS ||
		    kmemtrace_next_frame(&bp, &bounds) != KMEMTRACE_STEP_ON)
			return 0;
	do {
		ip = kmemtrace_return_address(bp);
		if (ip - (unsigned long)_stext >= plain &&
		    !kmemtrace_is_module_text(ip))
			step = kmemtrace_other_text(ip);
		if (unlikely(step == KMEMTRACE_STEP_REFUSED ||
			     kmemtrace_is_trampoline(ip)))
			return 0;
		entries[n++] = ip;
		if (n == max || step == KMEMTRACE_STEP_DONE)
			return n;
		step = kmemtrace_next_frame(&bp, &bounds);
	} while (likely(step == KMEMTRACE_STEP_ON));
	return step == KMEMTRACE_STEP_DONE ? n : 0;
}

void __init kmemtrace_unwind_init(void)
{
	kmemtrace_plain_end = min_t(unsigned long,
				    (unsigned long)__irqentry_text_start,
				    (unsigned long)__softirqentry_text_start);
}

#else /* CONFIG_UNWINDER_ORC */

#include <asm/orc_types.h>
#include <asm/unwind.h>

/* What follows from a return address, beside the size. */
enum kmemtrace_layout {
	KMEMTRACE_LAYOUT_CALL,		/* a frame of that size */
	KMEMTRACE_LAYOUT_SWITCH,	/* first frame on the interrupts' stack */
	KMEMTRACE_LAYOUT_REGS,		/* registers of an entry to the kernel */
	KMEMTRACE_LAYOUT_BP,		/* a frame that ends there above BP */
	KMEMTRACE_LAYOUT_END,		/* the last one of a stack */
	KMEMTRACE_LAYOUT_OTHER,
};

/*
 * An entry is the lower half of the return address, whose upper half has all bits
 * set; the frame's size; where the frame has the caller's BP, in words from its
 * end, 0: nowhere, as BP is unchanged; and an enum kmemtrace_layout.  It is one
 * word, so that it is read and written without a lock.  An empty one has 0, which
 * is no address of code.  The upper half of an entry is called a layout.
 */
#define KMEMTRACE_LAYOUTS	4096
#define KMEMTRACE_IP_UPPER	GENMASK_ULL(63, 32)
#define KMEMTRACE_LAYOUT_SHIFT	32
#define KMEMTRACE_KIND_SHIFT	28
#define KMEMTRACE_BP_SHIFT	16
#define KMEMTRACE_BP_BITS	12

static u64 *kmemtrace_layouts;

static __always_inline u64 *kmemtrace_layout_entry(unsigned long ip)
{
	return &kmemtrace_layouts[(ip ^ ip >> 12) % KMEMTRACE_LAYOUTS];
}

/* Where the frame has the caller's BP, in words; false: not known. */
static bool kmemtrace_saved_bp(const struct orc_entry *orc, s32 *words)
{
	*words = 0;
	if (orc->bp_reg == ORC_REG_UNDEFINED)
		return true;
	*words = orc->bp_offset / (s32)sizeof(long);
	return orc->bp_reg == ORC_REG_PREV_SP && *words < 0 &&
	       orc->bp_offset % (s32)sizeof(long) == 0 &&
	       *words >= -(1 << (KMEMTRACE_BP_BITS - 1));
}
NOKPROBE_SYMBOL(kmemtrace_saved_bp);

static enum kmemtrace_layout kmemtrace_kind_of(unsigned long ip,
					       struct orc_entry *orc,
					       s32 *bp_words)
{
	if (!(u32)ip || (ip | KMEMTRACE_IP_UPPER) != ip ||
	    kmemtrace_is_trampoline(ip) || !orc_find_call(ip, orc))
		return KMEMTRACE_LAYOUT_OTHER;
	if (kmemtrace_is_irqentry(ip) ||
	    (orc->sp_reg == ORC_REG_UNDEFINED && orc->end))
		return KMEMTRACE_LAYOUT_END;
	if (orc->sp_offset < 0 || orc->sp_offset % (s32)sizeof(long))
		return KMEMTRACE_LAYOUT_OTHER;
	if (orc->type == UNWIND_HINT_TYPE_REGS)
		return orc->sp_reg == ORC_REG_SP ? KMEMTRACE_LAYOUT_REGS :
						   KMEMTRACE_LAYOUT_OTHER;
	/* The frame of a call has at least the return address. */
	if (orc->type != UNWIND_HINT_TYPE_CALL || !orc->sp_offset ||
	    !kmemtrace_saved_bp(orc, bp_words))
		return KMEMTRACE_LAYOUT_OTHER;
	switch (orc->sp_reg) {
	case ORC_REG_SP:
		return KMEMTRACE_LAYOUT_CALL;
	case ORC_REG_SP_INDIRECT:
		return KMEMTRACE_LAYOUT_SWITCH;
	case ORC_REG_BP:
		return KMEMTRACE_LAYOUT_BP;
	default:
		return KMEMTRACE_LAYOUT_OTHER;
	}
}
NOKPROBE_SYMBOL(kmemtrace_kind_of);

static noinline u64 kmemtrace_learn_layout(unsigned long ip)
{
	struct orc_entry orc = {};
	s32 bp_words = 0;
	u32 kind = kmemtrace_kind_of(ip, &orc, &bp_words);
	u32 layout = kind << KMEMTRACE_KIND_SHIFT |
		     ((u32)bp_words & ((1U << KMEMTRACE_BP_BITS) - 1)) <<
		     KMEMTRACE_BP_SHIFT | (u16)orc.sp_offset;
	u64 entry = (u64)layout << KMEMTRACE_LAYOUT_SHIFT | (u32)ip;

	/* Another address with the same lower half must not find it. */
	if ((ip | KMEMTRACE_IP_UPPER) == ip)
		WRITE_ONCE(*kmemtrace_layout_entry(ip), entry);
	return entry;
}
NOKPROBE_SYMBOL(kmemtrace_learn_layout);

/*
 * Other frames than those of calls.  sp: behind the return address.  on: *slot is
 * the address of the next return address.
 */
static noinline enum kmemtrace_step
kmemtrace_other_frame(enum kmemtrace_layout layout, unsigned long sp, u16 size,
		      struct kmemtrace_bounds *bounds, unsigned long *slot)
{
	switch (layout) {
	case KMEMTRACE_LAYOUT_END:
		return KMEMTRACE_STEP_DONE;
	case KMEMTRACE_LAYOUT_REGS:
		return sp + size == (unsigned long)task_pt_regs(current) ?
		       KMEMTRACE_STEP_DONE : KMEMTRACE_STEP_REFUSED;
	case KMEMTRACE_LAYOUT_SWITCH:
		/* The last word of this stack is where the other one was. */
		if (bounds->is_task || sp != bounds->end)
			return KMEMTRACE_STEP_REFUSED;
		sp = READ_ONCE_NOCHECK(*(unsigned long *)sp) + size;
		*slot = sp - sizeof(long);
		if (*slot % sizeof(long) ||
		    !kmemtrace_find_stack(*slot, bounds) || !bounds->is_task)
			return KMEMTRACE_STEP_REFUSED;
		return KMEMTRACE_STEP_ON;
	default:
		return KMEMTRACE_STEP_REFUSED;
	}
}
NOKPROBE_SYMBOL(kmemtrace_other_frame);

/* Find the layout for the return address at slot. */
static __always_inline u32 kmemtrace_find_layout(unsigned long slot,
						 unsigned long *ip)
{
	u64 entry;

	*ip = READ_ONCE_NOCHECK(*(unsigned long *)slot);
	entry = READ_ONCE(*kmemtrace_layout_entry(*ip));
	if (unlikely((entry | KMEMTRACE_IP_UPPER) != *ip))
		entry = kmemtrace_learn_layout(*ip);
	return entry >> KMEMTRACE_LAYOUT_SHIFT;
}

/*
 * Go from the return address at *slot, of that layout, to the next one.  bp: of
 * the code there, or NULL: it is not known, and frames that need it are refused.
 */
static __always_inline enum kmemtrace_step
kmemtrace_next_slot(unsigned long *slot, u32 layout,
		    struct kmemtrace_bounds *bounds, unsigned long *bp)
{
	enum kmemtrace_layout kind = layout >> KMEMTRACE_KIND_SHIFT;
	unsigned long old = *slot, address;
	enum kmemtrace_step step;
	s32 words;

	if (likely(kind == KMEMTRACE_LAYOUT_CALL)) {
		*slot += (u16)layout;
	} else if (kind == KMEMTRACE_LAYOUT_BP && bp) {
		*slot = *bp + (u16)layout - sizeof(long);
		if (*slot <= old || *slot % sizeof(long))
			return KMEMTRACE_STEP_REFUSED;
	} else {
		step = kmemtrace_other_frame(kind, old + sizeof(long), layout,
					     bounds, slot);
		if (step != KMEMTRACE_STEP_ON)
			return step;
		/* The frame ends on another stack. */
		old = bounds->end - THREAD_SIZE;
	}
	if (unlikely(*slot >= bounds->end))
		return KMEMTRACE_STEP_REFUSED;
	if (!bp)
		return KMEMTRACE_STEP_ON;
	words = (s32)(layout << (32 - KMEMTRACE_KIND_SHIFT)) >>
		(32 - KMEMTRACE_BP_BITS);
	address = *slot + sizeof(long) + words * (s32)sizeof(long);
	if (words && (address <= old || address >= *slot))
		return KMEMTRACE_STEP_REFUSED;
	if (words)
		*bp = READ_ONCE_NOCHECK(*(unsigned long *)address);
	return KMEMTRACE_STEP_ON;
}

/* bp: of the code at slot, or NULL, which is faster. */
static __always_inline unsigned int
kmemtrace_walk_slots(unsigned long slot, unsigned long *bp,
		     unsigned long call_site, unsigned long *entries,
		     unsigned int max)
{
	struct kmemtrace_bounds bounds;
	unsigned int n = 0, skipped = 0;
	enum kmemtrace_step step;
	unsigned long ip;
	u32 layout;

	if (!kmemtrace_layouts || !kmemtrace_find_stack(slot, &bounds))
		return 0;
	for (;;) {
		layout = kmemtrace_find_layout(slot, &ip);
		if (ip == call_site)
			break;
		if (++skipped > KMEMTRACE_STACK_OURS ||
		    kmemtrace_next_slot(&slot, layout, &bounds, bp) !=
		    KMEMTRACE_STEP_ON)
			return 0;
	}
	for (;;) {
		if (unlikely(layout >> KMEMTRACE_KIND_SHIFT ==
			     KMEMTRACE_LAYOUT_OTHER))
			return 0;
		entries[n++] = ip;
		if (n == max)
			return n;
		step = kmemtrace_next_slot(&slot, layout, &bounds, bp);
		if (unlikely(step != KMEMTRACE_STEP_ON))
			return step == KMEMTRACE_STEP_DONE ? n : 0;
		layout = kmemtrace_find_layout(slot, &ip);
	}
}

/* Some frames are addressed by BP, which most callers keep: follow it, too. */
static noinline unsigned int
kmemtrace_walk_with_bp(unsigned long slot, unsigned long bp,
		       unsigned long call_site, unsigned long *entries,
		       unsigned int max)
{
	return kmemtrace_walk_slots(slot, &bp, call_site, entries, max);
}
NOKPROBE_SYMBOL(kmemtrace_walk_with_bp);

static __always_inline unsigned int
kmemtrace_walk(unsigned long bp, unsigned long call_site,
	       unsigned long *entries, unsigned int max)
{
	unsigned long slot = bp + sizeof(long);
	unsigned int n;

	n = kmemtrace_walk_slots(slot, NULL, call_site, entries, max);
	if (unlikely(!n))
		n = kmemtrace_walk_with_bp(slot, READ_ONCE(*(unsigned long *)bp),
					   call_site, entries, max);
	return n;
}

#ifdef CONFIG_MODULES
static int kmemtrace_module_event(struct notifier_block *nb,
				  unsigned long event, void *data)
{
	unsigned int i;

	for (i = 0; i < KMEMTRACE_LAYOUTS; i++)
		WRITE_ONCE(kmemtrace_layouts[i], 0);
	return NOTIFY_OK;
}

static struct notifier_block kmemtrace_module_nb = {
	.notifier_call = kmemtrace_module_event,
};
#endif

/* Without memory for it all stacks are left to the kernel's unwinder. */
void __init kmemtrace_unwind_init(void)
{
	kmemtrace_layouts = kcalloc(KMEMTRACE_LAYOUTS, sizeof(u64), GFP_KERNEL);
#ifdef CONFIG_MODULES
	if (kmemtrace_layouts)
		register_module_notifier(&kmemtrace_module_nb);
#endif
}

#endif /* CONFIG_UNWINDER_ORC */

/* noinline: the frame is its own. */
noinline unsigned int kmemtrace_unwind(unsigned long call_site,
				       unsigned long *entries, unsigned int max)
{
	return kmemtrace_walk((unsigned long)__builtin_frame_address(0),
			      call_site, entries, max);
}
NOKPROBE_SYMBOL(kmemtrace_unwind);

#else /* another architecture or unwinder */

void __init kmemtrace_unwind_init(void)
{
}

unsigned int kmemtrace_unwind(unsigned long call_site, unsigned long *entries,
			      unsigned int max)
{
	return 0;
}

#endif
