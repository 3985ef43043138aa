// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: records every allocation and free of slab objects and pages.
 *
 * Probes on the kmem tracepoints, and on those of <trace/events/kmemtrace.h>
 * for the paths that have none, write records of <linux/kmemtrace_abi.h> into a
 * relay channel; debugfs hands them out.  This file makes the channel and
 * switches tracing on and off.  kmemtrace_writer.c has the probes and what they
 * write, kmemtrace_debugfs.c what user space sees.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/relay.h>

#include <linux/kmemtrace.h>

#include "kmemtrace_internal.h"

/* Set once, before the first probe is registered; never freed. */
struct rchan *kmemtrace_chan;

DEFINE_MUTEX(kmemtrace_mutex);
static bool kmemtrace_on;
static unsigned long kmemtrace_sessions;

bool kmemtrace_is_on(void)
{
	return READ_ONCE(kmemtrace_on);
}

/*
 * relay files are made by kmemtrace_debugfs.c, when debugfs is there and where
 * sleeping is allowed.  relay asks for one all the same and takes NULL for a
 * failure.
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
 * relay_open() makes buffers for the CPUs that are online and relay's hotplug
 * callback for those that come later; a CPU in between would have none.
 *
 * relay would rather have processes killed than do without a page, so that is
 * asked first.
 */
static int kmemtrace_open_channel(void)
{
	struct rchan *chan = NULL;
	u64 bytes;

	if (kmemtrace_chan)
		return 0;

	cpus_read_lock();
	bytes = (u64)kmemtrace_subbufs * kmemtrace_subbuf_size *
		num_online_cpus();
	if (bytes < (u64)si_mem_available() * PAGE_SIZE)
		chan = relay_open(NULL, NULL, kmemtrace_subbuf_size,
				  kmemtrace_subbufs,
				  &kmemtrace_relay_callbacks, NULL);
	cpus_read_unlock();
	if (!chan) {
		pr_err("no memory for %u sub-buffers of %u bytes per CPU; lower kmemtrace.subbufs or kmemtrace.subbuf_size\n",
		       kmemtrace_subbufs, kmemtrace_subbuf_size);
		return -ENOMEM;
	}
	kmemtrace_chan = chan;
	return 0;
}

unsigned long kmemtrace_session(void)
{
	lockdep_assert_held(&kmemtrace_mutex);
	return kmemtrace_sessions;
}

/* Context: nobody writes. */
static void kmemtrace_new_session(void)
{
	kmemtrace_sessions++;
	kmemtrace_debugfs_new_session();
	kmemtrace_tables_new_session();
	kmemtrace_events_new_session();
	kmemtrace_filter_new_session();
}

static int kmemtrace_switch_on(void)
{
	int err;

	/* What may fail comes first, while all is as it was. */
	err = kmemtrace_open_channel();
	if (err)
		return err;
	err = kmemtrace_tables_attach();
	if (err)
		return err;
	err = kmemtrace_events_attach();
	if (err) {
		kmemtrace_tables_detach();
		return err;
	}
	kmemtrace_new_session();
	kmemtrace_writer_start();
	WRITE_ONCE(kmemtrace_on, true);
	return 0;
}

static void kmemtrace_switch_off(void)
{
	kmemtrace_writer_stop();
	kmemtrace_events_detach();
	kmemtrace_writer_wait();
	kmemtrace_tables_end_session();
	kmemtrace_tables_detach();
	WRITE_ONCE(kmemtrace_on, false);
	kmemtrace_debugfs_end_session();
}

int kmemtrace_switch(bool on)
{
	int err = 0;

	mutex_lock(&kmemtrace_mutex);
	if (on && !kmemtrace_on)
		err = kmemtrace_switch_on();
	else if (!on && kmemtrace_on)
		kmemtrace_switch_off();
	mutex_unlock(&kmemtrace_mutex);
	return err;
}

void kmemtrace_reset(void)
{
	mutex_lock(&kmemtrace_mutex);
	if (kmemtrace_on) {
		kmemtrace_writer_stop();
		kmemtrace_writer_wait();
		kmemtrace_new_session();
		kmemtrace_writer_start();
	} else if (kmemtrace_chan) {
		kmemtrace_debugfs_new_session();
		kmemtrace_writer_forget();
	}
	mutex_unlock(&kmemtrace_mutex);
}

/*
 * Called once the slab allocator and vmalloc work, which is as soon as relay
 * does; one CPU runs and debugfs is far away.
 */
void __init kmemtrace_init(void)
{
	kmemtrace_settle_parameters();
	kmemtrace_writer_init();
	kmemtrace_events_init();
	if (!kmemtrace_boot_enabled)
		return;
	if (!kmemtrace_switch(true))
		pr_info("tracing from boot, %u sub-buffers of %u bytes per CPU\n",
			kmemtrace_subbufs, kmemtrace_subbuf_size);
}
