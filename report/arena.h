/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that is allocated in many small parts and released at once. Not
 * thread-safe. */
#ifndef KMEMTRACE_REPORT_ARENA_H
#define KMEMTRACE_REPORT_ARENA_H

#include <glib.h>

typedef struct {
	GPtrArray *blocks;
	char *next; /* first free byte of the last block */
	gsize left; /* number of free bytes at @next */
} KmtArena;

KmtArena *kmt_arena_new(void);
void kmt_arena_free(KmtArena *arena);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtArena, kmt_arena_free)

/* Return @size zero bytes with the alignment of g_malloc0(). */
void *kmt_arena_alloc0(KmtArena *arena, gsize size);

/* Return a copy of @text. */
char *kmt_arena_strdup(KmtArena *arena, const char *text);

#endif
