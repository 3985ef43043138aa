/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: sessions.  A session begins when tracing is switched on or reset, and
 * ends when tracing is switched off.
 *
 * The features above this layer (probes, tables, filters, snapshots, files, ...)
 * register callbacks here, so that no lower layer refers to them.  features.h lists
 * the features in the order in which they are called.
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
 * Serialises switching on and off, and all else that changes what is recorded.
 * Taken before cpu_hotplug_lock, which registering a probe takes, and therefore
 * never in a CPU hotplug callback.
 */
extern struct mutex kmemtrace_mutex;

/*
 * Callbacks of a feature; each may be NULL.  From attach() to finish_resize() they
 * are called with kmemtrace_mutex held, and may sleep.
 */
struct kmemtrace_feature {
	/* Early boot, before the sizes of records and buffers are final. */
	void	(*setup)(void);
	/* Early boot, after that. */
	void	(*init)(void);

	/*
	 * Attach probes, before a session begins; return 0 or -errno.  detach() is
	 * called after recording has ended, in reverse order of the features.
	 */
	int	(*attach)(void);
	void	(*detach)(void);
	/* The first attempt to begin a session failed: free what it allocated. */
	void	(*release)(void);
	/* All unread records are dropped.  No event is recorded. */
	void	(*discard)(void);
	/* A session begins.  No event is recorded yet. */
	void	(*begin)(void);
	/* A session has ended, and the probes are still attached. */
	void	(*end)(void);
	/* Tracing is off, or the live set is another one: records can be read. */
	void	(*changed)(void);
	/*
	 * Other buffers of the feature for another geometry: prepare_resize()
	 * allocates them and returns 0 or -errno; finish_resize() uses them, or
	 * frees them if the change failed elsewhere.
	 */
	int	(*prepare_resize)(unsigned int subbufs, unsigned int subbuf_size);
	void	(*finish_resize)(bool use);

	/*
	 * A cache got its number in the table of caches, or is destroyed.
	 * Context: the former holds the mutex of that table, the latter
	 * slab_mutex.
	 */
	void	(*cache_numbered)(u16 number, const char *name);
	void	(*cache_destroyed)(const struct kmem_cache *s);

	/* Print lines for the head of info.  kmemtrace_mutex is held. */
	void	(*show_info)(struct seq_file *m);
	/* Files in the directory of kmemtrace in debugfs. */
	const struct kmemtrace_file *files;
	/* Create other files in that directory.  Called once. */
	void	(*debugfs)(struct dentry *dir);

	struct list_head list;
};

/* All features.  The list does not change after boot. */
extern struct list_head kmemtrace_features;

/* Call a callback of each feature that has it. */
#define kmemtrace_call_features(callback, ...)				\
	do {								\
		struct kmemtrace_feature *__feature;			\
									\
		list_for_each_entry(__feature, &kmemtrace_features, list) \
			if (__feature->callback)			\
				__feature->callback(__VA_ARGS__);	\
	} while (0)

/*
 * Switch tracing on or off.  Off: when this returns no probe runs any more and each
 * record can be read.  On: a new session begins, without the unread records and the
 * loss of the session before.  Return 0 or -errno.  Sleeps.
 */
int kmemtrace_set_enabled(bool on);

/* Return whether tracing is on.  Any context. */
bool kmemtrace_is_on(void);

/*
 * Begin a new session without switching off.  Where tracing is off, drop the unread
 * records and the loss of the session before.  Sleeps.
 */
void kmemtrace_reset(void);

/* Return how many sessions have begun.  Context: kmemtrace_mutex is held. */
unsigned long kmemtrace_session(void);

/*
 * Switch tracing off if the writer was stopped in a context that cannot sleep.
 * Sleeps.
 */
void kmemtrace_finish_stop(void);

/*
 * Allocate buffers of another geometry; 0: as it is.  What is unread is discarded.
 * Return 0; -EBUSY while tracing is on; -EINVAL if the geometry is not valid;
 * -ENOMEM.  On failure nothing has changed.  Sleeps.
 */
int kmemtrace_set_geometry(unsigned int subbufs, unsigned int subbuf_size);

#endif /* _MM_KMEMTRACE_SESSION_H */
