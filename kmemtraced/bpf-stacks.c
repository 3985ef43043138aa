// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The call stacks of the source "bpf".
 *
 * The programs store each stack once, in one of two maps of the kernel, and put
 * its id into the record. The reader of a record looks the stack up when it
 * meets an id for the first time, reduces it to the callers of the event, and
 * gives equal stacks the same number.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>

#include "kmemtraced/bpf-private.h"

struct kmtd_bpf_stacks {
	const KmtdBpfFunctions *functions;
	guint depth;	  /* most addresses of a stack in the table */
	guint n_words;	  /* addresses of a stack in the maps */
	int fds[2];	  /* the maps */
	guint32 *numbers; /* by id, KMTD_BPF_STACK_IDS; 0: not looked up yet */
	GMutex lock;	  /* protects the members below */
	GHashTable *by_addresses; /* GBytes to number */
	GString *text;		  /* lines of the table */
	guint64 n_without;	  /* records without a stack */
};

KmtdBpfStacks *kmtd_bpf_stacks_new(const KmtdBpfPrograms *programs,
				   const KmtdBpfFunctions *functions,
				   guint depth)
{
	KmtdBpfStacks *stacks = g_new0(KmtdBpfStacks, 1);

	g_mutex_init(&stacks->lock);
	stacks->functions = functions;
	stacks->depth = depth;
	stacks->n_words = depth + KMTD_BPF_STACK_EXTRA;
	stacks->fds[0] =
		bpf_object__find_map_fd_by_name(programs->object, "stacks");
	stacks->fds[1] = bpf_object__find_map_fd_by_name(programs->object,
							 "more_stacks");
	stacks->numbers =
		g_malloc0_n(KMTD_BPF_STACK_IDS, sizeof(*stacks->numbers));
	stacks->by_addresses =
		g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
				      (GDestroyNotify)g_bytes_unref, NULL);
	stacks->text = g_string_new(NULL);
	return stacks;
}

void kmtd_bpf_stacks_free(KmtdBpfStacks *stacks)
{
	if (!stacks)
		return;
	g_free(stacks->numbers);
	g_hash_table_unref(stacks->by_addresses);
	g_string_free(stacks->text, TRUE);
	g_mutex_clear(&stacks->lock);
	g_free(stacks);
}

/*
 * Return the index of the first address that belongs to the event: the call
 * site or, if the unwinder has not found that, the first one in the kernel
 * itself outside of tracing.
 */
static guint find_begin(const KmtdBpfStacks *stacks, const guint64 *addresses,
			guint n, guint64 call_site)
{
	guint i;

	for (i = 0; i < n; i++)
		if (addresses[i] == call_site)
			return i;
	for (i = 0; i < n; i++)
		if (kmtd_bpf_functions_is_kernel(stacks->functions,
						 addresses[i]) &&
		    kmtd_bpf_functions_part(stacks->functions, addresses[i]) !=
			    KMTD_BPF_TRACING)
			return i;
	return n;
}

/*
 * Return the number of addresses that belong to the event. The interrupted task
 * has not caused the events of an interrupt.
 */
static guint find_end(const KmtdBpfStacks *stacks, const guint64 *addresses,
		      guint n)
{
	n = MIN(n, stacks->depth);
	for (guint i = 0; i < n; i++)
		if (kmtd_bpf_functions_part(stacks->functions, addresses[i]) ==
		    KMTD_BPF_INTERRUPT)
			return i + 1;
	return n;
}

/* Return the number of a stack; a new stack gets a line in the table. */
static guint32 number_of(KmtdBpfStacks *stacks, const guint64 *addresses,
			 guint n)
{
	g_autoptr(GBytes) key = g_bytes_new(addresses, n * sizeof(*addresses));
	gpointer known = g_hash_table_lookup(stacks->by_addresses, key);
	guint32 number = GPOINTER_TO_UINT(known);

	if (known)
		return number;
	number = g_hash_table_size(stacks->by_addresses) + 1;
	g_hash_table_insert(stacks->by_addresses, g_steal_pointer(&key),
			    GUINT_TO_POINTER(number));
	g_string_append_printf(stacks->text, "%u ", number);
	for (guint i = 0; i < n; i++)
		g_string_append_printf(stacks->text,
				       "%s%" G_GINT64_MODIFIER "x",
				       i ? "," : "", addresses[i]);
	g_string_append_c(stacks->text, '\n');
	return number;
}

/* Read the stack with this id and return its number; 0: there is none. */
static guint32 look_up(KmtdBpfStacks *stacks, guint32 id, guint64 call_site)
{
	g_autofree guint64 *addresses =
		g_malloc0_n(stacks->n_words, sizeof(*addresses));
	guint32 key = id % KMTD_BPF_STACKS;
	guint begin, n = 0;

	if (bpf_map_lookup_elem(stacks->fds[id / KMTD_BPF_STACKS], &key,
				addresses))
		return 0;
	while (n < stacks->n_words && addresses[n])
		n++;
	begin = find_begin(stacks, addresses, n, call_site);
	n = find_end(stacks, addresses + begin, n - begin);
	return n ? number_of(stacks, addresses + begin, n) : 0;
}

guint32 kmtd_bpf_stacks_find(KmtdBpfStacks *stacks, guint32 id,
			     guint64 call_site)
{
	guint32 number;

	if (id > 0 && id <= KMTD_BPF_STACK_IDS) {
		number = __atomic_load_n(&stacks->numbers[id - 1],
					 __ATOMIC_RELAXED);
		if (number)
			return number;
	}
	g_mutex_lock(&stacks->lock);
	number = id > 0 && id <= KMTD_BPF_STACK_IDS
			 ? look_up(stacks, id - 1, call_site)
			 : 0;
	if (number)
		__atomic_store_n(&stacks->numbers[id - 1], number,
				 __ATOMIC_RELAXED);
	else
		stacks->n_without++;
	g_mutex_unlock(&stacks->lock);
	return number;
}

char *kmtd_bpf_stacks_text(KmtdBpfStacks *stacks)
{
	char *text;

	g_mutex_lock(&stacks->lock);
	text = g_strdup_printf("# kmemtrace: stacks\n"
			       "# columns: stack addresses\n"
			       "# lost: %" G_GUINT64_FORMAT "\n%s",
			       stacks->n_without, stacks->text->str);
	g_mutex_unlock(&stacks->lock);
	return text;
}
