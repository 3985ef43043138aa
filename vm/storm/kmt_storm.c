// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make a known number of events: writing N to /proc/kmt_storm makes the writing
 * task allocate and free N times. If the write succeeds, these are exactly N
 * allocations and N frees with the call site storm_write(). Writing N to
 * /proc/kmt_storm_rcu makes N allocations and N hand-overs to kfree_rcu() with
 * the call site storm_rcu_write(), and waits for the N frees, which other code
 * makes.
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "kmt_compat.h"

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

struct storm_object {
	struct rcu_head head;
	char data[48];
};

static ssize_t storm_rcu_write(struct file *file, const char __user *buf,
			       size_t len, loff_t *pos)
{
	struct storm_object *object;
	unsigned long n, i;
	int ret;

	ret = kstrtoul_from_user(buf, len, 0, &n);
	if (ret)
		return ret;
	for (i = 0; i < n; i++) {
		object = kmalloc(sizeof(*object), GFP_KERNEL);
		if (!object)
			return -ENOMEM;
		kfree_rcu(object, head);
	}
	kmt_kfree_rcu_barrier();
	return len;
}

static const struct proc_ops storm_rcu_ops = {
	.proc_write	= storm_rcu_write,
	.proc_lseek	= noop_llseek,
};

static const struct proc_ops storm_ops = {
	.proc_write	= storm_write,
	.proc_lseek	= noop_llseek,
};

static int __init storm_init(void)
{
	if (!proc_create("kmt_storm_rcu", 0200, NULL, &storm_rcu_ops))
		return -ENOMEM;
	if (proc_create("kmt_storm", 0200, NULL, &storm_ops))
		return 0;
	remove_proc_entry("kmt_storm_rcu", NULL);
	return -ENOMEM;
}

static void __exit storm_exit(void)
{
	remove_proc_entry("kmt_storm", NULL);
	remove_proc_entry("kmt_storm_rcu", NULL);
}

module_init(storm_init);
module_exit(storm_exit);
MODULE_DESCRIPTION("Makes a known number of allocations and frees");
MODULE_LICENSE("GPL");
