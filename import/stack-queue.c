// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import/stack-queue.h"

/*
 * Maximum number of waiting events. Only events of a few interrupts can occur
 * between an event and its stack, so a longer queue means that the stack was
 * lost.
 */
#define MAX_WAITING 1024

/* Execution contexts. Each context can interrupt the contexts before it. */
enum { LEVEL_TASK, LEVEL_SOFTIRQ, LEVEL_HARDIRQ, LEVEL_NMI, N_LEVELS };

typedef struct {
	KmtImportEvent event;
	char *cache;	      /* owned copy; event.cache points to it */
	gboolean has_record;  /* FALSE: the queue drops the event */
	gboolean is_complete; /* its stack arrived, or can no longer arrive */
	GArray *stack;	      /* guint64; NULL without a stack */
} Waiting;

struct KmtImportStackQueue {
	KmtImport *import;
	KmtImportCallers *callers;
	guint cpu;
	GQueue waiting; /* Waiting *, in the order of arrival */
	/* Last event of each context, if its stack may still arrive; otherwise
	 * NULL. */
	Waiting *incomplete[N_LEVELS];
};

KmtImportStackQueue *kmt_import_stack_queue_new(KmtImport *import,
						KmtImportCallers *callers)
{
	KmtImportStackQueue *q = g_new0(KmtImportStackQueue, 1);

	q->import = import;
	q->callers = callers;
	return q;
}

static void waiting_free(gpointer data)
{
	Waiting *w = data;

	g_clear_pointer(&w->stack, g_array_unref);
	g_free(w->cache);
	g_free(w);
}

void kmt_import_stack_queue_free(KmtImportStackQueue *q)
{
	if (!q)
		return;
	g_queue_clear_full(&q->waiting, waiting_free);
	g_free(q);
}

static guint level_of(guint8 common_flags)
{
	if (common_flags & KMT_TRACEPOINT_COMMON_NMI)
		return LEVEL_NMI;
	if (common_flags & KMT_TRACEPOINT_COMMON_HARDIRQ)
		return LEVEL_HARDIRQ;
	return common_flags & KMT_TRACEPOINT_COMMON_SOFTIRQ ? LEVEL_SOFTIRQ
							    : LEVEL_TASK;
}

static gboolean add_to_import(KmtImportStackQueue *q, Waiting *w,
			      GError **error)
{
	KmtImportEvent *event = &w->event;

	if (!w->has_record)
		return TRUE;
	event->cache = w->cache;
	if (w->stack) {
		event->stack = (const guint64 *)(gpointer)w->stack->data;
		event->n_stack =
			kmt_import_callers_apply(q->callers, &event->record,
						 &event->stack, w->stack->len);
	}
	return kmt_import_add(q->import, event, error);
}

/*
 * Add the events at the head of the queue to the import, in their order, up to
 * the first incomplete event.
 */
static gboolean add_complete_events(KmtImportStackQueue *q, GError **error)
{
	Waiting *w;
	gboolean ok = TRUE;

	while (ok && (w = g_queue_peek_head(&q->waiting)) && w->is_complete) {
		ok = add_to_import(q, w, error);
		waiting_free(g_queue_pop_head(&q->waiting));
	}
	return ok;
}

/*
 * Mark the last event of the context level, and of all contexts that can
 * interrupt this context, as complete. Called when an event or a stack of the
 * context level arrives: no later stack can belong to these events. LEVEL_TASK
 * marks the events of all contexts.
 */
static void complete_from(KmtImportStackQueue *q, guint level)
{
	for (; level < N_LEVELS; level++) {
		if (q->incomplete[level])
			q->incomplete[level]->is_complete = TRUE;
		q->incomplete[level] = NULL;
	}
}

gboolean kmt_import_stack_queue_flush(KmtImportStackQueue *q, GError **error)
{
	complete_from(q, LEVEL_TASK);
	return add_complete_events(q, error);
}

static gboolean select_cpu(KmtImportStackQueue *q, guint cpu, GError **error)
{
	if (cpu == q->cpu)
		return TRUE;
	q->cpu = cpu;
	return kmt_import_stack_queue_flush(q, error);
}

gboolean kmt_import_stack_queue_event(KmtImportStackQueue *q,
				      const KmtImportEvent *event,
				      gboolean has_record, GError **error)
{
	guint level = level_of(event->common_flags);
	Waiting *w;

	if (!select_cpu(q, event->cpu, error))
		return FALSE;
	w = g_new0(Waiting, 1);
	w->event = *event;
	w->cache = g_strdup(event->cache);
	w->has_record = has_record;
	complete_from(q, level);
	q->incomplete[level] = w;
	g_queue_push_tail(&q->waiting, w);
	return q->waiting.length > MAX_WAITING
		       ? kmt_import_stack_queue_flush(q, error)
		       : add_complete_events(q, error);
}

gboolean kmt_import_stack_queue_stack(KmtImportStackQueue *q, guint cpu,
				      guint8 common_flags,
				      const guint64 *addresses, guint n,
				      GError **error)
{
	guint level = level_of(common_flags);

	if (!select_cpu(q, cpu, error))
		return FALSE;
	if (q->incomplete[level]) {
		GArray *stack = g_array_new(FALSE, FALSE, sizeof(guint64));

		g_array_append_vals(stack, addresses, n);
		q->incomplete[level]->stack = stack;
	}
	complete_from(q, level);
	return add_complete_events(q, error);
}
