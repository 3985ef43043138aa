// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions of the kernel that the source "bpf" tells apart when it looks
 * for the caller of an event.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "kmemtraced/bpf-private.h"

/* Functions of the allocator, which are no callers. A suffix of the compiler,
 * as in x.isra.0, is ignored. */
static const char *const allocator_functions[] = {
	"__alloc_contig_pages",
	"__alloc_frozen_pages_noprof",
	"__alloc_pages",
	"__alloc_pages_direct_compact",
	"__alloc_pages_mpol",
	"__alloc_pages_noprof",
	"__alloc_pages_slowpath",
	"__alloc_percpu",
	"__alloc_percpu_gfp",
	"__alloc_reserved_percpu",
	"__folio_alloc",
	"__folio_alloc_noprof",
	"__folio_put",
	"__folio_split",
	"__free_contig_range_common",
	"__free_frozen_pages",
	"__free_pages",
	"__free_pages_core",
	"__free_pages_ok",
	"__free_pages_prepare",
	"__get_free_pages",
	"__split_huge_page",
	"__split_unmapped_folio",
	"alloc_contig_frozen_pages_noprof",
	"alloc_contig_pages",
	"alloc_contig_pages_noprof",
	"alloc_frozen_pages_nolock_noprof",
	"alloc_frozen_pages_noprof",
	"alloc_page_interleave",
	"alloc_pages",
	"alloc_pages_bulk_array_mempolicy",
	"alloc_pages_bulk_array_mempolicy_noprof",
	"alloc_pages_bulk_mempolicy_noprof",
	"alloc_pages_exact",
	"alloc_pages_exact_nid",
	"alloc_pages_exact_nid_noprof",
	"alloc_pages_exact_noprof",
	"alloc_pages_mpol",
	"alloc_pages_mpol_noprof",
	"alloc_pages_node_noprof",
	"alloc_pages_nolock_noprof",
	"alloc_pages_noprof",
	"alloc_pages_preferred_many",
	"folio_alloc",
	"folio_alloc_mpol_noprof",
	"folio_alloc_noprof",
	"folios_put_refs",
	"free_contig_range",
	"free_frozen_pages",
	"free_pages",
	"free_pages_exact",
	"free_pages_prepare",
	"free_pcp_prepare",
	"free_the_page",
	"free_unref_folios",
	"free_unref_page",
	"free_unref_page_list",
	"free_unref_page_prepare",
	"get_free_pages_noprof",
	"get_zeroed_page",
	"get_zeroed_page_noprof",
	"make_alloc_exact",
	"put_pages_list",
	"release_pages",
	"split_folio_to_list",
	"split_huge_page_to_list",
	"split_huge_page_to_list_to_order",
	"split_page",
	"vma_alloc_folio",
	"vma_alloc_folio_noprof",
};

/* Functions that split and release free pages, or complete a free that was
 * recorded before. For other events they are parts of the allocator. */
static const char *const preparing_functions[] = {
	"alloc_contig_frozen_range_noprof",
	"alloc_contig_range",
	"alloc_contig_range_noprof",
	"compact_zone",
	"delayed_vfree_work",
	"isolate_freepages",
	"isolate_freepages_block",
	"isolate_freepages_range",
	"release_free_list",
	"release_freepages",
	"split_free_frozen_pages",
	"split_free_pages",
	"split_map_pages",
};

/* Functions of the allocator that always return to code that runs programs,
 * while these are attached to their exit. */
static const char *const hooked_functions[] = {
	"__alloc_pages_bulk",
	"alloc_pages_bulk_noprof",
	"pcpu_alloc",
	"pcpu_alloc_noprof",
};

/* The paths whose programs look for the caller, and where they begin. */
static const struct {
	enum kmtd_bpf_start start;
	const char *path;
} starts[] = {
	{KMTD_BPF_START_BULK_ALLOC, "bulk_alloc"},
	{KMTD_BPF_START_BULK_FREE, "bulk_free"},
	{KMTD_BPF_START_DEFER, "defer"},
	{KMTD_BPF_START_RCU_SHEAF, "rcu_sheaf"},
	{KMTD_BPF_START_RCU_SHEAF, "rcu_sheaf_nobarn"},
	{KMTD_BPF_START_KREALLOC, "krealloc_in_place"},
	{KMTD_BPF_START_KMALLOC_NOLOCK, "alloc_nolock"},
	{KMTD_BPF_START_KFREE_NOLOCK, "free_nolock"},
	{KMTD_BPF_START_PAGE_BULK, "page_bulk"},
	{KMTD_BPF_START_SPLIT, "split"},
	{KMTD_BPF_START_SPLIT_FOLIO, "split_folio"},
	{KMTD_BPF_START_CONTIG, "contig"},
	{KMTD_BPF_START_TARGET, "migration_target"},
	{KMTD_BPF_START_UNUSED_TARGET, "unused_target"},
	{KMTD_BPF_START_VMAP, "mapped_area"},
	{KMTD_BPF_START_VFREE, "vfree_area"},
	{KMTD_BPF_START_VFREE_ATOMIC, "vfree_area_atomic"},
	{KMTD_BPF_START_PERCPU_ALLOC, "percpu_alloc"},
	{KMTD_BPF_START_PERCPU_FREE, "percpu_free"},
};

struct kmtd_bpf_functions {
	GArray *array;		      /* of KmtdBpfFunction, ascending */
	guint64 text_begin, text_end; /* the kernel's code; 0: unknown */
	KmtTracepointInner inner;
};

static int compare_names(const void *key, const void *element)
{
	return strcmp(key, *(const char *const *)element);
}

/* Return whether the sorted array has the name. */
static gboolean contains(const char *const *names, gsize n, const char *name)
{
	return bsearch(name, names, n, sizeof(*names), compare_names) != NULL;
}

static KmtdBpfPart part_of(char *name)
{
	name[strcspn(name, ".")] = '\0';
	if (g_str_has_prefix(name, "bpf_trace_run") ||
	    g_str_has_prefix(name, "__bpf_trace_mm_page_") ||
	    g_str_has_prefix(name, "__traceiter_mm_page_"))
		return KMTD_BPF_TRACING;
	if (g_str_has_prefix(name, "asm_sysvec_") ||
	    g_str_equal(name, "asm_common_interrupt") ||
	    g_str_equal(name, "asm_exc_nmi"))
		return KMTD_BPF_INTERRUPT;
	if (contains(preparing_functions, G_N_ELEMENTS(preparing_functions),
		     name))
		return KMTD_BPF_PREPARING;
	if (contains(hooked_functions, G_N_ELEMENTS(hooked_functions), name))
		return KMTD_BPF_HOOKED;
	return contains(allocator_functions, G_N_ELEMENTS(allocator_functions),
			name)
		       ? KMTD_BPF_ALLOCATOR
		       : KMTD_BPF_CALLER;
}

static gint compare_ranges(gconstpointer a, gconstpointer b)
{
	const KmtdBpfFunction *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Return a new table of the functions that programs are attached to: name to
 * enum kmtd_bpf_start plus 1. */
static GHashTable *hooked_functions_by_name(void)
{
	GHashTable *table = g_hash_table_new(g_str_hash, g_str_equal);

	for (gsize i = 0; i < G_N_ELEMENTS(starts); i++) {
		const char *const *functions =
			kmtd_bpf_paths_functions(starts[i].path);

		for (guint j = 0; functions && j < 4 && functions[j]; j++)
			g_hash_table_insert(
				table, (gpointer)functions[j],
				GUINT_TO_POINTER(starts[i].start + 1));
	}
	return table;
}

/* Find the functions in kallsyms, which may be unsorted. */
static void find_functions(KmtdBpfFunctions *functions, const char *text)
{
	g_autoptr(GHashTable) hooked = hooked_functions_by_name();
	g_autoptr(GArray) symbols =
		g_array_new(FALSE, FALSE, sizeof(KmtdBpfFunction));
	const char *line = text;

	while (line && *line) {
		char *rest, name[128];
		KmtdBpfFunction symbol = {
			.begin = g_ascii_strtoull(line, &rest, 16)};

		if (symbol.begin && rest[0] == ' ' && rest[1] &&
		    strchr("tTwW", rest[1]) && rest[2] == ' ') {
			gsize n = MIN(strcspn(rest + 3, "\t\n"),
				      sizeof(name) - 1);

			memcpy(name, rest + 3, n);
			name[n] = '\0';
			if (g_str_equal(name, "_stext"))
				functions->text_begin = symbol.begin;
			if (g_str_equal(name, "_etext"))
				functions->text_end = symbol.begin;
			symbol.part = part_of(name);
			symbol.start = GPOINTER_TO_INT(g_hash_table_lookup(
					       hooked, name)) -
				       1;
			g_array_append_val(symbols, symbol);
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	g_array_sort(symbols, compare_ranges);
	for (guint i = 0; i < symbols->len; i++) {
		KmtdBpfFunction range =
			g_array_index(symbols, KmtdBpfFunction, i);
		guint j = i + 1;

		if (range.part == KMTD_BPF_CALLER && range.start < 0)
			continue;
		while (j < symbols->len &&
		       g_array_index(symbols, KmtdBpfFunction, j).begin ==
			       range.begin)
			j++;
		range.end = j < symbols->len
				    ? g_array_index(symbols, KmtdBpfFunction, j)
					      .begin
				    : G_MAXUINT64;
		g_array_append_val(functions->array, range);
	}
}

const KmtdBpfFunction *
kmtd_bpf_functions_find(const KmtdBpfFunctions *functions, guint64 address)
{
	guint low = 0, high = functions->array->len;
	const KmtdBpfFunction *range;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(functions->array, KmtdBpfFunction, middle)
			    .begin < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	range = &g_array_index(functions->array, KmtdBpfFunction, low - 1);
	return address <= range->end ? range : NULL;
}

KmtdBpfPart kmtd_bpf_functions_part(const KmtdBpfFunctions *functions,
				    guint64 address)
{
	const KmtdBpfFunction *function =
		kmtd_bpf_functions_find(functions, address);

	return function ? function->part : KMTD_BPF_CALLER;
}

gboolean kmtd_bpf_functions_is_kernel(const KmtdBpfFunctions *functions,
				      guint64 address)
{
	return address >= functions->text_begin &&
	       address < functions->text_end;
}

/* Return whether __kvmalloc_node_noprof() reports an allocation itself, instead
 * of calling a function that does. */
static gboolean kvmalloc_reports(void)
{
	struct utsname name;
	guint major = 0, minor = 0;

	return uname(&name) == 0 &&
	       sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 15));
}

/*
 * Find the functions that report a large kmalloc() twice. Until Linux 6.14,
 * the call site of the second event may be in __kvmalloc_node_noprof(), so that
 * function must not be among them.
 */
static void find_inner(KmtTracepointInner *inner, const char *text)
{
	const char *line = strstr(text, " __kvmalloc_node_noprof\n");
	guint64 begin;

	kmt_tracepoint_inner_read(inner, text);
	if (!line || kvmalloc_reports())
		return;
	while (line > text && line[-1] != '\n')
		line--;
	begin = g_ascii_strtoull(line, NULL, 16);
	for (guint i = 0; i < inner->n; i++)
		if (inner->ranges[i].begin == begin)
			inner->ranges[i] = inner->ranges[--inner->n];
}

KmtdBpfFunctions *kmtd_bpf_functions_new(const char *proc)
{
	KmtdBpfFunctions *functions = g_new0(KmtdBpfFunctions, 1);
	g_autofree char *path = g_build_filename(proc, "kallsyms", NULL);
	g_autofree char *text = NULL;

	functions->array = g_array_new(FALSE, FALSE, sizeof(KmtdBpfFunction));
	if (g_file_get_contents(path, &text, NULL, NULL)) {
		find_functions(functions, text);
		find_inner(&functions->inner, text);
	}
	return functions;
}

void kmtd_bpf_functions_free(KmtdBpfFunctions *functions)
{
	if (!functions)
		return;
	g_array_unref(functions->array);
	g_free(functions);
}

const KmtTracepointInner *
kmtd_bpf_functions_inner(const KmtdBpfFunctions *functions)
{
	return &functions->inner;
}

gboolean kmtd_bpf_functions_are_known(const KmtdBpfFunctions *functions)
{
	return functions->text_begin && functions->text_end &&
	       functions->array->len;
}
