// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates in the middle of the writing of a record. Writing "<where> <pairs>"
 * to /proc/kmt_nested makes the writer allocate and free so often; each time
 * that kmemtrace comes to that place for this task, the module allocates and
 * frees there too. Places: slot, room, stack, mark, which are test points of
 * the kernel (CONFIG_KMEMTRACE_TEST), or the name of a function, which gets a
 * kprobe. With mark an annotation comes with each pair.
 *
 * Reading gives "<pairs> <nested events>".
 */
#include <linux/kernel.h>
#include <linux/kmemtrace_mark.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* The writer of /proc/kmt_nested; nested_mutex guards all of this. */
static DEFINE_MUTEX(nested_mutex);
static struct task_struct *nested_task;
static unsigned long nested_pairs, nested_events;
static bool nested_inside;

static noinline void nested_allocate(void)
{
	void *mem;

	if (READ_ONCE(nested_task) != current || !in_task() || nested_inside)
		return;
	nested_inside = true;
	mem = kmalloc(64, GFP_ATOMIC | __GFP_NOWARN);
	OPTIMIZER_HIDE_VAR(mem);
	kfree(mem);
	if (mem)
		nested_events += 2;
	nested_inside = false;
}

/* --- Places -------------------------------------------------------------------- */

#ifdef CONFIG_KMEMTRACE_TEST
static enum kmemtrace_test_point nested_point;

static void nested_hook(enum kmemtrace_test_point point)
{
	if (point == nested_point)
		nested_allocate();
}

static bool nested_find_point(const char *where)
{
	static const char *const names[KMEMTRACE_TEST_POINTS] = {
		[KMEMTRACE_TEST_SLOT] = "slot",
		[KMEMTRACE_TEST_ROOM] = "room",
		[KMEMTRACE_TEST_MARK] = "mark",
		[KMEMTRACE_TEST_STACK] = "stack",
	};
	int point = match_string(names, ARRAY_SIZE(names), where);

	if (point < 0)
		return false;
	nested_point = point;
	WRITE_ONCE(kmemtrace_test_hook.func, nested_hook);
	return true;
}

static void nested_leave_point(void)
{
	WRITE_ONCE(kmemtrace_test_hook.func, NULL);
	/* It is called with preemption or interrupts off. */
	synchronize_rcu();
}
#else
static bool nested_find_point(const char *where)
{
	return false;
}

static void nested_leave_point(void)
{
}
#endif

static int nested_probe(struct kprobe *p, struct pt_regs *regs)
{
	nested_allocate();
	return 0;
}

/* --- The events ------------------------------------------------------------------ */

static noinline int nested_storm(bool with_marks)
{
	unsigned long i;
	void *mem;

	for (i = 0; i < nested_pairs; i++) {
		mem = kmalloc(64, GFP_KERNEL);
		if (!mem)
			return -ENOMEM;
		/* Or the compiler drops both calls. */
		OPTIMIZER_HIDE_VAR(mem);
		kfree(mem);
		if (with_marks)
			kmemtrace_mark(kmt_nested, "%lu", i);
	}
	return 0;
}

static int nested_run(const char *where)
{
	struct kprobe probe = {
		.symbol_name = where,
		.pre_handler = nested_probe,
	};
	bool is_point = nested_find_point(where);
	int err = 0;

	if (!is_point)
		err = register_kprobe(&probe);
	if (err)
		return err;
	nested_events = 0;
	WRITE_ONCE(nested_task, current);
	err = nested_storm(!strcmp(where, "mark"));
	WRITE_ONCE(nested_task, NULL);
	if (is_point)
		nested_leave_point();
	else
		unregister_kprobe(&probe);
	return err;
}

static ssize_t nested_write(struct file *file, const char __user *buf,
			    size_t len, loff_t *pos)
{
	char text[80], *space;
	int err;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = '\0';
	space = strchr(text, ' ');
	if (!space)
		return -EINVAL;
	*space = '\0';
	mutex_lock(&nested_mutex);
	err = kstrtoul(space + 1, 0, &nested_pairs);
	if (!err)
		err = nested_run(text);
	mutex_unlock(&nested_mutex);
	return err ?: len;
}

static int nested_show(struct seq_file *m, void *v)
{
	mutex_lock(&nested_mutex);
	seq_printf(m, "%lu %lu\n", nested_pairs, nested_events);
	mutex_unlock(&nested_mutex);
	return 0;
}

static int nested_open(struct inode *inode, struct file *file)
{
	return single_open(file, nested_show, NULL);
}

static const struct proc_ops nested_ops = {
	.proc_open	= nested_open,
	.proc_read	= seq_read,
	.proc_write	= nested_write,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
};

static int __init nested_init(void)
{
	return proc_create("kmt_nested", 0600, NULL, &nested_ops) ? 0 : -ENOMEM;
}

static void __exit nested_exit(void)
{
	remove_proc_entry("kmt_nested", NULL);
}

module_init(nested_init);
module_exit(nested_exit);
MODULE_DESCRIPTION("Allocates while a record is being written");
MODULE_LICENSE("GPL");
