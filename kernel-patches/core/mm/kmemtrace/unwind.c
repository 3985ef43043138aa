// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: a fast unwinder for the current task.
 *
 * The kernel's unwinder needs about 200 instructions per frame, because it handles
 * any stack.  Nearly all stacks of events are plain: calls down to the entry from
 * user space, an interrupt, or the start of a kernel thread.  This file unwinds such
 * stacks in about 15 instructions per frame, from the same data as the kernel's
 * unwinder.  It refuses every other stack, which the kernel's unwinder then handles,
 * so that each stack equals that of stack_trace_save().  Refused are return addresses
 * that a tracer has replaced, code that belongs neither to the kernel nor to a
 * module, registers of an exception in the kernel, and a frame that leaves its stack.
 *
 * With frame pointers, each frame contains the address of the next frame.  A table
 * caches which return addresses are code of a module.
 *
 * With ORC, the size of a frame follows from its return address, if the frame is
 * addressed by the stack pointer.  If a frame is addressed by BP, the stack is
 * unwound again with BP, which the frames of callees have saved.  A table caches the
 * ORC data of each return address.
 *
 * The tables are emptied when a module is loaded or unloaded, because other code may
 * then have the same addresses: see kmemtrace_module_event().
 *
 * With CONFIG_KMEMTRACE_TEST, each stack is compared with that of the kernel's
 * unwinder, unless kmemtrace.test_latency is given.
 *
 * One unit: both ways of unwinding share the classification of return addresses, the
 * bounds of stacks, and the emptying of the tables.
 */

#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/rethook.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <asm/sections.h>

#include "compat.h"
#include "unwind.h"

#if defined(CONFIG_X86_64) && \
	(defined(CONFIG_UNWINDER_FRAME_POINTER) || defined(CONFIG_UNWINDER_ORC))

/* The stack that is being unwound. */
struct kmemtrace_bounds {
	/*
	 * For the task's stack: address of the first byte behind the stack.  For the
	 * interrupts' stack: address of its last word, which contains the interrupted
	 * stack pointer.
	 */
	unsigned long	end;
	bool		is_task;	/* the task's stack, not that of interrupts */
};

/*
 * Find the stack that contains @address.  Return false if this is neither the stack of
 * the current task nor this CPU's stack of interrupts.
 */
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

/*
 * Return whether @ip is a trampoline by which a tracer replaces return addresses.
 */
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
 * Return whether @ip is in the entry code of an interrupt.  The stack depot ends a
 * stack after the first such address: see filter_irq_stacks().
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

/* Return addresses that are known to be code of a module; 0: none. */
#define KMEMTRACE_MODULE_IPS	4096

static unsigned long *kmemtrace_module_ips;

static __always_inline unsigned long *kmemtrace_module_ip(unsigned long ip)
{
	return &kmemtrace_module_ips[(ip ^ ip >> 12) % KMEMTRACE_MODULE_IPS];
}

static __always_inline bool kmemtrace_is_module_text(unsigned long ip)
{
	return READ_ONCE(*kmemtrace_module_ip(ip)) == ip;
}

/*
 * Return whether @ip is code of a loaded module.  Remember that it is, except for
 * init code, which is freed without a call of the module notifiers.
 */
#ifdef CONFIG_MODULES
static bool kmemtrace_find_module_text(unsigned long ip)
{
	struct module *mod = __module_text_address(ip);

	if (!mod || mod->state == MODULE_STATE_GOING)
		return false;
	if (within_module_core(ip, mod))
		WRITE_ONCE(*kmemtrace_module_ip(ip), ip);
	return true;
}
NOKPROBE_SYMBOL(kmemtrace_find_module_text);
#else
static bool kmemtrace_find_module_text(unsigned long ip)
{
	return false;
}
#endif

/*
 * Classify a return address outside of the plain text of the kernel.  ON: an ordinary
 * frame.  DONE: the entry of an interrupt, where a stack ends.  REFUSED: not code of
 * the kernel or of a module.
 */
static noinline enum kmemtrace_step kmemtrace_other_text(unsigned long ip)
{
	if (kmemtrace_is_irqentry(ip))
		return KMEMTRACE_STEP_DONE;
	/* Init code passes too, while it is in memory. */
	return core_kernel_text(ip) || kmemtrace_find_module_text(ip) ?
	       KMEMTRACE_STEP_ON : KMEMTRACE_STEP_REFUSED;
}
NOKPROBE_SYMBOL(kmemtrace_other_text);

/*
 * Handle a frame whose saved frame pointer @next is no address further up on the
 * same stack.  DONE: the frame at @bp is the last one.  ON: the frame at @bp is
 * the outermost one on the interrupts' stack, and @next is on the task's stack, whose
 * bounds are now in @bounds.  REFUSED: anything else.
 */
static noinline enum kmemtrace_step
kmemtrace_last_frame(unsigned long bp, unsigned long next,
		     struct kmemtrace_bounds *bounds)
{
	unsigned long regs = (unsigned long)task_pt_regs(current);
	bool was_task = bounds->is_task;

	/* System call: the entry code cleared the frame pointer. */
	if (!next && bp == regs - 2 * sizeof(long))
		return KMEMTRACE_STEP_DONE;
	/*
	 * An exception, an interrupt, or the start of a task: the saved frame pointer
	 * is the address of the saved registers plus 1.
	 */
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

	/* A frame has at least a saved frame pointer and a return address. */
	if (unlikely(next < *bp + 2 * sizeof(long) || next % sizeof(long) ||
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

	if (!kmemtrace_module_ips || !kmemtrace_find_stack(bp, &bounds))
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

static void __maybe_unused kmemtrace_clear_cache(void)
{
	unsigned int i;

	for (i = 0; i < KMEMTRACE_MODULE_IPS; i++)
		WRITE_ONCE(kmemtrace_module_ips[i], 0);
}

static bool kmemtrace_alloc_cache(void)
{
	kmemtrace_plain_end = min_t(unsigned long,
				    (unsigned long)__irqentry_text_start,
				    (unsigned long)__softirqentry_text_start);
	kmemtrace_module_ips = kcalloc(KMEMTRACE_MODULE_IPS, sizeof(long),
				       GFP_KERNEL);
	return kmemtrace_module_ips;
}

#else /* CONFIG_UNWINDER_ORC */

#include <asm/orc_types.h>
#include <asm/unwind.h>

/*
 * The kind of the frame of a return address.  0 is no kind, so that an entry that was
 * not filled yet is not a valid layout.
 */
enum kmemtrace_layout {
	KMEMTRACE_LAYOUT_CALL = 1,	/* next return address size bytes further up */
	KMEMTRACE_LAYOUT_SWITCH,	/* outermost frame on the interrupts' stack */
	KMEMTRACE_LAYOUT_REGS,		/* registers of an entry to the kernel */
	KMEMTRACE_LAYOUT_BP,		/* a frame that ends size bytes above BP */
	KMEMTRACE_LAYOUT_ALIGNED,	/* a frame whose end is stored below BP */
	KMEMTRACE_LAYOUT_END,		/* the last one of a stack */
	KMEMTRACE_LAYOUT_OTHER,		/* the kernel's unwinder is needed */
};

/*
 * An entry of the table is one word, so that it is read and written without a
 * lock:
 *
 * bits 0-31: the lower half of the return address; the upper half has all bits set.
 * bits 32-47: the size of the frame in bytes; with LAYOUT_ALIGNED the negative offset
 *   from BP of the address of the frame's end.
 * bits 48-59: the offset of the saved BP from the end of the frame, in words, as a
 *   negative number; 0: BP is unchanged.
 * bits 60-63: an enum kmemtrace_layout.
 *
 * Bits 32-63 are called a layout.  An empty entry is 0.
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

/*
 * Store the offset of the saved BP from the end of the frame, in words; 0: BP is
 * unchanged.  Return false where the offset is not known or does not fit.
 */
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
	    kmemtrace_orc_is_end(orc))
		return KMEMTRACE_LAYOUT_END;
	if (orc->sp_offset % (s32)sizeof(long))
		return KMEMTRACE_LAYOUT_OTHER;
	if (orc->type == ORC_TYPE_CALL && orc->sp_reg == ORC_REG_BP_INDIRECT)
		return orc->sp_offset < 0 && orc->bp_reg == ORC_REG_BP &&
		       !orc->bp_offset ? KMEMTRACE_LAYOUT_ALIGNED :
					 KMEMTRACE_LAYOUT_OTHER;
	if (orc->sp_offset < 0)
		return KMEMTRACE_LAYOUT_OTHER;
	if (orc->type == ORC_TYPE_REGS)
		return orc->sp_reg == ORC_REG_SP ? KMEMTRACE_LAYOUT_REGS :
						   KMEMTRACE_LAYOUT_OTHER;
	/* The frame of a call has at least the return address. */
	if (orc->type != ORC_TYPE_CALL || !orc->sp_offset ||
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

	/*
	 * An entry stands for an address whose upper half has all bits set.  Do not
	 * store another address: its entry would match the address with the same lower
	 * half.
	 */
	if ((ip | KMEMTRACE_IP_UPPER) == ip)
		WRITE_ONCE(*kmemtrace_layout_entry(ip), entry);
	return entry;
}
NOKPROBE_SYMBOL(kmemtrace_learn_layout);

/*
 * Handle a frame that is not of a call.  @sp: the address behind the return
 * address.  ON: *@slot is the address of the next return address.
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
		/*
		 * The last word of this stack contains the stack pointer of the
		 * interrupted stack.
		 */
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

/*
 * Leave the frame of a function that aligned its stack, and therefore stored the end of
 * its frame @offset bytes from BP, and the caller's BP at BP.  Return values and other
 * arguments: as of kmemtrace_next_slot().
 */
static noinline enum kmemtrace_step
kmemtrace_aligned_frame(unsigned long *slot, s16 offset,
			struct kmemtrace_bounds *bounds, unsigned long *bp)
{
	unsigned long frame = *bp, address = frame + offset, next;

	if (frame % sizeof(long) || frame >= bounds->end || address <= *slot ||
	    address >= frame)
		return KMEMTRACE_STEP_REFUSED;
	next = READ_ONCE_NOCHECK(*(unsigned long *)address) - sizeof(long);
	if (next % sizeof(long) || next <= frame || next >= bounds->end)
		return KMEMTRACE_STEP_REFUSED;
	*slot = next;
	*bp = READ_ONCE_NOCHECK(*(unsigned long *)frame);
	return KMEMTRACE_STEP_ON;
}
NOKPROBE_SYMBOL(kmemtrace_aligned_frame);

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
 * Go from the return address at *@slot, which has @layout, to the next one.  @bp:
 * BP at the return address; NULL: BP is not known, and a frame that needs it is
 * refused.
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
	} else if (kind != KMEMTRACE_LAYOUT_ALIGNED || !bp) {
		step = kmemtrace_other_frame(kind, old + sizeof(long), layout,
					     bounds, slot);
		if (step != KMEMTRACE_STEP_ON)
			return step;
		/* *@slot is now on the task's stack, whose start is the lower bound. */
		old = bounds->end - THREAD_SIZE;
	} else {
		return kmemtrace_aligned_frame(slot, layout, bounds, bp);
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

/*
 * Unwind the stack from the return address at @slot on.  @bp: BP at this return
 * address.  NULL: BP is not known, which is faster, but a frame that is addressed by BP
 * is refused.
 */
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
		/*
		 * kmemtrace_next_slot() also refuses this layout, but is not called for
		 * the last entry.
		 */
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

/* Unwind with BP, for stacks that have a frame addressed by BP. */
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

static void __maybe_unused kmemtrace_clear_cache(void)
{
	unsigned int i;

	for (i = 0; i < KMEMTRACE_LAYOUTS; i++)
		WRITE_ONCE(kmemtrace_layouts[i], 0);
}

static bool kmemtrace_alloc_cache(void)
{
	kmemtrace_layouts = kcalloc(KMEMTRACE_LAYOUTS, sizeof(u64), GFP_KERNEL);
	return kmemtrace_layouts;
}

#endif /* CONFIG_UNWINDER_ORC */

#ifdef CONFIG_MODULES
/*
 * Empty the table.  The kernel sets the state of a module before this is called.
 * A lookup that began before may store the answer of the former state, and ends
 * within the grace period.  A later lookup finds the new state: it refuses a
 * module that is going, and finds one that is coming.  So no entry of a module
 * outlives the module, even where generated code, which has no notifier, comes to
 * its addresses.
 */
static int kmemtrace_module_event(struct notifier_block *nb,
				  unsigned long event, void *data)
{
	if (event == MODULE_STATE_LIVE)
		return NOTIFY_OK;
	synchronize_rcu();
	kmemtrace_clear_cache();
	return NOTIFY_OK;
}

static struct notifier_block kmemtrace_module_nb = {
	.notifier_call = kmemtrace_module_event,
};
#endif

/*
 * Allocate the table.  Without memory for it, the kernel's unwinder handles all
 * stacks.
 */
void kmemtrace_unwind_init(void)
{
	if (!kmemtrace_alloc_cache())
		return;
#ifdef CONFIG_MODULES
	register_module_notifier(&kmemtrace_module_nb);
#endif
}

/* noinline, so that __builtin_frame_address(0) is the frame of this function. */
noinline unsigned int kmemtrace_unwind(unsigned long call_site,
				       unsigned long *entries, unsigned int max)
{
	return kmemtrace_walk((unsigned long)__builtin_frame_address(0),
			      call_site, entries, max);
}
NOKPROBE_SYMBOL(kmemtrace_unwind);

#else /* another architecture or unwinder */

void kmemtrace_unwind_init(void)
{
}

unsigned int kmemtrace_unwind(unsigned long call_site, unsigned long *entries,
			      unsigned int max)
{
	return 0;
}

#endif
