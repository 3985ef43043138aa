/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table "stacks" of a capture: each different stack once. */
#ifndef KMEMTRACE_IMPORT_IMPORT_STACKS_H
#define KMEMTRACE_IMPORT_IMPORT_STACKS_H

#include <glib.h>

/* The readers take no more addresses of a stack; perf records up to 127. */
#define KMT_STACKS_MAX_DEPTH 128

typedef struct KmtStacks KmtStacks;

KmtStacks *kmt_stacks_new(void);
void kmt_stacks_free(KmtStacks *stacks);

/*
 * Returns the number of the stack of n addresses, the innermost first.  A stack
 * without addresses has KMEMTRACE_STACK_NONE.
 */
guint32 kmt_stacks_add(KmtStacks *stacks, const guint64 *addresses, guint n);

/* The table as text.  The caller frees it. */
char *kmt_stacks_text(const KmtStacks *stacks);

#endif
