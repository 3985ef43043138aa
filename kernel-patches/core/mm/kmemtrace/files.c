// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the files cpu<n>, by read() and, as <linux/kmemtrace_ioctl.h>
 * describes it, by mmap().
 *
 * In a kernel that is locked down for integrity, debugfs refuses a file with ioctl
 * or mmap and allows a file that can only be read.  The files cpu<n> are created
 * for reading only, and get ioctl and mmap at open(), unless the kernel is locked
 * down.  In a kernel that is locked down for confidentiality open() fails: see
 * kmemtrace_may_open().
 *
 * debugfs does not protect a mapping against the removal of its file.  The files
 * cpu<n> are never removed.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/compat.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <uapi/linux/kmemtrace_ioctl.h>

#include "buffer.h"
#include "clock.h"
#include "compat.h"
#include "features.h"
#include "file_util.h"
#include "format.h"
#include "session.h"
#include "view.h"

/*
 * Serialises the creation of files.  Acquired inside of kmemtrace_mutex, in the CPU
 * hotplug callback inside of cpu_hotplug_lock, and when debugfs is set up inside of no
 * lock.
 */
static DEFINE_MUTEX(kmemtrace_files_mutex);

/* An open file. */
struct kmemtrace_open {
	struct kmemtrace_cpu_file *file;
	unsigned int		generation;	/* of the view at open() */

	/*
	 * Protects the following members: the records that KMEMTRACE_IOC_TAKE returned
	 * and no KMEMTRACE_IOC_GIVE has released.
	 */
	struct mutex		lock;
	struct kmemtrace_acquired	acquired;
	unsigned int		acquired_generation; /* at KMEMTRACE_IOC_TAKE */
};

/* Return whether the set of a snapshot's file was replaced or freed since open(). */
static bool kmemtrace_is_stale(const struct kmemtrace_open *opened,
			       unsigned int generation)
{
	return !opened->file->view->follows &&
	       generation != opened->generation;
}

static int kmemtrace_put_lost(char __user *to,
			      const struct kmemtrace_event_lost *lost)
{
	if (copy_to_user(to, lost, sizeof(*lost)) ||
	    clear_user(to + sizeof(*lost),
		       kmemtrace_record_size - sizeof(*lost)))
		return -EFAULT;
	return 0;
}

/*
 * Acquire records once, copy the LOST record and the records to user space, together at
 * most @count bytes, and release them.  Return the number of bytes, 0 if there are no
 * unread records, or -errno; -EAGAIN: the caller has to try again.
 */
static ssize_t kmemtrace_read_some(struct kmemtrace_view *view,
				   unsigned int generation,
				   struct kmemtrace_buffers *buffers,
				   unsigned int cpu, char __user *to,
				   size_t count)
{
	struct kmemtrace_acquired acquired;
	size_t lost;

	kmemtrace_acquire_records(buffers, cpu, count, &acquired);
	if (kmemtrace_view_changed(view, generation))
		return -EAGAIN;
	if (!acquired.bytes)
		return 0;
	lost = acquired.lost.events ? kmemtrace_record_size : 0;
	acquired.bytes = min(acquired.bytes, count - lost);
	if (lost && kmemtrace_put_lost(to, &acquired.lost))
		return -EFAULT;
	if (copy_to_user(to + lost, acquired.from, acquired.bytes))
		return -EFAULT;
	return kmemtrace_release_records(buffers, cpu, &acquired, acquired.bytes) ?:
	       (ssize_t)(lost + acquired.bytes);
}

static ssize_t kmemtrace_read(struct file *file, char __user *to,
			      size_t count, loff_t *ppos)
{
	struct kmemtrace_open *opened = file->private_data;
	struct kmemtrace_view *view = opened->file->view;
	struct kmemtrace_buffers *buffers;
	unsigned int generation;
	size_t done = 0;
	ssize_t n = 0;

	if (!count)
		return 0;
	if (count < kmemtrace_record_size)
		return -EINVAL;
	count = min_t(size_t, count, MAX_RW_COUNT);
	count = rounddown(count, kmemtrace_record_size);

	do {
		buffers = kmemtrace_view_get(view, &generation);
		if (kmemtrace_is_stale(opened, generation))
			n = -ESTALE;
		else if (buffers)
			n = kmemtrace_read_some(view, generation, buffers,
						opened->file->cpu, to + done,
						count - done);
		else
			n = 0;
		kmemtrace_buffers_put(buffers);
		if (n > 0)
			done += n;
		else if (n != -EAGAIN)
			break;
		/*
		 * -EAGAIN: another reader released the records, the writer overwrote
		 * them, or the set was replaced.
		 */
		if (signal_pending(current)) {
			n = -EINTR;
			break;
		}
		cond_resched();
	} while (done < count);
	return done ?: n;
}

/*
 * Return whether poll() reports unread records: a full sub-buffer that the writer has
 * left or, if tracing is off or the set is a snapshot, any record.
 */
static bool kmemtrace_is_worth_it(struct kmemtrace_buffers *buffers,
				  unsigned int cpu)
{
	struct kmemtrace_buffer_stats figures;

	kmemtrace_buffer_stats(buffers, cpu, &figures);
	if (!kmemtrace_is_on() || buffers != READ_ONCE(kmemtrace_live.buffers))
		return figures.unread;
	return figures.has_full_subbuf;
}

static __poll_t kmemtrace_poll(struct file *file, poll_table *wait)
{
	struct kmemtrace_open *opened = file->private_data;
	struct kmemtrace_buffers *buffers;
	unsigned int generation;
	__poll_t mask = 0;

	poll_wait(file, &opened->file->wait, wait);
	buffers = kmemtrace_view_get(opened->file->view, &generation);
	if (kmemtrace_is_stale(opened, generation))
		mask = EPOLLERR;
	else if (buffers && kmemtrace_is_worth_it(buffers, opened->file->cpu))
		mask = EPOLLIN | EPOLLRDNORM;
	kmemtrace_buffers_put(buffers);
	return mask;
}

/*
 * Map all pages of the CPU's buffer now, so that no page fault occurs later.  The pages
 * remain allocated while they are mapped, even after the buffer was freed.
 */
static int kmemtrace_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct kmemtrace_open *opened = file->private_data;
	struct kmemtrace_buffers *buffers;
	struct rchan_buf *buf = NULL;
	unsigned int generation;
	int err = -ENXIO;

	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	/* A shared mapping of a file that is open only for reading has no VM_SHARED. */
	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_pgoff)
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP,
		     VM_MAYWRITE | VM_MAYEXEC);

	buffers = kmemtrace_view_get(opened->file->view, &generation);
	if (buffers)
		buf = kmemtrace_buffer(buffers, opened->file->cpu);
	if (kmemtrace_is_stale(opened, generation))
		err = -ESTALE;
	else if (buf)
		err = vm_map_pages(vma, buf->page_array, buf->page_count);
	kmemtrace_buffers_put(buffers);
	return err;
}

static u64 kmemtrace_position_bytes(const struct kmemtrace_buffers *buffers,
				    const struct kmemtrace_position *position)
{
	return (u64)position->subbuf * buffers->subbuf_size + position->bytes;
}

static int kmemtrace_ioc_info(struct kmemtrace_open *opened,
			      struct kmemtrace_buffers *buffers,
			      unsigned int generation, void __user *argument)
{
	struct rchan_buf *buf = kmemtrace_buffer(buffers, opened->file->cpu);
	struct kmemtrace_buffer_stats figures;
	struct kmemtrace_ioctl_info info;

	kmemtrace_buffer_stats(buffers, opened->file->cpu, &figures);
	info = (struct kmemtrace_ioctl_info) {
		.map_bytes = buf ? (u64)buf->page_count * PAGE_SIZE : 0,
		.generation = generation,
		.produced = figures.produced,
		.consumed = figures.consumed,
		.unread = figures.unread,
		.overwritten = figures.overwritten,
		.subbufs = buffers->subbufs,
		.subbuf_size = buffers->subbuf_size,
		.record_size = kmemtrace_record_size,
		.mode = READ_ONCE(kmemtrace_overwrite) ?
			KMEMTRACE_MODE_OVERWRITE : KMEMTRACE_MODE_DISCARD,
		.cpu = opened->file->cpu,
	};
	return copy_to_user(argument, &info, sizeof(info)) ? -EFAULT : 0;
}

/* Context: opened->lock is held. */
static int kmemtrace_ioc_take(struct kmemtrace_open *opened,
			      struct kmemtrace_buffers *buffers,
			      unsigned int generation, void __user *argument)
{
	struct kmemtrace_acquired *acquired = &opened->acquired;
	struct kmemtrace_ioctl_take take;
	struct rchan_buf *buf;

	if (copy_from_user(&take, argument, sizeof(take)))
		return -EFAULT;
	opened->acquired.bytes = 0;
	if (take.generation != generation)
		return -ESTALE;
	buf = kmemtrace_buffer(buffers, opened->file->cpu);
	kmemtrace_acquire_records(buffers, opened->file->cpu, SIZE_MAX, acquired);
	if (kmemtrace_view_changed(opened->file->view, generation)) {
		acquired->bytes = 0;
		return -ESTALE;
	}
	opened->acquired_generation = generation;
	take = (struct kmemtrace_ioctl_take) {
		.generation = generation,
		.position = kmemtrace_position_bytes(buffers,
						     &acquired->position),
		.offset = acquired->bytes ? acquired->from - buf->start : 0,
		.bytes = acquired->bytes,
		.lost_events = acquired->lost.events,
		.lost_since = acquired->lost.since,
		.lost_timestamp = acquired->lost.timestamp,
	};
	return copy_to_user(argument, &take, sizeof(take)) ? -EFAULT : 0;
}

/* Context: opened->lock is held. */
static int kmemtrace_ioc_give(struct kmemtrace_open *opened,
			      struct kmemtrace_buffers *buffers,
			      unsigned int generation, void __user *argument)
{
	struct kmemtrace_acquired acquired = opened->acquired;
	struct kmemtrace_ioctl_give give;

	if (copy_from_user(&give, argument, sizeof(give)))
		return -EFAULT;
	opened->acquired.bytes = 0;
	if (!give.bytes || give.bytes > acquired.bytes ||
	    (size_t)give.bytes % kmemtrace_record_size)
		return -EINVAL;
	/* The set was replaced: the caller has to discard its copy of the records. */
	if (opened->acquired_generation != generation)
		return -EAGAIN;
	if (give.position !=
	    kmemtrace_position_bytes(buffers, &acquired.position))
		return -EINVAL;
	return kmemtrace_release_records(buffers, opened->file->cpu, &acquired, give.bytes);
}

static long kmemtrace_ioctl(struct file *file, unsigned int command,
			    unsigned long argument)
{
	int (*call)(struct kmemtrace_open *opened,
		    struct kmemtrace_buffers *buffers, unsigned int generation,
		    void __user *argument);
	struct kmemtrace_open *opened = file->private_data;
	struct kmemtrace_buffers *buffers;
	unsigned int generation;
	int err = -ENXIO;

	switch (command) {
	case KMEMTRACE_IOC_INFO:
		call = kmemtrace_ioc_info;
		break;
	case KMEMTRACE_IOC_TAKE:
		call = kmemtrace_ioc_take;
		break;
	case KMEMTRACE_IOC_GIVE:
		call = kmemtrace_ioc_give;
		break;
	default:
		return -ENOTTY;
	}
	if (mutex_lock_interruptible(&opened->lock))
		return -EINTR;
	buffers = kmemtrace_view_get(opened->file->view, &generation);
	if (kmemtrace_is_stale(opened, generation))
		err = -ESTALE;
	else if (buffers)
		err = call(opened, buffers, generation, (void __user *)argument);
	kmemtrace_buffers_put(buffers);
	mutex_unlock(&opened->lock);
	return err;
}

static int kmemtrace_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

/* The operations of a file in a kernel that is not locked down for integrity. */
static const struct file_operations kmemtrace_mapped_fops = {
	.owner		= THIS_MODULE,
	.read		= kmemtrace_read,
	.poll		= kmemtrace_poll,
	.mmap		= kmemtrace_mmap,
	.unlocked_ioctl	= kmemtrace_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.release	= kmemtrace_release,
};

static int kmemtrace_open(struct inode *inode, struct file *file)
{
	const struct file_operations *mapped_fops = &kmemtrace_mapped_fops;
	struct kmemtrace_open *opened;
	int err = kmemtrace_may_open();

	if (err)
		return err;
	opened = kzalloc(sizeof(*opened), GFP_KERNEL);
	if (!opened)
		return -ENOMEM;
	opened->file = inode->i_private;
	mutex_init(&opened->lock);
	kmemtrace_buffers_put(kmemtrace_view_get(opened->file->view,
						 &opened->generation));
	file->private_data = opened;
	/* No fops_get() before replace_fops(): this code is built in, no module. */
	if (!security_locked_down(LOCKDOWN_DEBUGFS))
		replace_fops(file, mapped_fops);
	return nonseekable_open(inode, file);
}

static const struct file_operations kmemtrace_cpu_fops = {
	.owner		= THIS_MODULE,
	.open		= kmemtrace_open,
	.read		= kmemtrace_read,
	.poll		= kmemtrace_poll,
	.release	= kmemtrace_release,
};

static void kmemtrace_make_file(struct kmemtrace_view *view, unsigned int cpu)
{
	struct kmemtrace_buffers *buffers =
		kmemtrace_view_get(&kmemtrace_live, NULL);
	struct kmemtrace_cpu_file *file = per_cpu_ptr(view->files, cpu);
	struct dentry *dentry;
	char name[16];

	mutex_lock(&kmemtrace_files_mutex);
	if (!view->dir || !buffers || !kmemtrace_buffer(buffers, cpu) ||
	    file->dentry)
		goto out;
	snprintf(name, sizeof(name), "cpu%u", cpu);
	dentry = debugfs_create_file_unsafe(name, 0400, view->dir, file,
					    &kmemtrace_cpu_fops);
	if (IS_ERR(dentry))
		pr_err("cannot make %s in debugfs: %ld\n", name,
		       PTR_ERR(dentry));
	else
		file->dentry = dentry;
out:
	mutex_unlock(&kmemtrace_files_mutex);
	kmemtrace_buffers_put(buffers);
}

/* Create the missing files of all CPUs with a live buffer, in all views.  Sleeps. */
static void kmemtrace_make_files(void)
{
	struct kmemtrace_view *view;
	unsigned int cpu;

	list_for_each_entry(view, &kmemtrace_views, list)
		for_each_possible_cpu(cpu)
			kmemtrace_make_file(view, cpu);
}

/* Context: after relay_prepare_cpu() of the same CPU. */
static int kmemtrace_cpu_prepare(unsigned int cpu)
{
	struct kmemtrace_view *view;

	list_for_each_entry(view, &kmemtrace_views, list)
		kmemtrace_make_file(view, cpu);
	return 0;
}

/* Register the callback that creates the files of a CPU before the CPU runs. */
static void kmemtrace_files_init(void)
{
	int err;

	BUILD_BUG_ON(CPUHP_BP_PREPARE_DYN < CPUHP_RELAY_PREPARE);
	err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					"mm/kmemtrace:prepare",
					kmemtrace_cpu_prepare, NULL);
	if (err < 0)
		pr_err("CPUs that come online will have no files: %d\n", err);
}

/*
 * Create the missing files, and wake all readers, even those that wait for a full
 * sub-buffer: no sub-buffer becomes full while tracing is off.
 */
static void kmemtrace_files_changed(void)
{
	kmemtrace_make_files();
	kmemtrace_view_wake_all(&kmemtrace_live);
}

/*
 * When a CPU comes online, its buffer exists before kmemtrace_cpu_prepare() tests for
 * view->dir.  This function sets view->dir before it tests for buffers.  At least one
 * of the two functions therefore creates the file of the CPU.
 */
static void kmemtrace_files_debugfs(struct dentry *dir)
{
	WRITE_ONCE(kmemtrace_live.dir, dir);
	kmemtrace_make_files();
}

struct kmemtrace_feature kmemtrace_files_feature = {
	.init		= kmemtrace_files_init,
	.changed	= kmemtrace_files_changed,
	.debugfs	= kmemtrace_files_debugfs,
};
