// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the table of cgroups, which has the cgroups (version 2) of the pids in the
 * records.  <linux/kmemtrace_abi.h> describes the file.
 *
 * The log of tasks (tasks.c) has the ids of the cgroups.  This file finds their paths.
 * The path of a cgroup is stored when the cgroup is removed, so the paths of existing
 * cgroups need not be stored before the session ends.  A reference to a cgroup would
 * keep its path, too, but also its memory: the cgroup would look like a leak.
 *
 * An id is never reused, so the paths of earlier sessions need not be removed.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/bits.h>
#include <linux/bsearch.h>
#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kernfs.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <trace/events/cgroup.h>

#include "cgroup_paths.h"
#include "features.h"
#include "file_util.h"
#include "format.h"
#include "tasks.h"

/* Bytes for the paths of removed cgroups, for each entry of the log of tasks. */
#define KMEMTRACE_PATH_BYTES	16
#define KMEMTRACE_PATHS_MAX	SZ_16M

/* --- Removed cgroups -------------------------------------------------------------- */

/* A leaf, which the probe acquires with cgroup_mutex and a spinlock held. */
static DEFINE_RAW_SPINLOCK(kmemtrace_cgroups_lock);
static struct kmemtrace_cgroup_paths kmemtrace_removed;	/* no ring before the first session */

/*
 * Context: cgroup_mutex and the spinlock of @path are held.  The tracepoint shortens a
 * path to 1023 bytes; kmemtrace_cgroup_paths_add() does not add such a path.
 */
static void probe_cgroup_rmdir(void *data, struct cgroup *cgrp, const char *path)
{
	unsigned long flags;

	if (cgrp->root != &cgrp_dfl_root)
		return;
	raw_spin_lock_irqsave(&kmemtrace_cgroups_lock, flags);
	kmemtrace_cgroup_paths_add(&kmemtrace_removed, cgroup_id(cgrp), path);
	raw_spin_unlock_irqrestore(&kmemtrace_cgroups_lock, flags);
}

/* Copy the path of a removed cgroup to @path, which has PATH_MAX bytes. */
static bool kmemtrace_find_removed(u64 id, char *path)
{
	const char *found = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&kmemtrace_cgroups_lock, flags);
	if (kmemtrace_removed.ring)
		found = kmemtrace_cgroup_paths_find(&kmemtrace_removed, id);
	if (found)
		strscpy(path, found, PATH_MAX);
	raw_spin_unlock_irqrestore(&kmemtrace_cgroups_lock, flags);
	return found;
}

/* --- Existing cgroups ------------------------------------------------------------- */

struct kmemtrace_cgroup {
	u64		id;
	const char	*path;
};

/*
 * The cgroups that existed when the session ended, sorted by id, and behind the array
 * their paths.  NULL while a session lasts, before the first one, or if memory was
 * short.  The file then shows the paths that exist when user space reads the file.
 */
static DEFINE_MUTEX(kmemtrace_existing_mutex);
static struct kmemtrace_cgroup *kmemtrace_existing;
static unsigned int kmemtrace_n_existing;

static int kmemtrace_compare_cgroups(const void *a, const void *b)
{
	const struct kmemtrace_cgroup *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/*
 * Copy the path of @cgrp to @path, which has PATH_MAX bytes.  Return its bytes,
 * including the final 0.
 */
static size_t kmemtrace_copy_path(struct cgroup *cgrp, char *path)
{
	path[0] = '\0';
	cgroup_path(cgrp, path, PATH_MAX);
	return strlen(path) + 1;
}

/*
 * Copy the ids and paths of all cgroups, unsorted, and store their number in @n_found.
 * @path: PATH_MAX bytes of scratch memory.  Return NULL if there is no memory.
 * Context: cgroup_mutex is held, so that all walks find the same cgroups.  Sleeps.
 */
static struct kmemtrace_cgroup *kmemtrace_copy_cgroups(unsigned int *n_found, char *path)
{
	struct cgroup_subsys_state *css;
	struct kmemtrace_cgroup *copy;
	size_t bytes = 0, n = 0;
	char *text;

	css_for_each_descendant_pre(css, &cgrp_dfl_root.cgrp.self) {
		bytes += kmemtrace_copy_path(css->cgroup, path);
		n++;
		cond_resched();
	}
	copy = kvmalloc(size_add(array_size(n, sizeof(*copy)), bytes), GFP_KERNEL);
	if (!copy)
		return NULL;
	text = (char *)(copy + n);
	n = 0;
	css_for_each_descendant_pre(css, &cgrp_dfl_root.cgrp.self) {
		bytes = kmemtrace_copy_path(css->cgroup, path);
		copy[n].id = cgroup_id(css->cgroup);
		copy[n].path = memcpy(text, path, bytes);
		text += bytes;
		n++;
		cond_resched();
	}
	*n_found = n;
	return copy;
}

static void kmemtrace_set_existing(struct kmemtrace_cgroup *existing, unsigned int n)
{
	struct kmemtrace_cgroup *old;

	mutex_lock(&kmemtrace_existing_mutex);
	old = kmemtrace_existing;
	kmemtrace_existing = existing;
	kmemtrace_n_existing = n;
	mutex_unlock(&kmemtrace_existing_mutex);
	kvfree(old);
}

/* Context: kmemtrace_existing_mutex is held, and kmemtrace_existing is not NULL. */
static bool kmemtrace_find_existing(u64 id, char *path)
{
	const struct kmemtrace_cgroup wanted = { .id = id }, *found;

	found = bsearch(&wanted, kmemtrace_existing, kmemtrace_n_existing,
			sizeof(*found), kmemtrace_compare_cgroups);
	if (found)
		strscpy(path, found->path, PATH_MAX);
	return found;
}

/*
 * Copy the path of a cgroup that exists now or was removed.  Context: a removal with
 * its probe is complete before or begins after cgroup_mutex is held.  Sleeps.
 */
static bool kmemtrace_find_now(u64 id, char *path)
{
	struct kernfs_node *kn;
	bool found;

	cgroup_lock();
	kn = kernfs_find_and_get_node_by_id(cgrp_dfl_root.kf_root, id);
	if (kn)
		kernfs_path(kn, path, PATH_MAX);
	found = kn || kmemtrace_find_removed(id, path);
	kernfs_put(kn);
	cgroup_unlock();
	return found;
}

/*
 * Copy the path of the cgroup @id to @path, which has PATH_MAX bytes.  Return false if
 * the path is unknown.  Sleeps.
 */
static bool kmemtrace_find_path(u64 id, char *path)
{
	bool found;

	if (!id) {
		strscpy(path, "/", PATH_MAX);
		return true;
	}
	mutex_lock(&kmemtrace_existing_mutex);
	if (kmemtrace_existing)
		found = kmemtrace_find_existing(id, path) ||
			kmemtrace_find_removed(id, path);
	else
		found = kmemtrace_find_now(id, path);
	mutex_unlock(&kmemtrace_existing_mutex);
	return found;
}

/* --- The file cgroups ------------------------------------------------------------- */

struct kmemtrace_cgroups_reader {
	struct kmemtrace_task	task;	/* the current entry; first member, see tasks.h */
	u64			id;	/* the cgroup of path */
	char			path[PATH_MAX];	/* empty: no path was looked up */
};

/*
 * Return the path of the cgroup of the current entry, or NULL if the path is unknown.
 * Entries with one cgroup often follow each other.
 */
static const char *kmemtrace_current_path(struct kmemtrace_cgroups_reader *reader)
{
	u64 id = reader->task.cgroup;

	if (reader->path[0] && reader->id == id)
		return reader->path;
	reader->id = id;
	if (kmemtrace_find_path(id, reader->path))
		return reader->path;
	reader->path[0] = '\0';
	return NULL;
}

static bool kmemtrace_has_cgroup(const struct kmemtrace_task *task)
{
	return task->tables & BIT(KMEMTRACE_TABLE_CGROUPS);
}

/* Entries whose path is unknown are not in the table, and count as dropped. */
static void kmemtrace_cgroups_show_head(struct seq_file *m)
{
	struct kmemtrace_cgroups_reader *reader = m->private;
	u64 omitted = 0, omitted_until = 0;
	loff_t pos;

	for (pos = 1; kmemtrace_next_logged(&pos, &reader->task); pos++) {
		cond_resched();
		if (!kmemtrace_has_cgroup(&reader->task) ||
		    kmemtrace_current_path(reader))
			continue;
		omitted++;
		omitted_until = reader->task.until;
	}
	kmemtrace_tasks_put_head(m, KMEMTRACE_TABLE_CGROUPS, omitted, omitted_until);
}

static int kmemtrace_cgroups_show(struct seq_file *m, void *v)
{
	const char *path;

	if (v == SEQ_START_TOKEN) {
		kmemtrace_cgroups_show_head(m);
		return 0;
	}
	path = kmemtrace_has_cgroup(v) ? kmemtrace_current_path(m->private) : NULL;
	if (!path)
		return SEQ_SKIP;
	seq_printf(m, "%d ", ((const struct kmemtrace_task *)v)->pid);
	kmemtrace_put_time(m, ((const struct kmemtrace_task *)v)->until);
	kmemtrace_put_escaped(m, path);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations kmemtrace_cgroups_seq_ops = {
	.start	= kmemtrace_tasks_start,
	.next	= kmemtrace_tasks_next,
	.stop	= kmemtrace_tasks_stop,
	.show	= kmemtrace_cgroups_show,
};

static int kmemtrace_cgroups_open(struct inode *inode, struct file *file)
{
	return kmemtrace_may_open() ?:
	       seq_open_private(file, &kmemtrace_cgroups_seq_ops,
				sizeof(struct kmemtrace_cgroups_reader));
}

static const struct file_operations kmemtrace_cgroups_fops = {
	.owner		= THIS_MODULE,
	.open		= kmemtrace_cgroups_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release_private,
};

/* --- Sessions -------------------------------------------------------------------- */

static int kmemtrace_alloc_paths(void)
{
	size_t size = clamp_t(u64, (u64)kmemtrace_n_tasks * KMEMTRACE_PATH_BYTES,
			      KMEMTRACE_CGROUP_PATHS_MIN, KMEMTRACE_PATHS_MAX);
	unsigned long flags;
	void *ring;

	if (kmemtrace_removed.ring)
		return 0;
	size = roundup_pow_of_two(size);
	ring = kvzalloc(size, GFP_KERNEL);
	if (!ring)
		return -ENOMEM;
	raw_spin_lock_irqsave(&kmemtrace_cgroups_lock, flags);
	kmemtrace_cgroup_paths_init(&kmemtrace_removed, ring, size);
	raw_spin_unlock_irqrestore(&kmemtrace_cgroups_lock, flags);
	return 0;
}

static int kmemtrace_cgroups_attach(void)
{
	int err;

	if (kmemtrace_abi < 2)
		return 0;
	err = kmemtrace_alloc_paths();
	if (err) {
		pr_err("cannot keep the paths of cgroups; lower kmemtrace.tasks\n");
		return err;
	}
	err = register_trace_cgroup_rmdir(probe_cgroup_rmdir, NULL);
	if (err)
		pr_err("cannot follow the removal of cgroups: %d\n", err);
	return err;
}

static void kmemtrace_cgroups_detach(void)
{
	if (kmemtrace_abi < 2)
		return;
	unregister_trace_cgroup_rmdir(probe_cgroup_rmdir, NULL);
	tracepoint_synchronize_unregister();
}

static void kmemtrace_cgroups_release(void)
{
	unsigned long flags;
	void *ring;

	/* A probe that was detached may still be running. */
	tracepoint_synchronize_unregister();
	raw_spin_lock_irqsave(&kmemtrace_cgroups_lock, flags);
	ring = kmemtrace_removed.ring;
	kmemtrace_removed.ring = NULL;
	raw_spin_unlock_irqrestore(&kmemtrace_cgroups_lock, flags);
	kvfree(ring);
}

static void kmemtrace_cgroups_begin(void)
{
	kmemtrace_set_existing(NULL, 0);
}

/*
 * Called before the probe is detached and after the copy of the living tasks was made,
 * so that each cgroup of the log and of the copy is in the ring or exists now.
 */
static void kmemtrace_cgroups_end(void)
{
	struct kmemtrace_cgroup *existing = NULL;
	unsigned int n = 0;
	char *path;

	if (kmemtrace_abi < 2)
		return;
	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (path) {
		cgroup_lock();
		existing = kmemtrace_copy_cgroups(&n, path);
		cgroup_unlock();
		kfree(path);
	}
	if (existing)
		sort(existing, n, sizeof(*existing), kmemtrace_compare_cgroups, NULL);
	kmemtrace_set_existing(existing, n);
}

static const struct kmemtrace_file kmemtrace_cgroups_files[] = {
	{ "cgroups", 0400, &kmemtrace_cgroups_fops, 2 },
	{ }
};

struct kmemtrace_feature kmemtrace_cgroups_feature = {
	.attach		= kmemtrace_cgroups_attach,
	.detach		= kmemtrace_cgroups_detach,
	.release	= kmemtrace_cgroups_release,
	.begin		= kmemtrace_cgroups_begin,
	.end		= kmemtrace_cgroups_end,
	.files		= kmemtrace_cgroups_files,
};
