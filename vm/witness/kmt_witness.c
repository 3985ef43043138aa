// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records each event of kmalloc, caches, and pages by independent probes on the
 * tracepoints that kmemtrace attaches to for this memory.  The module shares no
 * code with kmemtrace, stores the events in memory that is large enough for the
 * test, and exports them as /sys/kernel/debug/kmt_witness/cpu<n>.  A test
 * compares them with the records of kmemtrace.
 */
#define pr_fmt(fmt) "kmt_witness: " fmt

#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>

struct witness_event {
	__u64 call_site;
	__u64 ptr;
	__u64 kind;	/* event_id << 8 | type_id of kmemtrace's ABI */
};

static unsigned int max_events = 2000000;
module_param(max_events, uint, 0400);
MODULE_PARM_DESC(max_events, "Events that each CPU has room for");

struct witness_cpu {
	struct witness_event *events;
	unsigned long n;
	struct debugfs_blob_wrapper blob;
};

static DEFINE_PER_CPU(struct witness_cpu, witness_cpus);
static struct dentry *witness_dir;

static void witness(unsigned int event, unsigned int type,
		    unsigned long call_site, const void *ptr)
{
	struct witness_cpu *w;
	unsigned long flags;

	if (ZERO_OR_NULL_PTR(ptr))
		return;
	raw_local_irq_save(flags);
	w = this_cpu_ptr(&witness_cpus);
	if (w->n < max_events)
		w->events[w->n] = (struct witness_event) {
			.call_site = call_site,
			.ptr = (unsigned long)ptr,
			.kind = event << 8 | type,
		};
	w->n++;
	raw_local_irq_restore(flags);
}

static void on_kmalloc(void *data, unsigned long call_site, const void *ptr)
{
	witness(1, 0, call_site, ptr);
}

static void on_kfree(void *data, unsigned long call_site, const void *ptr)
{
	witness(2, 0, call_site, ptr);
}

static void on_cache_alloc(void *data, unsigned long call_site, const void *ptr)
{
	witness(1, 1, call_site, ptr);
}

static void on_cache_free(void *data, unsigned long call_site, const void *ptr)
{
	witness(2, 1, call_site, ptr);
}

static void on_page_alloc(void *data, unsigned long call_site,
			  struct page *page)
{
	witness(1, 2, call_site, page ? page_address(page) : NULL);
}

static void on_page_free(void *data, unsigned long call_site, struct page *page)
{
	witness(2, 2, call_site, page_address(page));
}

/* A probe may omit trailing arguments, because the caller owns their storage. */
static struct witness_probe {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;
} witness_probes[] = {
	{ "kmalloc", on_kmalloc },
	{ "kfree", on_kfree },
	{ "kmem_cache_alloc", on_cache_alloc },
	{ "kmem_cache_free", on_cache_free },
	{ "kmemtrace_kmalloc", on_kmalloc },
	{ "kmemtrace_kfree", on_kfree },
	{ "kmemtrace_cache_alloc", on_cache_alloc },
	{ "kmemtrace_cache_free", on_cache_free },
	{ "kmemtrace_page_alloc", on_page_alloc },
	{ "kmemtrace_page_free", on_page_free },
};

static void witness_find(struct tracepoint *tracepoint, void *priv)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(witness_probes); i++)
		if (!strcmp(tracepoint->name, witness_probes[i].name))
			witness_probes[i].tracepoint = tracepoint;
}

static void witness_detach(unsigned int n)
{
	while (n--)
		tracepoint_probe_unregister(witness_probes[n].tracepoint,
					    witness_probes[n].probe, NULL);
	tracepoint_synchronize_unregister();
}

static void witness_free(void)
{
	unsigned int cpu;

	debugfs_remove(witness_dir);
	for_each_possible_cpu(cpu)
		vfree(per_cpu(witness_cpus, cpu).events);
}

/*
 * Reading "stop" detaches the probes, limits the files to the recorded events, and
 * returns the number of events for which there was no room.
 */
static int witness_stop(void *data, u64 *lost)
{
	static bool stopped;
	unsigned int cpu;

	if (!stopped)
		witness_detach(ARRAY_SIZE(witness_probes));
	stopped = true;
	*lost = 0;
	for_each_possible_cpu(cpu) {
		struct witness_cpu *w = per_cpu_ptr(&witness_cpus, cpu);

		if (w->n > max_events)
			*lost += w->n - max_events;
		w->blob.size = min_t(unsigned long, w->n, max_events) *
			       sizeof(struct witness_event);
	}
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(witness_stop_fops, witness_stop, NULL, "%llu\n");

static int __init witness_init(void)
{
	unsigned int cpu, i;
	char name[16];
	int err;

	witness_dir = debugfs_create_dir("kmt_witness", NULL);
	for_each_possible_cpu(cpu) {
		struct witness_cpu *w = per_cpu_ptr(&witness_cpus, cpu);

		w->events = vzalloc(array_size(max_events,
					       sizeof(struct witness_event)));
		if (!w->events) {
			witness_free();
			return -ENOMEM;
		}
		w->blob.data = w->events;
		snprintf(name, sizeof(name), "cpu%u", cpu);
		debugfs_create_blob(name, 0400, witness_dir, &w->blob);
	}
	debugfs_create_file_unsafe("stop", 0400, witness_dir, NULL,
				   &witness_stop_fops);

	for_each_kernel_tracepoint(witness_find, NULL);
	for (i = 0; i < ARRAY_SIZE(witness_probes); i++) {
		err = witness_probes[i].tracepoint ?
		      tracepoint_probe_register(witness_probes[i].tracepoint,
						witness_probes[i].probe, NULL) :
		      -ENOENT;
		if (err) {
			pr_err("no tracepoint %s: %d\n", witness_probes[i].name,
			       err);
			witness_detach(i);
			witness_free();
			return err;
		}
	}
	return 0;
}

module_init(witness_init);
MODULE_DESCRIPTION("Sees what kmemtrace sees");
MODULE_LICENSE("GPL");
