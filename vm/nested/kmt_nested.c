// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocate while a record is written. Writing "<place> <pairs>" to
 * /proc/kmt_nested makes the writing task allocate and free that many times.
 * Each time kmemtrace reaches the place for this task, the module allocates and
 * frees there too. Places are slot, room, stack, and mark, which are test
 * points of the kernel (CONFIG_KMEMTRACE_TEST), or the name of a function,
 * which gets a kprobe. With mark, each pair has an annotation.
 *
 * The places reader, view, snapshot and counter follow the acquisition of a
 * lock of that name. There the module allocates, frees, and passes an
 * annotation in any task, until the next write, such as "off 0", because the
 * locks belong to code that reads the files of kmemtrace.
 *
 * "bulk <pages>" and "exact <pages>" allocate and free that many pages at once;
 * "split <pages>" splits a block of at least that many pages and frees its
 * pages. Reading then returns the number of unwound stacks, in the third column
 * for the allocation or the split and in the fourth for the free; each is the
 * minimum of several trials, because interrupts have events too.
 *
 * Reading returns "<pairs> <nested events> <unwound> <unwound>".
 */
#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/kmemtrace_mark.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kmt_compat.h"
#include "kmt_proc.h"

/*
 * nested_mutex serializes the operations of /proc/kmt_nested; nested_allocate()
 * reads and counts without the mutex.
 */
static DEFINE_MUTEX(nested_mutex);
/* The task that writes to /proc/kmt_nested, while it runs the pairs. */
static struct task_struct *nested_task;
static bool nested_any_task;
static unsigned long nested_pairs;
static unsigned long nested_unwound[2];
static atomic_long_t nested_events;
static DEFINE_PER_CPU(bool, nested_inside);

/* Context: preemption or interrupts are off. */
static noinline void nested_allocate(void)
{
	void *mem;

	if ((READ_ONCE(nested_task) != current && !READ_ONCE(nested_any_task)) ||
	    !in_task() || __this_cpu_read(nested_inside))
		return;
	__this_cpu_write(nested_inside, true);
	mem = kmalloc(64, GFP_ATOMIC | __GFP_NOWARN);
	OPTIMIZER_HIDE_VAR(mem);
	kfree(mem);
	if (mem)
		atomic_long_add(2, &nested_events);
	if (nested_any_task) {
		kmemtrace_mark(kmt_nested_inside, "");
		atomic_long_inc(&nested_events);
	}
	__this_cpu_write(nested_inside, false);
}

/* --- Places --------------------------------------------------------------- */

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
		[KMEMTRACE_TEST_READER_LOCK] = "reader",
		[KMEMTRACE_TEST_VIEW_LOCK] = "view",
		[KMEMTRACE_TEST_SNAPSHOT_LOCK] = "snapshot",
		[KMEMTRACE_TEST_COUNTER_LOCK] = "counter",
	};
	int point = match_string(names, ARRAY_SIZE(names), where);

	if (point < 0)
		return false;
	nested_point = point;
	nested_any_task = point >= KMEMTRACE_TEST_READER_LOCK;
	WRITE_ONCE(kmemtrace_test_hook.func, nested_hook);
	return true;
}

static void nested_leave_point(void)
{
	WRITE_ONCE(kmemtrace_test_hook.func, NULL);
	WRITE_ONCE(nested_any_task, false);
	/*
	 * The hook runs with preemption or interrupts off, so synchronize_rcu()
	 * waits until no CPU runs it.
	 */
	synchronize_rcu();
}

static long nested_stacks(void)
{
	return atomic_long_read(&kmemtrace_test_stacks[KMEMTRACE_TEST_FAST]) +
	       atomic_long_read(&kmemtrace_test_stacks[KMEMTRACE_TEST_SLOW]);
}
#else
static bool nested_find_point(const char *where)
{
	return false;
}

static void nested_leave_point(void)
{
}

static long nested_stacks(void)
{
	return 0;
}
#endif

static int nested_probe(struct kprobe *p, struct pt_regs *regs)
{
	nested_allocate();
	return 0;
}

/* --- The events ----------------------------------------------------------- */

static noinline int nested_storm(bool with_marks)
{
	unsigned long i;
	void *mem;

	for (i = 0; i < nested_pairs; i++) {
		mem = kmalloc(64, GFP_KERNEL);
		if (!mem)
			return -ENOMEM;
		/* Prevent the compiler from removing both calls. */
		OPTIMIZER_HIDE_VAR(mem);
		kfree(mem);
		if (with_marks)
			kmemtrace_mark(kmt_nested, "%lu", i);
	}
	return 0;
}

#define NESTED_PAGES	512

/*
 * Allocate and free n pages, or split and free a block of them. Store the
 * number of stacks that were unwound, first for the allocation or the split,
 * then for the free.
 */
static int nested_operation(const char *what, unsigned long n, long *unwound)
{
	static struct page *pages[NESTED_PAGES];
	long start = nested_stacks(), middle;
	unsigned int order = get_order(n * PAGE_SIZE);
	struct page *page;
	unsigned long i;
	void *mem;

	if (!strcmp(what, "bulk")) {
		memset(pages, 0, sizeof(pages));
		n = alloc_pages_bulk(GFP_KERNEL, n, pages);
		middle = nested_stacks();
		for (i = 0; i < n; i++)
			__free_page(pages[i]);
	} else if (!strcmp(what, "exact")) {
		mem = alloc_pages_exact(n * PAGE_SIZE, GFP_KERNEL);
		if (!mem)
			return -ENOMEM;
		middle = nested_stacks();
		free_pages_exact(mem, n * PAGE_SIZE);
	} else {
		page = alloc_pages(GFP_KERNEL, order);
		if (!page)
			return -ENOMEM;
		start = nested_stacks();
		split_page(page, order);
		middle = nested_stacks();
		for (i = 0; i < 1UL << order; i++)
			__free_page(page + i);
	}
	unwound[0] = middle - start;
	unwound[1] = nested_stacks() - middle;
	return 0;
}

static int nested_operations(const char *what, unsigned long n)
{
	long unwound[2];
	int i, err = 0;

	if (!n || n > NESTED_PAGES)
		return -EINVAL;
	nested_unwound[0] = ULONG_MAX;
	nested_unwound[1] = ULONG_MAX;
	for (i = 0; i < 20 && !err; i++) {
		err = nested_operation(what, n, unwound);
		if (err)
			break;
		nested_unwound[0] = min_t(unsigned long, nested_unwound[0],
					  unwound[0]);
		nested_unwound[1] = min_t(unsigned long, nested_unwound[1],
					  unwound[1]);
	}
	return err;
}

static int nested_run(const char *where)
{
	struct kprobe probe = {
		.symbol_name = where,
		.pre_handler = nested_probe,
	};
	bool is_point;
	int err = 0;

	nested_leave_point();
	if (!strcmp(where, "off"))
		return 0;
	if (!strcmp(where, "bulk") || !strcmp(where, "exact") ||
	    !strcmp(where, "split"))
		return nested_operations(where, nested_pairs);
	atomic_long_set(&nested_events, 0);
	is_point = nested_find_point(where);
	if (nested_any_task)
		return nested_storm(false);

	if (!is_point)
		err = register_kprobe(&probe);
	if (err)
		return err;
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
	unsigned long pairs;
	char text[80];
	int err;

	err = kmt_copy_command(text, sizeof(text), buf, len, &pairs);
	if (err)
		return err;
	mutex_lock(&nested_mutex);
	nested_pairs = pairs;
	err = nested_run(text);
	mutex_unlock(&nested_mutex);
	return err ?: len;
}

static int nested_show(struct seq_file *m, void *v)
{
	mutex_lock(&nested_mutex);
	seq_printf(m, "%lu %ld %ld %ld\n", nested_pairs,
		   atomic_long_read(&nested_events), nested_unwound[0],
		   nested_unwound[1]);
	mutex_unlock(&nested_mutex);
	return 0;
}

KMT_DEFINE_PROC_OPS(nested);

static int __init nested_init(void)
{
	return proc_create("kmt_nested", 0600, NULL, &nested_ops) ? 0 : -ENOMEM;
}

static void __exit nested_exit(void)
{
	remove_proc_entry("kmt_nested", NULL);
	nested_leave_point();
}

module_init(nested_init);
module_exit(nested_exit);
MODULE_DESCRIPTION("Allocates while a record is being written");
MODULE_LICENSE("GPL");
