// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the files in debugfs.  Documentation/ABI/testing/debugfs-kmemtrace
 * describes them.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/seq_file.h>

#include "internal.h"
#include "buffer.h"

void kmemtrace_debugfs_new_session(void)
{
	kmemtrace_buffers_reset(kmemtrace_live.buffers, kmemtrace_clock());
	kmemtrace_view_make_files(&kmemtrace_live);
	kmemtrace_view_make_files(&kmemtrace_snapshot_view);
}

/* Wakes also who waits for a full sub-buffer: there will be none. */
void kmemtrace_debugfs_new_buffers(void)
{
	kmemtrace_view_make_files(&kmemtrace_live);
	kmemtrace_view_make_files(&kmemtrace_snapshot_view);
	kmemtrace_view_wake_all(&kmemtrace_live);
}

void kmemtrace_debugfs_end_session(void)
{
	kmemtrace_writer_tell_lost();
	kmemtrace_debugfs_new_buffers();
}

/* Return the number of events of a CPU that were lost or overwritten unread. */
static u64 kmemtrace_overruns_of(struct kmemtrace_buffers *buffers,
				 unsigned int cpu)
{
	struct kmemtrace_figures figures;

	kmemtrace_figures(buffers, cpu, &figures);
	return kmemtrace_lost(cpu) + figures.missed;
}

static int kmemtrace_overruns_show(struct seq_file *m, void *v)
{
	struct kmemtrace_buffers *buffers =
		kmemtrace_view_get(&kmemtrace_live, NULL);
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (buffers && kmemtrace_buffer(buffers, cpu))
			seq_printf(m, "cpu%u %llu\n", cpu,
				   kmemtrace_overruns_of(buffers, cpu));
	kmemtrace_buffers_put(buffers);
	return 0;
}
KMEMTRACE_SHOW_FOPS(kmemtrace_overruns);

static int kmemtrace_total_overruns_show(struct seq_file *m, void *v)
{
	struct kmemtrace_buffers *buffers =
		kmemtrace_view_get(&kmemtrace_live, NULL);
	unsigned int cpu;
	u64 total = 0;

	for_each_possible_cpu(cpu)
		if (buffers)
			total += kmemtrace_overruns_of(buffers, cpu);
	seq_printf(m, "%llu\n", total);
	kmemtrace_buffers_put(buffers);
	return 0;
}
KMEMTRACE_SHOW_FOPS(kmemtrace_total_overruns);

static int kmemtrace_consumed_show(struct seq_file *m, void *v)
{
	struct kmemtrace_buffers *buffers =
		kmemtrace_view_get(&kmemtrace_live, NULL);
	struct kmemtrace_figures figures;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (!buffers || !kmemtrace_buffer(buffers, cpu))
			continue;
		kmemtrace_figures(buffers, cpu, &figures);
		seq_printf(m, "cpu%u %llu\n", cpu,
			   figures.carried + figures.taken);
	}
	kmemtrace_buffers_put(buffers);
	return 0;
}
KMEMTRACE_SHOW_FOPS(kmemtrace_consumed);

static int kmemtrace_abi_version_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", kmemtrace_abi);
	return 0;
}
KMEMTRACE_SHOW_FOPS(kmemtrace_abi_version);

static int kmemtrace_record_size_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", kmemtrace_record_size);
	return 0;
}
KMEMTRACE_SHOW_FOPS(kmemtrace_record_size);

static ssize_t kmemtrace_enabled_read(struct file *file, char __user *buffer,
				      size_t count, loff_t *ppos)
{
	const char *text = kmemtrace_is_on() ? "1\n" : "0\n";

	return simple_read_from_buffer(buffer, count, ppos, text, 2);
}

static ssize_t kmemtrace_enabled_write(struct file *file,
				       const char __user *buffer, size_t count,
				       loff_t *ppos)
{
	bool on;
	int err;

	err = kmemtrace_bool_from_user("enabled", "0 or 1", buffer, count,
				       &on);
	if (!err)
		err = kmemtrace_switch(on);
	return err ?: count;
}

static const struct file_operations kmemtrace_enabled_fops = {
	.owner	= THIS_MODULE,
	.open	= kmemtrace_simple_open,
	.read	= kmemtrace_enabled_read,
	.write	= kmemtrace_enabled_write,
	.llseek	= default_llseek,
};

struct kmemtrace_entry {
	const char *name;
	umode_t mode;
	const struct file_operations *fops;
	unsigned int abi;	/* the first version that has it; 0: all */
};

static const struct kmemtrace_entry kmemtrace_entries[] __initconst = {
	{ "abi_version",    0400, &kmemtrace_abi_version_fops },
	{ "caches",         0400, &kmemtrace_caches_fops, 2 },
	{ "consumed",       0400, &kmemtrace_consumed_fops },
	{ "enabled",        0600, &kmemtrace_enabled_fops },
	{ "filter",         0600, &kmemtrace_filter_fops },
	{ "info",           0400, &kmemtrace_info_fops },
	{ "marker",         0200, &kmemtrace_marker_fops, 2 },
	{ "marks",          0400, &kmemtrace_marks_fops, 2 },
	{ "mode",           0600, &kmemtrace_mode_fops },
	{ "overruns",       0400, &kmemtrace_overruns_fops },
	{ "record_size",    0400, &kmemtrace_record_size_fops },
	{ "reset",          0200, &kmemtrace_reset_fops },
	{ "subbuf_size",    0600, &kmemtrace_subbuf_size_fops },
	{ "subbufs",        0600, &kmemtrace_subbufs_fops },
	{ "tasks",          0400, &kmemtrace_tasks_fops, 2 },
	{ "total_overruns", 0400, &kmemtrace_total_overruns_fops },
	{ "trigger",        0600, &kmemtrace_trigger_fops },
};

static int __init kmemtrace_debugfs_init(void)
{
	struct dentry *dir;
	unsigned int i;

	dir = debugfs_create_dir("kmemtrace", NULL);
	if (IS_ERR(dir)) {
		pr_err("cannot make a directory in debugfs: %ld\n",
		       PTR_ERR(dir));
		return PTR_ERR(dir);
	}
	for (i = 0; i < ARRAY_SIZE(kmemtrace_entries); i++) {
		if (kmemtrace_entries[i].abi > kmemtrace_abi)
			continue;
		debugfs_create_file(kmemtrace_entries[i].name,
				    kmemtrace_entries[i].mode, dir, NULL,
				    kmemtrace_entries[i].fops);
	}
	if (kmemtrace_with_stacks)
		debugfs_create_file("stacks", 0400, dir, NULL,
				    &kmemtrace_stacks_fops);
	kmemtrace_events_debugfs(dir);

	kmemtrace_snapshot_debugfs_init(dir);
	WRITE_ONCE(kmemtrace_live.dir, dir);

	/*
	 * A CPU that comes online has its buffer before it looks for the
	 * directory, and here it is the other way round: no file is missed.
	 */
	kmemtrace_view_make_files(&kmemtrace_live);
	kmemtrace_view_make_files(&kmemtrace_snapshot_view);
	return 0;
}
late_initcall(kmemtrace_debugfs_init);
