// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another user of relay.  /proc/kmt_relay contains the number of buffers in its
 * channel: one for each CPU that has been online.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/relay.h>
#include <linux/seq_file.h>

static struct rchan *channel;
static atomic_t buffers;

static struct dentry *create_file(const char *filename, struct dentry *parent,
				  umode_t mode, struct rchan_buf *buf,
				  int *is_global)
{
	atomic_inc(&buffers);
	return debugfs_create_file(filename, mode, parent, buf,
				   &relay_file_operations);
}

static int remove_file(struct dentry *dentry)
{
	debugfs_remove(dentry);
	return 0;
}

static const struct rchan_callbacks callbacks = {
	.create_buf_file	= create_file,
	.remove_buf_file	= remove_file,
};

static int buffers_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", atomic_read(&buffers));
	return 0;
}

static int __init kmt_relay_init(void)
{
	channel = relay_open("kmt_relay", NULL, 4096, 2, &callbacks, NULL);
	if (!channel)
		return -ENOMEM;
	if (!proc_create_single("kmt_relay", 0444, NULL, buffers_show)) {
		relay_close(channel);
		return -ENOMEM;
	}
	return 0;
}

static void __exit kmt_relay_exit(void)
{
	remove_proc_entry("kmt_relay", NULL);
	relay_close(channel);
}

module_init(kmt_relay_init);
module_exit(kmt_relay_exit);
MODULE_DESCRIPTION("Another user of relay");
MODULE_LICENSE("GPL");
