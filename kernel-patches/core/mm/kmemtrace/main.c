// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: records every allocation and free of slab objects and pages.
 *
 * Probes on the kmem tracepoints, and on those of <trace/events/kmemtrace.h>
 * for the paths that have none, write records of <linux/kmemtrace_abi.h> into
 * buffers; debugfs hands them out.  This file switches tracing on and off and
 * has the buffers made.  writer.c has the probes and what they
 * write, debugfs.c what user space sees.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/err.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>

#include <linux/kmemtrace.h>

#include "internal.h"
#include "buffer.h"

DEFINE_MUTEX(kmemtrace_mutex);
static bool kmemtrace_on;
static unsigned long kmemtrace_sessions;

bool kmemtrace_is_on(void)
{
	return READ_ONCE(kmemtrace_on);
}

static int kmemtrace_make_buffers(unsigned int subbufs,
				  unsigned int subbuf_size,
				  struct kmemtrace_buffers **buffers)
{
	*buffers = kmemtrace_buffers_open(subbufs, subbuf_size);
	if (!IS_ERR(*buffers))
		return 0;
	pr_err_ratelimited("no memory for %u sub-buffers of %u bytes per CPU; lower subbufs or subbuf_size\n",
			   subbufs, subbuf_size);
	return PTR_ERR(*buffers);
}

/* Nobody writes, and no reader but those with a reference looks at the old. */
static void kmemtrace_use_buffers(struct kmemtrace_buffers *buffers)
{
	struct kmemtrace_buffers *old;

	old = kmemtrace_view_replace(&kmemtrace_live, buffers);
	if (old)
		kmemtrace_writer_leave(old);
	kmemtrace_buffers_put(old);
}

static int kmemtrace_need_buffers(void)
{
	struct kmemtrace_buffers *buffers;
	int err;

	if (kmemtrace_live.buffers)
		return 0;
	err = kmemtrace_make_buffers(kmemtrace_subbufs, kmemtrace_subbuf_size,
				     &buffers);
	if (!err)
		kmemtrace_use_buffers(buffers);
	return err;
}

int kmemtrace_set_geometry(unsigned int subbufs, unsigned int subbuf_size)
{
	struct kmemtrace_buffers *buffers = NULL, *spare = NULL;
	int err = 0;

	mutex_lock(&kmemtrace_mutex);
	subbufs = subbufs ?: kmemtrace_subbufs;
	subbuf_size = rounddown(subbuf_size ?: kmemtrace_subbuf_size,
				kmemtrace_record_size);
	if (kmemtrace_on)
		err = -EBUSY;
	else if (!kmemtrace_geometry_fits(subbufs, subbuf_size))
		err = -EINVAL;
	/* Before the first session there are none. */
	else if (kmemtrace_live.buffers)
		err = kmemtrace_make_buffers(subbufs, subbuf_size, &buffers);
	if (!err && kmemtrace_snapshot_has_buffers()) {
		err = kmemtrace_make_buffers(subbufs, subbuf_size, &spare);
		if (err)
			kmemtrace_buffers_put(buffers);
	}
	if (!err) {
		if (spare)
			kmemtrace_snapshot_use(spare);
		if (buffers)
			kmemtrace_use_buffers(buffers);
		kmemtrace_subbufs = subbufs;
		kmemtrace_subbuf_size = subbuf_size;
		kmemtrace_debugfs_new_buffers();
	}
	mutex_unlock(&kmemtrace_mutex);
	return err;
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
	kmemtrace_snapshot_new_session();
	kmemtrace_debugfs_new_session();
	kmemtrace_tables_new_session();
	kmemtrace_trigger_new_session();
	kmemtrace_marks_new_session();
	kmemtrace_stacks_new_session();
	kmemtrace_events_new_session();
	kmemtrace_filter_new_session();
}

static int kmemtrace_switch_on(void)
{
	bool had_buffers = kmemtrace_live.buffers;
	int err;

	/* Steps that may fail come first, while nothing has changed. */
	err = kmemtrace_need_buffers();
	if (err)
		return err;
	err = kmemtrace_tables_attach();
	if (err)
		goto no_tables;
	err = kmemtrace_events_attach();
	if (err)
		goto no_events;
	kmemtrace_new_session();
	kmemtrace_writer_start();
	WRITE_ONCE(kmemtrace_on, true);
	return 0;

no_events:
	kmemtrace_tables_detach();
no_tables:
	/* Without a first session all of this is memory that nobody uses. */
	if (!had_buffers) {
		kmemtrace_use_buffers(NULL);
		kmemtrace_tables_free();
	}
	return err;
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

/* Context: kmemtrace_mutex is held. */
static void kmemtrace_complete_stop(void)
{
	if (kmemtrace_on && !kmemtrace_is_recording())
		kmemtrace_switch_off();
}

void kmemtrace_finish_stop(void)
{
	mutex_lock(&kmemtrace_mutex);
	kmemtrace_complete_stop();
	mutex_unlock(&kmemtrace_mutex);
}

int kmemtrace_switch(bool on)
{
	int err = 0;

	mutex_lock(&kmemtrace_mutex);
	kmemtrace_complete_stop();
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
	kmemtrace_complete_stop();
	if (kmemtrace_on) {
		kmemtrace_writer_stop();
		kmemtrace_writer_wait();
		kmemtrace_new_session();
		kmemtrace_writer_start();
	} else if (kmemtrace_live.buffers) {
		kmemtrace_snapshot_new_session();
		kmemtrace_debugfs_new_session();
		kmemtrace_writer_forget();
	}
	mutex_unlock(&kmemtrace_mutex);
}

/*
 * Context: early boot, with one CPU running and interrupts off, as soon as the
 * slab allocator and vmalloc work.  debugfs does not exist yet.
 */
void __init kmemtrace_init(void)
{
	kmemtrace_stacks_init();
	kmemtrace_settle_parameters();
	kmemtrace_view_init(&kmemtrace_live);
	kmemtrace_snapshot_init();
	kmemtrace_memory_init();
	kmemtrace_writer_init();
	kmemtrace_events_init();
	kmemtrace_marks_init();
	if (!kmemtrace_boot_enabled)
		return;
	if (!kmemtrace_switch(true))
		pr_info("tracing from boot, %u sub-buffers of %u bytes per CPU\n",
			kmemtrace_subbufs, kmemtrace_subbuf_size);
}
