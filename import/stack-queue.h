/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs events of ftrace's ring buffer with their stacks. With the option
 * stacktrace (trace-cmd record -T), each event is followed by an event
 * kernel_stack of the same context. Events of an interrupt, each with its own
 * stack, may occur between the two.
 */
#ifndef KMEMTRACE_IMPORT_STACK_QUEUE_H
#define KMEMTRACE_IMPORT_STACK_QUEUE_H

#include "import/callers.h"
#include "import/import.h"

typedef struct KmtImportStackQueue KmtImportStackQueue;

/*
 * Create a queue; free it with kmt_import_stack_queue_free(), which accepts
 * NULL. import and callers must outlive the queue.
 */
KmtImportStackQueue *kmt_import_stack_queue_new(KmtImport *import,
						KmtImportCallers *callers);
void kmt_import_stack_queue_free(KmtImportStackQueue *queue);

/*
 * Append an event. The events of a CPU must arrive in order; an event of
 * another CPU flushes the queue. The queue adds the event to the import when
 * the stacks of this event and of all earlier ones have arrived or can no
 * longer arrive, or when too many events wait.
 * has_record is FALSE for an event that the import has already counted: the
 * queue drops this event and its stack. Errors are those of kmt_import_add().
 */
gboolean kmt_import_stack_queue_event(KmtImportStackQueue *queue,
				      const KmtImportEvent *event,
				      gboolean has_record, GError **error);

/*
 * Attach a stack of n return addresses to the last event of its context, or
 * drop the stack if this event already has one or no longer waits. common_flags
 * determine the context. Errors are those of kmt_import_stack_queue_event().
 */
gboolean kmt_import_stack_queue_stack(KmtImportStackQueue *queue, guint cpu,
				      guint8 common_flags,
				      const guint64 *addresses, guint n,
				      GError **error);

/*
 * Add all waiting events to the import. Call the function after the last event
 * of a CPU. Errors are those of kmt_import_stack_queue_event().
 */
gboolean kmt_import_stack_queue_flush(KmtImportStackQueue *queue,
				      GError **error);

#endif
