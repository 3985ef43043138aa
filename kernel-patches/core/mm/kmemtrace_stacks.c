// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: who called the one that allocates.  With kmemtrace.stacks=yes each
 * record has the number that the kernel's stack depot gives to the addresses
 * that its event would return to.  <linux/kmemtrace_abi.h> describes the table.
 *
 * The depot may be asked anywhere but in NMI context, where nothing is recorded:
 * its lock is raw, is held with interrupts off, and nothing is allocated inside
 * of it.  What it may not do here is to allocate: the event may be that of a
 * page, with locks of the allocator held, and it would be an event in turn.  So
 * it gets its room in advance, before the first event and later by a worker,
 * which is told by an irq_work when half of that is used up.  The number of a
 * stack that found no room is 0, and that is counted.
 *
 * The depot keeps what it has until the next boot; so a number means one stack in
 * all sessions, and the table may have stacks of earlier ones and, where KASAN
 * or others use the depot, of theirs.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/lockdep.h>
#include <linux/seq_file.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "kmemtrace_internal.h"

/* What is kept of a stack, the innermost callers. */
#define KMEMTRACE_STACK_DEPTH	32
/* What lies between an allocator's caller and here, at most. */
#define KMEMTRACE_STACK_OURS	12

/* In slabs of the depot, of 16 KB where a page has 4: 100 stacks and more. */
#define KMEMTRACE_STACK_ROOM	256

bool kmemtrace_with_stacks __read_mostly;
static bool kmemtrace_boot_stacks __initdata;
static atomic_long_t kmemtrace_stacks_lost;

/* Somebody has asked the worker for room, and it has not come yet. */
static bool kmemtrace_stack_asked;

static void kmemtrace_make_stack_room(struct work_struct *work);
static DECLARE_DELAYED_WORK(kmemtrace_stack_work, kmemtrace_make_stack_room);

static void kmemtrace_make_stack_room(struct work_struct *work)
{
	int err = stack_depot_reserve(KMEMTRACE_STACK_ROOM, GFP_KERNEL);

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

/*
 * Context: any but NMI; lockdep knows whether interrupts are on.  Returns 0 where
 * the stack got no number.  Its first entry is call_site where that is in it:
 * what lies between is the allocator's and ours, and would make several stacks of
 * one.
 */
u32 kmemtrace_save_stack(unsigned long call_site)
{
	unsigned long entries[KMEMTRACE_STACK_OURS + KMEMTRACE_STACK_DEPTH];
	unsigned int n, first = 0;
	u32 stack;

	if (IS_ENABLED(CONFIG_PROVE_LOCKING) && irqs_disabled())
		lockdep_assert_irqs_disabled();
	n = stack_trace_save(entries, ARRAY_SIZE(entries), 2);
	while (first < n && entries[first] != call_site)
		first++;
	if (first == n)
		first = 0;
	n = min_t(unsigned int, n - first, KMEMTRACE_STACK_DEPTH);
	stack = __stack_depot_save(entries + first, n, 0, 0, false);
	if (!stack)
		atomic_long_inc(&kmemtrace_stacks_lost);
	/* Workers run only later.  Asked twice, the worker finds room. */
	if (unlikely(stack_depot_room() < KMEMTRACE_STACK_ROOM / 2) &&
	    system_state >= SYSTEM_SCHEDULING &&
	    !READ_ONCE(kmemtrace_stack_asked)) {
		WRITE_ONCE(kmemtrace_stack_asked, true);
		irq_work_queue(&kmemtrace_stack_irq_work);
	}
	return stack;
}

void kmemtrace_put_stack(struct kmemtrace_event_v2s *event, u32 stack)
{
	event->stack = stack;
	event->reserved = 0;
}

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

/* Positions are the head and then the depot's buckets. */
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

static const struct seq_operations kmemtrace_stacks_seq_ops = {
	.start	= kmemtrace_stacks_start,
	.next	= kmemtrace_stacks_next,
	.stop	= kmemtrace_stacks_stop,
	.show	= kmemtrace_stacks_show,
};

static int kmemtrace_stacks_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &kmemtrace_stacks_seq_ops);
}

const struct file_operations kmemtrace_stacks_fops = {
	.owner		= THIS_MODULE,
	.open		= kmemtrace_stacks_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

/* --- Switching on ------------------------------------------------------------ */

void kmemtrace_stacks_new_session(void)
{
	atomic_long_set(&kmemtrace_stacks_lost, 0);
}

/* Context: one CPU runs, no event is recorded yet, and sleeping is allowed. */
void __init kmemtrace_stacks_init(void)
{
	if (!kmemtrace_boot_stacks)
		return;
	if (kmemtrace_abi < 2) {
		pr_warn("kmemtrace.stacks=yes needs version 2 of the records; without stacks\n");
		return;
	}
	if (stack_depot_init() ||
	    stack_depot_reserve(KMEMTRACE_STACK_ROOM, GFP_KERNEL)) {
		pr_err("no memory for stacks; without stacks\n");
		return;
	}
	kmemtrace_with_stacks = true;
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
