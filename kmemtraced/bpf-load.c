// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the programs of the source "bpf" into the kernel. */
#include "config.h"

#include <errno.h>
#include <sys/mman.h>
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

typedef struct btf KernelTypes;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KernelTypes, btf__free)

/* Discard the messages of libbpf, which also describe attempts that may fail.
 */
static int print_nothing(enum libbpf_print_level level, const char *format,
			 va_list args)
{
	return 0;
}

/* Set the constants of the programs before the kernel verifies the programs. */
static gboolean set_constants(KmtdBpfPrograms *programs, const struct btf *btf)
{
	struct kmtd_bpf_settings settings;
	struct bpf_map *constants =
		kmtd_bpf_find_map(programs->object, ".rodata");

	kmtd_bpf_paths_describe(programs, btf, &settings);
	programs->struct_page_bytes = settings.struct_page_bytes;
	return constants && bpf_map__set_initial_value(constants, &settings,
						       sizeof(settings)) == 0;
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
		/* kmemtraced runs these itself, or attaches them if need be. */
		if (bpf_program__type(program) == BPF_PROG_TYPE_KPROBE ||
		    g_str_equal(bpf_program__name(program), "describe_cache") ||
		    g_str_equal(bpf_program__name(program),
				"describe_machine") ||
		    g_str_equal(bpf_program__name(program), "list_caches") ||
		    g_str_equal(bpf_program__name(program), "find_counters") ||
		    g_str_equal(bpf_program__name(program), "count_skipped"))
			bpf_program__set_autoattach(program, false);
	}
}

/* Give a map of stacks its size. */
static void set_stack_map(const KmtdBpfPrograms *programs, const char *name)
{
	struct bpf_map *map =
		bpf_object__find_map_by_name(programs->object, name);

	bpf_map__set_max_entries(map, KMTD_BPF_STACKS);
	bpf_map__set_value_size(map,
				(programs->stack_depth + KMTD_BPF_STACK_EXTRA) *
					(guint32)sizeof(guint64));
}

/* Give the map of late stacks the depth that the kernel permits. */
static void set_late_map(const KmtdBpfPrograms *programs)
{
	g_autofree char *text = NULL;
	guint64 depth = KMTD_BPF_SAMPLE_CALLERS;

	if (g_file_get_contents("/proc/sys/kernel/perf_event_max_stack", &text,
				NULL, NULL))
		depth = CLAMP(g_ascii_strtoull(text, NULL, 10), 1, depth);
	bpf_map__set_value_size(
		kmtd_bpf_find_map(programs->object, "late_stacks"),
		(guint32)(depth * sizeof(guint64)));
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
	kmtd_bpf_paths_choose(programs, btf);
	choose_programs(programs);
	kmtd_bpf_filter_size_maps(&programs->filter, programs->object);
	bpf_map__set_max_entries(programs->buffers, programs->n_possible);
	bpf_map__set_max_entries(
		kmtd_bpf_find_map(programs->object, "unbuffered"),
		programs->n_possible);
	bpf_map__set_max_entries(
		kmtd_bpf_find_map(programs->object, "controls"),
		programs->n_possible);
	bpf_map__set_max_entries(
		kmtd_bpf_find_map(programs->object, "mark_sets"),
		programs->n_possible * KMTD_BPF_MARK_SETS);
	set_late_map(programs);
	if (programs->stack_depth) {
		set_stack_map(programs, "stacks");
		set_stack_map(programs, "more_stacks");
	}
	result = bpf_map__set_inner_map_fd(programs->buffers, template);
	return result ? result : bpf_object__load(programs->object);
}

/*
 * Load the programs, and leave out what this kernel does not permit: the
 * context (see OBJECT()), and programs at functions.
 */
static int load_best(KmtdBpfPrograms *programs, const struct btf *btf,
		     int template)
{
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
	return result;
}

static void destroy_link(gpointer link)
{
	bpf_link__destroy(link);
}

/*
 * Map the @n_bytes bytes of a map, or of a section of variables. Return NULL
 * with an error.
 */
static void *map_memory(KmtdBpfPrograms *programs, const char *name,
			gsize n_bytes, GError **error)
{
	const struct bpf_map *map = kmtd_bpf_find_map(programs->object, name);
	void *value = map ? mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
				 MAP_SHARED, bpf_map__fd(map), 0)
			  : MAP_FAILED;

	if (value != MAP_FAILED) {
		/* The cleanup process shall not keep the map in the kernel. */
		(void)madvise(value, n_bytes, MADV_DONTFORK);
		return value;
	}
	kmtd_bpf_set_error(error, errno, "map the variables of BPF programs");
	return NULL;
}

static gsize mark_sets_bytes(const KmtdBpfPrograms *programs)
{
	return (gsize)programs->n_possible * KMTD_BPF_MARK_SETS *
	       sizeof(*programs->mark_sets);
}

static gsize controls_bytes(const KmtdBpfPrograms *programs)
{
	return programs->n_possible * sizeof(*programs->controls);
}

/* Map what the programs share with this process. */
static gboolean map_shared(KmtdBpfPrograms *programs, GError **error)
{
	programs->state = map_memory(programs, ".data.state",
				     sizeof(*programs->state), error);
	if (!programs->state)
		return FALSE;
	programs->counters = map_memory(programs, ".data.counters",
					sizeof(*programs->counters), error);
	if (!programs->counters)
		return FALSE;
	programs->controls = map_memory(programs, "controls",
					controls_bytes(programs), error);
	if (!programs->controls)
		return FALSE;
	programs->mark_sets = map_memory(programs, "mark_sets",
					 mark_sets_bytes(programs), error);
	return programs->mark_sets != NULL;
}

gboolean kmtd_bpf_programs_load(KmtdBpfPrograms *programs, guint32 n_slots,
				GError **error)
{
	g_autoptr(KernelTypes) btf = NULL;
	int template, result;

	programs->links = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
						destroy_link);
	programs->absent = g_hash_table_new(g_str_hash, g_str_equal);
	if (!g_getenv("KMEMTRACED_BPF_LOG"))
		libbpf_set_print(print_nothing);
	programs->n_possible = (guint)MAX(sysconf(_SC_NPROCESSORS_CONF),
					  MAX(libbpf_num_possible_cpus(), 1));
	programs->n_percpu = (guint)MAX(libbpf_num_possible_cpus(), 1);
	programs->attached =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	programs->n_slots = n_slots;
	btf = btf__load_vmlinux_btf();
	if (btf && !kmtd_bpf_paths_fit(btf)) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_BPF,
			    "the tracepoints of this kernel have other "
			    "arguments than those since Linux 6.1");
		return FALSE;
	}
	template = kmtd_bpf_create_buffer(n_slots);
	if (template <0) {
		kmtd_bpf_set_error(error, errno, "create a BPF map");
		return FALSE;
	}
	result = load_best(programs, btf, template);
	close(template);
	if (result < 0) {
		kmtd_bpf_set_error(error, -result, "load the BPF programs");
		return FALSE;
	}
	kmtd_bpf_find_counters(programs);
	return map_shared(programs, error);
}

void kmtd_bpf_programs_unload(KmtdBpfPrograms *programs)
{
	if (programs->state)
		munmap(programs->state, sizeof(*programs->state));
	if (programs->counters)
		munmap(programs->counters, sizeof(*programs->counters));
	if (programs->controls)
		munmap(programs->controls, controls_bytes(programs));
	if (programs->mark_sets)
		munmap(programs->mark_sets, mark_sets_bytes(programs));
	programs->state = NULL;
	programs->counters = NULL;
	programs->controls = NULL;
	programs->mark_sets = NULL;
	g_clear_pointer(&programs->links, g_hash_table_unref);
	g_clear_pointer(&programs->absent, g_hash_table_unref);
	g_clear_pointer(&programs->attached, g_hash_table_unref);
	g_clear_pointer(&programs->object, bpf_object__close);
}
