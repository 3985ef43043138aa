// SPDX-License-Identifier: GPL-2.0-or-later
/* State of an import: setters and counters that the readers call. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "import/import-private.h"
#include "import/import-stacks.h"
#include "lib/capture/error.h"
#include "lib/cli/progress.h"
#include "lib/tracepoints/learned-names.h"

G_DEFINE_QUARK(kmt - import - error - quark, kmt_import_error)

gboolean kmt_import_fail(GError **error, const char *message)
{
	g_set_error_literal(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
			    message);
	return FALSE;
}

static void cpu_free(gpointer data)
{
	KmtImportCpu *cpu = data;

	if (!cpu)
		return;
	g_clear_pointer(&cpu->writer, kmt_capture_cpu_writer_free);
	g_array_unref(cpu->waiting);
	kmt_tracepoint_pairs_clear(&cpu->pairs);
	g_free(cpu);
}

KmtImport *kmt_import_new(KmtCaptureWriter *output, guint abi_version)
{
	KmtImport *import = g_new0(KmtImport, 1);

	import->output = output;
	import->abi_version = abi_version;
	import->record_bytes = abi_version == 1 ? KMEMTRACE_EVENT_SIZE_V1
						: KMEMTRACE_EVENT_SIZE_V2;
	import->allowed_ns = import->written_ns = G_MININT64;
	import->meta = g_key_file_new();
	import->cpus = g_ptr_array_new_with_free_func(cpu_free);
	import->names = kmt_tracepoint_tables_new();
	import->gaps = g_ptr_array_new_with_free_func(g_free);
	import->reasons = g_ptr_array_new_with_free_func(g_free);
	import->notes = g_ptr_array_new_with_free_func(g_free);
	import->point_events = g_new0(guint64, kmt_tracepoint_n_names);
	import->unusable = g_new0(const char *, kmt_tracepoint_n_names);
	return import;
}

void kmt_import_free(KmtImport *import)
{
	if (!import)
		return;
	g_ptr_array_unref(import->cpus);
	g_key_file_unref(import->meta);
	kmt_tracepoint_tables_free(import->names);
	g_clear_pointer(&import->stacks, kmt_import_stacks_free);
	g_ptr_array_unref(import->gaps);
	g_ptr_array_unref(import->reasons);
	g_ptr_array_unref(import->notes);
	g_free(import->point_events);
	g_free(import->unusable);
	g_free(import->kernel.build_id);
	g_free(import->kernel.symbol);
	g_free(import);
}

void kmt_import_set_watch(KmtImport *import, KmtImportWatch *watch)
{
	import->watch = watch;
}

/* Number of events between two reports of the progress. */
#define PROGRESS_EVENTS 4096

void kmt_import_tick(KmtImport *import)
{
	if (import->watch)
		kmt_import_watch_tick(import->watch);
	if (import->figures.records % PROGRESS_EVENTS == 0)
		kmt_progress_show(import->figures.records);
}

void kmt_import_set_cpus(KmtImport *import, guint cpus)
{
	import->machine_cpus = cpus;
}

guint kmt_import_cpus(const KmtImport *import)
{
	return import->machine_cpus;
}

void kmt_import_set_symbol_files(KmtImport *import,
				 const KmtImportSymbolFiles *files)
{
	import->symbol_files = files;
}

const KmtImportSymbolFiles *kmt_import_symbol_files(const KmtImport *import)
{
	return import->symbol_files;
}

void kmt_import_set_stacks(KmtImport *import)
{
	if (import->abi_version == 1 || import->stacks || import->has_files)
		return;
	import->stacks = kmt_import_stacks_new();
	import->record_bytes = KMEMTRACE_EVENT_SIZE_V2S;
}

GKeyFile *kmt_import_meta(KmtImport *import)
{
	return import->meta;
}

void kmt_import_set_losses_not_reported(KmtImport *import)
{
	import->figures.not_reported = TRUE;
}

void kmt_import_set_damaged(KmtImport *import)
{
	import->figures.damaged = TRUE;
}

void kmt_import_set_lost(KmtImport *import, guint64 n_events)
{
	import->total_lost = n_events;
}

void kmt_import_set_lost_unknown(KmtImport *import)
{
	import->figures.lost_more = TRUE;
}

guint64 kmt_import_memory_events(const KmtImport *import)
{
	return import->figures.records + import->figures.no_memory;
}

void kmt_import_count_no_memory(KmtImport *import, guint point)
{
	kmt_import_tick(import);
	import->point_events[point]++;
	import->figures.no_memory++;
}

void kmt_import_count_unusable(KmtImport *import, guint point, const char *why)
{
	import->unusable[point] = why;
	kmt_import_count_other(import);
}

void kmt_import_count_other(KmtImport *import)
{
	kmt_import_tick(import);
	import->figures.other++;
}

/* ---- names ---- */

void kmt_import_find_inner_functions(KmtImport *import, const char *text)
{
	kmt_tracepoint_inner_read(&import->inner, text);
	import->inner_was_read = import->inner.is_known;
}

void kmt_import_name_task(KmtImport *import, guint32 pid, gint64 time,
			  const char *name)
{
	kmt_tracepoint_tables_set_task(import->names, pid, time, name);
}

gboolean kmt_import_only_task(const KmtImport *import, guint32 *pid)
{
	*pid = import->first_pid;
	return import->figures.records && !import->several_pids;
}

GArray *kmt_import_unnamed_tasks(const KmtImport *import)
{
	return kmt_tracepoint_tables_unnamed_tasks(import->names);
}

void kmt_import_add_gap(KmtImport *import, const char *gap)
{
	g_ptr_array_add(import->gaps, g_strdup(gap));
}

void kmt_import_add_incomplete(KmtImport *import, const char *reason)
{
	if (!g_ptr_array_find_with_equal_func(import->reasons, reason,
					      g_str_equal, NULL))
		g_ptr_array_add(import->reasons, g_strdup(reason));
}

void kmt_import_add_note(KmtImport *import, const char *note)
{
	g_ptr_array_add(import->notes, g_strdup(note));
}

KmtImportKernel *kmt_import_kernel(KmtImport *import)
{
	return &import->kernel;
}

gboolean kmt_import_set_kallsyms(KmtImport *import, const char *text,
				 GError **error)
{
	import->has_kallsyms = TRUE;
	return kmt_capture_writer_write_table(import->output, "kallsyms", text,
					      error);
}

gboolean kmt_import_has_kallsyms(const KmtImport *import)
{
	return import->has_kallsyms;
}
