// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make a known number of events: writing N to /proc/kmt_storm makes the writer
 * allocate and free N times on its CPU. These are exactly 2 * N events with the
 * call site storm_write().
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

static ssize_t storm_write(struct file *file, const char __user *buf,
			   size_t len, loff_t *pos)
{
	unsigned long pairs, i;
	void *mem;
	int ret;

	ret = kstrtoul_from_user(buf, len, 0, &pairs);
	if (ret)
		return ret;
	for (i = 0; i < pairs; i++) {
		mem = kmalloc(64, GFP_KERNEL);
		if (!mem)
			return -ENOMEM;
		/* Prevent the compiler from removing both calls. */
		OPTIMIZER_HIDE_VAR(mem);
		kfree(mem);
		if (i % 1024 == 1023) {
			if (signal_pending(current))
				return -EINTR;
			cond_resched();
		}
	}
	return len;
}

static const struct proc_ops storm_ops = {
	.proc_write	= storm_write,
	.proc_lseek	= noop_llseek,
};

static int __init storm_init(void)
{
	return proc_create("kmt_storm", 0200, NULL, &storm_ops) ? 0 : -ENOMEM;
}

static void __exit storm_exit(void)
{
	remove_proc_entry("kmt_storm", NULL);
}

module_init(storm_init);
module_exit(storm_exit);
MODULE_DESCRIPTION("Makes a known number of allocations and frees");
MODULE_LICENSE("GPL");
