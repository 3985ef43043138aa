// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: switches: events/<name>/enabled in debugfs.
 *
 * An event that is switched off has no probe and costs no more than while tracing is
 * off.  Its records are then missing: memory that was allocated before its frees were
 * switched off, and freed after that, looks as if it was never freed.  So each switch
 * remembers whether it was off at any time of the session.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "features.h"
#include "file_util.h"
#include "recording.h"
#include "session.h"
#include "switch.h"

/* In order of registration.  Protected by kmemtrace_mutex. */
static LIST_HEAD(kmemtrace_switches);
static struct dentry *kmemtrace_events_dir;	/* NULL: no debugfs yet */

static int kmemtrace_activate(struct kmemtrace_switch *sw)
{
	int err;

	if (sw->active || sw->off)
		return 0;
	err = sw->set(sw, true);
	sw->active = !err;
	return err;
}

static void kmemtrace_deactivate(struct kmemtrace_switch *sw)
{
	if (sw->active)
		sw->set(sw, false);
	sw->active = false;
}

static ssize_t kmemtrace_switch_read(struct file *file, char __user *buffer,
				     size_t count, loff_t *ppos)
{
	const struct kmemtrace_switch *sw = file->private_data;

	return simple_read_from_buffer(buffer, count, ppos,
				       READ_ONCE(sw->off) ? "0\n" : "1\n", 2);
}

static int kmemtrace_switch_set(struct kmemtrace_switch *sw, bool on)
{
	int err = 0;

	mutex_lock(&kmemtrace_mutex);
	if (sw->off == !on)
		goto out;
	WRITE_ONCE(sw->off, !on);
	if (!kmemtrace_is_on())
		goto out;
	sw->was_off = true;
	if (on) {
		err = kmemtrace_activate(sw);
		if (err)
			WRITE_ONCE(sw->off, true);
	} else {
		kmemtrace_deactivate(sw);
		/*
		 * Wait until no CPU is still inside a probe, so that a disabled
		 * event cannot be recorded after the write returns.
		 */
		kmemtrace_writer_wait();
	}
out:
	mutex_unlock(&kmemtrace_mutex);
	return err;
}

static ssize_t kmemtrace_switch_write(struct file *file,
				      const char __user *buffer, size_t count,
				      loff_t *ppos)
{
	struct kmemtrace_switch *sw = file->private_data;
	char name[64];
	bool on;
	int err;

	snprintf(name, sizeof(name), "events/%s/enabled", sw->name);
	err = kmemtrace_bool_from_user(name, "0 or 1", buffer, count, &on);
	if (!err)
		err = kmemtrace_switch_set(sw, on);
	return err ?: count;
}

static const struct file_operations kmemtrace_switch_fops = {
	.owner	= THIS_MODULE,
	.open	= kmemtrace_simple_open,
	.read	= kmemtrace_switch_read,
	.write	= kmemtrace_switch_write,
	.llseek	= default_llseek,
};

/* Context: kmemtrace_mutex is held. */
static void kmemtrace_switch_files(struct kmemtrace_switch *sw)
{
	struct dentry *dir;

	if (!kmemtrace_events_dir)
		return;
	dir = debugfs_create_dir(sw->name, kmemtrace_events_dir);
	if (IS_ERR(dir)) {
		pr_err("cannot make events/%s in debugfs: %ld\n", sw->name,
		       PTR_ERR(dir));
		return;
	}
	debugfs_create_file("enabled", 0600, dir, sw, &kmemtrace_switch_fops);
	sw->dir = dir;
}

int kmemtrace_switch_register(struct kmemtrace_switch *sw)
{
	int err = 0;

	mutex_lock(&kmemtrace_mutex);
	sw->active = false;
	sw->was_off = sw->off;
	sw->dir = NULL;
	if (kmemtrace_is_on())
		err = kmemtrace_activate(sw);
	if (!err) {
		list_add_tail(&sw->list, &kmemtrace_switches);
		kmemtrace_switch_files(sw);
	}
	mutex_unlock(&kmemtrace_mutex);
	return err;
}

void kmemtrace_switch_unregister(struct kmemtrace_switch *sw)
{
	struct dentry *dir;

	mutex_lock(&kmemtrace_mutex);
	list_del(&sw->list);
	dir = sw->dir;
	mutex_unlock(&kmemtrace_mutex);

	/* debugfs_remove() waits for writers of the file, which acquire the mutex. */
	debugfs_remove(dir);

	mutex_lock(&kmemtrace_mutex);
	kmemtrace_deactivate(sw);
	kmemtrace_writer_wait();
	mutex_unlock(&kmemtrace_mutex);
}

/* Deactivate all switches, and wait until their events are not recorded any more. */
static void kmemtrace_switches_detach(void)
{
	struct kmemtrace_switch *sw;

	lockdep_assert_held(&kmemtrace_mutex);
	list_for_each_entry_reverse(sw, &kmemtrace_switches, list)
		kmemtrace_deactivate(sw);
	kmemtrace_writer_wait();
}

static int kmemtrace_switches_attach(void)
{
	struct kmemtrace_switch *sw;
	int err;

	lockdep_assert_held(&kmemtrace_mutex);
	list_for_each_entry(sw, &kmemtrace_switches, list) {
		err = kmemtrace_activate(sw);
		if (err) {
			kmemtrace_switches_detach();
			return err;
		}
	}
	return 0;
}

static void kmemtrace_switches_begin(void)
{
	struct kmemtrace_switch *sw;

	list_for_each_entry(sw, &kmemtrace_switches, list)
		sw->was_off = sw->off;
}

void kmemtrace_switches_show(struct seq_file *m)
{
	const struct kmemtrace_switch *sw;

	lockdep_assert_held(&kmemtrace_mutex);
	list_for_each_entry(sw, &kmemtrace_switches, list) {
		seq_printf(m, "event %s %u %u %s %s", sw->name, sw->event_id,
			   sw->type_id, sw->off ? "off" : "on",
			   sw->was_off ? "missed" : "whole");
		if (sw->show) {
			seq_putc(m, ' ');
			sw->show(m, sw);
		}
		seq_putc(m, '\n');
	}
}

static void kmemtrace_switches_debugfs(struct dentry *parent)
{
	struct kmemtrace_switch *sw;
	struct dentry *dir;

	dir = debugfs_create_dir("events", parent);
	if (IS_ERR(dir)) {
		pr_err("cannot make events in debugfs: %ld\n", PTR_ERR(dir));
		return;
	}
	mutex_lock(&kmemtrace_mutex);
	kmemtrace_events_dir = dir;
	list_for_each_entry(sw, &kmemtrace_switches, list)
		kmemtrace_switch_files(sw);
	mutex_unlock(&kmemtrace_mutex);
}

struct kmemtrace_feature kmemtrace_switch_feature = {
	.attach		= kmemtrace_switches_attach,
	.detach		= kmemtrace_switches_detach,
	.begin		= kmemtrace_switches_begin,
	.debugfs	= kmemtrace_switches_debugfs,
};
