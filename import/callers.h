/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find the call site of an event in its callchain. A tracepoint fires within
 * the allocator, so the callchain begins with functions of the allocator.
 */
#ifndef KMEMTRACE_IMPORT_CALLERS_H
#define KMEMTRACE_IMPORT_CALLERS_H

#include <kmemtrace_abi.h>

#include <glib.h>

/*
 * Return the name of the function that contains address, or NULL if the name is
 * not known. The string belongs to the callee.
 */
typedef const char *(*KmtImportFunctionName)(gpointer user, guint64 address);

typedef struct KmtImportCallers KmtImportCallers;

/*
 * Create a filter for callchains. name resolves function names and receives
 * user; with a NULL name, the filter treats every function as unknown. Free the
 * filter with kmt_import_callers_free(), which accepts NULL.
 */
KmtImportCallers *kmt_import_callers_new(KmtImportFunctionName name,
					 gpointer user);
void kmt_import_callers_free(KmtImportCallers *callers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtImportCallers, kmt_import_callers_free)

/*
 * Remove the functions of the allocator from *stack, which contains n return
 * addresses, the innermost first. Advances *stack and returns the number of
 * remaining addresses.
 *
 * A slab event has a call site: the remaining stack begins at this address, or
 * at the second address if the stack does not contain the call site. A page
 * event has no call site: the function sets the call site to the first address
 * outside the page allocator. If function names are not known, or the stack
 * ends within the page allocator, the call site becomes the caller of the
 * function that contains the tracepoint. The stack of any other event without a
 * call site is shortened in the same way, but the event gets no call site.
 */
guint kmt_import_callers_apply(KmtImportCallers *callers,
			       struct kmemtrace_event *event,
			       const guint64 **stack, guint n);

#endif
