// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/arena.h"

#include <string.h>

/* Size of a block. A larger part has a block of its own. */
#define BLOCK_BYTES ((gsize)1 << 15)
#define ALIGNMENT   ((gsize)16)

KmtArena *kmt_arena_new(void)
{
	KmtArena *arena = g_new0(KmtArena, 1);

	arena->blocks = g_ptr_array_new_with_free_func(g_free);
	return arena;
}

void kmt_arena_free(KmtArena *arena)
{
	if (!arena)
		return;
	g_ptr_array_unref(arena->blocks);
	g_free(arena);
}

static void add_block(KmtArena *arena)
{
	arena->next = g_malloc0(BLOCK_BYTES);
	arena->left = BLOCK_BYTES;
	g_ptr_array_add(arena->blocks, arena->next);
}

void *kmt_arena_alloc0(KmtArena *arena, gsize size)
{
	char *part;

	size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	if (size > BLOCK_BYTES) {
		part = g_malloc0(size);
		g_ptr_array_add(arena->blocks, part);
		return part;
	}
	if (size > arena->left)
		add_block(arena);
	part = arena->next;
	arena->next += size;
	arena->left -= size;
	return part;
}

char *kmt_arena_strdup(KmtArena *arena, const char *text)
{
	gsize size = strlen(text) + 1;

	return memcpy(kmt_arena_alloc0(arena, size), text, size);
}
