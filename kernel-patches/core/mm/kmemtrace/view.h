/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: views.  A view shows one set of buffers at a time, the live one or a
 * snapshot, and has a wait queue for the readers of each CPU.
 */
#ifndef _MM_KMEMTRACE_VIEW_H
#define _MM_KMEMTRACE_VIEW_H

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

struct dentry;
struct kmemtrace_buffers;
struct kmemtrace_view;

/* The file cpu<n> of a view.  Once it is created it is never removed. */
struct kmemtrace_cpu_file {
	struct kmemtrace_view	*view;
	unsigned int		cpu;
	struct dentry		*dentry;	/* NULL: not created yet */
	wait_queue_head_t	wait;
	struct irq_work		wake;
};

/* A view holds a reference to its set of buffers. */
struct kmemtrace_view {
	raw_spinlock_t	lock;		/* any context but NMI */
	struct kmemtrace_buffers *buffers;	/* may be NULL */
	unsigned int	generation;	/* incremented with each other set */
	/* An open file follows to the next set; otherwise it gets ESTALE. */
	bool		follows;
	struct dentry	*dir;		/* of the files; NULL: not created yet */
	struct kmemtrace_cpu_file __percpu *files;
	struct list_head list;		/* of all views */
};

/* The view of the set that events are recorded into. */
extern struct kmemtrace_view kmemtrace_live;

/* All views.  The list does not change after boot. */
extern struct list_head kmemtrace_views;

/* Initialise a view.  Context: early boot, before any other call. */
void kmemtrace_view_init(struct kmemtrace_view *view);

/*
 * Return the set that a view shows, with a reference, or NULL.  Store its
 * generation in @generation unless that is NULL.  Context: any but NMI.
 */
struct kmemtrace_buffers *kmemtrace_view_get(struct kmemtrace_view *view,
					     unsigned int *generation);

/*
 * Show another set, or NULL, and return the old one.  Both references change their
 * owner.  Context: any but NMI.  After a change of kmemtrace_live,
 * kmemtrace_recheck() sends the next event of each CPU to the new set; a record may
 * still be written to the old one when this returns.
 */
struct kmemtrace_buffers *
kmemtrace_view_replace(struct kmemtrace_view *view,
		       struct kmemtrace_buffers *buffers);

/*
 * Return whether the view shows another set than the one of @generation.  Called
 * after kmemtrace_take(): if the set is the same, giving the records back fails as
 * soon as the set changes, because a set is sealed or renewed after the view has
 * changed.
 */
static inline bool kmemtrace_view_changed(struct kmemtrace_view *view,
					  unsigned int generation)
{
	return READ_ONCE(view->generation) != generation;
}

/*
 * Wake the readers that wait for the records of a CPU, or of any CPU.  An irq_work
 * does so, soon.  Context: any but NMI.
 */
void kmemtrace_view_wake(struct kmemtrace_view *view, unsigned int cpu);
void kmemtrace_view_wake_all(struct kmemtrace_view *view);

#endif /* _MM_KMEMTRACE_VIEW_H */
