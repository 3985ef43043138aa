// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the files in debugfs.  Documentation/ABI/testing/debugfs-kmemtrace
 * describes them.
 *
 * A reader of a cpu file holds that file's inode lock (relay_file_read()), so
 * what changes a buffer from outside its CPU takes it too, and does so only
 * while nobody writes.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/relay.h>
#include <linux/seq_file.h>

#include "kmemtrace_internal.h"

struct kmemtrace_file {
	struct dentry	*dentry;	/* NULL: not made yet */
	u64		taken_before;	/* bytes read in earlier sessions */
};

static DEFINE_PER_CPU(struct kmemtrace_file, kmemtrace_files);

/*
 * Guards the making of cpu files.  Taken inside of cpu_hotplug_lock; no reader's
 * lock is waited for inside of it.
 */
static DEFINE_MUTEX(kmemtrace_files_mutex);
static struct dentry *kmemtrace_dir;

static struct rchan_buf *kmemtrace_buf(unsigned int cpu)
{
	return kmemtrace_chan ? *per_cpu_ptr(kmemtrace_chan->buf, cpu) : NULL;
}

/*
 * relay's, without splice, which goes by the file's position and not by what was
 * read, and without mmap, for which a locked down kernel would refuse the files.
 */
static int kmemtrace_cpu_open(struct inode *inode, struct file *file)
{
	return relay_file_operations.open(inode, file);
}

static ssize_t kmemtrace_cpu_read(struct file *file, char __user *buffer,
				  size_t count, loff_t *ppos)
{
	return relay_file_operations.read(file, buffer, count, ppos);
}

static __poll_t kmemtrace_cpu_poll(struct file *file, poll_table *wait)
{
	return relay_file_operations.poll(file, wait);
}

static int kmemtrace_cpu_release(struct inode *inode, struct file *file)
{
	return relay_file_operations.release(inode, file);
}

static const struct file_operations kmemtrace_cpu_fops = {
	.owner		= THIS_MODULE,
	.open		= kmemtrace_cpu_open,
	.read		= kmemtrace_cpu_read,
	.poll		= kmemtrace_cpu_poll,
	.release	= kmemtrace_cpu_release,
	.llseek		= no_llseek,
};

/*
 * Makes the file of a CPU if there is none yet, and returns it; NULL: it cannot
 * be made, or not yet.  relay's own relay_late_setup_files() is of no use here:
 * it sleeps with preemption off.
 */
static struct dentry *kmemtrace_make_file(unsigned int cpu)
{
	struct kmemtrace_file *file = per_cpu_ptr(&kmemtrace_files, cpu);
	struct rchan_buf *buf = kmemtrace_buf(cpu);
	struct dentry *dentry;
	char name[16];

	mutex_lock(&kmemtrace_files_mutex);
	if (!kmemtrace_dir || !buf || file->dentry)
		goto out;
	snprintf(name, sizeof(name), "cpu%u", cpu);
	dentry = debugfs_create_file(name, 0400, kmemtrace_dir, buf,
				     &kmemtrace_cpu_fops);
	if (IS_ERR(dentry))
		pr_err("cannot make %s in debugfs: %ld\n", name,
		       PTR_ERR(dentry));
	else
		file->dentry = dentry;
out:
	dentry = file->dentry;
	mutex_unlock(&kmemtrace_files_mutex);
	return dentry;
}

static int kmemtrace_cpu_prepare(unsigned int cpu)
{
	kmemtrace_make_file(cpu);
	return 0;
}

static u64 kmemtrace_taken(struct rchan_buf *buf)
{
	return (u64)READ_ONCE(buf->subbufs_consumed) * buf->chan->subbuf_size +
	       READ_ONCE(buf->bytes_consumed);
}

/* Forgets what is unread, by moving the reader to where the writer is. */
static void kmemtrace_discard(struct rchan_buf *buf)
{
	buf->subbufs_consumed = buf->subbufs_produced;
	buf->bytes_consumed = buf->offset;
	per_cpu(kmemtrace_files, buf->cpu).taken_before = kmemtrace_taken(buf);
}

/*
 * Closes a sub-buffer that is part full.  read() would give its records anyway;
 * poll() wakes a reader only for closed ones.  Nothing is to close in an
 * untouched sub-buffer, and the last free one stays open: see
 * kmemtrace_has_room().
 */
static void kmemtrace_close_subbuf(struct rchan_buf *buf)
{
	if (buf->offset && buf->subbufs_produced + 1 - buf->subbufs_consumed <
			   buf->chan->n_subbufs)
		relay_switch_subbuf(buf, 0);
}

/*
 * Discards or closes each buffer while nobody reads it.  A reader may keep us
 * waiting, as it may fault: no lock that CPU hotplug needs is held meanwhile.
 */
static void kmemtrace_settle(bool discard)
{
	struct rchan_buf *buf;
	struct dentry *dentry;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		buf = kmemtrace_buf(cpu);
		if (!buf)
			continue;
		dentry = kmemtrace_make_file(cpu);
		if (dentry)
			inode_lock(d_inode(dentry));
		if (discard) {
			kmemtrace_discard(buf);
		} else {
			kmemtrace_tell_lost(cpu);
			kmemtrace_close_subbuf(buf);
		}
		if (dentry)
			inode_unlock(d_inode(dentry));
	}
}

void kmemtrace_debugfs_new_session(void)
{
	kmemtrace_settle(true);
}

void kmemtrace_debugfs_end_session(void)
{
	kmemtrace_settle(false);
}

static int kmemtrace_overruns_show(struct seq_file *m, void *v)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (kmemtrace_buf(cpu))
			seq_printf(m, "cpu%u %llu\n", cpu, kmemtrace_lost(cpu));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kmemtrace_overruns);

static int kmemtrace_total_overruns_show(struct seq_file *m, void *v)
{
	unsigned int cpu;
	u64 total = 0;

	for_each_possible_cpu(cpu)
		total += kmemtrace_lost(cpu);
	seq_printf(m, "%llu\n", total);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kmemtrace_total_overruns);

static int kmemtrace_consumed_show(struct seq_file *m, void *v)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct rchan_buf *buf = kmemtrace_buf(cpu);

		if (buf)
			seq_printf(m, "cpu%u %llu\n", cpu, kmemtrace_taken(buf) -
				   per_cpu(kmemtrace_files, cpu).taken_before);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kmemtrace_consumed);

static int kmemtrace_abi_version_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", kmemtrace_abi);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kmemtrace_abi_version);

static int kmemtrace_subbufs_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", kmemtrace_subbufs);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kmemtrace_subbufs);

static int kmemtrace_subbuf_size_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", kmemtrace_subbuf_size);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kmemtrace_subbuf_size);

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
	.open	= simple_open,
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
	{ "overruns",       0400, &kmemtrace_overruns_fops },
	{ "reset",          0200, &kmemtrace_reset_fops },
	{ "subbuf_size",    0400, &kmemtrace_subbuf_size_fops },
	{ "subbufs",        0400, &kmemtrace_subbufs_fops },
	{ "tasks",          0400, &kmemtrace_tasks_fops, 2 },
	{ "total_overruns", 0400, &kmemtrace_total_overruns_fops },
};

static int __init kmemtrace_debugfs_init(void)
{
	struct dentry *dir;
	unsigned int i;
	int err;

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
	kmemtrace_events_debugfs(dir);

	mutex_lock(&kmemtrace_files_mutex);
	kmemtrace_dir = dir;
	mutex_unlock(&kmemtrace_files_mutex);

	/* Calls back at once for the CPUs that are online. */
	err = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "mm/kmemtrace:prepare",
				kmemtrace_cpu_prepare, NULL);
	if (err < 0)
		pr_err("CPUs that come online will have no file: %d\n", err);
	return err < 0 ? err : 0;
}
late_initcall(kmemtrace_debugfs_init);
