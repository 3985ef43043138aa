/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table "stacks" of a capture: each different stack once. */
#ifndef KMEMTRACE_IMPORT_IMPORT_STACKS_H
#define KMEMTRACE_IMPORT_IMPORT_STACKS_H

#include <glib.h>

/* The readers take no more addresses of a stack; perf records up to 127. */
#define KMT_IMPORT_STACKS_MAX_DEPTH 128

typedef struct KmtImportStacks KmtImportStacks;

KmtImportStacks *kmt_import_stacks_new(void);
void kmt_import_stacks_free(KmtImportStacks *stacks);

/*
 * Returns the number of the stack of n addresses, the innermost first.  A stack
 * without addresses has KMEMTRACE_STACK_NONE.
 */
guint32 kmt_import_stacks_add(KmtImportStacks *stacks, const guint64 *addresses,
			      guint n);

/* The table as text.  The caller frees it. */
char *kmt_import_stacks_text(const KmtImportStacks *stacks);

#endif
