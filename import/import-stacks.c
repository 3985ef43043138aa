// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <kmemtrace_abi.h>
#include <string.h>

#include "import/import-stacks.h"
#include "lib/base/hash.h"

#define MIN_SLOTS 1024U

struct KmtImportStacks {
	/* For each stack the number of its addresses, then the addresses. */
	GArray *words;	/* guint64 */
	GArray *starts; /* gsize, indices in words; starts[0] is stack 1 */
	/* Hash table of stack numbers, open addressing; 0 is a free slot. */
	guint32 *slots;
	guint32 n_slots; /* power of two, at least twice the number of stacks */
	guint64 seed;	 /* random, so that no file can force collisions */
	guint64 n_without_stack; /* number of events without a stack */
	/* Stack of the previous event that has one; 0: none. Consecutive events
	 * often have the same stack, so the code compares with this stack
	 * first. */
	guint32 last_stack;
};

KmtImportStacks *kmt_import_stacks_new(void)
{
	KmtImportStacks *s = g_new0(KmtImportStacks, 1);

	s->words = g_array_new(FALSE, FALSE, sizeof(guint64));
	s->starts = g_array_new(FALSE, FALSE, sizeof(gsize));
	s->seed = kmt_hash_seed();
	s->n_slots = MIN_SLOTS;
	s->slots = g_new0(guint32, s->n_slots);
	return s;
}

void kmt_import_stacks_free(KmtImportStacks *s)
{
	g_array_unref(s->words);
	g_array_unref(s->starts);
	g_free(s->slots);
	g_free(s);
}

/* Return a pointer to the words of a stack: the number of addresses, then the
 * addresses. */
static const guint64 *stack_words(const KmtImportStacks *s, guint32 number)
{
	return &g_array_index(s->words, guint64,
			      g_array_index(s->starts, gsize, number - 1));
}

static gboolean is_stack(const KmtImportStacks *s, guint32 number,
			 const guint64 *addresses, guint n)
{
	const guint64 *words = stack_words(s, number);

	return words[0] == n &&
	       memcmp(words + 1, addresses, n * sizeof(*addresses)) == 0;
}

static guint64 hash(const KmtImportStacks *s, const guint64 *addresses, guint n)
{
	guint64 h = s->seed ^ n;

	for (guint i = 0; i < n; i++)
		h = kmt_hash(s->seed, h ^ addresses[i]);
	return h;
}

/*
 * Return the slot of the stack, or the free slot where the stack must be
 * inserted.
 */
static guint32 *find_slot(const KmtImportStacks *s, const guint64 *addresses,
			  guint n)
{
	guint32 i = (guint32)hash(s, addresses, n) & (s->n_slots - 1);

	while (s->slots[i] && !is_stack(s, s->slots[i], addresses, n))
		i = (i + 1) & (s->n_slots - 1);
	return &s->slots[i];
}

static void grow(KmtImportStacks *s)
{
	g_free(s->slots);
	s->n_slots *= 2;
	s->slots = g_new0(guint32, s->n_slots);
	for (guint32 number = 1; number <= s->starts->len; number++) {
		const guint64 *words = stack_words(s, number);

		*find_slot(s, words + 1, (guint)words[0]) = number;
	}
}

guint32 kmt_import_stacks_add(KmtImportStacks *s, const guint64 *addresses,
			      guint n)
{
	guint64 n_words = n = MIN(n, KMT_IMPORT_STACKS_MAX_DEPTH);
	gsize start = s->words->len;
	guint32 *slot;

	if (n == 0) {
		s->n_without_stack++;
		return KMEMTRACE_STACK_NONE;
	}
	if (s->last_stack && is_stack(s, s->last_stack, addresses, n))
		return s->last_stack;
	slot = find_slot(s, addresses, n);
	if (!*slot) {
		g_array_append_val(s->starts, start);
		g_array_append_val(s->words, n_words);
		g_array_append_vals(s->words, addresses, n);
		*slot = s->starts->len;
		s->last_stack = *slot;
		if (s->starts->len >= s->n_slots / 2)
			grow(s);
		return s->last_stack;
	}
	s->last_stack = *slot;
	return s->last_stack;
}

char *kmt_import_stacks_text(const KmtImportStacks *s)
{
	GString *text = g_string_new("# columns: stack addresses\n");

	for (guint32 number = 1; number <= s->starts->len; number++) {
		const guint64 *words = stack_words(s, number);

		g_string_append_printf(text, "%u ", number);
		for (guint64 i = 1; i <= words[0]; i++)
			g_string_append_printf(
				text, "%" G_GINT64_MODIFIER "x%c", words[i],
				i == words[0] ? '\n' : ',');
	}
	if (s->n_without_stack)
		g_string_append_printf(text, "# lost: %" G_GUINT64_FORMAT "\n",
				       s->n_without_stack);
	return g_string_free(text, FALSE);
}
