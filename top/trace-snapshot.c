// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the snapshots of a trace. */
#include "config.h"

#include "top/trace-private.h"

#include "lib/base/printable.h"

static void set_capture(const KmtTopTrace *trace, KmtTopHeader *header)
{
	header->capture = trace->raw_state;
	header->capture_path = trace->raw_path;
	header->capture_error = trace->raw_error;
	header->capture_bytes = trace->raw ? kmt_top_capture_bytes(trace->raw)
					   : trace->raw_bytes;
}

static void set_counts(const KmtTopTrace *trace, const KmtTopCounts *now,
		       KmtTopHeader *header)
{
	const KmtTopCounts *before = trace->before.counts;
	const KmtMatchOnline *online = kmt_top_tally_online(trace->tally);

	header->events = now->events;
	header->interval_events = now->events - (before ? before->events : 0);
	if (header->interval_s > 0)
		header->events_per_s =
			(double)header->interval_events / header->interval_s;
	header->late_records = trace->late_records;
	header->frees_before = now->frees_before;
	header->unmatched_frees = now->unmatched_frees;
	header->untracked_allocs = now->untracked;
	header->live_objects = kmt_match_online_live(online);
	header->max_objects = trace->options.max_objects;
	header->limit_reached = kmt_match_online_is_limited(online);
	header->memory_bytes = kmt_match_online_bytes(online);
}

/* Return a key of kmemtrace.meta for a terminal; NULL: it has none. */
static char *meta_text(const KmtTopTrace *trace, const char *key)
{
	g_autofree char *text = g_key_file_get_string(
		kmt_top_tables_meta(trace->tables), "capture", key, NULL);

	return text ? kmt_printable(text) : NULL;
}

/* Return the list "not_seen" of kmemtrace.meta for a terminal; NULL: none. */
static GStrv meta_not_seen(const KmtTopTrace *trace)
{
	GStrv list =
		g_key_file_get_string_list(kmt_top_tables_meta(trace->tables),
					   "capture", "not_seen", NULL, NULL);

	for (guint i = 0; list && list[i]; i++) {
		g_autofree char *text = list[i];

		list[i] = kmt_printable(text);
	}
	if (list && !list[0])
		g_clear_pointer(&list, g_strfreev);
	return list;
}

KmtTopSnapshot *kmt_top_trace_snapshot(KmtTopTrace *trace)
{
	g_autofree char *source = meta_text(trace, "source");
	g_autofree char *kernel = meta_text(trace, "kernel_release");
	g_auto(GStrv) not_seen = meta_not_seen(trace);
	g_autoptr(KmtTopCounts) now = kmt_top_tally_counts(trace->tally);
	gint64 time = kmt_top_trace_time(trace);
	KmtTopSnapshot *snapshot = kmt_top_snapshot_new(
		trace->names, kmt_top_tally_keys(trace->tally), now,
		trace->before.counts);
	KmtTopCost cost;
	KmtTopHeader header = {
		.source = source,
		.kernel = kernel,
		.input = trace->input,
		.n_cpus = trace->capture->files->len,
		.time = (double)trace->tick.realtime_ns / 1e9,
		.elapsed_s = (double)time / 1e9,
		.interval_s =
			(double)MAX(time - trace->before.time_ns, 0) / 1e9,
		.ended = trace->end_reason != NULL,
		.end_reason = trace->end_reason,
		.not_seen = (const char *const *)not_seen,
	};

	header.lost = kmt_top_trace_losses(trace, &header.losses_unknown);
	header.interval_lost =
		header.lost - MIN(header.lost, trace->before.lost);
	kmt_top_cost_measure(&cost, trace->tick.cpu_ns);
	header.own_cpu_percent = kmt_top_cost_own(&trace->before.cost, &cost);
	header.daemon_cpu_percent = kmt_top_cost_daemon(
		&trace->before.cost, &cost, header.interval_s);
	set_counts(trace, now, &header);
	set_capture(trace, &header);
	kmt_top_snapshot_set_header(snapshot, &header);
	kmt_top_counts_unref(trace->before.counts);
	trace->before = (IntervalStart){.counts = g_steal_pointer(&now),
					.time_ns = time,
					.lost = header.lost,
					.cost = cost};
	return snapshot;
}
