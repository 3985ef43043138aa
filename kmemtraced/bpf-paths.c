// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ways of the kernel to allocate or free memory without a tracepoint, and
 * the functions of the running kernel to which the programs are attached.
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "kmemtraced/bpf-private.h"

G_STATIC_ASSERT(KMTD_BPF_INNER_MAX >= KMT_TRACEPOINT_INNER_MAX);

/* __GFP_COMP of kernels whose types do not tell it, until Linux 6.9. */
#define OLD_GFP_COMP 0x40000

/*
 * A path. The programs NAME_first and NAME_second, or NAME, are attached to the
 * first of the functions that the kernel has.
 */
typedef struct {
	const char *name;
	const char *gap; /* what is not recorded without these programs; paths
			  * of one gap are useless without each other */
	const char *functions[4];
	gboolean is_new; /* kernels without the functions lack the path */
	/* The programs for probes at the entry and the exit of the function, if
	 * the kernel cannot attach the others. NULL: none. */
	const char *probes[2];
} Path;

#define GAP_BULK_ALLOC                                                         \
	"bulk allocations of slab objects (kmem_cache_alloc_bulk)"
#define GAP_BULK_FREE                                                          \
	"bulk frees of slab objects (kmem_cache_free_bulk, kfree_bulk)"
#define GAP_DEFER "hand-overs to kfree_rcu()"
#define GAP_SHEAVES                                                            \
	"objects that kfree_rcu() puts into sheaves (rcu_free_sheaf)"
#define GAP_KREALLOC  "krealloc() within the allocated memory"
#define GAP_NOLOCK    "kmalloc_nolock() and kfree_nolock()"
#define GAP_PAGE_BULK "page allocations in bulk (most of vmalloc, page pools)"
#define GAP_SPLIT                                                              \
	"blocks of pages that are split (split_page, alloc_pages_exact, huge " \
	"pages)"
#define GAP_CONTIG "contiguous ranges of pages (alloc_contig_range, CMA)"
#define GAP_COMPACTION                                                         \
	"pages that compaction allocates to move the contents of others"
#define GAP_VMALLOC  "all vmalloc areas"
#define GAP_VREALLOC "vrealloc() within the allocated memory"
#define GAP_PERCPU   "all per-CPU memory"
#define GAP_CACHE_GONE                                                         \
	"names of caches made at the address of a destroyed one "              \
	"(kmem_cache_destroy)"

static const Path paths[] = {
	{"bulk_alloc",
	 GAP_BULK_ALLOC,
	 {"kmem_cache_alloc_bulk_noprof", "kmem_cache_alloc_bulk"},
	 FALSE,
	 {NULL}},
	{"bulk_free", GAP_BULK_FREE, {"kmem_cache_free_bulk"}, FALSE, {NULL}},
	{"defer", GAP_DEFER, {"kvfree_call_rcu"}, FALSE, {NULL}},
	{"rcu_sheaf", GAP_SHEAVES, {"rcu_free_sheaf"}, TRUE, {NULL}},
	{"rcu_sheaf_nobarn",
	 GAP_SHEAVES,
	 {"rcu_free_sheaf_nobarn"},
	 TRUE,
	 {NULL}},
	{"krealloc_in_place",
	 GAP_KREALLOC,
	 {"krealloc_node_align_noprof", "krealloc_noprof", "krealloc"},
	 FALSE,
	 {NULL}},
	{"alloc_nolock",
	 GAP_NOLOCK,
	 {"_kmalloc_nolock_noprof", "kmalloc_nolock_noprof"},
	 TRUE,
	 {NULL}},
	{"free_nolock", GAP_NOLOCK, {"kfree_nolock"}, TRUE, {NULL}},
	{"page_bulk_begin",
	 GAP_PAGE_BULK,
	 {"alloc_pages_bulk_noprof", "__alloc_pages_bulk"},
	 FALSE,
	 {NULL}},
	{"page_bulk",
	 GAP_PAGE_BULK,
	 {"alloc_pages_bulk_noprof", "__alloc_pages_bulk"},
	 FALSE,
	 {NULL}},
	{"split", GAP_SPLIT, {"split_page_memcg"}, FALSE, {NULL}},
	{"split_folio", GAP_SPLIT, {"folio_split_memcg_refs"}, TRUE, {NULL}},
	{"contig",
	 GAP_CONTIG,
	 {"alloc_contig_frozen_range_noprof", "alloc_contig_range_noprof",
	  "alloc_contig_range"},
	 FALSE,
	 {NULL}},
	{"migration_target",
	 GAP_COMPACTION,
	 {"compaction_alloc"},
	 FALSE,
	 {NULL}},
	{"unused_target", GAP_COMPACTION, {"compaction_free"}, FALSE, {NULL}},
	{"vmalloc_area",
	 GAP_VMALLOC,
	 {"__vmalloc_node_range_noprof", "__vmalloc_node_range"},
	 FALSE,
	 {"vmalloc_enter", "vmalloc_leave"}},
	{"mapped_area", GAP_VMALLOC, {"vmap"}, FALSE, {NULL}},
	{"vfree_area", GAP_VMALLOC, {"vfree"}, FALSE, {NULL}},
	{"vfree_area_atomic", GAP_VMALLOC, {"vfree_atomic"}, FALSE, {NULL}},
	/* No programs exist for this path. */
	{"vrealloc_in_place",
	 GAP_VREALLOC,
	 {"vrealloc_node_align_noprof", "vrealloc_noprof"},
	 TRUE,
	 {NULL}},
	{"percpu_alloc",
	 GAP_PERCPU,
	 {"pcpu_alloc_noprof", "pcpu_alloc"},
	 FALSE,
	 {NULL}},
	{"percpu_free", GAP_PERCPU, {"free_percpu"}, FALSE, {NULL}},
	{"cache_gone", GAP_CACHE_GONE, {"kmem_cache_destroy"}, FALSE, {NULL}},
};

/*
 * Tracepoints that replace the functions of a path if the kernel attaches no
 * programs to functions. The programs are TRACEPOINT_first and
 * TRACEPOINT_second.
 */
static const struct {
	const char *path, *tracepoint;
	guint n_arguments;
} replacements[] = {
	{"percpu_alloc", "percpu_alloc_percpu", 10},
	{"percpu_free", "percpu_free_percpu", 3},
};

/* What follows the name of a path in those of its programs. */
static const char *const suffixes[] = {"_first", "_second", ""};

/* ---- the types of the kernel ---- */

/* Return the type of a function, or NULL. */
static const struct btf_type *find_type(const struct btf *btf,
					const char *function)
{
	gint32 id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, id) : NULL;

	type = type ? btf__type_by_id(btf, type->type) : NULL;
	return type && btf_is_func_proto(type) ? type : NULL;
}

/* Tracepoints of the same names as their programs, which a kernel may lack. */
static const char *const optional_tracepoints[] = {"cgroup_mkdir",
						   "cgroup_attach_task"};

/* Return the number of arguments of a tracepoint; 0: unknown. */
static guint count_arguments(const struct btf *btf, const char *tracepoint)
{
	g_autofree char *name = g_strconcat("btf_trace_", tracepoint, NULL);
	gint32 id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, id) : NULL;

	type = type ? btf__type_by_id(btf, type->type) : NULL;
	type = type && btf_is_ptr(type) ? btf__type_by_id(btf, type->type)
					: NULL;
	/* The first parameter is the data of the probe. */
	return type && btf_is_func_proto(type) && btf_vlen(type)
		       ? btf_vlen(type) - 1U
		       : 0;
}

gboolean kmtd_bpf_paths_fit(const struct btf *btf)
{
	return count_arguments(btf, "kmalloc") == 6 &&
	       count_arguments(btf, "kmem_cache_alloc") == 5;
}

/* Return the index of the parameter of this name, or -1. */
static gint find_parameter(const struct btf *btf, const char *function,
			   const char *name)
{
	const struct btf_type *type = find_type(btf, function);

	for (guint i = 0; type && i < btf_vlen(type); i++)
		if (g_strcmp0(btf__name_by_offset(btf,
						  btf_params(type)[i].name_off),
			      name) == 0)
			return (gint)i;
	return -1;
}

static guint count_parameters(const struct btf *btf, const char *function)
{
	const struct btf_type *type = find_type(btf, function);

	return type ? btf_vlen(type) : 0;
}

static gboolean returns_bool(const struct btf *btf, const char *function)
{
	const struct btf_type *type = find_type(btf, function);

	type = type ? btf__type_by_id(btf, type->type) : NULL;
	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type && btf_is_int(type) && type->size == 1;
}

static guint struct_page_bytes(const struct btf *btf)
{
	gint32 id = btf__find_by_name_kind(btf, "page", BTF_KIND_STRUCT);
	gint64 n = id > 0 ? btf__resolve_size(btf, (guint32)id) : -1;

	return n > 0 ? (guint)n : 64;
}

/* Return the value of an enumerator, or -1. */
static gint find_enumerator(const struct btf *btf, const char *name)
{
	guint n = btf__type_cnt(btf);

	for (guint id = 1; id < n; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		if (!btf_is_enum(type))
			continue;
		for (guint i = 0; i < btf_vlen(type); i++) {
			const struct btf_enum *e = &btf_enum(type)[i];

			if (g_strcmp0(btf__name_by_offset(btf, e->name_off),
				      name) == 0)
				return e->val;
		}
	}
	return -1;
}

/* Return the function of the path that the kernel has, or NULL. */
static const char *find_function(const struct btf *btf, const Path *path)
{
	for (gsize i = 0; i < G_N_ELEMENTS(path->functions); i++)
		if (path->functions[i] && find_type(btf, path->functions[i]))
			return path->functions[i];
	return NULL;
}

static const char *function_of(const struct btf *btf, const char *name)
{
	for (gsize i = 0; i < G_N_ELEMENTS(paths); i++)
		if (g_str_equal(paths[i].name, name))
			return find_function(btf, &paths[i]);
	return NULL;
}

const char *const *kmtd_bpf_paths_functions(const char *name)
{
	for (gsize i = 0; i < G_N_ELEMENTS(paths); i++)
		if (g_str_equal(paths[i].name, name))
			return paths[i].functions;
	return NULL;
}

/* Describe the functions of the paths. */
static void describe_functions(const struct btf *btf,
			       struct kmtd_bpf_settings *settings)
{
	const char *split = function_of(btf, "split");
	const char *krealloc = function_of(btf, "krealloc_in_place");
	gint gfp_argument =
		krealloc ? find_parameter(btf, krealloc, "flags") : -1;
	gint gfp_comp = find_enumerator(btf, "___GFP_COMP_BIT");

	settings->gfp_comp = gfp_comp >= 0 ? 1U << gfp_comp : OLD_GFP_COMP;
	settings->struct_page_bytes = struct_page_bytes(btf);
	settings->defer_by_offset =
		find_parameter(btf, "kvfree_call_rcu", "func") >= 0;
	settings->bulk_returns_bool =
		returns_bool(btf, "kmem_cache_alloc_bulk_noprof");
	settings->page_bulk_has_list =
		count_parameters(btf, function_of(btf, "page_bulk")) == 6;
	settings->split_by_number =
		split && find_parameter(btf, split, "nr") >= 0;
	settings->split_has_new_order =
		split && count_parameters(btf, split) == 3;
	/* Linux 6.3 and later do so, unless kmemtrace has patched vfree(). */
	settings->vfree_calls_atomic = !find_type(btf, "__vunmap") &&
				       !find_type(btf, "kmemtrace_record_slot");
	settings->krealloc_gfp_argument =
		gfp_argument >= 0 ? (guint8)gfp_argument : 2;
}

void kmtd_bpf_paths_describe(const KmtdBpfPrograms *programs,
			     const struct btf *btf,
			     struct kmtd_bpf_settings *settings)
{
	*settings = (struct kmtd_bpf_settings){
		.n_slots = programs->n_slots,
		.page_bytes = (guint32)sysconf(_SC_PAGESIZE),
		.struct_page_bytes = 64,
		.recover = programs->recover != 0,
		.find_callers = programs->find_callers != 0,
		.n_percpu = programs->n_percpu,
		.stacks = programs->stack_depth > 0,
	};
	settings->n_inner = programs->inner->n;
	for (guint i = 0; i < programs->inner->n; i++) {
		settings->inner[i].begin = programs->inner->ranges[i].begin;
		settings->inner[i].end = programs->inner->ranges[i].end;
	}
	kmtd_bpf_filter_describe(&programs->filter, settings);
	if (btf)
		describe_functions(btf, settings);
}

/* ---- the programs ---- */

/* Return the program @name@suffix, or NULL. */
static struct bpf_program *find_program(const KmtdBpfPrograms *programs,
					const char *name, const char *suffix)
{
	g_autofree char *whole = g_strconcat(name, suffix, NULL);

	return bpf_object__find_program_by_name(programs->object, whole);
}

/* Load the programs of the tracepoints that replace functions if
 * @are_needed. */
static void choose_replacements(const KmtdBpfPrograms *programs,
				const struct btf *btf, gboolean are_needed)
{
	for (gsize i = 0; i < G_N_ELEMENTS(replacements); i++) {
		const char *tracepoint = replacements[i].tracepoint;
		gboolean fits = are_needed && btf &&
				count_arguments(btf, tracepoint) ==
					replacements[i].n_arguments;

		bpf_program__set_autoload(
			find_program(programs, tracepoint, "_first"), fits);
		bpf_program__set_autoload(
			find_program(programs, tracepoint, "_second"),
			fits && programs->recover);
	}
}

static void choose_function(KmtdBpfPrograms *programs, const struct btf *btf,
			    const Path *path)
{
	const char *function = btf ? find_function(btf, path) : NULL;

	if (!function && btf && path->is_new)
		g_hash_table_add(programs->absent, (gpointer)path->name);
	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		struct bpf_program *program =
			find_program(programs, path->name, suffixes[i]);

		if (program && (!function || bpf_program__set_attach_target(
						     program, 0, function)))
			bpf_program__set_autoload(program, false);
	}
}

void kmtd_bpf_paths_choose(KmtdBpfPrograms *programs, const struct btf *btf)
{
	g_hash_table_remove_all(programs->absent);
	for (gsize i = 0; i < G_N_ELEMENTS(paths); i++)
		choose_function(programs, programs->has_paths ? btf : NULL,
				&paths[i]);
	choose_replacements(programs, btf, !programs->has_paths);
	for (gsize i = 0; i < G_N_ELEMENTS(optional_tracepoints); i++)
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(
				programs->object, optional_tracepoints[i]),
			btf && count_arguments(btf, optional_tracepoints[i]));
}

/* Return whether the programs of a tracepoint replace those of the path. */
static gboolean is_replaced(const KmtdBpfPrograms *programs, const Path *path)
{
	for (gsize i = 0; i < G_N_ELEMENTS(replacements); i++) {
		g_autofree char *first =
			g_strconcat(replacements[i].tracepoint, "_first", NULL);

		if (g_str_equal(replacements[i].path, path->name))
			return g_hash_table_contains(programs->attached, first);
	}
	return FALSE;
}

/* Return whether the path is recorded, or the kernel does not have the path. */
static gboolean is_covered(const KmtdBpfPrograms *programs, const Path *path)
{
	g_autofree char *first = g_strconcat(path->name, "_first", NULL);

	return g_hash_table_contains(programs->attached, first) ||
	       g_hash_table_contains(programs->attached, path->name) ||
	       (path->probes[1] &&
		g_hash_table_contains(programs->attached, path->probes[1])) ||
	       is_replaced(programs, path) ||
	       g_hash_table_contains(programs->absent, path->name);
}

static gboolean has_gap(const KmtdBpfPrograms *programs, const char *gap)
{
	for (gsize i = 0; i < G_N_ELEMENTS(paths); i++)
		if (g_str_equal(paths[i].gap, gap) &&
		    !is_covered(programs, &paths[i]))
			return TRUE;
	return FALSE;
}

static void detach(KmtdBpfPrograms *programs, const Path *path)
{
	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		g_autofree char *name =
			g_strconcat(path->name, suffixes[i], NULL);

		g_hash_table_remove(programs->links, name);
		g_hash_table_remove(programs->attached, name);
	}
}

/* Attach the probes of a path to its function. */
static void attach_probes(KmtdBpfPrograms *programs, const struct btf *btf,
			  const Path *path)
{
	const char *function = find_function(btf, path);
	struct bpf_link *links[2] = {NULL, NULL};

	for (guint i = 0; function && i < 2; i++) {
		const struct bpf_program *program =
			bpf_object__find_program_by_name(programs->object,
							 path->probes[i]);

		links[i] = program ? bpf_program__attach_kprobe(program, i == 1,
								function)
				   : NULL;
	}
	for (guint i = 0; i < 2; i++) {
		if (links[0] && links[1])
			kmtd_bpf_programs_add_link(programs, path->probes[i],
						   links[i]);
		else
			bpf_link__destroy(links[i]);
	}
}

void kmtd_bpf_paths_complete(KmtdBpfPrograms *programs)
{
	struct btf *btf = programs->has_paths ? btf__load_vmlinux_btf() : NULL;

	for (gsize i = 0; btf && i < G_N_ELEMENTS(paths); i++)
		if (paths[i].probes[0] && !is_covered(programs, &paths[i]))
			attach_probes(programs, btf, &paths[i]);
	btf__free(btf);
	for (gsize i = 0; i < G_N_ELEMENTS(paths); i++)
		if (has_gap(programs, paths[i].gap))
			detach(programs, &paths[i]);
}

/* Return the gaps of the paths that are not recorded. */
static GPtrArray *list_gaps(const KmtdBpfPrograms *programs)
{
	GPtrArray *list = g_ptr_array_new();

	for (gsize i = 0; i < G_N_ELEMENTS(paths); i++)
		if (has_gap(programs, paths[i].gap) &&
		    !g_ptr_array_find(list, paths[i].gap, NULL))
			g_ptr_array_add(list, (gpointer)paths[i].gap);
	return list;
}

guint kmtd_bpf_paths_n_gaps(const KmtdBpfPrograms *programs)
{
	g_autoptr(GPtrArray) gaps = list_gaps(programs);

	return gaps->len;
}

GPtrArray *kmtd_bpf_paths_not_seen(const KmtdBpfPrograms *programs)
{
	GPtrArray *list = list_gaps(programs);

	if (g_hash_table_contains(programs->attached,
				  "percpu_free_percpu_first"))
		g_ptr_array_add(list, (gpointer) "the callers that free "
						 "per-CPU memory");
	if (!programs->find_callers)
		g_ptr_array_add(list, (gpointer) "the callers that allocate or "
						 "free pages");
	if (!programs->has_context)
		g_ptr_array_add(list,
				(gpointer) "whether an event occurred in an "
					   "interrupt");
	return list;
}
