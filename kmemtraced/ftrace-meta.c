// SPDX-License-Identifier: GPL-2.0-or-later
/* The meta file and the task names of the source "ftrace". */
#include "config.h"

#include "kmemtraced/ftrace-private.h"

#define CAPTURE "capture"

/* Added to "not_seen" in the meta file if only some processes are recorded. */
#define NOT_SEEN_OTHERS                                                        \
	"allocations by other processes, and their frees of memory that the "  \
	"recorded processes allocated"

void kmtd_ftrace_describe(KmtdSource *source, GKeyFile *meta)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autoptr(GPtrArray) not_seen = NULL;
	guint types = 0;

	for (guint i = 0; i < ftrace->format->by_id->len; i++) {
		const KmtTracepoint *point = ftrace->format->by_id->pdata[i];

		if (!point)
			continue;
		g_ptr_array_add(names, (gpointer)point->name);
		types |= 1U << point->type_id;
	}
	not_seen = kmt_tracepoints_not_seen(types);
	g_key_file_set_string(meta, CAPTURE, "clock", ftrace->clock);
	g_key_file_set_uint64(meta, CAPTURE, "subbufs", source->n_subbufs);
	g_key_file_set_uint64(meta, CAPTURE, "subbuf_size",
			      source->subbuf_bytes);
	g_key_file_set_string_list(meta, CAPTURE, "tracepoints",
				   (const char *const *)names->pdata,
				   names->len);
	/* A preliminary value, which conclude_names() replaces. */
	g_key_file_set_string(meta, CAPTURE, "task_names", "proc");
	if (ftrace->n_pids)
		g_ptr_array_add(not_seen, g_strdup(NOT_SEEN_OTHERS));
	g_key_file_set_string_list(meta, CAPTURE, "not_seen",
				   (const char *const *)not_seen->pdata,
				   not_seen->len);
	if (ftrace->n_pids) {
		g_key_file_set_integer_list(meta, CAPTURE, "pids", ftrace->pids,
					    ftrace->n_pids);
		g_key_file_set_boolean(meta, CAPTURE, "children",
				       ftrace->children);
	}
}

static void conclude_names(KmtdFtrace *ftrace, GKeyFile *meta)
{
	g_autoptr(GPtrArray) changes = g_ptr_array_new();
	gint64 last_ns = 0;
	guint64 lost;
	gboolean none_lost =
		kmtd_ftrace_total_overruns(&ftrace->source, &lost, NULL) &&
		lost == 0;

	for (guint i = 0; i < ftrace->streams->len; i++) {
		KmtdFtraceStream *ftrace_stream = ftrace->streams->pdata[i];

		g_ptr_array_add(changes, &ftrace_stream->changes);
		last_ns = MAX(last_ns, ftrace_stream->ring.last_ns);
		none_lost = none_lost && !ftrace_stream->changes.n_dropped &&
			    !ftrace_stream->ring.counters.gaps;
	}
	kmtd_task_names_merge(ftrace->names, changes,
			      ftrace->names_complete && none_lost, last_ns);
	g_key_file_set_string(meta, CAPTURE, "task_names",
			      ftrace->names_complete ? "tracepoints" : "proc");
}

char *kmtd_ftrace_table(KmtdSource *source, const char *name)
{
	const KmtdFtrace *ftrace = (const KmtdFtrace *)source;

	if (g_str_equal(name, "cgroups"))
		return kmtd_task_cgroups_text(ftrace->cgroups);
	return g_str_equal(name, "tasks") ? kmtd_task_names_text(ftrace->names)
					  : NULL;
}

gboolean kmtd_ftrace_conclude(KmtdSource *source, GKeyFile *meta,
			      GError **error)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;
	guint64 own = 0, pairs = 0;

	for (guint i = 0; i < ftrace->streams->len; i++) {
		const KmtdFtraceStream *ftrace_stream =
			ftrace->streams->pdata[i];
		const KmtdRingCounters *counters =
			&ftrace_stream->ring.counters;
		g_autofree char *group =
			g_strdup_printf("cpu%u", ftrace_stream->cpu);

		own += counters->own;
		pairs += ftrace_stream->ring.pairs.n_dropped;
		if (counters->gaps == 0)
			continue;
		g_key_file_set_int64(meta, group, "lost_from",
				     counters->lost_from);
		g_key_file_set_int64(meta, group, "lost_until",
				     ftrace_stream->ring.after_gap
					     ? ftrace_stream->ring.last_ns
					     : counters->lost_until);
	}
	g_key_file_set_string(meta, CAPTURE, "cgroups", "end");
	g_key_file_set_uint64(meta, CAPTURE, "own_events", own);
	g_key_file_set_uint64(meta, CAPTURE, "kmalloc_duplicates", pairs);
	conclude_names(ftrace, meta);
	kmtd_ftrace_compare_counts(ftrace);
	return kmtd_interference_conclude(ftrace->interference, meta, error);
}
