// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the hook for test modules, see <linux/kmemtrace_test.h>, and figures
 * for the tests, in the directory kmemtrace-test of debugfs.
 */

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/timex.h>

#include "file_util.h"

struct kmemtrace_test_hook kmemtrace_test_hook;
EXPORT_SYMBOL_GPL(kmemtrace_test_hook);

/* --- How long interrupts are off ----------------------------------------------- */

bool kmemtrace_test_latency __ro_after_init;

struct kmemtrace_test_time {
	cycles_t	start;
	cycles_t	longest;
	unsigned long	n;
};

static DEFINE_PER_CPU(struct kmemtrace_test_time [KMEMTRACE_TEST_SECTIONS],
		      kmemtrace_test_times);

void kmemtrace_test_enter(enum kmemtrace_test_section section)
{
	raw_cpu_write(kmemtrace_test_times[section].start, get_cycles());
}
NOKPROBE_SYMBOL(kmemtrace_test_enter);

void kmemtrace_test_leave(enum kmemtrace_test_section section)
{
	cycles_t now = get_cycles();
	struct kmemtrace_test_time *time =
		raw_cpu_ptr(&kmemtrace_test_times[section]);

	/* With interrupts on, an interrupt may have run the section and set start. */
	if (!irqs_disabled())
		return;
	time->longest = max(time->longest, now - time->start);
	time->n++;
}
NOKPROBE_SYMBOL(kmemtrace_test_leave);

static int kmemtrace_test_irqs_off_show(struct seq_file *m, void *v)
{
	static const char *const names[KMEMTRACE_TEST_SECTIONS] = {
		[KMEMTRACE_TEST_RECORD] = "record",
		[KMEMTRACE_TEST_RECORD_SLOW] = "slow",
		[KMEMTRACE_TEST_STACK_SAVED] = "stack",
		[KMEMTRACE_TEST_RECORDS] = "mark",
		[KMEMTRACE_TEST_SPLIT] = "split",
		[KMEMTRACE_TEST_SNAPSHOT] = "snapshot",
	};
	unsigned int i, cpu;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		cycles_t longest = 0;
		unsigned long n = 0;

		for_each_possible_cpu(cpu) {
			const struct kmemtrace_test_time *time =
				per_cpu_ptr(&kmemtrace_test_times[i], cpu);

			longest = max(longest, time->longest);
			n += time->n;
		}
		seq_printf(m, "%s %llu %lu\n", names[i], (u64)longest, n);
	}
	return 0;
}

static int kmemtrace_test_irqs_off_open(struct inode *inode, struct file *file)
{
	return kmemtrace_single_open(inode, file, kmemtrace_test_irqs_off_show);
}

/* A write of any text resets all figures. */
static ssize_t kmemtrace_test_irqs_off_write(struct file *file,
					     const char __user *buffer,
					     size_t count, loff_t *ppos)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&kmemtrace_test_times, cpu), 0,
		       sizeof(kmemtrace_test_times));
	return count;
}

static const struct file_operations kmemtrace_test_irqs_off_fops = {
	.owner		= THIS_MODULE,
	.open		= kmemtrace_test_irqs_off_open,
	.read		= seq_read,
	.write		= kmemtrace_test_irqs_off_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int __init kmemtrace_param_test_latency(char *str)
{
	kmemtrace_test_latency = true;
	return 0;
}
early_param("kmemtrace.test_latency", kmemtrace_param_test_latency);

/* --- How stacks are found -------------------------------------------------------- */

atomic_long_t kmemtrace_test_stacks[KMEMTRACE_TEST_STACKS];
EXPORT_SYMBOL_GPL(kmemtrace_test_stacks);

static int kmemtrace_test_stacks_show(struct seq_file *m, void *v)
{
	static const char *const names[KMEMTRACE_TEST_STACKS] = {
		[KMEMTRACE_TEST_FAST] = "fast",
		[KMEMTRACE_TEST_SLOW] = "slow",
		[KMEMTRACE_TEST_WRONG] = "wrong",
		[KMEMTRACE_TEST_SEARCHED] = "searched",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		seq_printf(m, "%s %ld\n", names[i],
			   atomic_long_read(&kmemtrace_test_stacks[i]));
	return 0;
}
KMEMTRACE_SHOW_FOPS(kmemtrace_test_stacks);

static int __init kmemtrace_test_init(void)
{
	struct dentry *dir = debugfs_create_dir("kmemtrace-test", NULL);

	debugfs_create_file("stacks", 0400, dir, NULL,
			    &kmemtrace_test_stacks_fops);
	debugfs_create_file("irqs_off", 0600, dir, NULL,
			    &kmemtrace_test_irqs_off_fops);
	return 0;
}
late_initcall(kmemtrace_test_init);
