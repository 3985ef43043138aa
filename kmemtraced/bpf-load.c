// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the programs of the source "bpf" into the kernel. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "kmemtraced/bpf-private.h"
#include "lib/capture/error.h"

/*
 * The compiled programs, part of the executable. Those without a context cannot
 * tell interrupts from tasks: they are for a kernel that does not publish the
 * address of preempt_count (x86 without CONFIG_KALLSYMS_ALL).
 */
#define OBJECT(name, file)                                                     \
	extern const guint8 name[] __attribute__((visibility("hidden")));      \
	extern const guint8 name##_end[]                                       \
		__attribute__((visibility("hidden")));                         \
	__asm__(".pushsection .rodata\n"                                       \
		".balign 8\n"                                                  \
		".globl " #name "\n" #name ":\n"                               \
		".incbin \"kmemtraced/bpf/" file "\"\n"                        \
		".globl " #name "_end\n" #name "_end:\n"                       \
		".popsection\n")
OBJECT(programs_of_context, "kmemtrace.bpf.o");
OBJECT(programs_without_context, "kmemtrace-no-context.bpf.o");

/* The settings of the programs, in the order of bpf/kmemtrace.bpf.c. */
typedef struct {
	guint32 n_slots;
	guint8 recover;
	guint8 defer_by_offset;
	guint8 bulk_returns_bool;
	guint8 find_callers;
} Settings;

/*
 * A way of the kernel to allocate or free memory without a tracepoint. The
 * programs NAME_first and NAME_second are attached to the first of the
 * functions that the kernel has.
 */
typedef struct {
	const char *name;
	const char *gap; /* what is not recorded without these programs */
	const char *functions[4];
} Path;

static const Path paths[] = {
	{"bulk_alloc",
	 "bulk allocations of slab objects (kmem_cache_alloc_bulk)",
	 {"kmem_cache_alloc_bulk_noprof", "kmem_cache_alloc_bulk"}},
	{"bulk_free",
	 "bulk frees of slab objects (kmem_cache_free_bulk, kfree_bulk)",
	 {"kmem_cache_free_bulk"}},
	{"defer", "hand-overs to kfree_rcu()", {"kvfree_call_rcu"}},
	{"cache_gone",
	 "caches that get the memory of a destroyed cache (kmem_cache_destroy)",
	 {"kmem_cache_destroy"}},
	/* No programs exist for these. */
	{NULL,
	 "objects that kfree_rcu() puts into sheaves (since Linux 6.18)",
	 {NULL}},
	{NULL,
	 "kmalloc_nolock() and kfree_nolock() (since Linux 6.18)",
	 {NULL}},
	{NULL,
	 "page allocations in bulk (most of vmalloc, page pools)",
	 {NULL}},
	{NULL,
	 "pages that are split, migrated, or freed otherwise than allocated "
	 "(split_page, alloc_pages_exact, compaction, CMA)",
	 {NULL}},
	{NULL, "krealloc() within the allocated memory", {NULL}},
	{NULL, "all per-CPU memory", {NULL}},
	{NULL, "all vmalloc areas", {NULL}},
};

void kmtd_bpf_set_error(GError **error, int code, const char *what)
{
	if (code == EPERM || code == EACCES)
		g_set_error(error, KMT_DAEMON_ERROR,
			    KMT_DAEMON_ERROR_PERMISSION,
			    "the kernel does not permit to %s", what);
	else
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_BPF, code,
				      "cannot %s", what);
}

struct bpf_map *kmtd_bpf_find_map(struct bpf_object *object, const char *suffix)
{
	struct bpf_map *map;

	bpf_object__for_each_map(
		map, object) if (g_str_has_suffix(bpf_map__name(map),
						  suffix)) return map;
	return NULL;
}

/* Discard the messages of libbpf, which also describe attempts that may fail.
 */
static int print_nothing(enum libbpf_print_level level, const char *format,
			 va_list args)
{
	return 0;
}

int kmtd_bpf_create_buffer(guint32 n_slots)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "kmemtrace_cpu",
			      sizeof(guint32), sizeof(struct kmtd_bpf_record),
			      n_slots + KMTD_BPF_CONTROL_SLOTS, &options);
}

/* Return whether the function returns a bool. */
static gboolean returns_bool(const struct btf *btf, const char *function)
{
	gint32 id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, id) : NULL;

	type = type ? btf__type_by_id(btf, type->type) : NULL;
	if (!type || !btf_is_func_proto(type))
		return FALSE;
	type = btf__type_by_id(btf, type->type);
	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type && btf_is_int(type) && type->size == 1;
}

static gboolean kernel_is_before(guint version, guint patch_level)
{
	struct utsname name;
	guint have = 0, have_level = 0;

	return uname(&name) == 0 &&
	       sscanf(name.release, "%u.%u", &have, &have_level) == 2 &&
	       (have < version ||
		(have == version && have_level < patch_level));
}

/* Set the constants of the programs before the kernel verifies the programs. */
static gboolean set_constants(KmtdBpfPrograms *programs, const struct btf *btf)
{
	Settings settings = {
		.n_slots = programs->n_slots,
		.recover = programs->recover != 0,
		.defer_by_offset = kernel_is_before(6, 2),
		.bulk_returns_bool =
			btf &&
			returns_bool(btf, "kmem_cache_alloc_bulk_noprof"),
		.find_callers = programs->find_callers != 0,
	};
	struct bpf_map *constants =
		kmtd_bpf_find_map(programs->object, ".rodata");

	return constants && bpf_map__set_initial_value(constants, &settings,
						       sizeof(settings)) == 0;
}

/* Return the function of the path that the kernel has, or NULL. */
static const char *find_function(const struct btf *btf, const Path *path)
{
	for (gsize i = 0; i < G_N_ELEMENTS(path->functions); i++)
		if (path->functions[i] &&
		    btf__find_by_name_kind(btf, path->functions[i],
					   BTF_KIND_FUNC) > 0)
			return path->functions[i];
	return NULL;
}

/* Return a program of the path, or NULL. @suffix is "_first", "_second" or "".
 */
static struct bpf_program *find_program(const KmtdBpfPrograms *programs,
					const Path *path, const char *suffix)
{
	g_autofree char *name = g_strconcat(path->name, suffix, NULL);

	return bpf_object__find_program_by_name(programs->object, name);
}

static void choose_path(KmtdBpfPrograms *programs, const struct btf *btf,
			const Path *path)
{
	static const char *const suffixes[] = {"_first", "_second", ""};
	const char *function = btf ? find_function(btf, path) : NULL;

	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		struct bpf_program *program =
			find_program(programs, path, suffixes[i]);

		if (program && (!function || bpf_program__set_attach_target(
						     program, 0, function)))
			bpf_program__set_autoload(program, false);
	}
}

/* Attach the programs of each path to the function of this kernel. */
static void choose_paths(KmtdBpfPrograms *programs, const struct btf *btf)
{
	for (gsize i = 0; i < G_N_ELEMENTS(paths); i++)
		if (paths[i].name)
			choose_path(programs, programs->has_paths ? btf : NULL,
				    &paths[i]);
}

/* Do not load the second program of each event if none shall be recovered. */
static void choose_programs(KmtdBpfPrograms *programs)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, programs->object)
	{
		if (g_str_has_suffix(bpf_program__name(program), "_second") &&
		    !programs->recover)
			bpf_program__set_autoload(program, false);
		/* kmemtraced runs these itself. */
		if (g_str_equal(bpf_program__name(program), "describe_cache") ||
		    g_str_equal(bpf_program__name(program), "find_counters") ||
		    g_str_equal(bpf_program__name(program), "count_skipped"))
			bpf_program__set_autoattach(program, false);
	}
}

/*
 * Load one of the objects, with @template as the model of the buffers and @btf,
 * the types of the kernel. Return 0 or -errno.
 */
static int load_object(KmtdBpfPrograms *programs, const struct btf *btf,
		       const guint8 *from, const guint8 *end, int template)
{
	int result;

	g_clear_pointer(&programs->object, bpf_object__close);
	programs->object =
		bpf_object__open_mem(from, (gsize)(end - from), NULL);
	if (!programs->object)
		return -errno;
	programs->buffers = kmtd_bpf_find_map(programs->object, "buffers");
	if (!programs->buffers || !set_constants(programs, btf))
		return -EINVAL;
	choose_paths(programs, btf);
	choose_programs(programs);
	bpf_map__set_max_entries(programs->buffers, programs->n_possible);
	bpf_map__set_max_entries(
		kmtd_bpf_find_map(programs->object, "unbuffered"),
		programs->n_possible);
	result = bpf_map__set_inner_map_fd(programs->buffers, template);
	return result ? result : bpf_object__load(programs->object);
}

static guint struct_page_bytes(const struct btf *btf)
{
	gint32 id =
		btf ? btf__find_by_name_kind(btf, "page", BTF_KIND_STRUCT) : -1;
	gint64 n = id > 0 ? btf__resolve_size(btf, (guint32)id) : -1;

	return n > 0 ? (guint)n : 64;
}

/*
 * Load the programs, and leave out what this kernel does not permit: the
 * context (see OBJECT()), and programs at functions.
 */
static int load_best(KmtdBpfPrograms *programs, int template)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int result = -ENOENT;

	for (guint i = 0; i < 4 && result < 0; i++) {
		programs->has_paths = i < 2;
		programs->has_context = i % 2 == 0;
		if (programs->has_context)
			result = load_object(programs, btf, programs_of_context,
					     programs_of_context_end, template);
		else
			result = load_object(
				programs, btf, programs_without_context,
				programs_without_context_end, template);
	}
	programs->struct_page_bytes = struct_page_bytes(btf);
	btf__free(btf);
	return result;
}

static void destroy_link(gpointer link)
{
	bpf_link__destroy(link);
}

/* Map the value of a section of variables. Return NULL with an error. */
static void *map_section(KmtdBpfPrograms *programs, const char *name,
			 GError **error)
{
	const struct bpf_map *map = kmtd_bpf_find_map(programs->object, name);
	void *value = map ? mmap(NULL, (gsize)sysconf(_SC_PAGESIZE),
				 PROT_READ | PROT_WRITE, MAP_SHARED,
				 bpf_map__fd(map), 0)
			  : MAP_FAILED;

	if (value != MAP_FAILED)
		return value;
	kmtd_bpf_set_error(error, errno, "map the variables of BPF programs");
	return NULL;
}

gboolean kmtd_bpf_programs_load(KmtdBpfPrograms *programs, guint32 n_slots,
				GError **error)
{
	int template, result;

	programs->links = g_ptr_array_new_with_free_func(destroy_link);
	if (!g_getenv("KMEMTRACED_BPF_LOG"))
		libbpf_set_print(print_nothing);
	programs->n_possible = (guint)MAX(sysconf(_SC_NPROCESSORS_CONF),
					  MAX(libbpf_num_possible_cpus(), 1));
	programs->attached =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	programs->n_slots = n_slots;
	template = kmtd_bpf_create_buffer(n_slots);
	if (template <0) {
		kmtd_bpf_set_error(error, errno, "create a BPF map");
		return FALSE;
	}
	result = load_best(programs, template);
	close(template);
	if (result < 0) {
		kmtd_bpf_set_error(error, -result, "load the BPF programs");
		return FALSE;
	}
	kmtd_bpf_find_counters(programs);
	programs->recording = map_section(programs, ".data.switch", error);
	programs->counters =
		programs->recording
			? map_section(programs, ".data.counters", error)
			: NULL;
	return programs->counters != NULL;
}

void kmtd_bpf_programs_unload(KmtdBpfPrograms *programs)
{
	if (programs->recording)
		munmap((void *)programs->recording,
		       (gsize)sysconf(_SC_PAGESIZE));
	if (programs->counters)
		munmap(programs->counters, (gsize)sysconf(_SC_PAGESIZE));
	programs->recording = NULL;
	programs->counters = NULL;
	g_clear_pointer(&programs->links, g_ptr_array_unref);
	g_clear_pointer(&programs->attached, g_hash_table_unref);
	g_clear_pointer(&programs->object, bpf_object__close);
}

/* Return whether the programs of the path are attached. */
static gboolean is_attached(const KmtdBpfPrograms *programs, const Path *path)
{
	g_autofree char *first = NULL;

	if (!path->name)
		return FALSE;
	first = g_strconcat(path->name, "_first", NULL);
	return g_hash_table_contains(programs->attached, first) ||
	       g_hash_table_contains(programs->attached, path->name);
}

GPtrArray *kmtd_bpf_programs_not_seen(const KmtdBpfPrograms *programs)
{
	GPtrArray *list = g_ptr_array_new();

	for (gsize i = 0; i < G_N_ELEMENTS(paths); i++)
		if (!is_attached(programs, &paths[i]))
			g_ptr_array_add(list, (gpointer)paths[i].gap);
	if (!programs->find_callers)
		g_ptr_array_add(list, (gpointer) "the callers that allocate or "
						 "free pages");
	if (!programs->has_context)
		g_ptr_array_add(list,
				(gpointer) "whether an event occurred in an "
					   "interrupt");
	return list;
}
