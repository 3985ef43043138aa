/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs events of ftrace's ring buffer with their stacks.  With the option
 * stacktrace (trace-cmd record -T) each event is followed by an event
 * kernel_stack of the same context.  Between the two there may be events of an
 * interrupt, each with a stack of its own.
 */
#ifndef KMEMTRACE_IMPORT_STACKQUEUE_H
#define KMEMTRACE_IMPORT_STACKQUEUE_H

#include "import/callers.h"
#include "import/import.h"

typedef struct KmtImportStackQueue KmtImportStackQueue;

/* import and callers have to outlive the queue. */
KmtImportStackQueue *kmt_import_stack_queue_new(KmtImport *import,
						KmtImportCallers *callers);
void kmt_import_stack_queue_free(KmtImportStackQueue *queue);

/*
 * Adds an event, in the order of its CPU.  An event of another CPU ends the
 * CPU before.  The queue hands the event over to import when its stack has
 * come, or cannot come any more, or when too many events wait.  has_record is
 * FALSE for an event that import has counted already: the queue drops it with
 * its stack.
 */
gboolean kmt_import_stack_queue_event(KmtImportStackQueue *queue,
				      const KmtImportEvent *event,
				      gboolean has_record, GError **error);

/* Adds a stack of n return addresses; common_flags name its context. */
gboolean kmt_import_stack_queue_stack(KmtImportStackQueue *queue, guint cpu,
				      guint8 common_flags,
				      const guint64 *addresses, guint n,
				      GError **error);

/* Hands over all events that wait.  Call it behind the last event of a CPU. */
gboolean kmt_import_stack_queue_flush(KmtImportStackQueue *queue,
				      GError **error);

#endif
