// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: conditions on which a snapshot is taken by itself, and their file
 * in debugfs, trigger.  Documentation/ABI/testing/debugfs-kmemtrace describes it.
 *
 * A trigger fires once and is armed again by being written again.  What it needs
 * is allocated when it is set: when it fires, memory may be what is short.
 *
 * The OOM killer, failed allocations and marks call in here when they happen,
 * which is rare.  Who holds how much is known only by looking at each event: the
 * writer does that in kmemtrace_record_slow(), through which all events go while
 * there is such a trigger, and none where there is not.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kmemtrace.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "counter.h"
#include "held.h"
#include "internal.h"

/* Each event is held against each of those that count bytes. */
#define KMEMTRACE_TRIGGERS_MAX	16

enum kmemtrace_trigger_kind {
	KMEMTRACE_TRIGGER_OOM,
	KMEMTRACE_TRIGGER_ALLOC_FAILURE,
	KMEMTRACE_TRIGGER_CACHE,
	KMEMTRACE_TRIGGER_SITE,
	KMEMTRACE_TRIGGER_MARK,
};

struct kmemtrace_trigger {
	struct list_head		list;
	enum kmemtrace_trigger_kind	kind;
	atomic_t			armed;
	u64				limit_bytes;
	/* CACHE, SITE: what is held, and the limit. */
	struct kmemtrace_counter	held_bytes;
	/* CACHE: changed with slab_mutex held.  NULL: it is gone. */
	struct kmem_cache		*cache;
	/* SITE: return addresses, from start + 1 to end, and their objects. */
	unsigned long			start, end;
	struct kmemtrace_held		*held;
	/* As it was written, without what may differ. */
	const char			*operand;	/* in text */
	char				text[];
};

/*
 * Changed with kmemtrace_mutex held.  Walked, counted and fired in a read-side
 * section of our own, rcu_read_lock_sched_notrace(), so that synchronize_rcu()
 * waits for all users of a trigger.  The section of the kernel's tracepoints is
 * not relied on: since Linux 7.0 it is preemptible, and synchronize_rcu() does not
 * wait for it.
 *
 * The condition is what RCU takes for such a section.  rcu_read_lock_sched_held()
 * would ask lockdep, which the writer's raw interrupt flags contradict.
 */
static LIST_HEAD(kmemtrace_triggers);
static unsigned int kmemtrace_n_triggers;
static unsigned int kmemtrace_n_counting;

#define kmemtrace_for_each_trigger(trigger)				\
	list_for_each_entry_rcu(trigger, &kmemtrace_triggers, list,	\
				!preemptible())

/* --- Firing ------------------------------------------------------------------ */

/*
 * Context: any but NMI, in the read-side section that found the trigger.  While
 * nothing is recorded the trigger stays armed, because there is no record to keep.
 */
void kmemtrace_trigger_fire(struct kmemtrace_trigger *trigger,
			    unsigned long caller)
{
	int err;

	/* Interrupts are on again: only the section keeps the trigger. */
	RCU_LOCKDEP_WARN(preemptible(),
			 "kmemtrace: a trigger is fired outside of its section");
	/* A snapshot cannot be taken inside of the tracer: stay armed. */
	if (!kmemtrace_is_recording() || kmemtrace_is_guarded() ||
	    !atomic_xchg(&trigger->armed, 0))
		return;
	err = kmemtrace_take_snapshot(trigger->text, caller);
	/*
	 * -EBUSY: the snapshot that another CPU is taking serves this trigger,
	 * too.  Firing once more would replace that snapshot by the few records
	 * since.  But tracing may just have been switched off, here or before
	 * the other CPU took its snapshot: then the trigger is not spent.
	 */
	if (err == -ENODATA || (err == -EBUSY && !kmemtrace_is_recording()))
		atomic_set(&trigger->armed, 1);
}
NOKPROBE_SYMBOL(kmemtrace_trigger_fire);

static void kmemtrace_trigger_fire_kind(enum kmemtrace_trigger_kind kind,
					const char *operand,
					unsigned long caller)
{
	struct kmemtrace_trigger *trigger;

	if (!READ_ONCE(kmemtrace_n_triggers) || in_nmi())
		return;
	rcu_read_lock_sched_notrace();
	kmemtrace_for_each_trigger(trigger) {
		if (trigger->kind != kind ||
		    (operand && strcmp(trigger->operand, operand)))
			continue;
		kmemtrace_trigger_fire(trigger, caller);
	}
	rcu_read_unlock_sched_notrace();
}

void kmemtrace_oom(void)
{
	kmemtrace_trigger_fire_kind(KMEMTRACE_TRIGGER_OOM, NULL, _RET_IP_);
}

void kmemtrace_alloc_failed(void)
{
	kmemtrace_trigger_fire_kind(KMEMTRACE_TRIGGER_ALLOC_FAILURE, NULL,
				    _RET_IP_);
}

void kmemtrace_trigger_mark(const char *name, unsigned long caller)
{
	kmemtrace_trigger_fire_kind(KMEMTRACE_TRIGGER_MARK, name, caller);
}

/* --- Counting ---------------------------------------------------------------- */

static s64 kmemtrace_cache_change(const struct kmem_cache *s, u8 event_id)
{
	s64 bytes = kmemtrace_cache_bytes_alloc(s);

	return event_id == KMEMTRACE_EVENT_FREE ? -bytes : bytes;
}
NOKPROBE_SYMBOL(kmemtrace_cache_change);

static s64 kmemtrace_site_change(struct kmemtrace_trigger *trigger, u8 event_id,
				 u8 type_id, unsigned long call_site, u64 ptr,
				 size_t bytes)
{
	u64 key = kmemtrace_held_key(ptr, type_id);

	if (event_id == KMEMTRACE_EVENT_FREE)
		return kmemtrace_held_remove(trigger->held, key);
	if (call_site <= trigger->start || call_site > trigger->end)
		return 0;
	return kmemtrace_held_add(trigger->held, key, bytes);
}
NOKPROBE_SYMBOL(kmemtrace_site_change);

struct kmemtrace_trigger *
kmemtrace_trigger_count(u8 event_id, u8 type_id, unsigned long call_site,
			u64 ptr, size_t bytes_alloc)
{
	struct kmemtrace_trigger *trigger, *over = NULL;
	const struct kmem_cache *s = NULL;
	bool s_known = false;
	s64 change;

	if (event_id != KMEMTRACE_EVENT_ALLOC &&
	    event_id != KMEMTRACE_EVENT_FREE)
		return NULL;
	kmemtrace_for_each_trigger(trigger) {
		change = 0;
		if (trigger->kind == KMEMTRACE_TRIGGER_SITE) {
			change = kmemtrace_site_change(trigger, event_id,
						       type_id, call_site, ptr,
						       bytes_alloc);
		} else if (trigger->kind == KMEMTRACE_TRIGGER_CACHE &&
			   type_id <= KMEMTRACE_TYPE_CACHE) {
			if (!s_known)
				s = kmemtrace_cache_of((void *)(unsigned long)ptr);
			s_known = true;
			if (s && s == READ_ONCE(trigger->cache))
				change = kmemtrace_cache_change(s, event_id);
		}
		if (!change)
			continue;
		kmemtrace_counter_add(&trigger->held_bytes, change);
		if (change > 0 && atomic_read(&trigger->armed) &&
		    kmemtrace_counter_is_over(&trigger->held_bytes))
			over = trigger;
	}
	return over;
}
NOKPROBE_SYMBOL(kmemtrace_trigger_count);

/* Context: slab_mutex is held. */
void kmemtrace_trigger_cache_gone(const struct kmem_cache *s)
{
	struct kmemtrace_trigger *trigger;

	rcu_read_lock_sched_notrace();
	kmemtrace_for_each_trigger(trigger)
		if (trigger->cache == s)
			WRITE_ONCE(trigger->cache, NULL);
	rcu_read_unlock_sched_notrace();
}

/*
 * Begin to count, from the bytes that are held now.  The count of a site begins at
 * 0, because the call sites of existing objects are not known.  Context: slab_mutex
 * is held and no CPU counts.
 */
static void kmemtrace_trigger_begin(struct kmemtrace_trigger *trigger)
{
	u64 bytes = 0;

	if (trigger->held)
		kmemtrace_held_clear(trigger->held);
	if (trigger->cache)
		bytes = kmemtrace_cache_held(trigger->cache);
	if (trigger->held || trigger->cache)
		kmemtrace_counter_set(&trigger->held_bytes, bytes);
}

/* Context: kmemtrace_mutex is held and nobody writes.  Sleeps. */
void kmemtrace_trigger_new_session(void)
{
	struct kmemtrace_trigger *trigger;

	mutex_lock(&slab_mutex);
	list_for_each_entry(trigger, &kmemtrace_triggers, list)
		kmemtrace_trigger_begin(trigger);
	mutex_unlock(&slab_mutex);
}

/* --- Setting ----------------------------------------------------------------- */

static bool kmemtrace_is_counting(const struct kmemtrace_trigger *trigger)
{
	return trigger->kind == KMEMTRACE_TRIGGER_CACHE ||
	       trigger->kind == KMEMTRACE_TRIGGER_SITE;
}

static void kmemtrace_free_trigger(struct kmemtrace_trigger *trigger)
{
	kmemtrace_counter_destroy(&trigger->held_bytes);
	kmemtrace_held_free(trigger->held);
	kfree(trigger);
}

static int kmemtrace_bad_trigger(int err, const char *text, const char *why)
{
	pr_warn_ratelimited("trigger '%s': %s\n", text, why);
	return err;
}

/*
 * Cuts text at its last '>' and takes the number behind it, which must be the
 * end of it and not 0.
 */
static bool kmemtrace_cut_limit(char *text, u64 *bytes)
{
	char *sign = strrchr(text, '>');

	if (!sign || sign == text || kmemtrace_parse_bytes(sign + 1, bytes))
		return false;
	*sign = '\0';
	return *bytes && *bytes <= S64_MAX;
}

/* Context: slab_mutex is held. */
static struct kmem_cache *kmemtrace_cache_named(const char *name)
{
	struct kmem_cache *s;

	list_for_each_entry(s, &slab_caches, list)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

static int kmemtrace_count_match(void *data, unsigned long addr)
{
	(*(unsigned int *)data)++;
	return 0;
}

/*
 * A function, FUNCTION+OFFSET as reports print a call site, or its address: the
 * first means all return addresses within it, the others just this one.
 */
static int kmemtrace_find_site(struct kmemtrace_trigger *trigger, char *name)
{
	char *plus = strchr(name, '+');
	unsigned long addr, offset = 0, size;
	unsigned int matches = 0;

	if (isdigit(*name)) {
		if (kstrtoul(name, 0, &addr))
			return -EINVAL;
		trigger->start = addr - 1;
		trigger->end = addr;
		return 0;
	}
	if (plus) {
		*plus = '\0';
		if (kstrtoul(plus + 1, 0, &offset) || !offset)
			return -EINVAL;
	}
	kallsyms_on_each_match_symbol(kmemtrace_count_match, name, &matches);
	if (matches > 1)
		return -ENOTUNIQ;
	/* In a module, "MODULE:FUNCTION" or just the function. */
	addr = kallsyms_lookup_name(name);
	if (!addr || !kallsyms_lookup_size_offset(addr, &size, NULL))
		return -ENOENT;
	if (plus && offset > size)
		return -EINVAL;
	trigger->start = plus ? addr + offset - 1 : addr;
	trigger->end = plus ? addr + offset : addr + size;
	return 0;
}

static int kmemtrace_parse_site(struct kmemtrace_trigger *trigger, char *name)
{
	int err;

	if (!IS_ENABLED(CONFIG_KALLSYMS))
		return kmemtrace_bad_trigger(-EOPNOTSUPP, trigger->text,
					     "this kernel has no kallsyms");
	err = kmemtrace_find_site(trigger, name);
	switch (err) {
	case 0:
		break;
	case -ENOENT:
		return kmemtrace_bad_trigger(err, trigger->text,
					     "there is no such function");
	case -ENOTUNIQ:
		return kmemtrace_bad_trigger(err, trigger->text,
					     "there are several functions of this name; give the address of a call site");
	default:
		return kmemtrace_bad_trigger(err, trigger->text,
					     "what follows the function is not an offset within it");
	}
	trigger->held = kmemtrace_held_alloc(trigger->limit_bytes);
	return trigger->held ? 0 : -ENOMEM;
}

static int kmemtrace_no_cache(const char *text)
{
	return kmemtrace_bad_trigger(-ENOENT, text,
				     "there is no cache of this name; it may be merged with another, see caches");
}

static int kmemtrace_parse_cache(struct kmemtrace_trigger *trigger,
				 const char *name)
{
	bool known;

	if (IS_ENABLED(CONFIG_SLOB))
		return kmemtrace_bad_trigger(-EOPNOTSUPP, trigger->text,
					     "this allocator does not know the caches of its objects");
	mutex_lock(&slab_mutex);
	known = kmemtrace_cache_named(name);
	mutex_unlock(&slab_mutex);
	return known ? 0 : kmemtrace_no_cache(trigger->text);
}

/* The kind of a trigger that begins with its word and, if has_operand, a ':'. */
static const struct {
	const char *word;
	bool has_operand;
	bool has_limit;
} kmemtrace_kinds[] = {
	[KMEMTRACE_TRIGGER_OOM]			= { "oom" },
	[KMEMTRACE_TRIGGER_ALLOC_FAILURE]	= { "alloc-failure" },
	[KMEMTRACE_TRIGGER_CACHE]		= { "cache:", true, true },
	[KMEMTRACE_TRIGGER_SITE]		= { "site:", true, true },
	[KMEMTRACE_TRIGGER_MARK]		= { "mark:", true },
};

static int kmemtrace_parse_kind(const char *text)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kmemtrace_kinds); i++) {
		if (!kmemtrace_kinds[i].has_operand) {
			if (!strcmp(text, kmemtrace_kinds[i].word))
				return i;
		} else if (str_has_prefix(text, kmemtrace_kinds[i].word)) {
			return i;
		}
	}
	return -EINVAL;
}

/*
 * operand: a copy that may be written to.  What a trigger means is found out
 * before it is looked whether it is set: its text is all that is compared.
 */
static int kmemtrace_parse_trigger(struct kmemtrace_trigger *trigger,
				   char *operand)
{
	int err = 0;

	if (kmemtrace_kinds[trigger->kind].has_limit &&
	    !kmemtrace_cut_limit(operand, &trigger->limit_bytes))
		return kmemtrace_bad_trigger(-EINVAL, trigger->text,
					     "it has to end in >BYTES, a number from 1 on with K, M or G");
	if (kmemtrace_kinds[trigger->kind].has_operand && !*operand)
		return kmemtrace_bad_trigger(-EINVAL, trigger->text,
					     "there is no name");
	if (trigger->kind == KMEMTRACE_TRIGGER_CACHE)
		err = kmemtrace_parse_cache(trigger, operand);
	else if (trigger->kind == KMEMTRACE_TRIGGER_SITE)
		err = kmemtrace_parse_site(trigger, operand);
	if (!err && kmemtrace_is_counting(trigger))
		err = kmemtrace_counter_init(&trigger->held_bytes,
					     trigger->limit_bytes);
	return err;
}

/* Context: kmemtrace_mutex is held. */
static struct kmemtrace_trigger *kmemtrace_find_trigger(const char *text)
{
	struct kmemtrace_trigger *trigger;

	list_for_each_entry(trigger, &kmemtrace_triggers, list)
		if (!strcmp(trigger->text, text))
			return trigger;
	return NULL;
}

/* Context: kmemtrace_mutex is held.  Sleeps. */
static void kmemtrace_remove_trigger(struct kmemtrace_trigger *trigger)
{
	list_del_rcu(&trigger->list);
	WRITE_ONCE(kmemtrace_n_triggers, kmemtrace_n_triggers - 1);
	if (kmemtrace_is_counting(trigger) && !--kmemtrace_n_counting)
		kmemtrace_writer_watch(false);
	synchronize_rcu();
	kmemtrace_free_trigger(trigger);
}

/*
 * From now on it can fire.  The cache must not go between being found and the
 * trigger being found by kmemtrace_trigger_cache_gone().
 */
static int kmemtrace_publish_trigger(struct kmemtrace_trigger *trigger,
				     const char *name)
{
	mutex_lock(&slab_mutex);
	if (trigger->kind == KMEMTRACE_TRIGGER_CACHE) {
		trigger->cache = kmemtrace_cache_named(name);
		if (!trigger->cache) {
			mutex_unlock(&slab_mutex);
			return kmemtrace_no_cache(trigger->text);
		}
	}
	kmemtrace_trigger_begin(trigger);
	atomic_set(&trigger->armed, 1);
	list_add_tail_rcu(&trigger->list, &kmemtrace_triggers);
	mutex_unlock(&slab_mutex);

	WRITE_ONCE(kmemtrace_n_triggers, kmemtrace_n_triggers + 1);
	if (kmemtrace_is_counting(trigger) && !kmemtrace_n_counting++)
		kmemtrace_writer_watch(true);
	return 0;
}

/* Context: kmemtrace_mutex is held.  text has been looked at.  Sleeps. */
static int kmemtrace_add_trigger(const char *text, int kind)
{
	size_t length = strlen(text) + 1;
	struct kmemtrace_trigger *trigger;
	char *operand;
	int err;

	if (kmemtrace_n_triggers >= KMEMTRACE_TRIGGERS_MAX)
		return kmemtrace_bad_trigger(-ENOSPC, text,
					     "there are too many already");
	trigger = kzalloc(struct_size(trigger, text, 2 * length), GFP_KERNEL);
	if (!trigger)
		return -ENOMEM;
	trigger->kind = kind;
	memcpy(trigger->text, text, length);
	trigger->operand = trigger->text + strlen(kmemtrace_kinds[kind].word);
	operand = trigger->text + length;
	strcpy(operand, trigger->operand);
	err = kmemtrace_parse_trigger(trigger, operand);
	if (!err)
		err = kmemtrace_snapshot_prepare();
	if (!err)
		err = kmemtrace_publish_trigger(trigger, operand);
	if (err)
		kmemtrace_free_trigger(trigger);
	return err;
}

static int kmemtrace_set_trigger(char *text)
{
	bool remove = *text == '!';
	struct kmemtrace_trigger *trigger;
	int kind, err = 0;

	if (remove)
		text++;
	kind = kmemtrace_parse_kind(text);
	if (kind < 0)
		return kmemtrace_bad_trigger(kind, text,
					     "neither oom, alloc-failure, cache:NAME>BYTES, site:FUNCTION>BYTES nor mark:NAME");

	mutex_lock(&kmemtrace_mutex);
	trigger = kmemtrace_find_trigger(text);
	if (remove && !trigger)
		err = kmemtrace_bad_trigger(-ENOENT, text, "it is not set");
	else if (remove)
		kmemtrace_remove_trigger(trigger);
	else if (!trigger)
		err = kmemtrace_add_trigger(text, kind);
	else
		err = kmemtrace_snapshot_prepare();
	if (!err && !remove && trigger)
		atomic_set(&trigger->armed, 1);
	mutex_unlock(&kmemtrace_mutex);
	return err;
}

/* --- The file ---------------------------------------------------------------- */

static int kmemtrace_trigger_show(struct seq_file *m, void *v)
{
	struct kmemtrace_trigger *trigger;
	struct kmemtrace_held_figures held;

	mutex_lock(&kmemtrace_mutex);
	list_for_each_entry(trigger, &kmemtrace_triggers, list) {
		seq_puts(m, atomic_read(&trigger->armed) ? "armed" : "fired");
		if (trigger->kind == KMEMTRACE_TRIGGER_CACHE) {
			if (READ_ONCE(trigger->cache))
				seq_printf(m, " held=%lld",
					   kmemtrace_counter_sum(&trigger->held_bytes));
			else
				seq_puts(m, " gone");
		} else if (trigger->held) {
			held = kmemtrace_held_figures(trigger->held);
			seq_printf(m, " held=%lld objects=%llu unfollowed=%llu",
				   kmemtrace_counter_sum(&trigger->held_bytes),
				   held.objects, held.unfollowed);
		}
		seq_printf(m, " %s\n", trigger->text);
	}
	mutex_unlock(&kmemtrace_mutex);
	return 0;
}

static int kmemtrace_trigger_open(struct inode *inode, struct file *file)
{
	return kmemtrace_single_open(inode, file, kmemtrace_trigger_show);
}

/* One trigger, with or without a newline. */
static ssize_t kmemtrace_trigger_write(struct file *file,
				       const char __user *buffer, size_t count,
				       loff_t *ppos)
{
	char *text;
	int err;

	if (count > PAGE_SIZE - 1)
		return kmemtrace_bad_trigger(-EINVAL, "...", "it is too long");
	text = memdup_user_nul(buffer, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (count && text[count - 1] == '\n')
		text[count - 1] = '\0';
	if (strlen(text) + 1 < count || strchr(text, '\n'))
		err = kmemtrace_bad_trigger(-EINVAL, "",
					    "one at a time, and as text");
	else
		err = kmemtrace_set_trigger(text);
	kfree(text);
	return err ?: count;
}

const struct file_operations kmemtrace_trigger_fops = {
	.owner		= THIS_MODULE,
	.open		= kmemtrace_trigger_open,
	.read		= seq_read,
	.write		= kmemtrace_trigger_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};
