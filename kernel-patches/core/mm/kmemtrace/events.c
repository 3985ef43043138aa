// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: what is recorded, and how to tell: events/<name>/enabled, reset
 * and info in debugfs.  <linux/kmemtrace_abi.h> describes info.
 *
 * An event that is off has no probe: it costs what it costs while tracing is
 * off.  Its records are then missing, and what was allocated before and is freed
 * meanwhile looks as if it were there for good; so each switch remembers
 * whether it was off at some time of the session.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
#include <linux/seq_file.h>
#include <linux/stddef.h>
#include <linux/uaccess.h>

#include "internal.h"
#include "buffer.h"

/* In the order of their coming.  Guarded by kmemtrace_mutex. */
static LIST_HEAD(kmemtrace_switches);
static struct dentry *kmemtrace_events_dir;	/* NULL: no debugfs yet */

/* --- Switches ---------------------------------------------------------------- */

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
	sw->missed = true;
	if (on) {
		err = kmemtrace_activate(sw);
		if (err)
			WRITE_ONCE(sw->off, true);
	} else {
		kmemtrace_deactivate(sw);
		/* Not recorded any more, rather than soon not. */
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
	sw->missed = sw->off;
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

	/* Waits for those who write to the file, and thus for the mutex. */
	debugfs_remove(dir);

	mutex_lock(&kmemtrace_mutex);
	kmemtrace_deactivate(sw);
	kmemtrace_writer_wait();
	mutex_unlock(&kmemtrace_mutex);
}

int kmemtrace_events_attach(void)
{
	struct kmemtrace_switch *sw;
	int err;

	lockdep_assert_held(&kmemtrace_mutex);
	list_for_each_entry(sw, &kmemtrace_switches, list) {
		err = kmemtrace_activate(sw);
		if (err) {
			kmemtrace_events_detach();
			kmemtrace_writer_wait();
			return err;
		}
	}
	return 0;
}

void kmemtrace_events_detach(void)
{
	struct kmemtrace_switch *sw;

	lockdep_assert_held(&kmemtrace_mutex);
	list_for_each_entry_reverse(sw, &kmemtrace_switches, list)
		kmemtrace_deactivate(sw);
}

void kmemtrace_events_new_session(void)
{
	struct kmemtrace_switch *sw;

	list_for_each_entry(sw, &kmemtrace_switches, list)
		sw->missed = sw->off;
}

/* --- Allocations and frees --------------------------------------------------- */

static int kmemtrace_memory_set(struct kmemtrace_switch *sw, bool on);

/* Version 1 has no other types than these three. */
static bool kmemtrace_has_type(unsigned int type_id)
{
	return type_id <= KMEMTRACE_TYPE_PAGES || kmemtrace_abi >= 2;
}

#define KMEMTRACE_MEMORY_SWITCH(probes, text, event, type)		\
	[KMEMTRACE_PROBES_##probes] = {					\
		.name = text,						\
		.event_id = KMEMTRACE_EVENT_##event,			\
		.type_id = KMEMTRACE_TYPE_##type,			\
		.set = kmemtrace_memory_set,				\
	}

static struct kmemtrace_switch kmemtrace_memory_switches[] = {
	KMEMTRACE_MEMORY_SWITCH(KMALLOC, "kmalloc", ALLOC, KMALLOC),
	KMEMTRACE_MEMORY_SWITCH(KFREE, "kfree", FREE, KMALLOC),
	KMEMTRACE_MEMORY_SWITCH(CACHE_ALLOC, "cache_alloc", ALLOC, CACHE),
	KMEMTRACE_MEMORY_SWITCH(CACHE_FREE, "cache_free", FREE, CACHE),
	KMEMTRACE_MEMORY_SWITCH(PAGE_ALLOC, "page_alloc", ALLOC, PAGES),
	KMEMTRACE_MEMORY_SWITCH(PAGE_FREE, "page_free", FREE, PAGES),
	KMEMTRACE_MEMORY_SWITCH(PERCPU_ALLOC, "percpu_alloc", ALLOC, PERCPU),
	KMEMTRACE_MEMORY_SWITCH(PERCPU_FREE, "percpu_free", FREE, PERCPU),
	KMEMTRACE_MEMORY_SWITCH(VMALLOC_ALLOC, "vmalloc", ALLOC, VMALLOC),
	KMEMTRACE_MEMORY_SWITCH(VMALLOC_FREE, "vfree", FREE, VMALLOC),
};

static int kmemtrace_memory_set(struct kmemtrace_switch *sw, bool on)
{
	enum kmemtrace_probes probes = sw - kmemtrace_memory_switches;

	if (on)
		return kmemtrace_writer_attach(probes);
	kmemtrace_writer_detach(probes);
	return 0;
}

/* Context: nothing of kmemtrace runs yet. */
void __init kmemtrace_events_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kmemtrace_memory_switches); i++)
		if (kmemtrace_has_type(kmemtrace_memory_switches[i].type_id))
			kmemtrace_switch_register(&kmemtrace_memory_switches[i]);
}

/* --- info -------------------------------------------------------------------- */

struct kmemtrace_field {
	const char *name;
	u16 offset;
	u8 bytes;
	bool is_signed;
};

#define KMEMTRACE_FIELD_AT(type, member, field)				\
	{								\
		.name = #field,						\
		.offset = offsetof(struct type, member),		\
		.bytes = sizeof_field(struct type, member),		\
		.is_signed = is_signed_type(typeof(((struct type *)0)->member)), \
	}
#define KMEMTRACE_TEXT_FIELD(type, field)				\
	{								\
		.name = #field,						\
		.offset = offsetof(struct type, field),			\
		.bytes = sizeof_field(struct type, field),		\
	}
#define KMEMTRACE_FIELD(field)						\
	KMEMTRACE_FIELD_AT(kmemtrace_event_v2, v1.field, field)
#define KMEMTRACE_FIELD_V2(field)					\
	KMEMTRACE_FIELD_AT(kmemtrace_event_v2, field, field)
#define KMEMTRACE_FIELD_LOST(field)					\
	KMEMTRACE_FIELD_AT(kmemtrace_event_lost, field, field)
#define KMEMTRACE_FIELD_STOP(field)					\
	KMEMTRACE_FIELD_AT(kmemtrace_event_stop, field, field)
#define KMEMTRACE_FIELD_MARK(field)					\
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, field, field)

static const struct kmemtrace_field kmemtrace_fields[] = {
	KMEMTRACE_FIELD(event_id),
	KMEMTRACE_FIELD(type_id),
	KMEMTRACE_FIELD(event_size),
	KMEMTRACE_FIELD(node),
	KMEMTRACE_FIELD(call_site),
	KMEMTRACE_FIELD(ptr),
	KMEMTRACE_FIELD(bytes_req),
	KMEMTRACE_FIELD(bytes_alloc),
	KMEMTRACE_FIELD(gfp_flags),
	KMEMTRACE_FIELD(timestamp),
	KMEMTRACE_FIELD_V2(pid),
	KMEMTRACE_FIELD_V2(cache),
	KMEMTRACE_FIELD_V2(flags),
	KMEMTRACE_FIELD_AT(kmemtrace_event_v2s, stack, stack),
};

static const struct kmemtrace_field kmemtrace_lost_fields[] = {
	KMEMTRACE_FIELD_LOST(event_id),
	KMEMTRACE_FIELD_LOST(type_id),
	KMEMTRACE_FIELD_LOST(event_size),
	KMEMTRACE_FIELD_LOST(node),
	KMEMTRACE_FIELD_LOST(events),
	KMEMTRACE_FIELD_LOST(since),
	KMEMTRACE_FIELD_LOST(timestamp),
};

static const struct kmemtrace_field kmemtrace_mark_fields[] = {
	KMEMTRACE_FIELD_MARK(event_id),
	KMEMTRACE_FIELD_MARK(part),
	KMEMTRACE_FIELD_MARK(event_size),
	KMEMTRACE_FIELD_MARK(mark),
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, payload[0], payload0),
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, payload[1], payload1),
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, payload[2], payload2),
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, payload[3], payload3),
	KMEMTRACE_FIELD_AT(kmemtrace_event_mark, payload[4], payload4),
	KMEMTRACE_FIELD_MARK(timestamp),
	KMEMTRACE_FIELD_MARK(pid),
	KMEMTRACE_FIELD_MARK(payload_size),
	KMEMTRACE_FIELD_MARK(flags),
};

static const struct kmemtrace_field kmemtrace_stop_fields[] = {
	KMEMTRACE_FIELD_STOP(event_id),
	KMEMTRACE_FIELD_STOP(type_id),
	KMEMTRACE_FIELD_STOP(event_size),
	KMEMTRACE_FIELD_STOP(node),
	KMEMTRACE_FIELD_STOP(call_site),
	KMEMTRACE_TEXT_FIELD(kmemtrace_event_stop, why),
	KMEMTRACE_FIELD_STOP(timestamp),
	KMEMTRACE_FIELD_STOP(pid),
};

static void kmemtrace_show_record(struct seq_file *m, unsigned int event_id,
				  const char *name,
				  const struct kmemtrace_field *fields,
				  unsigned int n)
{
	seq_printf(m, "record %u %s\n", event_id, name);
	for (; n--; fields++) {
		if (fields->offset + fields->bytes > kmemtrace_record_size)
			continue;
		seq_printf(m, "field %s ", fields->name);
		if (fields->bytes > sizeof(u64))
			seq_puts(m, "text");
		else
			seq_printf(m, "%c%u", fields->is_signed ? 's' : 'u',
				   8U * fields->bytes);
		seq_printf(m, " %u %u %s\n", fields->offset, fields->bytes,
			   fields->is_signed ? "signed" : "unsigned");
	}
}

static void kmemtrace_show_records(struct seq_file *m)
{
	kmemtrace_show_record(m, KMEMTRACE_EVENT_ALLOC, "alloc",
			      kmemtrace_fields, ARRAY_SIZE(kmemtrace_fields));
	kmemtrace_show_record(m, KMEMTRACE_EVENT_FREE, "free",
			      kmemtrace_fields, ARRAY_SIZE(kmemtrace_fields));
	if (kmemtrace_abi < 2)
		return;
	kmemtrace_show_record(m, KMEMTRACE_EVENT_LOST, "lost",
			      kmemtrace_lost_fields,
			      ARRAY_SIZE(kmemtrace_lost_fields));
	kmemtrace_show_record(m, KMEMTRACE_EVENT_MARK, "mark",
			      kmemtrace_mark_fields,
			      ARRAY_SIZE(kmemtrace_mark_fields));
	kmemtrace_show_record(m, KMEMTRACE_EVENT_MORE, "more",
			      kmemtrace_mark_fields,
			      ARRAY_SIZE(kmemtrace_mark_fields));
	kmemtrace_show_record(m, KMEMTRACE_EVENT_STOP, "stop",
			      kmemtrace_stop_fields,
			      ARRAY_SIZE(kmemtrace_stop_fields));
}

static void kmemtrace_show_head(struct seq_file *m)
{
	seq_puts(m, "# kmemtrace: info\n");
	seq_printf(m, "# abi_version: %u\n", kmemtrace_abi);
	seq_printf(m, "# record_size: %u\n", kmemtrace_record_size);
	seq_printf(m, "# byte_order: %s\n",
		   IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ? "big" : "little");
	seq_printf(m, "# word_size: %zu\n", sizeof(long));
	seq_printf(m, "# clock: %s\n", kmemtrace_clock_name());
	seq_printf(m, "# enabled: %d\n", kmemtrace_is_on());
	seq_printf(m, "# session: %lu\n", kmemtrace_session());
	seq_printf(m, "# subbufs: %u\n", kmemtrace_subbufs);
	seq_printf(m, "# subbuf_size: %u\n", kmemtrace_subbuf_size);
	seq_printf(m, "# mode: %s\n",
		   READ_ONCE(kmemtrace_overwrite) ? "overwrite" : "discard");
	kmemtrace_filter_info(m);
}

static const char *const kmemtrace_types[] = {
	[KMEMTRACE_TYPE_KMALLOC] = "kmalloc",
	[KMEMTRACE_TYPE_CACHE] = "cache",
	[KMEMTRACE_TYPE_PAGES] = "pages",
	[KMEMTRACE_TYPE_PERCPU] = "percpu",
	[KMEMTRACE_TYPE_VMALLOC] = "vmalloc",
};

static int kmemtrace_info_show(struct seq_file *m, void *v)
{
	const struct kmemtrace_switch *sw;
	unsigned int i;

	mutex_lock(&kmemtrace_mutex);
	kmemtrace_show_head(m);
	kmemtrace_show_records(m);
	for (i = 0; i < ARRAY_SIZE(kmemtrace_types); i++)
		if (kmemtrace_has_type(i))
			seq_printf(m, "type %u %s\n", i, kmemtrace_types[i]);
	list_for_each_entry(sw, &kmemtrace_switches, list) {
		seq_printf(m, "event %s %u %u %s %s", sw->name, sw->event_id,
			   sw->type_id, sw->off ? "off" : "on",
			   sw->missed ? "missed" : "whole");
		if (sw->show) {
			seq_putc(m, ' ');
			sw->show(m, sw);
		}
		seq_putc(m, '\n');
	}
	mutex_unlock(&kmemtrace_mutex);
	return 0;
}

static int kmemtrace_info_open(struct inode *inode, struct file *file)
{
	return kmemtrace_single_open(inode, file, kmemtrace_info_show);
}

const struct file_operations kmemtrace_info_fops = {
	.owner		= THIS_MODULE,
	.open		= kmemtrace_info_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* --- reset ------------------------------------------------------------------- */

static ssize_t kmemtrace_reset_write(struct file *file,
				     const char __user *buffer, size_t count,
				     loff_t *ppos)
{
	bool yes;
	int err;

	err = kmemtrace_bool_from_user("reset", "1", buffer, count, &yes);
	if (err)
		return err;
	if (!yes) {
		pr_warn_ratelimited("reset takes 1, not 0\n");
		return -EINVAL;
	}
	kmemtrace_reset();
	return count;
}

const struct file_operations kmemtrace_reset_fops = {
	.owner	= THIS_MODULE,
	.open	= kmemtrace_simple_open,
	.write	= kmemtrace_reset_write,
	.llseek	= no_llseek,
};

void __init kmemtrace_events_debugfs(struct dentry *dir)
{
	struct kmemtrace_switch *sw;

	dir = debugfs_create_dir("events", dir);
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
