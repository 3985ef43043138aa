// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: snapshots.  Documentation/ABI/testing/debugfs-kmemtrace describes the
 * files, and <linux/kmemtrace.h> the functions for kernel code.
 *
 * There are up to two sets of buffers: events are recorded into the live set, and the
 * other set is spare or holds the snapshot.  A snapshot exchanges the two sets.  The
 * exchange does not wait for the writers of other CPUs or for readers that copy, and
 * therefore works in any context but NMI:
 *
 * - A CPU may be in the middle of a record.  It finishes the record in the old set,
 *   and uses the other set from its next event on.
 * - A CPU may still write a record that it began before the previous snapshot to the
 *   set that becomes live.  The set is therefore not emptied here; each CPU empties its
 *   buffer when it begins to write to the set: see kmemtrace_buffers_begin_epoch().
 * - Readers copy without a lock and check afterwards whether the records were valid:
 *   see kmemtrace_release_records().
 *
 * The unread records of the live buffers are lost to the live reader.  Each CPU
 * counts them as lost when it changes to the other set.
 *
 * One unit: taking a snapshot, its files, and a change of the buffers' geometry share
 * the state of the spare set.  kmemtrace_snapshot_lock protects the state;
 * kmemtrace_mutex serialises adding and removing sets.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/kmemtrace.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>
#include <linux/kstrtox.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "buffer.h"
#include "clock.h"
#include "features.h"
#include "file_util.h"
#include "geometry.h"
#include "guard.h"
#include "recording.h"
#include "snapshot.h"
#include "view.h"
#include "writer.h"

#define KMEMTRACE_WHY_LENGTH	128

/* A request for a snapshot; time 0: there was none. */
struct kmemtrace_request {
	u64		time;
	unsigned long	caller;
	pid_t		pid;
	char		comm[TASK_COMM_LEN];
	char		why[KMEMTRACE_WHY_LENGTH];
};

static DEFINE_PER_CPU(struct kmemtrace_cpu_file, kmemtrace_snapshot_files);

static struct kmemtrace_view kmemtrace_snapshot_view = {
	.lock	= __RAW_SPIN_LOCK_UNLOCKED(kmemtrace_snapshot_view.lock),
	.files	= &kmemtrace_snapshot_files,
};

/*
 * Protects the four variables below and the exchange of the sets.  Nests outside the
 * locks of views and readers.  Context: any but NMI, with interrupts off; never between
 * kmemtrace_begin_write() and kmemtrace_end_write().
 */
static DEFINE_RAW_SPINLOCK(kmemtrace_snapshot_lock);
/* NULL: there is no second set, or the second set is the snapshot. */
static struct kmemtrace_buffers *kmemtrace_spare;
/* The request that took the snapshot. */
static struct kmemtrace_request kmemtrace_taken_for;
/* The request that stopped tracing, because there were no spare buffers. */
static struct kmemtrace_request kmemtrace_stopped_for;
static unsigned long kmemtrace_n_taken;	/* snapshots since the last discard() */

static __always_inline void
kmemtrace_lock_snapshot(struct kmemtrace_guard *guard)
	__acquires(&kmemtrace_snapshot_lock)
{
	kmemtrace_lock(&kmemtrace_snapshot_lock, guard);
	kmemtrace_test_point(KMEMTRACE_TEST_SNAPSHOT_LOCK);
}

/* 1 while a CPU takes a snapshot, with interrupts off. */
static atomic_t kmemtrace_snapshot_runs;
static atomic_long_t kmemtrace_n_coincided;
static atomic_long_t kmemtrace_n_in_nmi;

/* --- Reports, in a work item ---------------------------------------------------- */

static void kmemtrace_snapshot_report(struct work_struct *work)
{
	struct kmemtrace_request taken, stopped;
	struct kmemtrace_guard guard;
	static u64 taken_reported, stopped_reported;

	kmemtrace_finish_stop();
	/*
	 * If a new snapshot was taken, the files of the previous one are stale: wake
	 * pollers.
	 */
	kmemtrace_view_wake_all(&kmemtrace_snapshot_view);

	kmemtrace_lock_snapshot(&guard);
	taken = kmemtrace_taken_for;
	stopped = kmemtrace_stopped_for;
	kmemtrace_unlock(&kmemtrace_snapshot_lock, &guard);

	/* Only one CPU runs this work item at a time, so the variables need no lock. */
	if (taken.time && taken.time != taken_reported)
		pr_info_ratelimited("snapshot taken: %s, by %s[%d]\n",
				    taken.why, taken.comm, taken.pid);
	if (stopped.time && stopped.time != stopped_reported)
		pr_warn("tracing stopped, as there were no spare buffers for a snapshot: %s, by %s[%d]\n",
			stopped.why, stopped.comm, stopped.pid);
	taken_reported = taken.time;
	stopped_reported = stopped.time;
}

static DECLARE_WORK(kmemtrace_snapshot_work, kmemtrace_snapshot_report);

static void kmemtrace_queue_snapshot_work(struct irq_work *irq_work)
{
	schedule_work(&kmemtrace_snapshot_work);
}

static DEFINE_IRQ_WORK(kmemtrace_snapshot_irq_work,
		       kmemtrace_queue_snapshot_work);

/*
 * Queue kmemtrace_snapshot_report(), which logs a snapshot.  In early boot, do nothing:
 * kmemtrace_snapshot_debugfs() queues the report later.
 */
static void kmemtrace_snapshot_report_soon(void)
{
	if (system_state >= SYSTEM_SCHEDULING)
		irq_work_queue(&kmemtrace_snapshot_irq_work);
}
NOKPROBE_SYMBOL(kmemtrace_snapshot_report_soon);

/* --- Taking ------------------------------------------------------------------ */

static void kmemtrace_note(struct kmemtrace_request *request, const char *why,
			   unsigned long caller)
{
	request->time = kmemtrace_clock();
	request->caller = caller;
	request->pid = current->pid;
	memcpy(request->comm, current->comm, sizeof(request->comm));
	request->comm[sizeof(request->comm) - 1] = '\0';
	strscpy(request->why, why, sizeof(request->why));
}
NOKPROBE_SYMBOL(kmemtrace_note);

/*
 * Return the set that is not live, and remove it from the spare set or from the
 * snapshot.  Return NULL if there is no second set.  Context: kmemtrace_snapshot_lock
 * is held.
 */
static struct kmemtrace_buffers *kmemtrace_take_other(void)
{
	struct kmemtrace_buffers *other = kmemtrace_spare;

	kmemtrace_spare = NULL;
	/* After this call, readers of the old snapshot get ESTALE. */
	return other ?: kmemtrace_view_replace(&kmemtrace_snapshot_view, NULL);
}
NOKPROBE_SYMBOL(kmemtrace_take_other);

/*
 * Exchange the live set and the other set.  Return 0, or -ENOBUFS if there is no other
 * set.  Context: kmemtrace_snapshot_lock is held.
 */
static int kmemtrace_swap(const char *why, unsigned long caller)
{
	struct kmemtrace_buffers *other = kmemtrace_take_other(), *live;

	if (!other)
		return -ENOBUFS;
	kmemtrace_note(&kmemtrace_taken_for, why, caller);
	kmemtrace_n_taken++;
	kmemtrace_buffers_begin_epoch(other, kmemtrace_taken_for.time);
	live = kmemtrace_view_replace(&kmemtrace_live, other);
	kmemtrace_buffers_seal(live, other);
	kmemtrace_view_replace(&kmemtrace_snapshot_view, live);
	/*
	 * After sealing, so that the next event of each CPU finds its buffer sealed
	 * and is recorded into the new set.
	 */
	kmemtrace_recheck();
	return 0;
}
NOKPROBE_SYMBOL(kmemtrace_swap);

/*
 * Stop tracing because there are no spare buffers, so that the records in the live
 * set are preserved.
 */
static void kmemtrace_stop_for(const char *why, unsigned long caller)
{
	kmemtrace_note(&kmemtrace_stopped_for, why, caller);
	kmemtrace_write_stop(why, caller);
	kmemtrace_writer_stop();
}
NOKPROBE_SYMBOL(kmemtrace_stop_for);

int kmemtrace_take_snapshot(const char *why, unsigned long caller)
{
	struct kmemtrace_guard guard;
	int err;

	if (in_nmi()) {
		atomic_long_inc(&kmemtrace_n_in_nmi);
		return -EPERM;
	}
	/*
	 * In a guarded section or in the writing of a record, this CPU may already hold
	 * a lock that a snapshot acquires.
	 */
	if (kmemtrace_is_guarded()) {
		atomic_long_inc(&kmemtrace_n_coincided);
		return -EBUSY;
	}
	/*
	 * Interrupts are off from before kmemtrace_snapshot_runs is set until after it
	 * is cleared.  If the flag is set here, another CPU is therefore taking a
	 * snapshot, which serves this caller, too.  If a task could be interrupted or
	 * preempted with the flag set, snapshots would be refused until that task runs
	 * again.
	 */
	kmemtrace_guard_enter(&guard);
	if (atomic_cmpxchg(&kmemtrace_snapshot_runs, 0, 1)) {
		kmemtrace_guard_leave(&guard);
		atomic_long_inc(&kmemtrace_n_coincided);
		return -EBUSY;
	}
	raw_spin_lock(&kmemtrace_snapshot_lock);
	kmemtrace_test_point(KMEMTRACE_TEST_SNAPSHOT_LOCK);
	kmemtrace_test_enter(KMEMTRACE_TEST_SNAPSHOT);
	if (!kmemtrace_is_recording()) {
		err = -ENODATA;
	} else {
		err = kmemtrace_swap(why, caller);
		if (err == -ENOBUFS)
			kmemtrace_stop_for(why, caller);
	}
	kmemtrace_test_leave(KMEMTRACE_TEST_SNAPSHOT);
	atomic_set(&kmemtrace_snapshot_runs, 0);
	kmemtrace_unlock(&kmemtrace_snapshot_lock, &guard);
	if (err != -ENODATA)
		kmemtrace_snapshot_report_soon();
	return err;
}
NOKPROBE_SYMBOL(kmemtrace_take_snapshot);

void kmemtrace_snapshot(void)
{
	kmemtrace_take_snapshot(__func__, _RET_IP_);
}
EXPORT_SYMBOL_GPL(kmemtrace_snapshot);

void kmemtrace_snapshot_alloc(void)
{
	int err;

	might_sleep();
	/* Without the mutex, the buffers could be freed before their first use. */
	mutex_lock(&kmemtrace_mutex);
	err = kmemtrace_snapshot_prepare();
	if (!err)
		kmemtrace_take_snapshot(__func__, _RET_IP_);
	mutex_unlock(&kmemtrace_mutex);
}
EXPORT_SYMBOL_GPL(kmemtrace_snapshot_alloc);

/* --- Spare buffers ----------------------------------------------------------- */

/*
 * Return whether there are spare buffers or a snapshot.  Context: kmemtrace_mutex is
 * held, without which no set is added.
 */
static bool kmemtrace_snapshot_has_buffers(void)
{
	struct kmemtrace_guard guard;
	bool has;

	kmemtrace_lock_snapshot(&guard);
	has = kmemtrace_spare || kmemtrace_snapshot_view.buffers;
	kmemtrace_unlock(&kmemtrace_snapshot_lock, &guard);
	return has;
}

int kmemtrace_snapshot_prepare(void)
{
	struct kmemtrace_buffers *buffers;
	struct kmemtrace_guard guard;

	lockdep_assert_held(&kmemtrace_mutex);
	if (kmemtrace_snapshot_has_buffers())
		return 0;
	buffers = kmemtrace_buffers_open(kmemtrace_subbufs,
					 kmemtrace_subbuf_size);
	if (IS_ERR(buffers))
		return PTR_ERR(buffers);
	kmemtrace_lock_snapshot(&guard);
	kmemtrace_spare = buffers;
	kmemtrace_unlock(&kmemtrace_snapshot_lock, &guard);
	return 0;
}

static void kmemtrace_snapshot_free(void)
{
	struct kmemtrace_buffers *other;
	struct kmemtrace_guard guard;

	lockdep_assert_held(&kmemtrace_mutex);
	kmemtrace_lock_snapshot(&guard);
	other = kmemtrace_take_other();
	kmemtrace_taken_for.time = 0;
	kmemtrace_unlock(&kmemtrace_snapshot_lock, &guard);
	if (!other)
		return;
	kmemtrace_view_wake_all(&kmemtrace_snapshot_view);
	kmemtrace_writer_leave_set(other);
	kmemtrace_buffers_put(other);
}

/* Spare buffers of another geometry, during a change of the geometry; NULL: none. */
static struct kmemtrace_buffers *kmemtrace_resized;

static int kmemtrace_snapshot_prepare_resize(unsigned int subbufs,
					     unsigned int subbuf_size)
{
	struct kmemtrace_buffers *buffers;

	if (!kmemtrace_snapshot_has_buffers())
		return 0;
	buffers = kmemtrace_buffers_open(subbufs, subbuf_size);
	if (IS_ERR(buffers))
		return PTR_ERR(buffers);
	kmemtrace_resized = buffers;
	return 0;
}

static void kmemtrace_snapshot_finish_resize(bool use)
{
	struct kmemtrace_buffers *buffers = kmemtrace_resized;
	struct kmemtrace_guard guard;

	kmemtrace_resized = NULL;
	if (!buffers)
		return;
	if (!use) {
		kmemtrace_buffers_put(buffers);
		return;
	}
	kmemtrace_snapshot_free();
	kmemtrace_lock_snapshot(&guard);
	kmemtrace_spare = buffers;
	kmemtrace_unlock(&kmemtrace_snapshot_lock, &guard);
}

/*
 * Drop the snapshot, because the tables that have the names for the numbers in its
 * records are emptied at the end of the session.
 */
static void kmemtrace_snapshot_discard(void)
{
	struct kmemtrace_buffers *taken;
	struct kmemtrace_guard guard;

	/* Unlocking restores the interrupt state: in early boot interrupts stay off. */
	kmemtrace_lock_snapshot(&guard);
	taken = kmemtrace_view_replace(&kmemtrace_snapshot_view, NULL);
	if (taken)
		kmemtrace_spare = taken;
	kmemtrace_taken_for.time = 0;
	kmemtrace_stopped_for.time = 0;
	kmemtrace_n_taken = 0;
	kmemtrace_unlock(&kmemtrace_snapshot_lock, &guard);
	kmemtrace_view_wake_all(&kmemtrace_snapshot_view);
	atomic_long_set(&kmemtrace_n_coincided, 0);
	atomic_long_set(&kmemtrace_n_in_nmi, 0);
}

/* --- Files ------------------------------------------------------------------- */

static void kmemtrace_show_request(struct seq_file *m,
				 const struct kmemtrace_request *request)
{
	seq_printf(m, "why: %s\ntime: %llu\npid: %d\ncomm: ", request->why,
		   request->time, request->pid);
	seq_escape(m, request->comm, "\n\\");
	seq_putc(m, '\n');
	if (request->caller)
		seq_printf(m, "caller: %pS\n", (void *)request->caller);
}

static int kmemtrace_take_show(struct seq_file *m, void *v)
{
	struct kmemtrace_buffers *taken;
	struct kmemtrace_request request, stopped;
	struct kmemtrace_guard guard;
	unsigned long n_taken;
	bool spare;

	kmemtrace_lock_snapshot(&guard);
	taken = kmemtrace_view_get(&kmemtrace_snapshot_view, NULL);
	spare = kmemtrace_spare;
	request = kmemtrace_taken_for;
	stopped = kmemtrace_stopped_for;
	n_taken = kmemtrace_n_taken;
	kmemtrace_unlock(&kmemtrace_snapshot_lock, &guard);

	/* Wait until all CPUs have completed the records that they had begun. */
	if (taken)
		kmemtrace_writer_wait();
	kmemtrace_buffers_put(taken);

	seq_printf(m, "state: %s\n", stopped.time ? "stopped" :
		   taken ? "taken" : spare ? "empty" : "none");
	if (stopped.time)
		kmemtrace_show_request(m, &stopped);
	else if (taken)
		kmemtrace_show_request(m, &request);
	seq_printf(m, "taken: %lu\ncoincided: %ld\nin_nmi: %ld\n", n_taken,
		   atomic_long_read(&kmemtrace_n_coincided),
		   atomic_long_read(&kmemtrace_n_in_nmi));
	return 0;
}

static ssize_t kmemtrace_take_write(struct file *file,
				    const char __user *buffer, size_t count,
				    loff_t *ppos)
{
	unsigned int n;
	int err;

	err = kstrtouint_from_user(buffer, count, 10, &n);
	/* kstrtouint() returns ERANGE for a number that is too large. */
	if (err != -EFAULT && (err || n > 1))
		err = -EINVAL;
	if (err) {
		pr_warn_ratelimited("snapshot/take: neither 1 (take one) nor 0 (free its buffers)\n");
		return err;
	}
	mutex_lock(&kmemtrace_mutex);
	if (n && !kmemtrace_is_recording()) {
		pr_warn_ratelimited("snapshot/take: there is nothing to be taken while tracing is off\n");
		err = -ENODATA;
	} else if (n) {
		err = kmemtrace_snapshot_prepare() ?:
		      kmemtrace_take_snapshot("snapshot/take", 0);
	} else {
		kmemtrace_snapshot_free();
	}
	mutex_unlock(&kmemtrace_mutex);
	return err ?: count;
}

KMEMTRACE_SHOW_WRITE_FOPS(kmemtrace_take);

/* Print a line with the value of @figure for each CPU with a buffer in the snapshot. */
static int
kmemtrace_snapshot_show(struct seq_file *m,
			u64 (*figure)(struct kmemtrace_buffers *buffers,
				      unsigned int cpu))
{
	struct kmemtrace_buffers *taken =
		kmemtrace_view_get(&kmemtrace_snapshot_view, NULL);
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (taken && kmemtrace_buffer(taken, cpu))
			seq_printf(m, "cpu%u %llu\n", cpu, figure(taken, cpu));
	kmemtrace_buffers_put(taken);
	return 0;
}

static int kmemtrace_snapshot_overruns_show(struct seq_file *m, void *v)
{
	return kmemtrace_snapshot_show(m, kmemtrace_sealed_overruns);
}
KMEMTRACE_SHOW_FOPS(kmemtrace_snapshot_overruns);

static int kmemtrace_snapshot_consumed_show(struct seq_file *m, void *v)
{
	return kmemtrace_snapshot_show(m, kmemtrace_sealed_consumed);
}
KMEMTRACE_SHOW_FOPS(kmemtrace_snapshot_consumed);

static void kmemtrace_snapshot_debugfs(struct dentry *parent)
{
	struct dentry *dir = debugfs_create_dir("snapshot", parent);

	if (IS_ERR(dir))
		return;
	debugfs_create_file("take", 0600, dir, NULL, &kmemtrace_take_fops);
	debugfs_create_file("overruns", 0400, dir, NULL,
			    &kmemtrace_snapshot_overruns_fops);
	debugfs_create_file("consumed", 0400, dir, NULL,
			    &kmemtrace_snapshot_consumed_fops);
	WRITE_ONCE(kmemtrace_snapshot_view.dir, dir);
	/* Report a snapshot of early boot, when work items could not run yet. */
	kmemtrace_snapshot_report_soon();
}

static void kmemtrace_snapshot_init(void)
{
	kmemtrace_view_init(&kmemtrace_snapshot_view);
}

struct kmemtrace_feature kmemtrace_snapshot_feature = {
	.init		= kmemtrace_snapshot_init,
	.discard	= kmemtrace_snapshot_discard,
	.prepare_resize	= kmemtrace_snapshot_prepare_resize,
	.finish_resize	= kmemtrace_snapshot_finish_resize,
	.debugfs	= kmemtrace_snapshot_debugfs,
};
