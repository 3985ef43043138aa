/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: views.  A view gives readers access to one set of buffers at a time: one
 * view to the live set, and one view to the snapshot.  A view has a wait queue for the
 * readers of each CPU.
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

/* The file cpu<n> of a view.  The file is created once and never removed. */
struct kmemtrace_cpu_file {
	struct kmemtrace_view	*view;
	unsigned int		cpu;
	struct dentry		*dentry;	/* NULL: not created yet */
	wait_queue_head_t	wait;
	struct irq_work		wake;		/* wakes the readers in wait */
};

struct kmemtrace_view {
	/* Protects buffers and generation.  Context: any but NMI. */
	raw_spinlock_t	lock;
	struct kmemtrace_buffers *buffers;	/* the view has a reference; or NULL */
	unsigned int	generation;	/* incremented by kmemtrace_view_replace() */
	/*
	 * True: after a change of buffers an open file reads from the new set.  False:
	 * the open file returns ESTALE.
	 */
	bool		follows;
	struct dentry	*dir;		/* directory of the files; NULL: none yet */
	struct kmemtrace_cpu_file __percpu *files;
	struct list_head list;		/* in kmemtrace_views */
};

/* The view of the live set, into which events are recorded. */
extern struct kmemtrace_view kmemtrace_live;

/* All views.  The list does not change after boot. */
extern struct list_head kmemtrace_views;

/* Initialise a view.  Context: early boot, before any other call. */
void kmemtrace_view_init(struct kmemtrace_view *view);

/*
 * Return the set of a view with a reference, which kmemtrace_buffers_put() releases, or
 * NULL.  Store the generation of the view in @generation unless that is NULL.  Context:
 * any but NMI.
 */
struct kmemtrace_buffers *kmemtrace_view_get(struct kmemtrace_view *view,
					     unsigned int *generation);

/*
 * Replace the set of a view by @buffers, which may be NULL, and return the old set.
 * The view becomes the owner of the reference to @buffers, and the caller that of the
 * reference to the old set.  Context: any but NMI.
 *
 * If events are recorded, the caller calls kmemtrace_recheck() after a change of
 * kmemtrace_live, so that the next event of each CPU is recorded into the new set.  A
 * CPU may still write a record to the old set when this function returns.
 */
struct kmemtrace_buffers *
kmemtrace_view_replace(struct kmemtrace_view *view,
		       struct kmemtrace_buffers *buffers);

/*
 * Return whether the set of a view has changed since @generation.  A reader calls this
 * function after kmemtrace_acquire_records().  If the set has not changed yet, a later
 * snapshot makes kmemtrace_release_records() fail, because the set is sealed or begins
 * another epoch after the view has changed.  If the set is removed from a view for
 * another reason than a snapshot, the set gets no more records, and the records that a
 * reader has acquired stay valid.  Any context.
 */
static inline bool kmemtrace_view_changed(struct kmemtrace_view *view,
					  unsigned int generation)
{
	return READ_ONCE(view->generation) != generation;
}

/*
 * If readers wait for a CPU's records, queue an irq_work that wakes them.  Context: any
 * but NMI.
 */
void kmemtrace_view_wake(struct kmemtrace_view *view, unsigned int cpu);

/* Call kmemtrace_view_wake() for each possible CPU.  Context: any but NMI. */
void kmemtrace_view_wake_all(struct kmemtrace_view *view);

#endif /* _MM_KMEMTRACE_VIEW_H */
