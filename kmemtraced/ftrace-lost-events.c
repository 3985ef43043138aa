// SPDX-License-Identifier: GPL-2.0-or-later
/* Lost events of the source "ftrace": the counters of the instance. */
#include "config.h"

#include <string.h>

#include "kmemtraced/ftrace-private.h"
#include "lib/capture/error.h"

/*
 * Set *n_events to the number of events that @cpu has lost. The kernel has a
 * counter for each cause of a loss; the result is their sum. Return FALSE and
 * set an error if there is no such counter.
 */
static gboolean cpu_overruns(KmtdFtrace *ftrace, guint cpu, guint64 *n_events,
			     GError **error)
{
	static const char *const kinds[] = {
		"overrun: ", "commit overrun: ", "dropped events: "};
	g_autofree char *name = g_strdup_printf("per_cpu/cpu%u/stats", cpu);
	g_autofree char *text =
		kmtd_instance_read(ftrace->instance, name, error);
	g_auto(GStrv) lines = NULL;
	gboolean any = FALSE;

	if (!text)
		return FALSE;
	*n_events = 0;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++)
		for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
			if (g_str_has_prefix(*line, kinds[i])) {
				any = TRUE;
				*n_events += g_ascii_strtoull(
					*line + strlen(kinds[i]), NULL, 10);
			}
	if (!any)
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_TRACEFS,
			    "%s/%s has no counter of lost events",
			    kmtd_instance_path(ftrace->instance), name);
	return any;
}

/*
 * Set *n_events to the number of events that were read from the buffer of @cpu.
 * Return FALSE if this kernel does not count these events, or if the count
 * cannot be read.
 */
static gboolean cpu_read_events(KmtdFtrace *ftrace, guint cpu,
				guint64 *n_events)
{
	static const char key[] = "read events: ";
	g_autofree char *name = g_strdup_printf("per_cpu/cpu%u/stats", cpu);
	g_autofree char *text =
		kmtd_instance_read(ftrace->instance, name, NULL);
	const char *line = text ? strstr(text, key) : NULL;

	if (line)
		*n_events = g_ascii_strtoull(line + strlen(key), NULL, 10);
	return line != NULL;
}

/*
 * Report interference if another program has cleared or read one of the
 * buffers. The kernel counts the events that any reader has consumed since a
 * buffer was last cleared. If another program interfered, this count differs
 * from the number of events in the pages that kmemtraced read.
 */
void kmtd_ftrace_compare_counts(KmtdFtrace *ftrace)
{
	for (guint i = 0; i < ftrace->streams->len; i++) {
		const KmtdFtraceStream *ftrace_stream =
			ftrace->streams->pdata[i];
		guint64 n;

		if (ftrace_stream->ring.counters.damaged ||
		    !cpu_read_events(ftrace, ftrace_stream->cpu, &n) ||
		    n == ftrace_stream->ring.counters.events)
			continue;
		kmtd_interference_add(ftrace->interference, "trace");
	}
}

gboolean kmtd_ftrace_total_overruns(KmtdSource *source, guint64 *n_events,
				    GError **error)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;
	const GArray *cpus = kmtd_online_cpus_seen(ftrace->cpus);

	*n_events = 0;
	for (guint i = 0; i < cpus->len; i++) {
		guint64 n;

		if (!cpu_overruns(ftrace, g_array_index(cpus, guint, i), &n,
				  error))
			return FALSE;
		*n_events += n;
	}
	return TRUE;
}

GHashTable *kmtd_ftrace_overruns(KmtdSource *source, GError **error)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;
	const GArray *cpus = kmtd_online_cpus_seen(ftrace->cpus);
	g_autoptr(GHashTable) table =
		g_hash_table_new_full(NULL, NULL, NULL, g_free);

	for (guint i = 0; i < cpus->len; i++) {
		guint cpu = g_array_index(cpus, guint, i);
		guint64 n;

		if (!cpu_overruns(ftrace, cpu, &n, error))
			return NULL;
		g_hash_table_insert(table, GUINT_TO_POINTER(cpu),
				    g_memdup2(&n, sizeof(n)));
	}
	return g_steal_pointer(&table);
}
