// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sample of kmemtrace_mark(), which annotates a trace of kernel memory: each type of
 * argument, process and interrupt context, and annotations that divide a trace into
 * phases.
 *
 *	insmod kmemtrace-sample.ko [length=N]
 *	echo 1000 > /sys/module/kmemtrace_sample/parameters/work
 *	cat /sys/module/kmemtrace_sample/parameters/evaluated
 *	rmmod kmemtrace-sample
 *
 * Loading the module writes the annotations sample_begin, sample_signed,
 * sample_unsigned, sample_others, sample_strings, sample_interrupt and sample_loaded.
 * Writing N to work writes N annotations sample_step, each with an allocation.
 * Unloading writes sample_end.  "kmemtrace-report --by mark" prints the allocations
 * of each phase.
 */

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/kmemtrace_mark.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

static unsigned int length = 300;
module_param(length, uint, 0400);
MODULE_PARM_DESC(length, "bytes of the long string, at most a page");

/* Number of times that the last argument of sample_step was evaluated. */
static atomic_t evaluated = ATOMIC_INIT(0);

static int get_evaluated(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&evaluated));
}

static const struct kernel_param_ops evaluated_ops = {
	.get = get_evaluated,
};
module_param_cb(evaluated, &evaluated_ops, NULL, 0400);

static int set_work(const char *value, const struct kernel_param *kp)
{
	unsigned int i, n;
	void *memory;
	int err;

	err = kstrtouint(value, 0, &n);
	if (err)
		return err;
	for (i = 0; i < n; i++) {
		memory = kmalloc(64, GFP_KERNEL);
		/* The arguments are not evaluated while sample_step is off. */
		kmemtrace_mark(sample_step, "step %u of %u, evaluated %d", i, n,
			       atomic_inc_return(&evaluated));
		kfree(memory);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static const struct kernel_param_ops work_ops = {
	.set = set_work,
};
module_param_cb(work, &work_ops, NULL, 0200);

static DECLARE_COMPLETION(interrupted);

static void in_interrupt_context(struct irq_work *work)
{
	kmemtrace_mark(sample_interrupt, "in an interrupt of cpu %u",
		       raw_smp_processor_id());
	complete(&interrupted);
}

static DEFINE_IRQ_WORK(interrupt, in_interrupt_context);

/* The minimum of each signed type shows whether the sign is preserved. */
static void annotate_integers(void)
{
	kmemtrace_mark(sample_signed, "%hhd %hd %d %ld %lld", (s8)S8_MIN,
		       (s16)S16_MIN, S32_MIN, LONG_MIN, S64_MIN);
	kmemtrace_mark(sample_unsigned, "%hhu %hu %u %lu %llu", (u8)U8_MAX,
		       (u16)U16_MAX, U32_MAX, ULONG_MAX, U64_MAX);
	kmemtrace_mark(sample_others,
		       "char %c, size %zu, difference %td, bool %d, hex %#x, octal %#o, %p and %pS",
		       'k', sizeof(struct task_struct),
		       (ptrdiff_t)-1, true, 0xbeef, 0755, &evaluated,
		       in_interrupt_context);
}

static int annotate_strings(void)
{
	const struct {
		char tag[4], more[4];
	} vendor = { "ACME", "not" };
	char array[] = "an array", *string;

	string = kmalloc(length + 1, GFP_KERNEL);
	if (!string)
		return -ENOMEM;
	memset(string, 'x', length);
	string[length] = '\0';
	/* A string without a terminating NUL needs a precision, as for printk(). */
	kmemtrace_mark(sample_strings,
		       "\"%s\", none %s, empty \"%s\", long %s, cut %.4s, last %d",
		       array, (char *)NULL, "", string, vendor.tag, -1);
	kfree(string);
	return 0;
}

static int __init sample_init(void)
{
	int err;

	if (length > PAGE_SIZE)
		return -EINVAL;
	kmemtrace_mark(sample_begin, "no arguments, 100%%");
	annotate_integers();
	err = annotate_strings();
	if (err)
		return err;
	irq_work_queue(&interrupt);
	wait_for_completion(&interrupted);
	irq_work_sync(&interrupt);
	kmemtrace_mark(sample_loaded, "%s, with strings of %u bytes",
		       KBUILD_MODNAME, length);
	return 0;
}
module_init(sample_init);

static void __exit sample_exit(void)
{
	kmemtrace_mark(sample_end, "evaluated %d", atomic_read(&evaluated));
}
module_exit(sample_exit);

MODULE_DESCRIPTION("Annotations of a trace of kernel memory");
MODULE_LICENSE("GPL");
