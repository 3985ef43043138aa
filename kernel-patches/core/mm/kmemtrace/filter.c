// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: which allocations are recorded: the file filter in debugfs.
 * Documentation/ABI/testing/debugfs-kmemtrace describes the text of a filter.
 *
 * While there is a filter, the member limit of each struct kmemtrace_cpu remains -1, so
 * that all events except annotations go through kmemtrace_record_slow(), which calls
 * the filter before it reserves room.
 *
 * Frees
 * -----
 * Ideally a free is recorded if and only if its allocation was recorded.  For filters
 * by cache and size, the freed object itself shows whether its allocation has passed:
 * the object has a cache, and with it a size.  The size of SLOB objects and of memory
 * other than slab objects is not known at a free; such a free passes each filter by
 * size.  For filters by task or cgroup and for samples, a table of all recorded
 * allocations would be needed, shared by all CPUs, which is what per-CPU buffers avoid.  With these
 * filters all frees that satisfy the filter by cache and size are recorded, and the
 * file info says so ("frees: all"): the free of an address without a recorded
 * allocation may then belong to an allocation that the filter dropped.
 *
 * A DEFER record passes if the free of the memory passes.  The object still exists
 * when kfree_rcu() receives it, so its cache and size are known.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/glob.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/preempt.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/uaccess.h>

#include <trace/events/sched.h>

#include <uapi/linux/kmemtrace_abi.h>

#include "caches.h"
#include "compat_slab.h"
#include "features.h"
#include "file_util.h"
#include "filter.h"
#include "writer.h"

#define KMEMTRACE_FILTER_MAX	4096	/* bytes of text */

/*
 * The state of sampling on one CPU.  The CPU's allocations form blocks of
 * filter->sample allocations, and one allocation of each block is recorded.
 */
struct kmemtrace_sampler {
	u32 index;	/* of the next allocation in its block */
	u32 chosen;	/* index of the allocation of the block that is recorded */
	u32 seed;	/* of the random numbers */
};

static DEFINE_PER_CPU(struct kmemtrace_sampler, kmemtrace_samplers);

/*
 * The pointer is written with kmemtrace_mutex held, and the filter is freed after
 * synchronize_rcu().  A reader of the pointer is in an RCU read-side section of
 * kmemtrace.  That of the kernel's tracepoints does not suffice: since Linux 7.0 it is
 * preemptible, and synchronize_rcu() does not wait for it.
 */
static struct kmemtrace_filter __rcu *kmemtrace_filter __read_mostly;

/* Return the filter, or NULL.  Context: kmemtrace_mutex is held. */
static struct kmemtrace_filter *kmemtrace_current_filter(void)
{
	return rcu_dereference_protected(kmemtrace_filter,
					 lockdep_is_held(&kmemtrace_mutex));
}

/* What info shows of the filters of the session.  Protected by kmemtrace_mutex. */
static bool kmemtrace_filtered;		/* there was a filter at any time */
static bool kmemtrace_filter_changed;	/* set, changed, or removed in the session */
static bool kmemtrace_frees_exact = true; /* kmemtrace_decides_frees() at all times */
static u32 kmemtrace_session_sample = 1;	/* filter->sample; 0: it has changed */

/* --- What passes ------------------------------------------------------------- */

static bool kmemtrace_passes_cache(const struct kmemtrace_filter *filter,
				   u8 type_id, u64 ptr, u16 cache)
{
	struct kmem_cache *s;

	if (type_id == KMEMTRACE_TYPE_KMALLOC) {
		s = kmemtrace_cache_of((void *)(unsigned long)ptr);
		cache = s ? kmemtrace_cache_number(s) : KMEMTRACE_CACHE_NONE;
	} else if (type_id != KMEMTRACE_TYPE_CACHE) {
		return false;
	}
	return cache != KMEMTRACE_CACHE_NONE && test_bit(cache, filter->caches);
}
NOKPROBE_SYMBOL(kmemtrace_passes_cache);

/*
 * Return whether the size of the memory passes.  For a slab object, this is the size in
 * its cache or of its pages, even at an allocation, because a free has no other size.
 * A size of 0 is unknown and passes.  @bytes: bytes_alloc of the event.
 */
static bool kmemtrace_passes_size(const struct kmemtrace_filter *filter,
				  u8 type_id, u64 ptr, size_t bytes)
{
	if (type_id <= KMEMTRACE_TYPE_CACHE)
		bytes = kmemtrace_bytes_of((void *)(unsigned long)ptr) ?: bytes;
	return !bytes ||
	       (bytes >= filter->size_min && bytes <= filter->size_max);
}
NOKPROBE_SYMBOL(kmemtrace_passes_size);

static bool kmemtrace_has_pid(const struct kmemtrace_filter *filter, pid_t pid)
{
	return pid < PID_MAX_LIMIT && test_bit(pid, filter->pids);
}
NOKPROBE_SYMBOL(kmemtrace_has_pid);

static bool kmemtrace_has_task(const struct kmemtrace_filter *filter,
			       const struct task_struct *p)
{
	return kmemtrace_has_pid(filter, p->pid) ||
	       kmemtrace_has_pid(filter, p->tgid);
}
NOKPROBE_SYMBOL(kmemtrace_has_task);

/*
 * Return whether the current task is in one of the filter's cgroups or below.  In an
 * interrupt this is the interrupted task.  Context: preemption is off, so that the
 * cgroup of the task remains valid if the task is moved.
 */
static bool kmemtrace_passes_cgroup(const struct kmemtrace_filter *filter)
{
#ifdef CONFIG_CGROUPS
	struct cgroup *cgrp = task_dfl_cgroup(current);
	unsigned int i;

	for (i = 0; i < filter->n_cgroups; i++)
		if (cgroup_is_descendant(cgrp, filter->cgroups[i]))
			return true;
#endif
	return false;
}
NOKPROBE_SYMBOL(kmemtrace_passes_cgroup);

/*
 * Return whether to record an allocation: one of each block of filter->sample
 * allocations of this CPU, at a random index in the block.  A fixed index would be
 * wrong: allocations have patterns, and every Nth allocation could come from the same
 * call site.
 */
static bool kmemtrace_passes_sample(const struct kmemtrace_filter *filter)
{
	struct kmemtrace_sampler *sampler = raw_cpu_ptr(&kmemtrace_samplers);
	bool chosen;

	if (sampler->index == 0) {
		/* This linear congruential generator needs no entropy and no lock. */
		sampler->seed = sampler->seed * 1664525 + 1013904223;
		sampler->chosen = (u64)sampler->seed * filter->sample >> 32;
	}
	chosen = sampler->index == sampler->chosen;
	if (++sampler->index >= filter->sample)
		sampler->index = 0;
	return chosen;
}
NOKPROBE_SYMBOL(kmemtrace_passes_sample);

static bool kmemtrace_filter_passes(u8 event_id, u8 type_id, u64 ptr,
				    size_t bytes_alloc, u16 cache)
{
	const struct kmemtrace_filter *filter;

	/*
	 * The writer is in rcu_read_lock_sched_notrace(), which lockdep does not see.
	 * The check therefore only tests that the context is not preemptible.
	 */
	filter = rcu_dereference_check(kmemtrace_filter, !preemptible());
	if (!filter)
		return true;
	if (filter->caches &&
	    !kmemtrace_passes_cache(filter, type_id, ptr, cache))
		return false;
	if (filter->by_size &&
	    !kmemtrace_passes_size(filter, type_id, ptr, bytes_alloc))
		return false;
	if (event_id != KMEMTRACE_EVENT_ALLOC)
		return true;
	if (filter->pids && !kmemtrace_has_task(filter, current))
		return false;
	if (filter->n_cgroups && !kmemtrace_passes_cgroup(filter))
		return false;
	return filter->sample == 1 || kmemtrace_passes_sample(filter);
}
NOKPROBE_SYMBOL(kmemtrace_filter_passes);

/* --- New tasks and caches ---------------------------------------------------- */

/*
 * Set or clear the bit of a new task in the filter.  The bit of a task that does not
 * match is cleared, because an earlier task that matched may have had the same pid.
 */
static void kmemtrace_probe_fork(void *data, struct task_struct *parent,
				 struct task_struct *child)
{
	const struct kmemtrace_filter *filter;

	rcu_read_lock();
	filter = rcu_dereference(kmemtrace_filter);
	if (!filter || !filter->pids || child->pid >= PID_MAX_LIMIT)
		goto out;
	if (filter->children && kmemtrace_has_task(filter, parent))
		set_bit(child->pid, filter->pids);
	else
		clear_bit(child->pid, filter->pids);
out:
	rcu_read_unlock();
}

static bool kmemtrace_is_named(const char *names, const char *cache)
{
	char glob[64];
	size_t n;

	for (; *names; names += n + !!names[n]) {
		n = strcspn(names, ",");
		strscpy(glob, names, min(n + 1, sizeof(glob)));
		if (glob_match(glob, cache))
			return true;
	}
	return false;
}

static void kmemtrace_match_cache(void *data, u16 number, const char *name)
{
	const struct kmemtrace_filter *filter = data;

	assign_bit(number, filter->caches,
		   kmemtrace_is_named(filter->names, name));
}

static void kmemtrace_filter_cache(u16 number, const char *name)
{
	struct kmemtrace_filter *filter;

	rcu_read_lock();
	filter = rcu_dereference(kmemtrace_filter);
	if (filter && filter->caches)
		kmemtrace_match_cache(filter, number, name);
	rcu_read_unlock();
}

/* --- Setting a filter -------------------------------------------------------- */

/* Return whether the filter also drops the frees of the allocations that it drops. */
static bool kmemtrace_decides_frees(const struct kmemtrace_filter *filter)
{
	if (!filter)
		return true;
	if (filter->pids || filter->n_cgroups || filter->sample > 1)
		return false;
	return !filter->by_size ||
	       (filter->caches && !IS_ENABLED(CONFIG_SLOB));
}

static void kmemtrace_reset_samplers(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct kmemtrace_sampler *sampler =
			per_cpu_ptr(&kmemtrace_samplers, cpu);

		/* If the CPU uses the sampler meanwhile, only one block is wrong. */
		sampler->seed += cpu + 1;
		sampler->index = 0;
	}
}

static u32 kmemtrace_sample(const struct kmemtrace_filter *filter)
{
	return filter ? filter->sample : 1;
}

/* Update what info shows of the session when @filter replaces @old while tracing. */
static void kmemtrace_note_filter(const struct kmemtrace_filter *old,
				  const struct kmemtrace_filter *filter)
{
	if (strcmp(old ? old->text : "", filter ? filter->text : ""))
		kmemtrace_filter_changed = true;
	if (kmemtrace_session_sample != kmemtrace_sample(filter))
		kmemtrace_session_sample = 0;
	if (filter)
		kmemtrace_filtered = true;
	if (!kmemtrace_decides_frees(filter))
		kmemtrace_frees_exact = false;
}

/*
 * Replace the filter by @filter, which may be NULL.  The function becomes the owner of
 * @filter, and frees @filter on failure.  Return 0 or -errno.  Sleeps.
 */
static int kmemtrace_set_filter(struct kmemtrace_filter *filter)
{
	struct kmemtrace_filter *old;
	bool followed;
	int err = 0;

	mutex_lock(&kmemtrace_mutex);
	old = kmemtrace_current_filter();
	followed = old && old->pids;
	if (filter && filter->pids && !followed)
		err = register_trace_sched_process_fork(kmemtrace_probe_fork,
							NULL);
	if (err) {
		mutex_unlock(&kmemtrace_mutex);
		kmemtrace_free_filter(filter);
		return err;
	}
	/*
	 * Match the caches before the filter is set, and again afterwards: for a cache
	 * that is created in between, kmemtrace_filter_cache() did not find the filter.
	 */
	if (filter && filter->caches)
		kmemtrace_caches_each(kmemtrace_match_cache, filter);
	rcu_assign_pointer(kmemtrace_filter, filter);
	if (filter && filter->caches)
		kmemtrace_caches_each(kmemtrace_match_cache, filter);
	kmemtrace_reset_samplers();
	kmemtrace_writer_set_filter(filter ? kmemtrace_filter_passes : NULL);
	if (followed && !(filter && filter->pids))
		unregister_trace_sched_process_fork(kmemtrace_probe_fork, NULL);
	if (kmemtrace_is_on())
		kmemtrace_note_filter(old, filter);
	/* Wait for readers of the old filter, and for the records that it passed. */
	synchronize_rcu();
	mutex_unlock(&kmemtrace_mutex);
	kmemtrace_free_filter(old);
	return 0;
}

static void kmemtrace_filter_begin(void)
{
	const struct kmemtrace_filter *filter = kmemtrace_current_filter();

	kmemtrace_filtered = filter != NULL;
	kmemtrace_filter_changed = false;
	kmemtrace_frees_exact = kmemtrace_decides_frees(filter);
	kmemtrace_session_sample = kmemtrace_sample(filter);
}

static void kmemtrace_filter_info(struct seq_file *m)
{
	const struct kmemtrace_filter *filter = kmemtrace_current_filter();

	seq_printf(m, "# filter: %s\n", filter ? filter->text : "none");
	seq_printf(m, "# filtered: %s\n",
		   kmemtrace_filter_changed ? "changed" :
		   kmemtrace_filtered ? "yes" : "no");
	seq_printf(m, "# sample: %u\n", kmemtrace_session_sample);
	seq_printf(m, "# frees: %s\n", kmemtrace_frees_exact ? "exact" : "all");
}

static int kmemtrace_filter_show(struct seq_file *m, void *v)
{
	const struct kmemtrace_filter *filter;

	mutex_lock(&kmemtrace_mutex);
	filter = kmemtrace_current_filter();
	seq_printf(m, "%s\n", filter ? filter->text : "none");
	mutex_unlock(&kmemtrace_mutex);
	return 0;
}

/*
 * Log why a filter was refused, at most 100 times in 5 seconds.  Tests by hand or by a
 * script stay below this limit.
 */
static void kmemtrace_refuse(const char *why)
{
	static DEFINE_RATELIMIT_STATE(state, 5 * HZ, 100);

	if (__ratelimit(&state))
		pr_warn("filter was not taken: %s\n", why);
}

static ssize_t kmemtrace_filter_write(struct file *file,
				      const char __user *buffer, size_t count,
				      loff_t *ppos)
{
	struct kmemtrace_filter *filter;
	const char *why = NULL;
	char *text;
	int err;

	if (count > KMEMTRACE_FILTER_MAX) {
		kmemtrace_refuse("it has more than 4096 bytes");
		return -E2BIG;
	}
	text = memdup_user_nul(buffer, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (strlen(text) == count) {
		filter = kmemtrace_parse_filter(text, &why);
	} else {
		filter = ERR_PTR(-EINVAL);
		why = "there is a zero in it";
	}
	kfree(text);
	if (why)
		kmemtrace_refuse(why);
	if (IS_ERR(filter))
		return PTR_ERR(filter);
	err = kmemtrace_set_filter(filter);
	return err ?: count;
}

KMEMTRACE_SHOW_WRITE_FOPS(kmemtrace_filter);

static const struct kmemtrace_file kmemtrace_filter_files[] = {
	{ "filter", 0600, &kmemtrace_filter_fops },
	{ }
};

struct kmemtrace_feature kmemtrace_filter_feature = {
	.begin		= kmemtrace_filter_begin,
	.cache_numbered	= kmemtrace_filter_cache,
	.show_info	= kmemtrace_filter_info,
	.files		= kmemtrace_filter_files,
};
