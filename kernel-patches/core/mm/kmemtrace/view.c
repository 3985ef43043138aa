// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: views and their wait queues, and the view of the live set. */

#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>
#include <linux/smp.h>

#include "buffer.h"
#include "guard.h"
#include "view.h"

static DEFINE_PER_CPU(struct kmemtrace_cpu_file, kmemtrace_live_files);

struct kmemtrace_view kmemtrace_live = {
	.lock		= __RAW_SPIN_LOCK_UNLOCKED(kmemtrace_live.lock),
	.follows	= true,
	.files		= &kmemtrace_live_files,
};

LIST_HEAD(kmemtrace_views);

static __always_inline void kmemtrace_lock_view(struct kmemtrace_view *view,
						struct kmemtrace_guard *guard)
	__acquires(&view->lock)
{
	kmemtrace_lock(&view->lock, guard);
	kmemtrace_test_point(KMEMTRACE_TEST_VIEW_LOCK);
}

struct kmemtrace_buffers *kmemtrace_view_get(struct kmemtrace_view *view,
					     unsigned int *generation)
{
	struct kmemtrace_buffers *buffers;
	struct kmemtrace_guard guard;

	kmemtrace_lock_view(view, &guard);
	buffers = view->buffers;
	if (buffers)
		refcount_inc(&buffers->refs);
	if (generation)
		*generation = view->generation;
	kmemtrace_unlock(&view->lock, &guard);
	return buffers;
}
NOKPROBE_SYMBOL(kmemtrace_view_get);

struct kmemtrace_buffers *
kmemtrace_view_replace(struct kmemtrace_view *view,
		       struct kmemtrace_buffers *buffers)
{
	struct kmemtrace_buffers *old;
	struct kmemtrace_guard guard;

	kmemtrace_lock_view(view, &guard);
	old = view->buffers;
	/*
	 * The writer reads the pointer without the lock, so the contents of the set are
	 * stored before the pointer.  Pairs with smp_load_acquire() in
	 * kmemtrace_enter_buffer().
	 */
	smp_store_release(&view->buffers, buffers);
	view->generation++;
	kmemtrace_unlock(&view->lock, &guard);
	return old;
}
NOKPROBE_SYMBOL(kmemtrace_view_replace);

static void kmemtrace_wake(struct irq_work *wake)
{
	wake_up_interruptible(&container_of(wake, struct kmemtrace_cpu_file,
					    wake)->wait);
}

void kmemtrace_view_wake(struct kmemtrace_view *view, unsigned int cpu)
{
	struct kmemtrace_cpu_file *file = per_cpu_ptr(view->files, cpu);

	/*
	 * Orders the records before the test for waiting readers.  Pairs with
	 * poll_wait(), after which a reader tests for records.
	 */
	smp_mb();
	/* The barrier that waitqueue_active() needs is the one above. */
	if (waitqueue_active(&file->wait))
		irq_work_queue(&file->wake);
}
NOKPROBE_SYMBOL(kmemtrace_view_wake);

void kmemtrace_view_wake_all(struct kmemtrace_view *view)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kmemtrace_view_wake(view, cpu);
}

void kmemtrace_view_init(struct kmemtrace_view *view)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct kmemtrace_cpu_file *file = per_cpu_ptr(view->files, cpu);

		file->view = view;
		file->cpu = cpu;
		init_waitqueue_head(&file->wait);
		init_irq_work(&file->wake, kmemtrace_wake);
	}
	list_add_tail(&view->list, &kmemtrace_views);
}
