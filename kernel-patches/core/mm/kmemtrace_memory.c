// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the memory of the buffers.
 *
 * A set has a buffer for each CPU that is or was online.  The buffer of a CPU
 * lies on the CPU's own NUMA node.  A CPU that comes online for the first time
 * gets its buffers from a hotplug callback, before it runs; the callback fails,
 * and the CPU stays offline, if there is no memory for them.
 *
 * Early boot: all of this works once the slab allocator and vmalloc do.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kmemtrace_test.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "kmemtrace_internal.h"
#include "kmemtrace_buffer.h"

/*
 * Do not let the OOM killer make room for buffers.  The caller reports the
 * failure.
 */
#define KMEMTRACE_GFP	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * All sets, so that the hotplug callback finds them.  Taken inside of
 * cpu_hotplug_lock.
 */
static DEFINE_MUTEX(kmemtrace_sets_mutex);
static LIST_HEAD(kmemtrace_sets);

static void kmemtrace_free_pages(struct kmemtrace_buf *buf)
{
	while (buf->n_pages)
		__free_page(buf->pages[--buf->n_pages]);
	kvfree(buf->pages);
}

/*
 * On error frees what it allocated.  0 or -ENOMEM.  Not inlined: this is the call
 * site of the buffers' pages, as reports name it.
 */
static noinline int kmemtrace_alloc_pages(struct kmemtrace_buf *buf, u64 bytes, int node)
{
	unsigned int n = DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);
	struct page *page;

	buf->pages = kvmalloc_node(array_size(n, sizeof(*buf->pages)),
				   KMEMTRACE_GFP, node);
	if (!buf->pages)
		return -ENOMEM;
	while (buf->n_pages < n) {
		page = alloc_pages_node(node, KMEMTRACE_GFP | __GFP_ZERO, 0);
		if (!page)
			goto err_pages;
		buf->pages[buf->n_pages++] = page;
	}
	buf->start = vmap(buf->pages, n, VM_MAP, PAGE_KERNEL);
	if (buf->start)
		return 0;

err_pages:
	kmemtrace_free_pages(buf);
	return -ENOMEM;
}

/* Returns an empty buffer for @cpu, or NULL: no memory. */
static struct kmemtrace_buf *
kmemtrace_alloc_buffer(struct kmemtrace_buffers *buffers, unsigned int cpu)
{
	u64 bytes = (u64)buffers->subbufs * buffers->subbuf_size;
	int node = cpu_to_node(cpu);
	struct kmemtrace_buf *buf;

	buf = kzalloc_node(sizeof(*buf), KMEMTRACE_GFP, node);
	if (!buf)
		return NULL;
	buf->set = buffers;
	buf->cpu = cpu;
	buf->padding = kvmalloc_node(array_size(buffers->subbufs,
						sizeof(*buf->padding)),
				     KMEMTRACE_GFP | __GFP_ZERO, node);
	if (!buf->padding)
		goto err_buf;
	if (kmemtrace_alloc_pages(buf, bytes, node))
		goto err_padding;
	buf->data = buf->start;
	return buf;

err_padding:
	kvfree(buf->padding);
err_buf:
	kfree(buf);
	return NULL;
}

static void kmemtrace_free_buffer(struct kmemtrace_buf *buf)
{
	if (!buf)
		return;
	vunmap(buf->start);
	/* A page that is mapped by a reader stays until it is unmapped. */
	kmemtrace_free_pages(buf);
	kvfree(buf->padding);
	kfree(buf);
}

/*
 * Gives @cpu a buffer in the set unless it has one.  Context: cpu_hotplug_lock is
 * held, for reading by an opener of sets or for writing by CPU hotplug, and the
 * latter holds kmemtrace_sets_mutex.  0 or -ENOMEM.
 */
static int kmemtrace_add_buffer(struct kmemtrace_buffers *buffers,
				unsigned int cpu)
{
	struct kmemtrace_reader *reader = per_cpu_ptr(buffers->readers, cpu);
	struct kmemtrace_buf *buf;

	if (reader->buf)
		return 0;
	buf = kmemtrace_alloc_buffer(buffers, cpu);
	if (!buf)
		return -ENOMEM;
	/* Pairs with kmemtrace_buffer(): publish a complete buffer. */
	smp_store_release(&reader->buf, buf);
	return 0;
}

/*
 * Each set has a buffer for each CPU that has one in the live set, also for a CPU
 * that went offline: its file stays, it may come back, and sets change places.
 */
static bool kmemtrace_wants_buffer(struct kmemtrace_buffers *live,
				   unsigned int cpu)
{
	return cpu_online(cpu) || kmemtrace_test_latency ||
	       (live && kmemtrace_buffer(live, cpu));
}

/*
 * Allocates the buffers of a set and makes the set known to CPU hotplug, which is
 * excluded in between.  0 or -ENOMEM; the caller frees what was allocated.
 */
static int kmemtrace_add_buffers(struct kmemtrace_buffers *buffers,
				 struct kmemtrace_buffers *live)
{
	u64 bytes = (u64)buffers->subbufs * buffers->subbuf_size;
	unsigned int cpu, n = 0;
	int err = 0;

	cpus_read_lock();
	for_each_possible_cpu(cpu)
		n += kmemtrace_wants_buffer(live, cpu);
	/* Reclaim would empty the page cache before it gives up. */
	if (bytes * n >= (u64)si_mem_available() * PAGE_SIZE)
		err = -ENOMEM;
	for_each_possible_cpu(cpu)
		if (!err && kmemtrace_wants_buffer(live, cpu))
			err = kmemtrace_add_buffer(buffers, cpu);
	if (!err) {
		mutex_lock(&kmemtrace_sets_mutex);
		list_add_tail(&buffers->list, &kmemtrace_sets);
		mutex_unlock(&kmemtrace_sets_mutex);
	}
	cpus_read_unlock();
	return err;
}

/* Frees a set that CPU hotplug does not find and nobody refers to. */
static void kmemtrace_free_set(struct kmemtrace_buffers *buffers)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kmemtrace_free_buffer(per_cpu_ptr(buffers->readers, cpu)->buf);
	free_percpu(buffers->readers);
	kfree(buffers);
}

struct kmemtrace_buffers *kmemtrace_buffers_open(unsigned int subbufs,
						 unsigned int subbuf_size)
{
	struct kmemtrace_buffers *buffers, *live;
	unsigned int cpu;
	int err;

	buffers = kzalloc(sizeof(*buffers), GFP_KERNEL);
	if (!buffers)
		return ERR_PTR(-ENOMEM);
	refcount_set(&buffers->refs, 1);
	buffers->subbufs = subbufs;
	buffers->subbuf_size = subbuf_size;
	buffers->readers = alloc_percpu(struct kmemtrace_reader);
	if (!buffers->readers) {
		kfree(buffers);
		return ERR_PTR(-ENOMEM);
	}
	for_each_possible_cpu(cpu) {
		struct kmemtrace_reader *reader =
			per_cpu_ptr(buffers->readers, cpu);

		raw_spin_lock_init(&reader->lock);
		seqcount_init(&reader->seq);
	}
	kmemtrace_buffers_reset(buffers, kmemtrace_clock());
	live = kmemtrace_view_get(&kmemtrace_live, NULL);
	err = kmemtrace_add_buffers(buffers, live);
	kmemtrace_buffers_put(live);
	if (err) {
		kmemtrace_free_set(buffers);
		return ERR_PTR(err);
	}
	return buffers;
}

void kmemtrace_buffers_put(struct kmemtrace_buffers *buffers)
{
	if (!buffers || !refcount_dec_and_test(&buffers->refs))
		return;
	/* Waits for a hotplug callback that is adding a buffer to the set. */
	mutex_lock(&kmemtrace_sets_mutex);
	list_del(&buffers->list);
	mutex_unlock(&kmemtrace_sets_mutex);
	kmemtrace_free_set(buffers);
}

/*
 * The buffers of a CPU stay, also if the CPU does not come online after all: the
 * next attempt needs them again.
 */
static int kmemtrace_cpu_prepare(unsigned int cpu)
{
	struct kmemtrace_buffers *buffers;
	int err = 0;

	mutex_lock(&kmemtrace_sets_mutex);
	list_for_each_entry(buffers, &kmemtrace_sets, list) {
		err = kmemtrace_add_buffer(buffers, cpu);
		if (err)
			break;
	}
	mutex_unlock(&kmemtrace_sets_mutex);
	if (err) {
		pr_err("no memory for the buffers of CPU %u; lower subbufs or subbuf_size\n",
		       cpu);
		return err;
	}
	kmemtrace_view_make_file(&kmemtrace_live, cpu);
	kmemtrace_view_make_file(&kmemtrace_snapshot_view, cpu);
	return 0;
}

void __init kmemtrace_memory_init(void)
{
	int err;

	err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					"mm/kmemtrace:prepare",
					kmemtrace_cpu_prepare, NULL);
	if (err < 0)
		pr_err("CPUs that come online will not be traced: %d\n", err);
}
