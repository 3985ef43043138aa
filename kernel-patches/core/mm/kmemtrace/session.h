/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: sessions.  A session begins when tracing is switched on, and when
 * kmemtrace is reset while tracing is on.  The reset also ends the previous session.
 * Otherwise a session ends when tracing is switched off.
 *
 * The features (probes, tables, filters, snapshots, files, ...), except tags, are
 * layers above this layer.  They have callbacks, so that no lower layer refers to them.
 * feature_list.h lists the features in the order in which their callbacks are called;
 * end() and detach() are called in the reverse order.
 */
#ifndef _MM_KMEMTRACE_SESSION_H
#define _MM_KMEMTRACE_SESSION_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct dentry;
struct kmem_cache;
struct kmemtrace_file;
struct seq_file;

/*
 * Serialises changes of the session: switching tracing on and off, switches of events,
 * filters, triggers, and the geometry.  trigger.h lists the locks of each member of a
 * trigger.
 *
 * The locks of kmemtrace nest in this order, from the outside:
 *
 * kmemtrace_mark_names_mutex, kmemtrace_mutex, kmemtrace_marks_mutex, cpu_hotplug_lock
 * kmemtrace_mutex, slab_mutex, kmemtrace_caches_mutex
 * kmemtrace_mutex, kmemtrace_snapshot_lock, the lock of a view or of a reader
 * kmemtrace_mutex, kmemtrace_living_mutex, kmemtrace_tasks_lock
 * kmemtrace_mutex, kmemtrace_living_mutex, kmemtrace_existing_mutex, cgroup_mutex
 * cgroup_mutex, css_set_lock, kmemtrace_tasks_lock
 * cgroup_mutex, kmemtrace_cgroups_lock
 * kmemtrace_mutex or cpu_hotplug_lock, kmemtrace_files_mutex
 *
 * Registering a probe acquires cpu_hotplug_lock, so kmemtrace_mutex is never acquired
 * in a CPU hotplug callback.  The locks of tasks, of cgroups, of counters, of held
 * objects, and of the slots of tags are leaves.  kmemtrace_tags_mutex is acquired inside of
 * kmemtrace_mutex and of the lock of the module notifiers.
 */
extern struct mutex kmemtrace_mutex;

/*
 * A feature and its callbacks, each of which may be NULL.  The callbacks from attach()
 * to finish_resize() are called with kmemtrace_mutex held, and may sleep.
 */
struct kmemtrace_feature {
	/* Called in early boot, before the sizes of records and buffers are final. */
	void	(*setup)(void);
	/* Called in early boot, after the sizes of records and buffers are final. */
	void	(*init)(void);

	/* Attach probes, before a session begins.  Return 0 or -errno. */
	int	(*attach)(void);
	/*
	 * Detach probes, after recording has ended, or because attach() of a later
	 * feature has failed.  Last feature first.
	 */
	void	(*detach)(void);
	/* Free the memory of the feature, because the first session failed to begin. */
	void	(*release)(void);
	/* Drop the records that the feature holds.  No event is recorded. */
	void	(*discard)(void);
	/* Prepare the feature for the new session.  No event is recorded yet. */
	void	(*begin)(void);
	/*
	 * Called before detach() of the same feature, after recording was switched off.
	 * Not called when a reset ends the session.
	 */
	void	(*end)(void);
	/*
	 * Called after tracing was switched off, the live set was emptied, or the
	 * geometry was changed.
	 */
	void	(*changed)(void);
	/*
	 * Allocate the feature's buffers for another geometry, and hold them until
	 * finish_resize().  Return 0 or -errno.
	 */
	int	(*prepare_resize)(unsigned int subbufs, unsigned int subbuf_size);
	/*
	 * Replace the feature's buffers by those of prepare_resize().  If @use is
	 * false, free the buffers of prepare_resize(), because the change of the
	 * geometry has failed.
	 */
	void	(*finish_resize)(bool use);

	/* A cache got a number.  Called with the mutex of the table of caches held. */
	void	(*cache_numbered)(u16 number, const char *name);
	/* A cache is about to be destroyed.  Called with slab_mutex held. */
	void	(*cache_destroyed)(const struct kmem_cache *s);

	/* Print lines for the head of info.  Called with kmemtrace_mutex held. */
	void	(*show_info)(struct seq_file *m);
	/* Files in debugfs; NULL, or an array that ends with an empty entry. */
	const struct kmemtrace_file *files;
	/* Create other files in the directory of kmemtrace in debugfs.  Called once. */
	void	(*debugfs)(struct dentry *dir);

	struct list_head list;		/* in kmemtrace_features */
};

/* All features.  The list does not change after boot. */
extern struct list_head kmemtrace_features;

/* Call one callback of all features that have it, with the arguments that follow. */
#define kmemtrace_call_features(callback, ...)				\
	do {								\
		struct kmemtrace_feature *__feature;			\
									\
		list_for_each_entry(__feature, &kmemtrace_features, list) \
			if (__feature->callback)			\
				__feature->callback(__VA_ARGS__);	\
	} while (0)

/*
 * Switch tracing on or off.  Switching on begins a new session, which drops the unread
 * records and the counts of lost events.  When switching off returns, no probe
 * records an event, and readers can read each record.  Return 0; or -errno if tracing
 * cannot be switched on.  Context: kmemtrace_mutex is not held.  Sleeps.
 */
int kmemtrace_set_enabled(bool on);

/* Return whether tracing is on.  Any context. */
bool kmemtrace_is_on(void);

/*
 * Begin a new session without switching tracing off.  If tracing is off, drop the
 * unread records and the counts of lost events.  Context: kmemtrace_mutex is not held.
 * Sleeps.
 */
void kmemtrace_reset(void);

/* Return the number of sessions since boot.  Context: kmemtrace_mutex is held. */
unsigned long kmemtrace_session(void);

/*
 * Complete switching tracing off, if kmemtrace_writer_stop() was called in a context
 * that cannot sleep.  Context: kmemtrace_mutex is not held.  Sleeps.
 */
void kmemtrace_finish_stop(void);

/*
 * Change the geometry of the buffers and drop the unread records.  @subbufs: number of
 * sub-buffers per CPU; 0: unchanged.  @subbuf_size: in bytes, which is rounded down to
 * whole records; 0: unchanged.  Return 0; -EBUSY while tracing is on; -EINVAL if the
 * geometry is not valid; -ENOMEM.  On failure nothing has changed.  Context:
 * kmemtrace_mutex is not held.  Sleeps.
 */
int kmemtrace_set_geometry(unsigned int subbufs, unsigned int subbuf_size);

#endif /* _MM_KMEMTRACE_SESSION_H */
