// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replays a capture and prints as JSON what the replay knows about it: the live
 * and peak bytes of each kind, the objects of each call site, and the objects
 * that are live at the end. The options are those of kmemtrace-report.
 *
 *     replay-dump [OPTION]... CAPTURE
 */
#include "config.h"

#include "lib/cli/json-writer.h"
#include "report/advice-sites.h"
#include "report/capture-report.h"

#include <stdlib.h>

/* What the events of the replay contained. */
typedef struct {
	guint64 events[KMT_REPLAY_REPLACED + 1];
	guint64 wrong; /* events that contradict the objects so far */
	GArray *live;  /* gboolean by slot */
} Seen;

static void on_event(gpointer user, const KmtReplay *replay,
		     const KmtReplayEvent *event)
{
	Seen *seen = user;
	gboolean *live;

	seen->events[event->op]++;
	if (event->slot >= seen->live->len)
		g_array_set_size(seen->live, event->slot + 1);
	live = &g_array_index(seen->live, gboolean, event->slot);
	if (*live == (event->op == KMT_REPLAY_ALLOC) ||
	    event->object != kmt_replay_object(replay, event->slot) ||
	    event->object->kind != event->class->kind)
		seen->wrong++;
	if (event->op != KMT_REPLAY_DEFER)
		*live = event->op == KMT_REPLAY_ALLOC;
}

static void add_kinds(KmtJson *json, const KmtReplay *replay)
{
	guint i;

	kmt_json_begin_object(json, "kinds");
	for (i = 0; i < KMT_N_KINDS; i++) {
		const KmtReplayKind *kind = &replay->kinds[i];

		kmt_json_begin_object(json, kmt_kind_name((KmtKind)i));
		kmt_json_u64(json, "live", kind->live);
		kmt_json_u64(json, "peak", kind->peak);
		kmt_json_i64(json, "peak_time", kind->peak_time);
		kmt_json_end_object(json);
	}
	kmt_json_end_object(json);
}

static void add_sites(KmtJson *json, const KmtAdviceSites *sites)
{
	guint i;

	kmt_json_begin_array(json, "sizes");
	for (i = 0; i < sites->sizes->len; i++) {
		const KmtAdviceSize *size = kmt_advice_size(sites, i);
		const KmtAdviceSite *site = kmt_advice_site(sites, size->site);

		kmt_json_begin_object(json, NULL);
		kmt_json_hex(json, "address", site->site.address, 16);
		kmt_json_text(json, "kind", kmt_kind_name(site->kind));
		kmt_json_u64(json, "bytes_alloc", size->bytes_alloc);
		kmt_json_u64(json, "live", size->live.now);
		kmt_json_u64(json, "at_peak", size->live.at_peak);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

static void print(const KmtReplay *replay, const KmtAdviceSites *sites,
		  const Seen *seen)
{
	g_autoptr(KmtJson) json = kmt_json_new(stdout, 1);

	kmt_json_begin_object(json, NULL);
	kmt_json_u64(json, "allocs", seen->events[KMT_REPLAY_ALLOC]);
	kmt_json_u64(json, "frees", seen->events[KMT_REPLAY_FREE]);
	kmt_json_u64(json, "defers", seen->events[KMT_REPLAY_DEFER]);
	kmt_json_u64(json, "replaced", seen->events[KMT_REPLAY_REPLACED]);
	kmt_json_u64(json, "wrong", seen->wrong);
	kmt_json_u64(json, "n_live", replay->n_live);
	add_kinds(json, replay);
	add_sites(json, sites);
	kmt_json_end_object(json);
}

static void dump(const KmtCaptureReport *report)
{
	g_autoptr(KmtAdviceSites) sites = kmt_advice_sites_new();
	Seen seen = {.live = g_array_new(FALSE, TRUE, sizeof(gboolean))};
	const KmtReplayConsumer consumers[] = {
		kmt_advice_sites_consumer(sites),
		{.on_event = on_event, .user = &seen},
	};
	const KmtAggregateOptions *o = &report->plan.aggregate;
	const KmtReplayOptions options = {
		.capture = report->capture,
		.symbolizer = report->symbolizer,
		.filter = &report->plan.filter,
		.tag_ends = report->aggregate->tag_ends,
		.start = o->span.start,
		.stop = o->span.stop,
		.jobs = o->jobs,
		.clock_tolerance_ns = o->clock_tolerance_ns};
	g_autoptr(KmtReplay) replay =
		kmt_replay_run(&options, consumers, G_N_ELEMENTS(consumers));

	print(replay, sites, &seen);
	g_array_unref(seen.live);
}

int main(G_GNUC_UNUSED int argc, char **argv)
{
	g_auto(KmtOptions) options = {0};
	g_autoptr(GError) error = NULL;
	g_autoptr(GOptionContext) context =
		kmt_options_parse(argv, &options, &error);
	g_autoptr(KmtCaptureReport) report =
		context ? kmt_capture_report_new(&options, &error) : NULL;

	if (!report || !kmt_capture_report_read(
			       report, (const char *const *)options.operands,
			       NULL, &error)) {
		g_printerr("replay-dump: %s\n", error->message);
		return EXIT_FAILURE;
	}
	dump(report);
	return EXIT_SUCCESS;
}
