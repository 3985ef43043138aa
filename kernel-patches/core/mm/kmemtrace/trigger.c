// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: triggers, the conditions that take a snapshot, and their file trigger
 * in debugfs.  Documentation/ABI/testing/debugfs-kmemtrace describes it.
 *
 * A trigger fires once and is armed again when user space writes it again.  Its
 * memory is allocated when it is set, because memory may be short when it fires.
 *
 * The OOM killer, failed allocations and annotations call functions of this file.  The
 * triggers that count bytes need each allocation and free: while there is one, all
 * events except annotations go through kmemtrace_record_slow(), which calls this file.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
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

#include "compat_slab.h"
#include "features.h"
#include "file_util.h"
#include "guard.h"
#include "held.h"
#include "mark_record.h"
#include "snapshot.h"
#include "trigger.h"
#include "writer.h"

/* Limit, because each event is compared with each trigger that counts bytes. */
#define KMEMTRACE_TRIGGERS_MAX	16

/*
 * The list and the two numbers are changed with kmemtrace_mutex held; trigger.h
 * describes the members of a trigger.  Code without the mutex walks, counts and fires
 * triggers in a section of rcu_read_lock_sched_notrace(), so that synchronize_rcu()
 * waits for all users of a trigger.  kmemtrace_record_slow() or a function of this file
 * begins the section.  The section of the kernel's tracepoints does not suffice: since
 * Linux 7.0 it is preemptible, and synchronize_rcu() does not wait for it.
 *
 * The condition for RCU is !preemptible().  rcu_read_lock_sched_held() would ask
 * lockdep, which does not see the writer's raw interrupt flags.
 */
static LIST_HEAD(kmemtrace_triggers);
static unsigned int kmemtrace_n_triggers;
static unsigned int kmemtrace_n_counting;

#define kmemtrace_for_each_trigger(trigger)				\
	list_for_each_entry_rcu(trigger, &kmemtrace_triggers, list,	\
				!preemptible())

/* --- Firing ------------------------------------------------------------------ */

/*
 * Take the snapshot of a trigger.  While nothing is recorded, the trigger stays
 * armed, because there is no record to preserve.  Context: any but NMI, in the
 * read-side section that found the trigger.
 */
static void kmemtrace_trigger_fire(void *counted, unsigned long caller)
{
	struct kmemtrace_trigger *trigger = counted;
	int err;

	/*
	 * Interrupts may be on again; the read-side section keeps the trigger
	 * allocated.
	 */
	RCU_LOCKDEP_WARN(preemptible(),
			 "kmemtrace: a trigger is fired outside of its section");
	/* A snapshot cannot be taken inside of the tracer: leave the trigger armed. */
	if (!kmemtrace_is_recording() || kmemtrace_is_guarded() ||
	    !atomic_xchg(&trigger->armed, 0))
		return;
	err = kmemtrace_take_snapshot(trigger->text, caller);
	/*
	 * -EBUSY: another CPU is taking a snapshot, which serves this trigger, too.
	 * A second snapshot would replace the first one, and would have only the few
	 * records since then.  If recording has ended meanwhile, the other CPU may have
	 * taken no snapshot: arm the trigger again.
	 */
	if (err == -ENODATA || (err == -EBUSY && !kmemtrace_is_recording()))
		atomic_set(&trigger->armed, 1);
}
NOKPROBE_SYMBOL(kmemtrace_trigger_fire);

/*
 * Fire the triggers of a kind; with @operand, only those with this operand.  @caller:
 * return address of the code that meets the condition.  Any context; in an NMI, no
 * trigger is fired.
 */
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

/* Fire the triggers of an annotation: see kmemtrace_mark_fn.  Any context. */
static void kmemtrace_trigger_mark(const char *name, unsigned long caller)
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

/*
 * Count an event.  Return an armed trigger whose live bytes exceed its limit, or NULL.
 * Context: see count() of struct kmemtrace_watcher.
 */
static void *kmemtrace_trigger_count(u8 event_id, u8 type_id,
				     unsigned long call_site, u64 ptr,
				     size_t bytes_alloc)
{
	struct kmemtrace_trigger *trigger, *over = NULL;
	const struct kmem_cache *s = NULL;
	bool s_known = false;
	s64 change;

	/* Deferred memory is not available yet, so it counts until its FREE event. */
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

static const struct kmemtrace_watcher kmemtrace_trigger_watcher = {
	.count	= kmemtrace_trigger_count,
	.fire	= kmemtrace_trigger_fire,
};

/*
 * Let no trigger refer to a cache that is about to be destroyed.  Context: slab_mutex
 * is held.  kmemtrace_mutex nests outside slab_mutex and cannot be acquired here, so
 * the list is walked under RCU.
 */
static void kmemtrace_trigger_cache_gone(const struct kmem_cache *s)
{
	struct kmemtrace_trigger *trigger;

	rcu_read_lock_sched_notrace();
	kmemtrace_for_each_trigger(trigger)
		if (trigger->cache == s)
			WRITE_ONCE(trigger->cache, NULL);
	rcu_read_unlock_sched_notrace();
}

/*
 * Begin to count live bytes.  The count of a cache begins with the bytes of the cache's
 * objects in use.  The count of a call site begins at 0, because the call sites of
 * existing objects are not known.  Context: slab_mutex is held, and no CPU counts: the
 * trigger is not in the list yet, or recording was stopped and kmemtrace_writer_wait()
 * has returned.
 */
static void kmemtrace_trigger_start_count(struct kmemtrace_trigger *trigger)
{
	u64 bytes = 0;

	if (trigger->held)
		kmemtrace_held_clear(trigger->held);
	if (trigger->cache)
		bytes = kmemtrace_cache_held(trigger->cache);
	if (trigger->held || trigger->cache)
		kmemtrace_counter_set(&trigger->held_bytes, bytes);
}

/*
 * Let all triggers count anew in the session that begins.  Context: kmemtrace_mutex is
 * held, no event is recorded.  Sleeps.
 */
static void kmemtrace_triggers_begin(void)
{
	struct kmemtrace_trigger *trigger;

	mutex_lock(&slab_mutex);
	list_for_each_entry(trigger, &kmemtrace_triggers, list)
		kmemtrace_trigger_start_count(trigger);
	mutex_unlock(&slab_mutex);
}

/* --- Setting ----------------------------------------------------------------- */

/* Context: no other code can reach the trigger.  May sleep. */
static void kmemtrace_free_trigger(struct kmemtrace_trigger *trigger)
{
	kmemtrace_counter_destroy(&trigger->held_bytes);
	kmemtrace_held_free(trigger->held);
	kfree(trigger);
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
		kmemtrace_writer_set_watcher(NULL);
	synchronize_rcu();
	kmemtrace_free_trigger(trigger);
}

/*
 * Make a trigger visible, so that it can fire.  @name: the operand without the limit.
 * slab_mutex is held from the lookup of the cache until the trigger is in the list,
 * where kmemtrace_trigger_cache_gone() finds it, so that the cache cannot be destroyed
 * in between.  Return 0, or -ENOENT after logging that the cache does not exist.
 * Context: kmemtrace_mutex is held, slab_mutex is not.  Sleeps.
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
	kmemtrace_trigger_start_count(trigger);
	atomic_set(&trigger->armed, 1);
	list_add_tail_rcu(&trigger->list, &kmemtrace_triggers);
	mutex_unlock(&slab_mutex);

	WRITE_ONCE(kmemtrace_n_triggers, kmemtrace_n_triggers + 1);
	if (kmemtrace_is_counting(trigger) && !kmemtrace_n_counting++)
		kmemtrace_writer_set_watcher(&kmemtrace_trigger_watcher);
	return 0;
}

/* Add a trigger with a valid kind.  Context: kmemtrace_mutex is held.  Sleeps. */
static int kmemtrace_add_trigger(const char *text, int kind,
				 const char *its_operand)
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
	trigger->operand = trigger->text + (its_operand - text);
	operand = trigger->text + length;
	strscpy(operand, trigger->operand, length);
	err = kmemtrace_parse_trigger(trigger, operand);
	if (!err)
		err = kmemtrace_snapshot_prepare();
	if (!err)
		err = kmemtrace_publish_trigger(trigger, operand);
	if (err)
		kmemtrace_free_trigger(trigger);
	return err;
}

/*
 * Set or arm the trigger @text, or remove it after '!'.  Return 0 or -errno.  Context:
 * kmemtrace_mutex and slab_mutex are not held.  Sleeps.
 */
static int kmemtrace_set_trigger(char *text)
{
	bool remove = *text == '!';
	struct kmemtrace_trigger *trigger;
	const char *operand;
	int kind, err = 0;

	if (remove)
		text++;
	kind = kmemtrace_parse_kind(text, &operand);
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
		err = kmemtrace_add_trigger(text, kind, operand);
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
	struct kmemtrace_held_stats held;

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
			held = kmemtrace_held_stats(trigger->held);
			seq_printf(m, " held=%lld objects=%llu unfollowed=%llu",
				   kmemtrace_counter_sum(&trigger->held_bytes),
				   held.objects, held.unfollowed);
		}
		seq_printf(m, " %s\n", trigger->text);
	}
	mutex_unlock(&kmemtrace_mutex);
	return 0;
}

/* Parse and set one trigger.  The text may end with a newline. */
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

KMEMTRACE_SHOW_WRITE_FOPS(kmemtrace_trigger);

static void kmemtrace_trigger_init(void)
{
	WRITE_ONCE(kmemtrace_mark_hook, kmemtrace_trigger_mark);
}

static const struct kmemtrace_file kmemtrace_trigger_files[] = {
	{ "trigger", 0600, &kmemtrace_trigger_fops },
	{ }
};

struct kmemtrace_feature kmemtrace_trigger_feature = {
	.init			= kmemtrace_trigger_init,
	.begin			= kmemtrace_triggers_begin,
	.cache_destroyed	= kmemtrace_trigger_cache_gone,
	.files			= kmemtrace_trigger_files,
};
