// SPDX-License-Identifier: GPL-2.0
/*
 * Counts events by probes of its own, to be held against what kmemtrace
 * recorded and what it says it lost.
 *
 * Writing N to /proc/kmt_count allocates N bytes on the writer's CPU and, with
 * interrupts still off, takes down how many events this CPU had so far, that
 * allocation included. Reading gives a line "cpu<n> <bytes> <count>" for each.
 * Between the records of two such allocations of one CPU there are in truth as
 * many events as the counts differ by.
 *
 * wrapper_start and wrapper_end are the addresses of __kmemtrace_text_start
 * and __kmemtrace_text_end (from /proc/kallsyms): pages that return to there
 * are told by the wrapper, and are no event of their own.
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

static unsigned long wrapper_start;
module_param(wrapper_start, ulong, 0400);
static unsigned long wrapper_end;
module_param(wrapper_end, ulong, 0400);

static DEFINE_PER_CPU(unsigned long, events);

struct mark {
	unsigned int	cpu;
	size_t		bytes;
	unsigned long	count;
};

#define MARKS_MAX 64
static struct mark marks[MARKS_MAX];
static atomic_t marks_used;

static void count_object(void *data, unsigned long call_site, const void *ptr)
{
	if (!ZERO_OR_NULL_PTR(ptr))
		this_cpu_inc(events);
}

static void count_page(void *data, unsigned long call_site, struct page *page)
{
	if (page && (call_site < wrapper_start || call_site >= wrapper_end))
		this_cpu_inc(events);
}

/* A probe gets all of a tracepoint's arguments; these look at the first two. */
static struct {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} probes[] = {
	{ "kmalloc", count_object },
	{ "kfree", count_object },
	{ "kmem_cache_alloc", count_object },
	{ "kmem_cache_free", count_object },
	{ "kmemtrace_kmalloc", count_object },
	{ "kmemtrace_kfree", count_object },
	{ "kmemtrace_cache_alloc", count_object },
	{ "kmemtrace_cache_free", count_object },
	{ "kmemtrace_page_alloc", count_page },
	{ "kmemtrace_page_free", count_page },
};

static void find(struct tracepoint *tp, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tp = tp;
}

static ssize_t count_write(struct file *file, const char __user *buf,
			   size_t len, loff_t *pos)
{
	unsigned long flags;
	unsigned int bytes;
	struct mark *mark;
	void *mem;
	int ret, n;

	ret = kstrtouint_from_user(buf, len, 0, &bytes);
	if (ret)
		return ret;
	n = atomic_inc_return(&marks_used) - 1;
	if (n >= MARKS_MAX)
		return -ENOSPC;
	mark = &marks[n];

	local_irq_save(flags);
	mem = kmalloc(bytes, GFP_ATOMIC);
	mark->cpu = smp_processor_id();
	mark->bytes = bytes;
	mark->count = this_cpu_read(events);
	local_irq_restore(flags);
	if (!mem)
		return -ENOMEM;
	OPTIMIZER_HIDE_VAR(mem);
	kfree(mem);
	return len;
}

static int count_show(struct seq_file *m, void *unused)
{
	int i, n = min(atomic_read(&marks_used), MARKS_MAX);

	for (i = 0; i < n; i++)
		seq_printf(m, "cpu%u %zu %lu\n", marks[i].cpu, marks[i].bytes,
			   marks[i].count);
	return 0;
}

static int count_open(struct inode *inode, struct file *file)
{
	return single_open(file, count_show, NULL);
}

static const struct proc_ops count_ops = {
	.proc_open	= count_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
	.proc_write	= count_write,
};

static void detach(int n)
{
	while (n--)
		tracepoint_probe_unregister(probes[n].tp, probes[n].probe,
					    NULL);
	tracepoint_synchronize_unregister();
}

static int __init count_init(void)
{
	int i, ret;

	for_each_kernel_tracepoint(find, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (!probes[i].tp) {
			pr_err("kmt_count: no tracepoint %s\n", probes[i].name);
			ret = -ENOENT;
			goto out;
		}
		ret = tracepoint_probe_register(probes[i].tp, probes[i].probe,
						NULL);
		if (ret)
			goto out;
	}
	if (proc_create("kmt_count", 0600, NULL, &count_ops))
		return 0;
	ret = -ENOMEM;
out:
	detach(i);
	return ret;
}

static void __exit count_exit(void)
{
	remove_proc_entry("kmt_count", NULL);
	detach(ARRAY_SIZE(probes));
}

module_init(count_init);
module_exit(count_exit);
MODULE_DESCRIPTION("Counts allocations and frees by probes of its own");
MODULE_LICENSE("GPL");
