/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table "stacks" of a capture, which contains each distinct stack once. */
#ifndef KMEMTRACE_IMPORT_IMPORT_STACKS_H
#define KMEMTRACE_IMPORT_IMPORT_STACKS_H

#include <glib.h>

/*
 * Maximum number of addresses per stack. The programs that read captures accept
 * no more; perf records at most 127 by default.
 */
#define KMT_IMPORT_STACKS_MAX_DEPTH 128

typedef struct KmtImportStacks KmtImportStacks;

/* Create an empty table; free it with kmt_import_stacks_free(). */
KmtImportStacks *kmt_import_stacks_new(void);
void kmt_import_stacks_free(KmtImportStacks *stacks);

/*
 * Return the number of the stack of n addresses, the innermost first. A new
 * stack is added to the table; addresses beyond the maximum depth are dropped.
 * A stack without addresses has the number KMEMTRACE_STACK_NONE.
 */
guint32 kmt_import_stacks_add(KmtImportStacks *stacks, const guint64 *addresses,
			      guint n);

/* Return the table as text. The caller frees the string. */
char *kmt_import_stacks_text(const KmtImportStacks *stacks);

#endif
