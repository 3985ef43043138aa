// SPDX-License-Identifier: GPL-2.0-or-later
/* The event source "ftrace", which records the tracepoints of any kernel. */
#include "config.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "kmemtraced/ftrace-private.h"
#include "kmemtraced/ring-format.h"

static gboolean set_tracepoints(KmtdFtrace *ftrace, const char *value,
				GError **error)
{
	for (guint i = 0; i < kmt_tracepoint_n_names; i++) {
		g_autofree char *name = g_strdup_printf(
			"events/%s/%s/enable", kmt_tracepoint_names[i].system,
			kmt_tracepoint_names[i].name);

		if (kmt_tracepoint_names[i].optional &&
		    !kmtd_instance_has(ftrace->instance, name))
			continue;
		if (!kmtd_instance_write(ftrace->instance, name, value, error))
			return FALSE;
	}
	return TRUE;
}

/*
 * Switch the tracepoints of task names on or off. Return FALSE if the kernel
 * lacks one of these tracepoints or refuses the write.
 */
static gboolean set_task_points(KmtdFtrace *ftrace, const char *value)
{
	gboolean all = TRUE;

	for (guint i = 0; i < KMT_TRACEPOINT_N_TASKS; i++) {
		g_autofree char *name = g_build_filename(
			"events", KMT_TASK_SYSTEM, kmt_tracepoint_task_names[i],
			"enable", NULL);

		all = ftrace->format->tasks[i].min_bytes &&
		      kmtd_instance_write(ftrace->instance, name, value,
					  NULL) &&
		      all;
	}
	return all;
}

static gboolean ftrace_is_enabled(KmtdSource *source, gboolean *enabled,
				  GError **error)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;
	g_autofree char *text = NULL;

	*enabled = FALSE;
	if (!ftrace->prepared)
		return TRUE;
	text = kmtd_instance_read(ftrace->instance, "tracing_on", error);
	*enabled = text && g_str_equal(text, "1");
	return text != NULL;
}

/*
 * Enable each tracepoint and then set tracing_on, so that all tracepoints begin
 * to record at the same moment.
 */
static gboolean ftrace_enable(KmtdSource *source, GError **error)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;

	if (!set_tracepoints(ftrace, "1", error))
		return FALSE;
	ftrace->names_complete = set_task_points(ftrace, "1");
	ftrace->interference =
		kmtd_interference_new(ftrace->instance, ftrace->children);
	/* Read the task names as late as possible, but before tracing is on, so
	 * that reading them is not in the trace. */
	kmtd_task_names_begin(ftrace->names);
	/* For tasks that end during the recording. */
	kmtd_task_cgroups_read(ftrace->cgroups);
	if (!kmtd_instance_write(ftrace->instance, "tracing_on", "1", error))
		return FALSE;
	kmtd_interference_begin(ftrace->interference);
	source->changes_fd = kmtd_interference_fd(ftrace->interference);
	return TRUE;
}

static void ftrace_poll_changes(KmtdSource *source, gboolean now)
{
	kmtd_interference_poll(((KmtdFtrace *)source)->interference, now);
}

/*
 * Clear tracing_on, so that all tracepoints end at the same moment. Then
 * disable each tracepoint, which removes the kernel's probes.
 */
static gboolean ftrace_disable(KmtdSource *source, GError **error)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;

	/* Stop watching the instance before kmemtraced itself changes the
	 * settings. */
	kmtd_interference_stop(ftrace->interference);
	source->changes_fd = -1;
	if (!kmtd_instance_write(ftrace->instance, "tracing_on", "0", error))
		return FALSE;
	/* Read the task names now, before more tasks end. */
	kmtd_task_names_end(ftrace->names);
	kmtd_task_cgroups_read(ftrace->cgroups);
	set_task_points(ftrace, "0");
	return set_tracepoints(ftrace, "0", error);
}

/*
 * The instance does not exist yet, so no other program can have consumed a part
 * of the trace.
 */
static gboolean ftrace_any_consumed(KmtdSource *source, gboolean *consumed,
				    GError **error)
{
	*consumed = FALSE;
	return TRUE;
}

static GArray *ftrace_cpus(KmtdSource *source)
{
	return kmtd_online_cpus_follow(((KmtdFtrace *)source)->cpus);
}

static gboolean ftrace_initial_state(KmtdSource *source,
				     KmtRecoveryState *state)
{
	state->instance = kmtd_instance_path(((KmtdFtrace *)source)->instance);
	return TRUE;
}

static void ftrace_close_inherited(KmtdSource *source)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;

	for (guint i = 0; i < ftrace->streams->len; i++)
		close(((const KmtdFtraceStream *)ftrace->streams->pdata[i])
			      ->base.fd);
	kmtd_interference_stop(ftrace->interference);
	kmtd_instance_close_inherited(ftrace->instance);
}

static void ftrace_clean_up(KmtdSource *source)
{
	kmtd_instance_clean_up(((KmtdFtrace *)source)->instance);
}

static void ftrace_free(KmtdSource *source)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;

	kmtd_interference_free(ftrace->interference);
	kmtd_instance_close(ftrace->instance);
	g_clear_pointer(&ftrace->format, kmtd_ring_format_free);
	kmtd_task_names_free(ftrace->names);
	kmtd_task_cgroups_free(ftrace->cgroups);
	g_ptr_array_unref(ftrace->streams);
	kmtd_online_cpus_free(ftrace->cpus);
	g_free(ftrace->clock);
	g_free(ftrace->pids);
	g_free(ftrace->proc);
	g_free(source->description);
	g_free(source->watch_path);
	g_free(source);
}

static const KmtdSourceClass source_class = {
	.name = "ftrace",
	.sizes_buffers = TRUE,
	.is_enabled = ftrace_is_enabled,
	.prepare = kmtd_ftrace_prepare,
	.enable = ftrace_enable,
	.disable = ftrace_disable,
	.poll_changes = ftrace_poll_changes,
	.total_overruns = kmtd_ftrace_total_overruns,
	.overruns = kmtd_ftrace_overruns,
	.any_consumed = ftrace_any_consumed,
	.cpus = ftrace_cpus,
	.open_cpu = kmtd_ftrace_open_cpu,
	.describe = kmtd_ftrace_describe,
	.conclude = kmtd_ftrace_conclude,
	.table = kmtd_ftrace_table,
	.initial_state = ftrace_initial_state,
	.close_inherited = ftrace_close_inherited,
	.clean_up = ftrace_clean_up,
	.free = ftrace_free,
};

static char *read_format(gpointer data, const char *name, GError **error)
{
	g_autofree char *path = g_build_filename("events", name, NULL);

	return kmtd_instance_read_top(data, path, error);
}

/*
 * Find the functions whose kmalloc event repeats the event of their caller (see
 * kmalloc-pairs.h). If kallsyms has no addresses, KmtTracepointPairs recognises
 * such a pair of events by the page allocation before the first event.
 */
static void read_inner_functions(KmtdFtrace *ftrace)
{
	g_autofree char *path =
		g_build_filename(ftrace->proc, "kallsyms", NULL);
	g_autofree char *text = NULL;

	if (g_file_get_contents(path, &text, NULL, NULL))
		kmt_tracepoint_inner_read(&ftrace->format->inner, text);
}

KmtdSource *kmtd_ftrace_open(const KmtdSourceOptions *options, GError **error)
{
	KmtdFtrace *ftrace = g_new0(KmtdFtrace, 1);
	g_autoptr(KmtdSource) source = &ftrace->source;

	source->class = &source_class;
	source->changes_fd = -1;
	/* The records have version 2. ftrace keeps no tables for them;
	 * kmtd_ftrace_table() supplies the table of tasks. */
	source->abi_version = 2;
	source->record_bytes = KMEMTRACE_EVENT_SIZE_V2;
	ftrace->names = kmtd_task_names_new(options->proc);
	ftrace->cgroups = kmtd_task_cgroups_new(options->proc);
	ftrace->streams = g_ptr_array_new();
	ftrace->pids = g_memdup2(options->pids,
				 options->n_pids * sizeof(*options->pids));
	ftrace->n_pids = options->n_pids;
	ftrace->children = options->children && options->n_pids;
	ftrace->keep_own = options->keep_own;
	ftrace->proc = g_strdup(options->proc);
	ftrace->buffer_kb = options->buffer_kb;
	ftrace->warning = options->warning;
	/* Register the calling thread. Each reader registers its threads with
	 * stream_attach(). */
	kmtd_own_tasks_add(&ftrace->tasks, (gint32)syscall(SYS_gettid));
	if (!kmtd_ring_format_can_read(error))
		return NULL;
	ftrace->instance = kmtd_instance_open(options->tracefs, error);
	if (!ftrace->instance)
		return NULL;
	ftrace->format =
		kmtd_ring_format_read(read_format, ftrace->instance, error);
	if (!ftrace->format)
		return NULL;
	ftrace->cpus = kmtd_online_cpus_open(options->sys, error);
	if (!ftrace->cpus)
		return NULL;
	read_inner_functions(ftrace);
	kmtd_ftrace_choose_clock(ftrace);
	source->description = g_strdup_printf(
		"this kernel's tracepoints (source ftrace, clock %s)",
		ftrace->clock);
	return g_steal_pointer(&source);
}
