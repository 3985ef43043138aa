// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the memory of the buffers.
 *
 * A set of buffers is a channel of relay without files.  The channel has a buffer
 * for each CPU that is or was online, on the NUMA node of the CPU.  When a CPU
 * comes online for the first time, relay's hotplug callback gives each channel a
 * buffer for that CPU, before the CPU runs.  If there is no memory, the callback fails
 * and the CPU stays offline.
 *
 * Early boot: relay works once the slab allocator and vmalloc do.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/kmemtrace_test.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/relay.h>
#include <linux/slab.h>

#include "buffer.h"
#include "clock.h"
#include "view.h"

/*
 * Let the allocation of buffers fail, instead of letting the OOM killer free memory for
 * them.  The caller logs the failure.
 */
#define KMEMTRACE_GFP	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * Create no file: files.c creates the files, one for each view and CPU.  relay treats
 * NULL as a failure, so return another pointer.
 */
static struct dentry *kmemtrace_create_buf_file(const char *filename,
						struct dentry *parent,
						umode_t mode,
						struct rchan_buf *buf,
						int *is_global)
{
	static struct dentry no_file;

	return &no_file;
}

static int kmemtrace_remove_buf_file(struct dentry *dentry)
{
	return 0;
}

static const struct rchan_callbacks kmemtrace_relay_callbacks = {
	.create_buf_file = kmemtrace_create_buf_file,
	.remove_buf_file = kmemtrace_remove_buf_file,
};

/*
 * Return whether a new set needs a buffer for a CPU.  Each set has a buffer for every
 * CPU that has one in the live set, even if the CPU is offline: the file cpu<n> of the
 * CPU remains, the CPU may come online again, and a snapshot may make any set the live
 * set.
 */
static bool kmemtrace_wants_buffer(struct kmemtrace_buffers *live,
				   unsigned int cpu)
{
	return cpu_online(cpu) || kmemtrace_test_latency ||
	       (live && kmemtrace_buffer(live, cpu));
}

/*
 * Allocate the buffers of a set.  Return NULL if there is not enough memory for all
 * of them.  relay_open_on_node() allocates buffers for the CPUs that are online.
 */
static struct rchan *kmemtrace_open_channel(struct kmemtrace_buffers *buffers,
					    struct kmemtrace_buffers *live)
{
	u64 bytes = (u64)buffers->subbufs * buffers->subbuf_size;
	struct rchan *chan = NULL;
	unsigned int cpu, n = 0;

	cpus_read_lock();
	for_each_possible_cpu(cpu)
		n += kmemtrace_wants_buffer(live, cpu);
	/*
	 * Check the available memory first: reclaim would empty the page cache before
	 * the allocation fails.
	 */
	if (bytes * n < (u64)si_mem_available() * PAGE_SIZE)
		chan = relay_open_on_node(buffers->subbuf_size,
					  buffers->subbufs,
					  &kmemtrace_relay_callbacks, buffers,
					  KMEMTRACE_GFP);
	for_each_possible_cpu(cpu) {
		if (chan && kmemtrace_wants_buffer(live, cpu) &&
		    relay_prepare_channel(chan, cpu)) {
			relay_close(chan);
			chan = NULL;
		}
	}
	cpus_read_unlock();
	return chan;
}

struct kmemtrace_buffers *kmemtrace_buffers_open(unsigned int subbufs,
						 unsigned int subbuf_size)
{
	struct kmemtrace_buffers *buffers, *live;
	unsigned int cpu;

	buffers = kzalloc(sizeof(*buffers), GFP_KERNEL);
	if (!buffers)
		goto err_report;
	refcount_set(&buffers->refs, 1);
	buffers->subbufs = subbufs;
	buffers->subbuf_size = subbuf_size;
	buffers->readers = alloc_percpu(struct kmemtrace_reader);
	if (!buffers->readers)
		goto err_free;
	for_each_possible_cpu(cpu) {
		struct kmemtrace_reader *reader =
			per_cpu_ptr(buffers->readers, cpu);

		raw_spin_lock_init(&reader->lock);
		seqcount_init(&reader->seq);
	}
	live = kmemtrace_view_get(&kmemtrace_live, NULL);
	buffers->chan = kmemtrace_open_channel(buffers, live);
	kmemtrace_buffers_put(live);
	if (!buffers->chan)
		goto err_readers;
	kmemtrace_buffers_reset(buffers, kmemtrace_clock());
	return buffers;

err_readers:
	free_percpu(buffers->readers);
err_free:
	kfree(buffers);
err_report:
	pr_err_ratelimited("no memory for %u sub-buffers of %u bytes per CPU; lower subbufs or subbuf_size\n",
			   subbufs, subbuf_size);
	return ERR_PTR(-ENOMEM);
}

void kmemtrace_buffers_put(struct kmemtrace_buffers *buffers)
{
	if (!buffers || !refcount_dec_and_test(&buffers->refs))
		return;
	/* Pages that a reader has mapped remain allocated until they are unmapped. */
	relay_close(buffers->chan);
	free_percpu(buffers->readers);
	kfree(buffers);
}
