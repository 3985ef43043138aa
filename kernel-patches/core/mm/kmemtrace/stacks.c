// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the stacks of events.  With kmemtrace.stacks=yes each record has the
 * number of its stack, a list of return addresses, in the kernel's stack depot.
 * <linux/kmemtrace_abi.h> describes the table of stacks.
 *
 * The depot can be used in any context but NMI, where nothing is recorded: its
 * lock is raw and held with interrupts off, and nothing is allocated under it.
 * An event must not allocate room in the depot, because it may hold locks of the
 * allocator, and because the allocation would be an event in turn.  So the room
 * is reserved in advance: before the first event, and later by a worker, which
 * an irq_work queues when half of the room is used up.  A stack that finds no
 * room gets the number 0 and is counted.
 *
 * The depot keeps all stacks until the next boot.  A number means one stack in
 * all sessions.  The table may contain stacks of earlier sessions, and those of
 * KASAN or other users of the depot.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kmemtrace.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>
#include <linux/kstrtox.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/seq_file.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "features.h"
#include "file_util.h"
#include "format.h"
#include "operation.h"
#include "unwind.h"

/*
 * Default and largest value of kmemtrace.stack_depth, the maximum number of return
 * addresses of a stack.  The outermost addresses of a deeper stack are omitted.
 */
#define KMEMTRACE_STACK_DEPTH		32
#define KMEMTRACE_STACK_DEPTH_MAX	64
static unsigned int kmemtrace_stack_depth __ro_after_init =
	KMEMTRACE_STACK_DEPTH;

/* Entries of the cache of recent stacks of a CPU: a power of 2. */
#define KMEMTRACE_RECENT_STACKS		1024

/* Room to reserve: pools of the depot, each of 4 pages for some 100 usual stacks. */
#define KMEMTRACE_STACK_ROOM	256

static bool kmemtrace_boot_stacks __ro_after_init;
/*
 * Why records have no stacks despite kmemtrace.stacks=yes.  NULL: records have stacks,
 * or kmemtrace.stacks is not yes.
 */
static const char *kmemtrace_no_stacks __ro_after_init;
static atomic_long_t kmemtrace_stacks_lost;

/* The worker is queued and has not reserved room yet, or the depot is full. */
static bool kmemtrace_stack_asked;

static void kmemtrace_make_stack_room(struct work_struct *work);
static DECLARE_DELAYED_WORK(kmemtrace_stack_work, kmemtrace_make_stack_room);

static void kmemtrace_make_stack_room(struct work_struct *work)
{
	/* Wait for memory, instead of letting the OOM killer free memory. */
	int err = stack_depot_reserve(KMEMTRACE_STACK_ROOM,
				      GFP_KERNEL | __GFP_RETRY_MAYFAIL);

	if (!err) {
		WRITE_ONCE(kmemtrace_stack_asked, false);
	} else if (err == -ENOMEM) {
		pr_warn_ratelimited("no memory for more stacks\n");
		schedule_delayed_work(&kmemtrace_stack_work, HZ);
	} else {
		pr_warn_once("the stack depot is full: new stacks get no number\n");
	}
}

static void kmemtrace_queue_stack_work(struct irq_work *irq_work)
{
	schedule_delayed_work(&kmemtrace_stack_work, 0);
}

static DEFINE_IRQ_WORK(kmemtrace_stack_irq_work, kmemtrace_queue_stack_work);

/* The state of a CPU.  Context: preemption is off. */
struct kmemtrace_stack_cpu {
	/*
	 * The contexts in which a stack is being saved, a bit for each
	 * interrupt_context_level().  The unwinder and the depot may WARN or
	 * be probed, and an event that this causes must not unwind in turn.
	 */
	u8		busy;
	/* Numbers of recent stacks, indexed by hash; 0: empty. */
	u32		recent[KMEMTRACE_RECENT_STACKS];
	/* The stack that is being saved in each context. */
	unsigned long	entries[KMEMTRACE_CONTEXTS][KMEMTRACE_STACK_OURS +
						    KMEMTRACE_STACK_DEPTH_MAX];
};

static struct kmemtrace_stack_cpu __percpu *kmemtrace_stack_cpus __ro_after_init;

#ifdef CONFIG_KMEMTRACE_TEST
static void kmemtrace_test_count(enum kmemtrace_test_stacks what)
{
	atomic_long_inc(&kmemtrace_test_stacks[what]);
}
#else
static void kmemtrace_test_count(enum kmemtrace_test_stacks what)
{
}
#endif

/*
 * Unwind by the kernel's unwinder.  If the stack contains @call_site, drop the entries
 * before @call_site, which are functions of the allocator and of kmemtrace: with them,
 * one stack of callers could get several numbers.  Return the number of entries.
 */
static noinline unsigned int
kmemtrace_unwind_slowly(unsigned long call_site, unsigned long *entries)
{
	unsigned int n, first = 0;

	n = stack_trace_save(entries,
			     KMEMTRACE_STACK_OURS + kmemtrace_stack_depth, 1);
	while (first < n && entries[first] != call_site)
		first++;
	if (first == n)
		first = 0;
	n = min(n - first, kmemtrace_stack_depth);
	memmove(entries, entries + first, n * sizeof(*entries));
	return filter_irq_stacks(entries, n);
}
NOKPROBE_SYMBOL(kmemtrace_unwind_slowly);

/* Compare n entries with what the kernel's unwinder finds. */
static void kmemtrace_test_unwind(unsigned long call_site,
				  const unsigned long *entries, unsigned int n)
{
#ifdef CONFIG_KMEMTRACE_TEST
	unsigned long others[KMEMTRACE_STACK_OURS + KMEMTRACE_STACK_DEPTH_MAX];
	unsigned int n_others, i;

	if (kmemtrace_test_latency)
		return;
	n_others = kmemtrace_unwind_slowly(call_site, others);
	if (n == n_others && !memcmp(entries, others, n * sizeof(*entries)))
		return;
	kmemtrace_test_count(KMEMTRACE_TEST_WRONG);
	if (atomic_long_read(&kmemtrace_test_stacks[KMEMTRACE_TEST_WRONG]) > 5)
		return;
	for (i = 0; i < max(n, n_others); i++)
		printk_deferred("kmemtrace: wrong stack: %pS, not %pS\n",
				i < n ? (void *)entries[i] : NULL,
				i < n_others ? (void *)others[i] : NULL);
#endif
}

static u32 kmemtrace_hash_stack(const unsigned long *entries, unsigned int n)
{
	u32 hash = n;
	unsigned int i;

	/* The upper halves of addresses of code are all the same. */
	for (i = 0; i < n; i++)
		hash = (rol32(hash, 5) ^ (u32)entries[i]) * 0x9e3779b1;
	return hash >> (32 - ilog2(KMEMTRACE_RECENT_STACKS));
}

static bool kmemtrace_is_stack(u32 stack, const unsigned long *entries,
			       unsigned int n)
{
	unsigned long *known;
	unsigned int i;

	if (!stack || stack_depot_fetch(stack, &known) != n)
		return false;
	for (i = 0; i < n; i++)
		if (known[i] != entries[i])
			return false;
	return true;
}

/* Queue the worker if there is little room in the depot. */
static void kmemtrace_check_stack_room(void)
{
	/*
	 * Workers do not run in early boot.  If two CPUs queue the worker, its second
	 * run finds the room reserved.
	 */
	if (unlikely(stack_depot_room() < KMEMTRACE_STACK_ROOM / 2) &&
	    system_state >= SYSTEM_SCHEDULING &&
	    !READ_ONCE(kmemtrace_stack_asked)) {
		WRITE_ONCE(kmemtrace_stack_asked, true);
		irq_work_queue(&kmemtrace_stack_irq_work);
	}
}

/* Return the depot's number of a stack, or 0 if the depot has no room. */
static u32 kmemtrace_number_stack(struct kmemtrace_stack_cpu *sc,
				  unsigned long *entries, unsigned int n)
{
	u32 *recent = &sc->recent[kmemtrace_hash_stack(entries, n)];
	/* An interrupt may change *recent to the number of another stack. */
	u32 stack = READ_ONCE(*recent);

	if (likely(kmemtrace_is_stack(stack, entries, n)))
		return stack;
	kmemtrace_test_count(KMEMTRACE_TEST_SEARCHED);
	/* The depot acquires a lock, so lockdep has to know that interrupts are off. */
	if (IS_ENABLED(CONFIG_PROVE_LOCKING) && irqs_disabled())
		lockdep_assert_irqs_disabled();
	/* GFP_NOWAIT: the depot waits for its lock.  Flags 0: it allocates nothing. */
	stack = stack_depot_save_flags(entries, n, GFP_NOWAIT, 0);
	WRITE_ONCE(*recent, stack);
	kmemtrace_check_stack_room();
	return stack;
}
NOKPROBE_SYMBOL(kmemtrace_number_stack);

static u32 kmemtrace_new_stack(struct kmemtrace_stack_cpu *sc,
			       unsigned int context, unsigned long call_site)
{
	unsigned long *entries = sc->entries[context];
	unsigned int n;
	u32 stack;

	kmemtrace_test_point(KMEMTRACE_TEST_STACK);
	kmemtrace_test_enter(KMEMTRACE_TEST_STACK_SAVED);
	n = kmemtrace_unwind(call_site, entries, kmemtrace_stack_depth);
	if (likely(n)) {
		kmemtrace_test_count(KMEMTRACE_TEST_FAST);
		kmemtrace_test_unwind(call_site, entries, n);
	} else {
		kmemtrace_test_count(KMEMTRACE_TEST_SLOW);
		n = kmemtrace_unwind_slowly(call_site, entries);
	}
	stack = kmemtrace_number_stack(sc, entries, n);
	kmemtrace_test_leave(KMEMTRACE_TEST_STACK_SAVED);
	return stack;
}
NOKPROBE_SYMBOL(kmemtrace_new_stack);

/*
 * Store the stack of the event in the depot and return its number.  Return 0 and
 * count the failure if the depot has no room, or if the event is nested in the saving
 * of another stack in the same context.  Context: any but NMI; lockdep knows whether
 * interrupts are on.
 */
static u32 kmemtrace_number_of_stack(unsigned long call_site)
{
	unsigned int context = interrupt_context_level();
	struct kmemtrace_operation *op;
	struct kmemtrace_stack_cpu *sc;
	u32 stack = 0;

	preempt_disable_notrace();
	sc = raw_cpu_ptr(kmemtrace_stack_cpus);
	op = kmemtrace_operation_here();
	if (op->call_site != call_site)
		op = NULL;
	if (op && op->saved) {
		stack = op->stack;
	} else if (!(READ_ONCE(sc->busy) & BIT(context))) {
		/* An interrupt clears only the bit that it has set. */
		WRITE_ONCE(sc->busy, READ_ONCE(sc->busy) | BIT(context));
		barrier();
		stack = kmemtrace_new_stack(sc, context, call_site);
		barrier();
		WRITE_ONCE(sc->busy, READ_ONCE(sc->busy) & ~BIT(context));
		if (op) {
			op->stack = stack;
			op->saved = true;
		}
	}
	preempt_enable_notrace();
	if (unlikely(!stack))
		atomic_long_inc(&kmemtrace_stacks_lost);
	return stack;
}
NOKPROBE_SYMBOL(kmemtrace_number_of_stack);

/* --- The table --------------------------------------------------------------- */

static void kmemtrace_show_stack(void *data, depot_stack_handle_t handle,
				 const unsigned long *entries, unsigned int n)
{
	struct seq_file *m = data;
	unsigned int i;

	seq_printf(m, "%u ", handle);
	for (i = 0; i < n; i++)
		seq_printf(m, "%s%lx", i ? "," : "", entries[i]);
	seq_putc(m, '\n');
}

/* Positions in the file: 0 is the head, n is bucket n - 1 of the depot's hash table. */
static void *kmemtrace_stacks_start(struct seq_file *m, loff_t *pos)
{
	if (*pos == 0)
		return SEQ_START_TOKEN;
	return stack_depot_has_bucket(*pos - 1) ? pos : NULL;
}

static void *kmemtrace_stacks_next(struct seq_file *m, void *v, loff_t *pos)
{
	(*pos)++;
	return kmemtrace_stacks_start(m, pos);
}

static void kmemtrace_stacks_stop(struct seq_file *m, void *v)
{
}

static int kmemtrace_stacks_show(struct seq_file *m, void *v)
{
	const loff_t *pos = v;

	if (v == SEQ_START_TOKEN)
		seq_printf(m, "# kmemtrace: stacks\n# columns: stack addresses\n# lost: %ld\n",
			   atomic_long_read(&kmemtrace_stacks_lost));
	else
		stack_depot_for_each(*pos - 1, kmemtrace_show_stack, m);
	return 0;
}

KMEMTRACE_SEQ_FOPS(kmemtrace_stacks);

/* --- Switching on ------------------------------------------------------------ */

static void kmemtrace_stacks_begin(void)
{
	unsigned int cpu;

	atomic_long_set(&kmemtrace_stacks_lost, 0);
	if (!kmemtrace_with_stacks())
		return;
	/*
	 * A task that died while its stack was saved, in a probe, has left the bit of
	 * its context set.  No event is recorded now, so each bit that is set is stale.
	 */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(kmemtrace_stack_cpus, cpu)->busy, 0);
	kmemtrace_operations_reset();
}

/* Return NULL, or the reason why records have no stacks. */
static const char *kmemtrace_prepare_stacks(void)
{
	int err;

	if (kmemtrace_abi < 2)
		return "records of version 1 have none";
	kmemtrace_stack_cpus = alloc_percpu(struct kmemtrace_stack_cpu);
	err = kmemtrace_stack_cpus ? stack_depot_init() : -ENOMEM;
	if (!err)
		err = stack_depot_reserve(KMEMTRACE_STACK_ROOM, GFP_KERNEL);
	if (!err)
		return NULL;
	free_percpu(kmemtrace_stack_cpus);
	return err == -ENOSPC ?
		"the stack depot is off (stack_depot_disable=on) or full" :
		"there is no memory for them";
}

/*
 * Context: early boot, one CPU runs, interrupts are off, and no event is recorded yet.
 * GFP_KERNEL is valid, because gfp_allowed_mask excludes sleeping.
 */
static void kmemtrace_stacks_setup(void)
{
	if (!kmemtrace_boot_stacks)
		return;
	kmemtrace_no_stacks = kmemtrace_prepare_stacks();
	if (kmemtrace_no_stacks) {
		pr_warn("kmemtrace.stacks=yes has no effect: %s; tracing without stacks\n",
			kmemtrace_no_stacks);
		return;
	}
	kmemtrace_unwind_init();
	kmemtrace_save_stack = kmemtrace_number_of_stack;
	kmemtrace_record_size = sizeof(struct kmemtrace_event_v2s);
}

static int __init kmemtrace_param_stacks(char *str)
{
	if (str && !strcmp(str, "yes"))
		kmemtrace_boot_stacks = true;
	else if (str && !strcmp(str, "no"))
		kmemtrace_boot_stacks = false;
	else
		pr_warn("kmemtrace.stacks=%s is neither yes nor no; using no\n",
			str ?: "");
	return 0;
}
early_param("kmemtrace.stacks", kmemtrace_param_stacks);

static int __init kmemtrace_param_stack_depth(char *str)
{
	unsigned int depth;

	if (!str || kstrtouint(str, 10, &depth) || !depth ||
	    depth > KMEMTRACE_STACK_DEPTH_MAX)
		pr_warn("kmemtrace.stack_depth=%s is not a number from 1 to %u; using %u\n",
			str ?: "", KMEMTRACE_STACK_DEPTH_MAX,
			kmemtrace_stack_depth);
	else
		kmemtrace_stack_depth = depth;
	return 0;
}
early_param("kmemtrace.stack_depth", kmemtrace_param_stack_depth);

/* Show whether records have stacks; without kmemtrace.stacks=yes, show no line. */
static void kmemtrace_stacks_info(struct seq_file *m)
{
	if (kmemtrace_no_stacks)
		seq_printf(m, "# stacks: off, %s\n", kmemtrace_no_stacks);
	else if (kmemtrace_boot_stacks)
		seq_puts(m, "# stacks: on\n");
}

static void kmemtrace_stacks_debugfs(struct dentry *dir)
{
	if (kmemtrace_with_stacks())
		debugfs_create_file("stacks", 0400, dir, NULL,
				    &kmemtrace_stacks_fops);
}

struct kmemtrace_feature kmemtrace_stacks_feature = {
	.setup		= kmemtrace_stacks_setup,
	.begin		= kmemtrace_stacks_begin,
	.show_info	= kmemtrace_stacks_info,
	.debugfs	= kmemtrace_stacks_debugfs,
};
