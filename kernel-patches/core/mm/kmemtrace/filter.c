// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: which allocations are recorded: the file filter in debugfs;
 * Documentation/ABI/testing/debugfs-kmemtrace describes what it takes.
 *
 * Without a filter this is not called: as long as there is one, the limit of
 * each CPU's writer is kept at -1, so that an event goes through
 * kmemtrace_record_slow(), which asks here before there is anything to write.
 *
 * Frees
 * -----
 * Best would be to record a free if its allocation was.  By what is freed that
 * can be told where it depends on the memory alone: objects know their cache,
 * and thereby their size.  (SLOB's do not know their size; pages do not know
 * theirs either, unless they are compound.)  Whether the allocation was that
 * of a task or one of the sample could be told only by remembering all that
 * were: a table shared by all CPUs, which is what per-CPU buffers avoid.  Then all
 * frees are recorded, and info says so: a free of what is not known is one of
 * memory that was left out, and what is known is freed when it is freed.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/bitmap.h>
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

#include "internal.h"
#include "compat.h"

#define KMEMTRACE_FILTER_MAX	4096	/* bytes of text */
#define KMEMTRACE_SAMPLE_MAX	1000000

struct kmemtrace_filter {
	char		*text;		/* as it was written, one space each */
	char		*names;		/* of caches, with commas; or NULL */
	unsigned long	*caches;	/* by number; NULL: all, also of none */
	unsigned long	*pids;		/* NULL: all */
	bool		by_size;
	bool		by_pid;
	bool		children;
	size_t		size_min;
	size_t		size_max;
	u32		sample;		/* one of so many; 1: all */
};

/* Where a CPU is in the block of allocations of which one is recorded. */
struct kmemtrace_sampler {
	u32 place;
	u32 chosen;
	u32 seed;
};

static DEFINE_PER_CPU(struct kmemtrace_sampler, kmemtrace_samplers);

/*
 * Written with kmemtrace_mutex held, and freed after synchronize_rcu().  A reader
 * is in a read-side section of our own, not of the kernel's tracepoints: since
 * Linux 7.0 theirs is preemptible, and synchronize_rcu() does not wait for it.
 */
struct kmemtrace_filter __rcu *kmemtrace_filter __read_mostly;

/* The filter.  Context: kmemtrace_mutex is held. */
static struct kmemtrace_filter *kmemtrace_current_filter(void)
{
	return rcu_dereference_protected(kmemtrace_filter,
					 lockdep_is_held(&kmemtrace_mutex));
}

/* The filters of the session; guarded by kmemtrace_mutex. */
static bool kmemtrace_filtered;		/* by any filter */
static bool kmemtrace_filter_changed;
static bool kmemtrace_frees_exact = true;
static u32 kmemtrace_session_sample = 1;	/* 0: it was changed */

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
 * An object's size is that of its cache or its pages, for its free has no other.
 * 0: it cannot be known.
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
 * One of each block of so many allocations of this CPU, at any place of it:
 * allocations come in patterns, and each Nth could always be the same one.
 */
static bool kmemtrace_passes_sample(const struct kmemtrace_filter *filter)
{
	struct kmemtrace_sampler *sampler = raw_cpu_ptr(&kmemtrace_samplers);
	bool chosen;

	if (sampler->place == 0) {
		sampler->seed = next_pseudo_random32(sampler->seed);
		sampler->chosen = (u64)sampler->seed * filter->sample >> 32;
	}
	chosen = sampler->place == sampler->chosen;
	if (++sampler->place >= filter->sample)
		sampler->place = 0;
	return chosen;
}
NOKPROBE_SYMBOL(kmemtrace_passes_sample);

bool kmemtrace_filter_passes(u8 event_id, u8 type_id, u64 ptr,
			     size_t bytes_alloc, u16 cache)
{
	const struct kmemtrace_filter *filter;

	/*
	 * The writer is in rcu_read_lock_sched_notrace(), of which lockdep sees
	 * nothing but that the context is not preemptible.
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
	return filter->sample == 1 || kmemtrace_passes_sample(filter);
}
NOKPROBE_SYMBOL(kmemtrace_filter_passes);

/* --- What filters follow ----------------------------------------------------- */

/* Also where nobody is followed: the number may have been somebody else's. */
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

void kmemtrace_filter_cache(u16 number, const char *name)
{
	struct kmemtrace_filter *filter;

	rcu_read_lock();
	filter = rcu_dereference(kmemtrace_filter);
	if (filter && filter->caches)
		kmemtrace_match_cache(filter, number, name);
	rcu_read_unlock();
}

/* --- The text ---------------------------------------------------------------- */

/* "100", "100-", "-200", "100-200" */
static const char *kmemtrace_parse_size(struct kmemtrace_filter *filter,
					char *value)
{
	char *max = strchr(value, '-');
	unsigned long long bytes;

	filter->size_min = 0;
	filter->size_max = SIZE_MAX;
	if (max)
		*max++ = '\0';
	if (*value) {
		if (kstrtoull(value, 10, &bytes) || bytes > SIZE_MAX)
			return "size is no number of bytes";
		filter->size_min = bytes;
		if (!max)
			filter->size_max = bytes;
	}
	if (max && *max) {
		if (kstrtoull(max, 10, &bytes) || bytes > SIZE_MAX)
			return "size is no number of bytes";
		filter->size_max = bytes;
	}
	if (!*value && !(max && *max))
		return "size has neither a least nor a largest number of bytes";
	if (filter->size_min > filter->size_max)
		return "size begins above its end";
	filter->by_size = true;
	return NULL;
}

static const char *kmemtrace_parse_caches(struct kmemtrace_filter *filter,
					  char *value)
{
	const char *name;
	size_t n;

	if (kmemtrace_abi < 2)
		return "version 1 of the records does not know caches";
	for (name = value;; name += n + 1) {
		n = strcspn(name, ",");
		if (!n)
			return "cache has an empty name";
		if (n >= 64)
			return "cache has a name of more than 63 characters";
		if (!name[n])
			break;
	}
	filter->names = value;
	return NULL;
}

static const char *kmemtrace_parse_pids(struct kmemtrace_filter *filter,
					char *value)
{
	unsigned int pid;
	char *word;

	filter->by_pid = true;
	while ((word = strsep(&value, ","))) {
		if (kstrtouint(word, 10, &pid) || pid >= PID_MAX_LIMIT)
			return "pid is not the number of a task";
		__set_bit(pid, filter->pids);
	}
	return NULL;
}

static const char *kmemtrace_parse_sample(struct kmemtrace_filter *filter,
					  char *value)
{
	if (kstrtou32(value, 10, &filter->sample) || !filter->sample ||
	    filter->sample > KMEMTRACE_SAMPLE_MAX)
		return "sample is not a number from 1 to 1000000";
	return NULL;
}

static void kmemtrace_free_filter(struct kmemtrace_filter *filter)
{
	if (!filter)
		return;
	kvfree(filter->caches);
	kvfree(filter->pids);
	kfree(filter->names);
	kfree(filter->text);
	kfree(filter);
}

/* Each word at most once.  Returns what is wrong, or NULL. */
static const char *kmemtrace_parse_word(struct kmemtrace_filter *filter,
					char *word)
{
	char *value = strchr(word, '=');
	const char *c;

	for (c = word; *c; c++)
		if (!isascii(*c) || !isgraph(*c))
			return "a character is not one of printable ASCII";
	if (!value) {
		if (strcmp(word, "children"))
			return "a word is neither KEY=VALUE nor children";
		filter->children = true;
		return NULL;
	}
	*value++ = '\0';
	if (!strcmp(word, "size"))
		return filter->by_size ? "size is there twice" :
					 kmemtrace_parse_size(filter, value);
	if (!strcmp(word, "cache"))
		return filter->names ? "cache is there twice" :
				       kmemtrace_parse_caches(filter, value);
	if (!strcmp(word, "pid"))
		return filter->by_pid ? "pid is there twice" :
					kmemtrace_parse_pids(filter, value);
	if (!strcmp(word, "sample"))
		return filter->sample ? "sample is there twice" :
					kmemtrace_parse_sample(filter, value);
	return "a key is none of size, cache, pid, sample";
}

/*
 * text is changed.  NULL: no filter; an error, with *why where it is not for
 * want of memory.
 */
static struct kmemtrace_filter *kmemtrace_parse(char *text, const char **why)
{
	struct kmemtrace_filter *filter;
	char *word, *names;
	size_t n = 0;

	*why = NULL;
	text = strim(text);
	if (!*text || !strcmp(text, "none"))
		return NULL;
	filter = kzalloc(sizeof(*filter), GFP_KERNEL);
	if (!filter)
		return ERR_PTR(-ENOMEM);
	filter->text = kmalloc(strlen(text) + 1, GFP_KERNEL);
	filter->pids = kvcalloc(BITS_TO_LONGS(PID_MAX_LIMIT), sizeof(long),
				GFP_KERNEL);
	if (!filter->text || !filter->pids)
		goto no_memory;
	while (!*why && (word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		n += sprintf(filter->text + n, "%s%s", n ? " " : "", word);
		*why = kmemtrace_parse_word(filter, word);
	}
	if (!*why && filter->children && !filter->by_pid)
		*why = "children is there without pid";
	/* names points into the text, which the caller frees. */
	names = filter->names;
	filter->names = NULL;
	if (*why) {
		kmemtrace_free_filter(filter);
		return ERR_PTR(-EINVAL);
	}
	filter->sample = filter->sample ?: 1;
	if (!filter->by_pid) {
		kvfree(filter->pids);
		filter->pids = NULL;
	}
	if (names) {
		filter->names = kstrdup(names, GFP_KERNEL);
		filter->caches = kvcalloc(BITS_TO_LONGS(U16_MAX + 1),
					  sizeof(long), GFP_KERNEL);
		if (!filter->names || !filter->caches)
			goto no_memory;
	}
	return filter;

no_memory:
	kmemtrace_free_filter(filter);
	return ERR_PTR(-ENOMEM);
}

/* --- Setting it -------------------------------------------------------------- */

/* Whether frees are recorded of what was allocated under it, and no others. */
static bool kmemtrace_decides_frees(const struct kmemtrace_filter *filter)
{
	if (!filter)
		return true;
	if (filter->pids || filter->sample > 1)
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

		/* A CPU that uses it meanwhile is out by one block. */
		sampler->seed += cpu + 1;
		sampler->place = 0;
	}
}

static u32 kmemtrace_sample(const struct kmemtrace_filter *filter)
{
	return filter ? filter->sample : 1;
}

/* For those who have to make sense of the session. */
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
 * Set @filter, which may be NULL, and own it from here on.  Return 0 or -errno.
 * Sleeps.
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
	/* Match twice: a cache may be created before the filter is in place. */
	if (filter && filter->caches)
		kmemtrace_tables_each_cache(kmemtrace_match_cache, filter);
	rcu_assign_pointer(kmemtrace_filter, filter);
	if (filter && filter->caches)
		kmemtrace_tables_each_cache(kmemtrace_match_cache, filter);
	kmemtrace_reset_samplers();
	kmemtrace_writer_look();
	if (followed && !(filter && filter->pids))
		unregister_trace_sched_process_fork(kmemtrace_probe_fork, NULL);
	if (kmemtrace_is_on())
		kmemtrace_note_filter(old, filter);
	/* Wait for all readers of the old filter, and records that it passed. */
	synchronize_rcu();
	mutex_unlock(&kmemtrace_mutex);
	kmemtrace_free_filter(old);
	return 0;
}

void kmemtrace_filter_new_session(void)
{
	const struct kmemtrace_filter *filter = kmemtrace_current_filter();

	kmemtrace_filtered = filter != NULL;
	kmemtrace_filter_changed = false;
	kmemtrace_frees_exact = kmemtrace_decides_frees(filter);
	kmemtrace_session_sample = kmemtrace_sample(filter);
}

void kmemtrace_filter_info(struct seq_file *m)
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

static int kmemtrace_filter_open(struct inode *inode, struct file *file)
{
	return kmemtrace_single_open(inode, file, kmemtrace_filter_show);
}

/* Enough for who tries what it takes, by hand or by a script. */
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
		filter = kmemtrace_parse(text, &why);
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

const struct file_operations kmemtrace_filter_fops = {
	.owner		= THIS_MODULE,
	.open		= kmemtrace_filter_open,
	.read		= seq_read,
	.write		= kmemtrace_filter_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};
