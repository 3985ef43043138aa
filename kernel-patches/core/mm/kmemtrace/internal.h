/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: declarations that the files of mm/kmemtrace/ share.
 */
#ifndef _MM_KMEMTRACE_INTERNAL_H
#define _MM_KMEMTRACE_INTERNAL_H

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <uapi/linux/kmemtrace_abi.h>

struct kmem_cache;
struct kmemtrace_mark;
struct seq_file;

extern unsigned int kmemtrace_abi;		/* version of the records */
extern unsigned int kmemtrace_record_size;	/* bytes */
extern bool kmemtrace_boot_enabled;		/* until boot is over */
extern unsigned int kmemtrace_subbufs;
extern unsigned int kmemtrace_subbuf_size;	/* bytes */

/* Makes sense of the parameters, of all of them together. */
void __init kmemtrace_settle_parameters(void);

/*
 * Buffers of another geometry; 0: as it is.  What is unread is discarded.
 * Sleeps.  0; EBUSY while tracing is on; EINVAL if this is too little or too
 * much; ENOMEM.  If it fails all is as it was.
 */
int kmemtrace_set_geometry(unsigned int subbufs, unsigned int subbuf_size);
bool kmemtrace_geometry_fits(unsigned int subbufs, unsigned int subbuf_size);

/* Text of a size of a sub-buffer, as "512K".  0 or -EINVAL. */
int kmemtrace_subbuf_bytes(const char *text, unsigned int *bytes);
extern const struct file_operations kmemtrace_mode_fops;
extern const struct file_operations kmemtrace_subbufs_fops;
extern const struct file_operations kmemtrace_subbuf_size_fops;

/*
 * Switches tracing on or off.  Off: when it returns no probe runs any more and
 * each record can be read.  On: a new session, without the unread records and
 * the loss of the one before.  Sleeps.  0 or -errno.
 */
int kmemtrace_switch(bool on);
bool kmemtrace_is_on(void);

/*
 * Begins a new session without switching off; where tracing is off, what is
 * unread and the loss of the session before are forgotten.  Sleeps.
 */
void kmemtrace_reset(void);

/* How many sessions have begun.  Context: kmemtrace_mutex is held. */
unsigned long kmemtrace_session(void);

/*
 * Serialises switching on and off, and all else that changes what is recorded.
 * Taken before cpu_hotplug_lock (registering a probe takes that), so never in a
 * CPU hotplug callback.
 */
extern struct mutex kmemtrace_mutex;

/*
 * The writer.  Between attach and detach probes are called; between start
 * and stop they record.  start is called with kmemtrace_live.buffers set and
 * forgets what was lost.  When stop returns a record may still be under way, and
 * is not any more after kmemtrace_writer_wait(), which sleeps.
 *
 * Which probes belong together: events.c switches each of these by
 * itself.  attach and detach sleep; attach: 0 or -errno.
 */
enum kmemtrace_probes {
	KMEMTRACE_PROBES_KMALLOC,
	KMEMTRACE_PROBES_KFREE,
	KMEMTRACE_PROBES_CACHE_ALLOC,
	KMEMTRACE_PROBES_CACHE_FREE,
	KMEMTRACE_PROBES_PAGE_ALLOC,
	KMEMTRACE_PROBES_PAGE_FREE,
	/* With version 2 and later: */
	KMEMTRACE_PROBES_PERCPU_ALLOC,
	KMEMTRACE_PROBES_PERCPU_FREE,
	KMEMTRACE_PROBES_VMALLOC_ALLOC,
	KMEMTRACE_PROBES_VMALLOC_FREE,
};

void __init kmemtrace_writer_init(void);
int kmemtrace_writer_attach(enum kmemtrace_probes probes);
void kmemtrace_writer_detach(enum kmemtrace_probes probes);
void kmemtrace_writer_start(void);
void kmemtrace_writer_stop(void);
void kmemtrace_writer_wait(void);

/* Reset the counts of lost events.  Context: no event is recorded.  Sleeps. */
void kmemtrace_writer_forget(void);

/*
 * The guard against events inside of the tracer, from a probe or a WARN: between
 * enter and leave such an event on this CPU is refused and counted as lost.
 * Interrupts are off in between, and the pairs may nest.  Every lock of the
 * readers and of snapshots is taken by kmemtrace_lock(), which is enter and the
 * lock in one.  Context: any but NMI.
 */
struct kmemtrace_guard {
	unsigned long	flags;
	bool		nested;		/* another pair is around this one */
};

void kmemtrace_guard_enter(struct kmemtrace_guard *guard);
void kmemtrace_guard_leave(const struct kmemtrace_guard *guard);
void kmemtrace_lock(raw_spinlock_t *lock, struct kmemtrace_guard *guard)
	__acquires(lock);
void kmemtrace_unlock(raw_spinlock_t *lock, const struct kmemtrace_guard *guard)
	__releases(lock);

/*
 * Whether the caller is inside of the tracer: in a guarded section, or nested in
 * the writing of a record.  Any context.
 */
bool kmemtrace_is_guarded(void);

/*
 * Makes the next event of each CPU look at what is out of the ordinary: see
 * kmemtrace_make_room().  Any context.
 */
void kmemtrace_writer_look(void);

/* The name of the clock that timestamps are of. */
const char *kmemtrace_clock_name(void);

/*
 * A kind of event that is switched separately, by events/<name>/enabled in
 * debugfs, with a line in info.  Only events.c uses the members from
 * active on.
 */
struct kmemtrace_switch {
	/* Unique, and good for the name of a file. */
	const char		*name;
	/* The ids of the records; type_id 0 where they have none. */
	u8			event_id;
	u8			type_id;
	/*
	 * Begins or ends to record it.  Called with kmemtrace_mutex held, and
	 * only as often as it changes: on while tracing is on and the switch
	 * is, off else.  May sleep.  on: 0 or -errno, and nothing is recorded.
	 * When off returns a record may still be under way.
	 */
	int			(*set)(struct kmemtrace_switch *sw, bool on);
	/* More words for its line in info, or NULL. */
	void			(*show)(struct seq_file *m,
					const struct kmemtrace_switch *sw);
	/* Switched off by user space, or at registration. */
	bool			off;

	bool			active;		/* set() was called with on */
	bool			missed;		/* off in this session */
	struct list_head	list;
	struct dentry		*dir;
};

/*
 * Both sleep, with kmemtrace_mutex not held.  register: 0 or -errno, of set();
 * may be called before debugfs exists.  When unregister returns nothing is
 * recorded any more and nobody uses sw.
 */
int kmemtrace_switch_register(struct kmemtrace_switch *sw);
void kmemtrace_switch_unregister(struct kmemtrace_switch *sw);

/* Attach and detach all switches.  Context: kmemtrace_mutex is held.  0 or -errno. */
void __init kmemtrace_events_init(void);
int kmemtrace_events_attach(void);
void kmemtrace_events_detach(void);
void kmemtrace_events_new_session(void);
void __init kmemtrace_events_debugfs(struct dentry *dir);
extern const struct file_operations kmemtrace_info_fops;
extern const struct file_operations kmemtrace_reset_fops;

struct kmemtrace_filter;
extern struct kmemtrace_filter __rcu *kmemtrace_filter;	/* NULL: none */

/*
 * Whether the filter lets an allocation or a free be recorded.  Context: any but
 * NMI, with interrupts off, in rcu_read_lock_sched_notrace().
 */
bool kmemtrace_filter_passes(u8 event_id, u8 type_id, u64 ptr,
			     size_t bytes_alloc, u16 cache);
/* Match a cache that just got its number in the table of caches. */
void kmemtrace_filter_cache(u16 number, const char *name);
void kmemtrace_filter_new_session(void);
void kmemtrace_filter_info(struct seq_file *m);
extern const struct file_operations kmemtrace_filter_fops;

/*
 * Every open function of a file in debugfs calls kmemtrace_may_open() first, or
 * is one of the others here, which do.  0; -EPERM: the kernel is locked down.
 */
int kmemtrace_may_open(void);
int kmemtrace_simple_open(struct inode *inode, struct file *file);
int kmemtrace_single_open(struct inode *inode, struct file *file,
			  int (*show)(struct seq_file *m, void *v));
int kmemtrace_seq_open(struct file *file, const struct seq_operations *ops);

/* Defines name_fops of a file that shows what name_show() prints. */
#define KMEMTRACE_SHOW_FOPS(name)					\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return kmemtrace_single_open(inode, file, name##_show);		\
}									\
									\
static const struct file_operations name##_fops = {			\
	.owner		= THIS_MODULE,					\
	.open		= name##_open,					\
	.read		= seq_read,					\
	.llseek		= seq_lseek,					\
	.release	= single_release,				\
}

/*
 * Reads a boolean that user space wrote to the file of that name.  0, or
 * -errno, and the log tells what the file takes.
 */
int kmemtrace_bool_from_user(const char *name, const char *takes,
			     const char __user *buffer, size_t count,
			     bool *value);

/*
 * Reads a number in decimal, octal (0...) or hexadecimal (0x...) and an optional
 * suffix K, M, G, T, P or E for a power of 1024, which is all of text.  0;
 * -EINVAL: text is something else, or the number does not fit.
 */
int kmemtrace_parse_bytes(const char *text, u64 *bytes);

/*
 * Whether events are recorded: kmemtrace_is_on(), but not while that changes.
 * Any context.
 */
bool kmemtrace_is_recording(void);

/* Set whether the writer calls kmemtrace_trigger_count().  Any context. */
void kmemtrace_writer_watch(bool on);

/*
 * Write KMEMTRACE_EVENT_STOP on this CPU, if there is room.  Context: between
 * kmemtrace_guard_enter() and leave, and not nested in the writing of a record.
 */
void kmemtrace_write_stop(const char *why, unsigned long caller);

/*
 * Switches tracing off if the writer was stopped where one cannot sleep.  Sleeps.
 */
void kmemtrace_finish_stop(void);

/*
 * Stacks: with_stacks does not change once tracing was on.  init, before the
 * parameters are settled, may sleep.
 */
extern bool kmemtrace_with_stacks;
void __init kmemtrace_stacks_init(void);
void kmemtrace_stacks_new_session(void);
/* The number of the stack below an allocator that returns to call_site. */
u32 kmemtrace_save_stack(unsigned long call_site);
static __always_inline void
kmemtrace_put_stack(struct kmemtrace_event_v2s *event, u32 stack)
{
	event->stack = stack;
	event->reserved = 0;
}

extern const struct file_operations kmemtrace_stacks_fops;

/*
 * Between enter and leave, the records of this CPU and context with the call site
 * of @op share one stack: enter copies @op, and leave copies the stack back to
 * it.  Preemption is off in between.
 */
struct kmemtrace_operation;

void __kmemtrace_operation_enter(const struct kmemtrace_operation *op);
void __kmemtrace_operation_leave(struct kmemtrace_operation *op);

static __always_inline void
kmemtrace_operation_enter(const struct kmemtrace_operation *op)
{
	if (kmemtrace_with_stacks)
		__kmemtrace_operation_enter(op);
}

static __always_inline void
kmemtrace_operation_leave(struct kmemtrace_operation *op)
{
	if (kmemtrace_with_stacks)
		__kmemtrace_operation_leave(op);
}

/*
 * A fast unwinder for the usual stacks of the running task.  Store the return
 * addresses from call_site on, at most max of them.  Return how many; 0 where
 * only stack_trace_save() can unwind this stack.  Context: preemption is off.
 */
unsigned int kmemtrace_unwind(unsigned long call_site, unsigned long *entries,
			      unsigned int max);
void __init kmemtrace_unwind_init(void);

/* At most so many functions are between an event's call site and the unwinder. */
#define KMEMTRACE_STACK_OURS	12

/* Events of cpu that were not recorded since tracing was last switched on. */
u64 kmemtrace_lost(unsigned int cpu);

/*
 * Write a record of the last loss of each CPU, where there is room.  Context: no
 * event is recorded, kmemtrace_live.buffers is set.  Sleeps.
 */
void kmemtrace_writer_tell_lost(void);

/* The clock of the records, on this CPU.  Any context. */
u64 kmemtrace_clock(void);

/*
 * Write n records in a row.  The caller keeps interrupts off from begin to end.
 * begin reserves the room; false: the event is counted as lost, or nothing is
 * recorded, and none of the others may be called.  For each record, next returns
 * its address and commit publishes it.  end lets other events write again.
 * record_time: the time of a record, in the order of writing.
 */
bool kmemtrace_begin_records(unsigned int n);
void *kmemtrace_next_record(void);
void kmemtrace_commit_record(void);
u64 kmemtrace_record_time(void);
void kmemtrace_end_records(void);

/*
 * The tables of caches and tasks, of version 2 and later; else these do nothing.
 * attach registers the probes that collect names; it returns 0 or -errno.  The
 * tables do not change until a new session begins, nor after it ended.  All sleep.
 */
int kmemtrace_tables_attach(void);
void kmemtrace_tables_detach(void);
/* Their memory.  Context: detached, and there was no session yet. */
void kmemtrace_tables_free(void);
void kmemtrace_tables_new_session(void);
void kmemtrace_tables_end_session(void);
/* Calls func for each cache that has a number.  func does not sleep. */
void kmemtrace_tables_each_cache(void (*func)(void *data, u16 number,
					      const char *name),
				 void *data);
extern const struct file_operations kmemtrace_caches_fops;
extern const struct file_operations kmemtrace_tasks_fops;

/* A text as the tables have it. */
void kmemtrace_put_escaped(struct seq_file *m, const char *text);

/* Annotations.  With version 1 these functions do nothing. */
void __init kmemtrace_marks_init(void);
/* Drop the marks of unloaded modules.  Context: kmemtrace_mutex is held. */
void kmemtrace_marks_new_session(void);
/* The annotation of the lines that are written to the file marker. */
extern struct kmemtrace_mark kmemtrace_marker;
extern const struct file_operations kmemtrace_marks_fops;
extern const struct file_operations kmemtrace_marker_fops;

struct kmemtrace_buffers;

/*
 * Take a snapshot.  The user sees @why and @caller.  Return 0; -EPERM in NMI
 * context; -EBUSY while another snapshot is taken, or inside of the tracer (see
 * kmemtrace_is_guarded()); -ENODATA where nothing is recorded; -ENOBUFS without
 * spare buffers, and then tracing was stopped.  Any context.
 */
int kmemtrace_take_snapshot(const char *why, unsigned long caller);

/*
 * Allocate spare buffers unless they exist.  Return 0 or -errno.  This and the
 * functions below need kmemtrace_mutex; prepare, free and use sleep.
 */
int kmemtrace_snapshot_prepare(void);
/* Free the spare buffers, or the snapshot that is in them. */
void kmemtrace_snapshot_free(void);
/* Whether there are spare buffers or a snapshot. */
bool kmemtrace_snapshot_has_buffers(void);
/* Free spare buffers and snapshot, and make @buffers the spare ones. */
void kmemtrace_snapshot_use(struct kmemtrace_buffers *buffers);
void kmemtrace_snapshot_new_session(void);
void __init kmemtrace_snapshot_init(void);
/* The directory snapshot, in parent. */
void __init kmemtrace_snapshot_debugfs_init(struct dentry *parent);

struct kmem_cache;
struct kmemtrace_trigger;

/*
 * Account an event to the triggers that count bytes.  Return the trigger to fire
 * for it, or NULL.  Context: the writer, with interrupts off, in
 * rcu_read_lock_sched_notrace().
 */
struct kmemtrace_trigger *
kmemtrace_trigger_count(u8 event_id, u8 type_id, unsigned long call_site,
			u64 ptr, size_t bytes_alloc);
/*
 * Disarm @trigger and take its snapshot, if it is armed.  Context: any but NMI, in
 * the read-side section in which the trigger was found.
 */
void kmemtrace_trigger_fire(struct kmemtrace_trigger *trigger,
			    unsigned long caller);
/* Fire the triggers of the annotation @name.  Any context; an NMI fires none. */
void kmemtrace_trigger_mark(const char *name, unsigned long caller);
/* Count anew.  Context: kmemtrace_mutex is held and no CPU writes.  Sleeps. */
void kmemtrace_trigger_new_session(void);
/* Forget a cache that is being destroyed.  Context: slab_mutex is held. */
void kmemtrace_trigger_cache_gone(const struct kmem_cache *s);
extern const struct file_operations kmemtrace_trigger_fops;

/*
 * Bring the files up to date at the begin of a session, at its end, and when new
 * buffers take the place of the live ones.  For the first two, no CPU writes and
 * kmemtrace_live.buffers is set.  debugfs need not exist yet.
 */
void kmemtrace_debugfs_new_session(void);
void kmemtrace_debugfs_end_session(void);
void kmemtrace_debugfs_new_buffers(void);

#endif /* _MM_KMEMTRACE_INTERNAL_H */
