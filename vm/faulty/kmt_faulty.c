// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver with the faults that docs/walkthrough.md looks for. The faulty code is in
 * functions that are not inlined, so that a report names them. Writing a command to
 * /proc/kmt_faulty causes a fault: "waste N", "leak N", "pingpong N", "spike MB".
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "kmt_proc.h"

/*
 * 1048 bytes: a header of 24 bytes and 1024 bytes of data, for which kmalloc()
 * allocates 2048.
 */
struct faulty_frame {
	u64	header[3];
	u8	data[1024];
};

static noinline int faulty_receive(unsigned long n)
{
	struct faulty_frame **frames;
	unsigned long i;

	frames = kcalloc(n, sizeof(*frames), GFP_KERNEL);
	if (!frames)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		frames[i] = kmalloc(sizeof(**frames), GFP_KERNEL);
	for (i = 0; i < n; i++)
		kfree(frames[i]);
	kfree(frames);
	return 0;
}

/* A second open replaces the context, and the old one is never freed. */
static void *faulty_context;

static noinline int faulty_open(unsigned long n)
{
	for (; n; n--) {
		faulty_context = kzalloc(192, GFP_KERNEL);
		if (!faulty_context)
			return -ENOMEM;
	}
	return 0;
}

/* One CPU allocates requests; another CPU completes and frees them. */
#define BATCH 64

struct faulty_ring {
	struct work_struct	work;
	struct completion	done;
	void			*requests[BATCH];
};

static noinline void faulty_complete(struct work_struct *work)
{
	struct faulty_ring *ring = container_of(work, struct faulty_ring, work);
	int i;

	for (i = 0; i < BATCH; i++)
		kfree(ring->requests[i]);
	complete(&ring->done);
}

static noinline void faulty_submit(struct faulty_ring *ring)
{
	int i;

	for (i = 0; i < BATCH; i++)
		ring->requests[i] = kmalloc(512, GFP_KERNEL);
}

static int faulty_pingpong(unsigned long n)
{
	struct faulty_ring *ring = kzalloc(sizeof(*ring), GFP_KERNEL);
	unsigned int other;

	if (!ring)
		return -ENOMEM;
	INIT_WORK(&ring->work, faulty_complete);
	for (; n; n--) {
		faulty_submit(ring);
		init_completion(&ring->done);
		other = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
		schedule_work_on(other, &ring->work);
		wait_for_completion(&ring->done);
	}
	flush_work(&ring->work);
	kfree(ring);
	return 0;
}

/* Like a resize that holds the old and the new table at the same time. */
static noinline int faulty_resize(unsigned long mb)
{
	unsigned long i, n = mb * 1024 * 1024 / 65536;
	void **parts = kcalloc(n, sizeof(*parts), GFP_KERNEL);

	if (!parts)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		parts[i] = kmalloc(65536, GFP_KERNEL);
	msleep(50);
	for (i = 0; i < n; i++)
		kfree(parts[i]);
	kfree(parts);
	return 0;
}

static ssize_t faulty_write(struct file *file, const char __user *buf,
			    size_t len, loff_t *pos)
{
	char text[32], word[16];
	unsigned long n;
	int ret;

	ret = kmt_copy_text(text, sizeof(text), buf, len);
	if (ret)
		return ret;
	if (sscanf(text, "%15s %lu", word, &n) != 2)
		return -EINVAL;
	if (!strcmp(word, "waste"))
		ret = faulty_receive(n);
	else if (!strcmp(word, "leak"))
		ret = faulty_open(n);
	else if (!strcmp(word, "pingpong"))
		ret = faulty_pingpong(n);
	else if (!strcmp(word, "spike"))
		ret = faulty_resize(n);
	else
		ret = -EINVAL;
	return ret ? ret : len;
}

static const struct proc_ops faulty_ops = {
	.proc_write	= faulty_write,
	.proc_lseek	= noop_llseek,
};

static int __init faulty_init(void)
{
	return proc_create("kmt_faulty", 0200, NULL, &faulty_ops) ? 0 : -ENOMEM;
}

static void __exit faulty_exit(void)
{
	remove_proc_entry("kmt_faulty", NULL);
}

module_init(faulty_init);
module_exit(faulty_exit);
MODULE_DESCRIPTION("A driver with faults to be found");
MODULE_LICENSE("GPL");
