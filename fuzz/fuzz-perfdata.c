// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: a perf.data file of arbitrary bytes. The reader must not read
 * outside the file, and must return only valid entries. The callchains
 * of samples are passed to the code that finds callers and stores stacks.
 */
#include "config.h"

#include "fuzz/scratch.h"
#include "fuzz/target.h"
#include "import/callers.h"
#include "import/functions.h"
#include "import/import.h"
#include "import/perf-command.h"
#include "import/perf-data.h"
#include "import/perf-layout.h"
#include "import/import-stacks.h"

#include <string.h>

/* Stub: import.c, which defines this function, needs code beyond the reader. */
gboolean kmt_import_fail(GError **error, const char *what)
{
	g_set_error_literal(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			    what);
	return FALSE;
}

G_DEFINE_QUARK(kmt - import - error - quark, kmt_import_error)

/*
 * Limit of the entries read from an input. Compressed records may expand to
 * more entries than the file has bytes.
 */
#define MAX_ENTRIES 100000

#define FUNCTIONS                                                              \
	"ffffffff81000000 T alloc_pages\nffffffff81000100 t mine\t[mod]\n"

typedef struct {
	gsize size;  /* size of the perf.data file, in bytes */
	gsize bytes; /* sum of the lengths of the formats so far, in bytes */
	guint sum;   /* sum of all bytes, so that each byte is read */
	KmtImportCallers *callers;
	KmtImportStacks *stacks;
} ReadState;

static void read_bytes(ReadState *state, const void *data, gsize n_bytes)
{
	const guint8 *p = data;

	for (gsize i = 0; i < n_bytes; i++)
		state->sum += p[i];
}

static gboolean on_format(gpointer user, const char *system, const char *name,
			  const char *text, GError **error)
{
	ReadState *state = user;

	read_bytes(state, system, strlen(system));
	read_bytes(state, name, strlen(name));
	state->bytes += strlen(text);
	g_assert_cmpuint(state->bytes, <=, state->size);
	return TRUE;
}

static void check_chain(ReadState *state, const KmtPerfEntry *entry)
{
	guint n = (guint)(entry->chain.left / sizeof(guint64));
	g_autofree guint64 *copy = g_memdup2(entry->chain.next, n * 8);

	/* First, a kmalloc with a call site that may be in the chain; then
	 * pages, which have no call site. */
	for (guint i = 0; copy && i < 2; i++) {
		struct kmemtrace_event event = {
			.type_id = i ? KMEMTRACE_TYPE_PAGES
				     : KMEMTRACE_TYPE_KMALLOC,
			.call_site = i ? 0 : entry->id + 1,
		};
		const guint64 *stack = copy;
		guint left = kmt_import_callers_apply(state->callers, &event,
						      &stack, n);

		g_assert_cmpuint(left, <=, n);
		g_assert_true(stack == copy + n - left);
		kmt_import_stacks_add(state->stacks, stack, left);
	}
}

static void check_entry(ReadState *state, const KmtPerfEntry *entry)
{
	g_assert_cmpint(entry->kind, <=, KMT_PERF_ENTRY_DAMAGED);
	if (entry->kind == KMT_PERF_ENTRY_SAMPLE) {
		g_assert_cmpuint(entry->n_bytes, <=, G_MAXUINT16);
		read_bytes(state, entry->data, entry->n_bytes);
		check_chain(state, entry);
	}
	if (entry->kind == KMT_PERF_ENTRY_COMM ||
	    entry->kind == KMT_PERF_ENTRY_KERNEL)
		read_bytes(state, entry->name, strlen(entry->name));
}

static void read_all(KmtPerfData *data, ReadState *state)
{
	g_autoptr(GError) error = NULL;
	KmtPerfEntry entry;
	gsize n = 0;

	if (!kmt_perf_data_formats(data, on_format, state, &error))
		g_assert_nonnull(error);
	g_clear_error(&error);
	while (n++ < MAX_ENTRIES && kmt_perf_data_next(data, &entry, &error)) {
		g_assert_no_error(error);
		check_entry(state, &entry);
	}
}

static void check_layouts(ReadState *state, const KmtPerfData *data)
{
	const KmtPerfLayouts *layouts = kmt_perf_data_layouts(data);

	g_assert_true(kmt_perf_layouts_equal(layouts, layouts));
	for (guint i = 0; i < kmt_perf_layouts_count(layouts); i++) {
		read_bytes(state, kmt_perf_layouts_attr(layouts, i),
			   sizeof(struct perf_event_attr));
		g_assert_cmpuint(kmt_perf_layouts_n_ids(layouts, i), <=,
				 state->size / 8);
	}
}

static void read_string(ReadState *state, const char *text)
{
	if (text)
		read_bytes(state, text, strlen(text));
}

static void read_command(ReadState *state, const KmtPerfData *data)
{
	KmtPerfCommand command =
		kmt_perf_command_parse(kmt_perf_data_command(data));

	read_string(state, command.cpus);
	read_string(state, command.tasks);
	read_string(state, command.cgroups);
	read_string(state, command.filter);
	read_string(state, command.delay);
}

static void check_data(ReadState *state, KmtPerfData *data)
{
	g_assert_cmpuint(kmt_perf_data_page_bytes(data), >=, 512);
	kmt_perf_data_cpus(data);
	kmt_perf_data_online(data);
	read_string(state, kmt_perf_data_release(data));
	read_string(state, kmt_perf_data_machine(data));
	read_string(state, kmt_perf_data_version(data));
	read_string(state, kmt_perf_data_build_id(data));
	check_layouts(state, data);
	read_command(state, data);
	read_all(data, state);
	/* Read the file a second time, as the import does for files that it
	 * scans first. */
	kmt_perf_data_rewind(data);
	read_all(data, &(ReadState){.size = state->size,
				    .callers = state->callers,
				    .stacks = state->stacks});
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtPerfData) data = kmt_perf_data_open(
		kmt_scratch_write("perf.data", bytes, size), &error);
	g_autoptr(KmtImportFunctions) functions =
		kmt_import_functions_new(g_strdup(FUNCTIONS));
	g_autoptr(KmtImportCallers) callers =
		kmt_import_callers_new(kmt_import_functions_name, functions);
	ReadState state = {.size = size,
			   .callers = callers,
			   .stacks = kmt_import_stacks_new()};
	g_autofree char *text = NULL;

	if (data) {
		g_assert_no_error(error);
		check_data(&state, data);
	} else {
		g_assert_nonnull(error);
	}
	text = kmt_import_stacks_text(state.stacks);
	read_string(&state, text);
	kmt_import_stacks_free(state.stacks);
	kmt_scratch_clear();
	return 0;
}
