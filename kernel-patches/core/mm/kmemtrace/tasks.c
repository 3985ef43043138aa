// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the log of tasks, and the table of tasks, which has the names of the pids
 * in the records.  <linux/kmemtrace_abi.h> describes the file.  cgroups.c makes another
 * table from the log.
 *
 * Events do not write to the log.  A name is logged when a task changes its name or
 * ends, and a cgroup when a task moves or ends, so the names and cgroups of living tasks
 * need not be stored before the session ends.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/bits.h>
#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kernfs.h>
#include <linux/kmemtrace.h>
#include <linux/kstrtox.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "clock.h"
#include "features.h"
#include "file_util.h"
#include "format.h"
#include "tasks.h"

#define KMEMTRACE_TASKS		32768
#define KMEMTRACE_TASKS_MIN	16
#define KMEMTRACE_TASKS_MAX	SZ_16M

unsigned int kmemtrace_n_tasks __ro_after_init = KMEMTRACE_TASKS;

/*
 * The log: a ring of the names and cgroups that tasks had before they changed them or
 * ended, up to the newest.  kmemtrace_tasks_lock may be acquired with task_lock() or
 * css_set_lock held, so no other lock nests inside.
 */
static DEFINE_RAW_SPINLOCK(kmemtrace_tasks_lock);
static struct kmemtrace_task *kmemtrace_tasks;	/* NULL before the first session */
static u64 kmemtrace_tasks_logged;		/* entries logged in this session */

/* For each table, its overwritten entries in this session. */
static struct {
	u64	n;
	/* until of the newest of them: entries up to this time may be missing. */
	u64	until;
} kmemtrace_dropped[KMEMTRACE_TASK_TABLES];

/*
 * The tasks that were alive when the session ended; NULL while a session lasts, before
 * the first one, or if memory was short.  Readers of a table hold the mutex.
 */
static DEFINE_MUTEX(kmemtrace_living_mutex);
static struct kmemtrace_task *kmemtrace_living;
static unsigned int kmemtrace_n_living;

/* Context: kmemtrace_tasks_lock is held. */
static struct kmemtrace_task *kmemtrace_log_entry(u64 n)
{
	u32 index;

	div_u64_rem(n, kmemtrace_n_tasks, &index);
	return &kmemtrace_tasks[index];
}

/* Context: kmemtrace_tasks_lock is held. */
static void kmemtrace_log_dropped(const struct kmemtrace_task *task)
{
	unsigned int i;

	for (i = 0; i < KMEMTRACE_TASK_TABLES; i++) {
		if (task->tables & BIT(i)) {
			kmemtrace_dropped[i].n++;
			kmemtrace_dropped[i].until = task->until;
		}
	}
}

/*
 * Log an entry of the tables whose BIT() is in @tables.  Context: kmemtrace_tasks_lock
 * is held.
 */
static void kmemtrace_log_task(pid_t pid, const char *comm, u64 cgroup, u32 tables)
{
	struct kmemtrace_task *task =
		kmemtrace_log_entry(kmemtrace_tasks_logged);

	if (kmemtrace_tasks_logged >= kmemtrace_n_tasks)
		kmemtrace_log_dropped(task);
	task->until = kmemtrace_clock();
	task->cgroup = cgroup;
	task->pid = pid;
	task->tables = tables;
	strscpy_pad(task->comm, comm, sizeof(task->comm));
	kmemtrace_tasks_logged++;
}

/*
 * Return the id of the cgroup (version 2) of a task; 0 without cgroups, and in early
 * boot, when all tasks are in the root cgroup.  A task that ends keeps its cgroup until
 * the last reference to the task is dropped.  Any context but NMI.
 */
static u64 kmemtrace_cgroup_of(struct task_struct *p)
{
	u64 id = 0;
#ifdef CONFIG_CGROUPS
	const struct kernfs_node *kn;

	rcu_read_lock();
	kn = task_dfl_cgroup(p)->kn;
	if (kn)
		id = kn->id;
	rcu_read_unlock();
#endif
	return id;
}

/* Log the current name and cgroup of a task. */
static void kmemtrace_log(struct task_struct *p, u32 tables)
{
	u64 cgroup = kmemtrace_cgroup_of(p);
	unsigned long flags;

	raw_spin_lock_irqsave(&kmemtrace_tasks_lock, flags);
	kmemtrace_log_task(p->pid, p->comm, cgroup, tables);
	raw_spin_unlock_irqrestore(&kmemtrace_tasks_lock, flags);
}

/* An entry of all tables. */
#define KMEMTRACE_ALL_TABLES	(BIT(KMEMTRACE_TABLE_TASKS) | BIT(KMEMTRACE_TABLE_CGROUPS))

/* Log the old name, even if both names are equal: see probe_task_exec(). */
static void probe_task_rename(void *data, struct task_struct *p,
			      const char *comm)
{
	kmemtrace_log(p, BIT(KMEMTRACE_TABLE_TASKS));
}

static void probe_task_exit(void *data, struct task_struct *p)
{
	kmemtrace_log(p, KMEMTRACE_ALL_TABLES);
}

/*
 * Log the old cgroup.  A task also moves from a cgroup to the same one, if only its
 * cgroup of version 1 or the controllers of its cgroup change.  Context: css_set_lock
 * is held, with interrupts off.
 */
static void probe_task_moves(void *data, struct task_struct *p,
			     const struct cgroup *from, const struct cgroup *to)
{
	if (from != to)
		kmemtrace_log(p, BIT(KMEMTRACE_TABLE_CGROUPS));
}

/*
 * If a thread that is not the first of its process calls exec(), it gets the pid of
 * the first thread.  Its earlier events have old_pid, and belong to the name that
 * exec() has just replaced.  probe_task_rename() has logged this name with the new pid;
 * log the name with old_pid, too.
 */
static void probe_task_exec(void *data, struct task_struct *p, pid_t old_pid,
			    struct linux_binprm *bprm)
{
	const char *comm = p->comm;
	u64 n, oldest, cgroup;
	unsigned long flags;

	if (old_pid == p->pid)
		return;
	cgroup = kmemtrace_cgroup_of(p);
	raw_spin_lock_irqsave(&kmemtrace_tasks_lock, flags);
	n = kmemtrace_tasks_logged;
	oldest = n - min_t(u64, n, min(kmemtrace_n_tasks, 64U));
	while (n-- > oldest) {
		struct kmemtrace_task *task = kmemtrace_log_entry(n);

		if (task->pid == p->pid &&
		    (task->tables & BIT(KMEMTRACE_TABLE_TASKS))) {
			comm = task->comm;
			break;
		}
	}
	kmemtrace_log_task(old_pid, comm, cgroup, KMEMTRACE_ALL_TABLES);
	raw_spin_unlock_irqrestore(&kmemtrace_tasks_lock, flags);
}

/*
 * Copy the first living task whose pid is at least *@pid to @found, and store its pid
 * in *@pid.  Return false if there is none.
 */
static bool kmemtrace_find_living(pid_t *pid, struct kmemtrace_task *found)
{
	struct task_struct *p = NULL;
	struct pid *ref;

	rcu_read_lock();
	while (!p) {
		ref = find_ge_pid(*pid, &init_pid_ns);
		if (!ref)
			break;
		*pid = pid_nr(ref);
		p = pid_task(ref, PIDTYPE_PID);
		if (!p)
			(*pid)++;
	}
	if (p) {
		found->until = 0;
		found->cgroup = kmemtrace_cgroup_of(p);
		found->pid = *pid;
		found->tables = KMEMTRACE_ALL_TABLES;
		strscpy_pad(found->comm, p->comm, sizeof(found->comm));
	}
	rcu_read_unlock();
	return p;
}

/*
 * Copy all living tasks, and store their number in @n_found.  Return NULL if there is
 * no memory; the file tasks then shows the tasks that exist when user space reads the
 * file.  Sleeps.
 */
static struct kmemtrace_task *kmemtrace_copy_living(unsigned int *n_found)
{
	unsigned int n, room = READ_ONCE(nr_threads) + 64;
	struct kmemtrace_task *living;
	pid_t pid;

	for (;; room += room / 2) {
		living = kvmalloc_array(room, sizeof(*living), GFP_KERNEL);
		if (!living)
			return NULL;
		n = 0;
		for (pid = 1; n < room && kmemtrace_find_living(&pid, &living[n]);
		     pid++) {
			n++;
			cond_resched();
		}
		if (n < room)
			break;
		kvfree(living);
	}
	*n_found = n;
	return living;
}

static void kmemtrace_set_living(struct kmemtrace_task *living, unsigned int n)
{
	struct kmemtrace_task *old;

	mutex_lock(&kmemtrace_living_mutex);
	old = kmemtrace_living;
	kmemtrace_living = living;
	kmemtrace_n_living = n;
	mutex_unlock(&kmemtrace_living_mutex);
	kvfree(old);
}

/* Context: kmemtrace_tasks_lock is held. */
static void kmemtrace_forget_log(void)
{
	kmemtrace_tasks_logged = 0;
	memset(kmemtrace_dropped, 0, sizeof(kmemtrace_dropped));
}

static void kmemtrace_tasks_begin(void)
{
	unsigned long flags;

	if (kmemtrace_abi < 2)
		return;
	kmemtrace_set_living(NULL, 0);
	raw_spin_lock_irqsave(&kmemtrace_tasks_lock, flags);
	kmemtrace_forget_log();
	raw_spin_unlock_irqrestore(&kmemtrace_tasks_lock, flags);
}

/*
 * Positions in the file: 0 is the head.  Then come the entries of the log by their
 * numbers, so that entries that are dropped meanwhile are left out.  Then come the
 * living tasks, by their index in the copy or, without a copy, by pid.
 */
#define KMEMTRACE_POS_LIVING	((loff_t)BIT_ULL(60))

bool kmemtrace_next_logged(loff_t *pos, struct kmemtrace_task *task)
{
	unsigned long flags;
	bool found = false;
	u64 n = *pos - 1;

	raw_spin_lock_irqsave(&kmemtrace_tasks_lock, flags);
	if (kmemtrace_tasks_logged > kmemtrace_n_tasks)
		n = max(n, kmemtrace_tasks_logged - kmemtrace_n_tasks);
	if (n < kmemtrace_tasks_logged) {
		*task = *kmemtrace_log_entry(n);
		*pos = n + 1;
		found = true;
	}
	raw_spin_unlock_irqrestore(&kmemtrace_tasks_lock, flags);
	return found;
}

static bool kmemtrace_next_living(loff_t *pos, struct kmemtrace_task *task)
{
	u64 n = *pos - KMEMTRACE_POS_LIVING;
	pid_t pid;

	if (kmemtrace_living) {
		if (n >= kmemtrace_n_living)
			return false;
		*task = kmemtrace_living[n];
		return true;
	}
	pid = n + 1;
	if (!kmemtrace_find_living(&pid, task))
		return false;
	*pos = KMEMTRACE_POS_LIVING + pid - 1;
	return true;
}

static void *kmemtrace_tasks_find(struct seq_file *m, loff_t *pos)
{
	struct kmemtrace_task *task = m->private;

	if (*pos == 0)
		return SEQ_START_TOKEN;
	if (*pos < KMEMTRACE_POS_LIVING) {
		if (kmemtrace_next_logged(pos, task))
			return task;
		*pos = KMEMTRACE_POS_LIVING;
	}
	return kmemtrace_next_living(pos, task) ? task : NULL;
}

void *kmemtrace_tasks_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&kmemtrace_living_mutex);
	return kmemtrace_tasks_find(m, pos);
}

void *kmemtrace_tasks_next(struct seq_file *m, void *v, loff_t *pos)
{
	(*pos)++;
	return kmemtrace_tasks_find(m, pos);
}

void kmemtrace_tasks_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&kmemtrace_living_mutex);
}

void kmemtrace_tasks_put_head(struct seq_file *m, enum kmemtrace_task_table table,
			      u64 omitted, u64 omitted_until)
{
	unsigned long flags;
	u64 dropped, exact_after;

	raw_spin_lock_irqsave(&kmemtrace_tasks_lock, flags);
	dropped = kmemtrace_dropped[table].n + omitted;
	exact_after = max(kmemtrace_dropped[table].until, omitted_until);
	raw_spin_unlock_irqrestore(&kmemtrace_tasks_lock, flags);

	seq_puts(m, table == KMEMTRACE_TABLE_TASKS ?
		 "# kmemtrace: tasks\n# columns: pid until name\n" :
		 "# kmemtrace: cgroups\n# columns: pid until path\n");
	seq_printf(m, "# dropped: %llu\n", dropped);
	if (dropped)
		seq_printf(m, "# exact_after: %llu\n", exact_after);
}

static int kmemtrace_tasks_show(struct seq_file *m, void *v)
{
	const struct kmemtrace_task *task = v;

	if (v == SEQ_START_TOKEN) {
		kmemtrace_tasks_put_head(m, KMEMTRACE_TABLE_TASKS, 0, 0);
		return 0;
	}
	if (!(task->tables & BIT(KMEMTRACE_TABLE_TASKS)))
		return SEQ_SKIP;
	seq_printf(m, "%d ", task->pid);
	kmemtrace_put_time(m, task->until);
	kmemtrace_put_escaped(m, task->comm);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations kmemtrace_tasks_seq_ops = {
	.start	= kmemtrace_tasks_start,
	.next	= kmemtrace_tasks_next,
	.stop	= kmemtrace_tasks_stop,
	.show	= kmemtrace_tasks_show,
};

static int kmemtrace_tasks_open(struct inode *inode, struct file *file)
{
	return kmemtrace_may_open() ?:
	       seq_open_private(file, &kmemtrace_tasks_seq_ops,
				sizeof(struct kmemtrace_task));
}

static const struct file_operations kmemtrace_tasks_fops = {
	.owner		= THIS_MODULE,
	.open		= kmemtrace_tasks_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release_private,
};

/* --- Sessions -------------------------------------------------------------------- */

static int kmemtrace_attach_task_probes(void)
{
	int err;

	err = register_trace_task_rename(probe_task_rename, NULL);
	if (err)
		return err;
	err = register_trace_sched_process_exec(probe_task_exec, NULL);
	if (err)
		goto no_exec;
	err = register_trace_kmemtrace_task_exit(probe_task_exit, NULL);
	if (err)
		goto no_exit;
	err = register_trace_kmemtrace_task_moves(probe_task_moves, NULL);
	if (err)
		goto no_moves;
	return 0;

no_moves:
	unregister_trace_kmemtrace_task_exit(probe_task_exit, NULL);
no_exit:
	unregister_trace_sched_process_exec(probe_task_exec, NULL);
no_exec:
	unregister_trace_task_rename(probe_task_rename, NULL);
	return err;
}

static int kmemtrace_alloc_tasks(void)
{
	if (!kmemtrace_tasks)
		kmemtrace_tasks = kvcalloc(kmemtrace_n_tasks,
					   sizeof(*kmemtrace_tasks), GFP_KERNEL);
	return kmemtrace_tasks ? 0 : -ENOMEM;
}

static int kmemtrace_tasks_attach(void)
{
	int err;

	if (kmemtrace_abi < 2)
		return 0;
	err = kmemtrace_alloc_tasks();
	if (err) {
		pr_err("cannot keep the names of %u tasks; lower kmemtrace.tasks\n",
		       kmemtrace_n_tasks);
		return err;
	}
	err = kmemtrace_attach_task_probes();
	if (err)
		pr_err("cannot follow the names and cgroups of tasks: %d\n", err);
	return err;
}

static void kmemtrace_tasks_detach(void)
{
	if (kmemtrace_abi < 2)
		return;
	unregister_trace_kmemtrace_task_moves(probe_task_moves, NULL);
	unregister_trace_kmemtrace_task_exit(probe_task_exit, NULL);
	unregister_trace_sched_process_exec(probe_task_exec, NULL);
	unregister_trace_task_rename(probe_task_rename, NULL);
	tracepoint_synchronize_unregister();
}

/*
 * Free the log.  Tasks that ended since the probes were attached have entries in the
 * log, and readers of the tables access the log while it has entries.  So remove
 * all entries with the lock held.
 */
static void kmemtrace_tasks_release(void)
{
	struct kmemtrace_task *tasks;
	unsigned long flags;

	/* A probe that was detached may still be running. */
	tracepoint_synchronize_unregister();
	raw_spin_lock_irqsave(&kmemtrace_tasks_lock, flags);
	tasks = kmemtrace_tasks;
	kmemtrace_tasks = NULL;
	kmemtrace_forget_log();
	raw_spin_unlock_irqrestore(&kmemtrace_tasks_lock, flags);
	kvfree(tasks);
}

/*
 * Called before the probes are detached, so that a task that ends meanwhile is in the
 * log or in the copy of the living tasks.
 */
static void kmemtrace_tasks_end(void)
{
	struct kmemtrace_task *living;
	unsigned int n = 0;

	if (kmemtrace_abi < 2)
		return;
	living = kmemtrace_copy_living(&n);
	kmemtrace_set_living(living, n);
}

static int __init kmemtrace_param_tasks(char *str)
{
	unsigned int n;

	if (!str || kstrtouint(str, 0, &n) || n < KMEMTRACE_TASKS_MIN ||
	    n > KMEMTRACE_TASKS_MAX)
		pr_warn("kmemtrace.tasks=%s is not a number from %u to %u; using %u\n",
			str ?: "", KMEMTRACE_TASKS_MIN, KMEMTRACE_TASKS_MAX,
			kmemtrace_n_tasks);
	else
		kmemtrace_n_tasks = n;
	return 0;
}
early_param("kmemtrace.tasks", kmemtrace_param_tasks);

static const struct kmemtrace_file kmemtrace_tasks_files[] = {
	{ "tasks", 0400, &kmemtrace_tasks_fops, 2 },
	{ }
};

struct kmemtrace_feature kmemtrace_tasks_feature = {
	.attach		= kmemtrace_tasks_attach,
	.detach		= kmemtrace_tasks_detach,
	.release	= kmemtrace_tasks_release,
	.begin		= kmemtrace_tasks_begin,
	.end		= kmemtrace_tasks_end,
	.files		= kmemtrace_tasks_files,
};
