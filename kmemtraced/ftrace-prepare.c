// SPDX-License-Identifier: GPL-2.0-or-later
/* Prepares the tracefs instance of the source "ftrace". */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "kmemtraced/ftrace-private.h"
#include "lib/capture/error.h"

/* Default size of a CPU's buffer in kilobytes: the buffers of all CPUs share
 * 1/MEMORY_PART of the memory, within these limits for each CPU. */
#define BUFFER_MAX_KB 16384
#define BUFFER_MIN_KB 1024
#define MEMORY_PART   16

/* Minimum size of a buffer in pages, as enforced by the kernel. */
#define BUFFER_MIN_PAGES 2

/* Fill level of a buffer, in percent, at which the kernel wakes its reader. */
#define WAKE_PERCENT 10

/*
 * Choose the trace clock. The file trace_clock lists the clocks and brackets
 * the selected one, for example "[local] global counter". "local" is
 * sched_clock(); the kernel selects another default if sched_clock() differs
 * between CPUs. If another clock is selected, whether the kernel or the user
 * chose it, use "mono" if the kernel has it: "mono" costs more than "local",
 * but needs no lock as "global" does. "global" exists in every kernel.
 */
void kmtd_ftrace_choose_clock(KmtdFtrace *ftrace)
{
	g_autofree char *top =
		kmtd_instance_read_top(ftrace->instance, "trace_clock", NULL);

	if (top && strstr(top, "[local]"))
		ftrace->clock = g_strdup("local");
	else if (top && strstr(top, "mono"))
		ftrace->clock = g_strdup("mono");
	else
		ftrace->clock = g_strdup("global");
}

/*
 * Set all options that matter, because a new instance inherits the options of
 * the top-level tracing directory.
 */
static gboolean set_options(KmtdFtrace *ftrace, GError **error)
{
	const struct {
		const char *name;
		gboolean on;
	} options[] = {
		{"options/overwrite", TRUE}, /* overwrite mode marks where
					      * events were lost */
		{"options/stacktrace", FALSE},
		{"options/userstacktrace", FALSE},
		{"options/record-cmd", FALSE},
		{"options/record-tgid", FALSE},
		{"options/event-fork", ftrace->children},
	};
	g_autofree char *percent = g_strdup_printf("%d", WAKE_PERCENT);

	for (gsize i = 0; i < G_N_ELEMENTS(options); i++)
		if ((options[i].on ||
		     kmtd_instance_has(ftrace->instance, options[i].name)) &&
		    !kmtd_instance_write(ftrace->instance, options[i].name,
					 options[i].on ? "1" : "0", error))
			return FALSE;
	return !kmtd_instance_has(ftrace->instance, "buffer_percent") ||
	       kmtd_instance_write(ftrace->instance, "buffer_percent", percent,
				   error);
}

/*
 * Append all current threads of the process @pid to @text. Return FALSE and set
 * an error if the process does not exist.
 */
static gboolean add_threads(GString *text, const char *proc, gint pid,
			    GError **error)
{
	g_autofree char *path = g_strdup_printf("%s/%d/task", proc, pid);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	if (!dir) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_PROCESS,
			    "there is no process %d", pid);
		return FALSE;
	}
	while ((name = g_dir_read_name(dir)))
		g_string_append_printf(text, "%s ", name);
	return TRUE;
}

static gboolean set_pids(KmtdFtrace *ftrace, const char *proc, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (ftrace->n_pids == 0)
		return TRUE;
	for (guint i = 0; i < ftrace->n_pids; i++)
		if (!add_threads(text, proc, ftrace->pids[i], error))
			return FALSE;
	return kmtd_instance_write(ftrace->instance, "set_event_pid", text->str,
				   error);
}

static gboolean set_buffer(KmtdFtrace *ftrace, guint64 kb, GError **error)
{
	KmtdSource *source = &ftrace->source;
	guint64 memory_kb = (guint64)sysconf(_SC_PHYS_PAGES) *
			    ((guint64)sysconf(_SC_PAGESIZE) / 1024);
	g_autofree char *text = NULL;

	if (kb == 0)
		kb = CLAMP(memory_kb / MEMORY_PART /
				   kmtd_online_cpus_seen(ftrace->cpus)->len,
			   BUFFER_MIN_KB, BUFFER_MAX_KB);
	text = g_strdup_printf("%" G_GUINT64_FORMAT, kb);
	source->subbuf_bytes = ftrace->format->page_bytes;
	/* n_subbufs * subbuf_bytes is the requested size, which the advice
	 * about larger buffers needs. The kernel's buffer has a few pages more,
	 * because the kernel does not count the headers of the pages. */
	source->n_subbufs = MAX((kb * 1024 + source->subbuf_bytes - 1) /
					source->subbuf_bytes,
				BUFFER_MIN_PAGES);
	source->batch_bytes = kb * 1024 / 100 * WAKE_PERCENT;
	return kmtd_instance_write(ftrace->instance, "buffer_size_kb", text,
				   error);
}

gboolean kmtd_ftrace_prepare(KmtdSource *source, GError **error)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;
	gboolean was_stale = FALSE;

	if (!kmtd_instance_create(ftrace->instance, &was_stale, error))
		return FALSE;
	ftrace->prepared = TRUE;
	if (was_stale && ftrace->warning)
		ftrace->warning(KMTD_INSTANCE_REMOVED);
	return kmtd_instance_write(ftrace->instance, "tracing_on", "0",
				   error) &&
	       set_options(ftrace, error) &&
	       kmtd_instance_write(ftrace->instance, "trace_clock",
				   ftrace->clock, error) &&
	       set_pids(ftrace, ftrace->proc, error) &&
	       set_buffer(ftrace, ftrace->buffer_kb, error);
}
