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

#include "buffer.h"
#include "features.h"
#include "file_util.h"
#include "format.h"
#include "guard.h"
#include "view.h"

/* Return the number of lost events of a CPU, for all four reasons in writer.h. */
static u64 kmemtrace_overruns_of(struct kmemtrace_buffers *buffers,
				 unsigned int cpu)
{
	struct kmemtrace_buffer_stats figures;

	kmemtrace_buffer_stats(buffers, cpu, &figures);
	return kmemtrace_lost(cpu) + figures.overwritten;
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
	struct kmemtrace_buffer_stats figures;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (!buffers || !kmemtrace_buffer(buffers, cpu))
			continue;
		kmemtrace_buffer_stats(buffers, cpu, &figures);
		seq_printf(m, "cpu%u %llu\n", cpu,
			   figures.consumed_earlier + figures.consumed);
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
		err = kmemtrace_set_enabled(on);
	return err ?: count;
}

static const struct file_operations kmemtrace_enabled_fops = {
	.owner	= THIS_MODULE,
	.open	= kmemtrace_simple_open,
	.read	= kmemtrace_enabled_read,
	.write	= kmemtrace_enabled_write,
	.llseek	= default_llseek,
};

static const struct kmemtrace_file kmemtrace_debugfs_files[] = {
	{ "abi_version",    0400, &kmemtrace_abi_version_fops },
	{ "consumed",       0400, &kmemtrace_consumed_fops },
	{ "enabled",        0600, &kmemtrace_enabled_fops },
	{ "overruns",       0400, &kmemtrace_overruns_fops },
	{ "record_size",    0400, &kmemtrace_record_size_fops },
	{ "total_overruns", 0400, &kmemtrace_total_overruns_fops },
	{ }
};

struct kmemtrace_feature kmemtrace_debugfs_feature = {
	.files	= kmemtrace_debugfs_files,
};

static int __init kmemtrace_debugfs_init(void)
{
	const struct kmemtrace_file *file;
	struct kmemtrace_feature *feature;
	struct dentry *dir;

	dir = debugfs_create_dir("kmemtrace", NULL);
	if (IS_ERR(dir)) {
		pr_err("cannot make a directory in debugfs: %ld\n",
		       PTR_ERR(dir));
		return PTR_ERR(dir);
	}
	list_for_each_entry(feature, &kmemtrace_features, list)
		for (file = feature->files; file && file->name; file++)
			if (file->abi <= kmemtrace_abi)
				debugfs_create_file(file->name, file->mode, dir,
						    NULL, file->fops);
	kmemtrace_call_features(debugfs, dir);
	return 0;
}
late_initcall(kmemtrace_debugfs_init);
