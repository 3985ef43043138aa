/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which address of a callchain an event belongs to.  A tracepoint fires within
 * the allocator, so the chain begins with functions of the allocator itself.
 */
#ifndef KMEMTRACE_IMPORT_CALLERS_H
#define KMEMTRACE_IMPORT_CALLERS_H

#include <kmemtrace_abi.h>

#include <glib.h>

/* The name of the function that contains address, or NULL. */
typedef const char *(*KmtImportFunctionName)(gpointer user, guint64 address);

typedef struct KmtImportCallers KmtImportCallers;

/* name may be NULL: then no address has a name. */
KmtImportCallers *kmt_import_callers_new(KmtImportFunctionName name,
					 gpointer user);
void kmt_import_callers_free(KmtImportCallers *callers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtImportCallers, kmt_import_callers_free)

/*
 * Removes the functions of the allocator from the n addresses of *stack, the
 * innermost first, which begins where the tracepoint fired.  Returns how many
 * are left, and moves *stack.
 *
 * An event of slab has its call site, and the stack begins there.  An event of
 * pages has none: it becomes the first address outside the page allocator.
 * Where functions have no names, that is the caller of the function that has
 * the tracepoint.
 */
guint kmt_import_callers_apply(KmtImportCallers *callers,
			       struct kmemtrace_event *event,
			       const guint64 **stack, guint n);

#endif
