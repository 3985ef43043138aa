// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the replay for all topics of the advice. */
#include "config.h"

#include "report/advice-private.h"

static const KmtAdviceDetector *const detectors[] = {
	&kmt_advice_sizes,  &kmt_advice_caches, &kmt_advice_large,
	&kmt_advice_remote, &kmt_advice_short,	&kmt_advice_together,
};
#define N_DETECTORS G_N_ELEMENTS(detectors)

/* Return the reason why a topic cannot be examined, or NULL. */
static const char *why_omitted(const KmtAdviceContext *context,
			       const KmtAdviceDetector *detector)
{
	const KmtInputCapture *capture = context->report->capture;

	if (detector->needs & KMT_ADVICE_NEEDS_TASKS &&
	    !kmt_input_capture_has_owners(capture))
		return "the records have no task";
	if (detector->needs & KMT_ADVICE_NEEDS_ALL &&
	    kmt_report_is_sample(context->report))
		return "the capture is a sample, which does not have the "
		       "objects around an object";
	if (detector->needs & KMT_ADVICE_NEEDS_LAYOUT && !context->layout)
		return "the sizes of kmalloc are unknown for this kernel";
	if (detector->needs & KMT_ADVICE_NEEDS_CPUS && capture->files->len < 2)
		return "the capture has one CPU";
	return NULL;
}

/* Append the consumers of the topics that can be examined. Return their states,
 * NULL for each topic that is omitted. */
static void add_consumers(KmtAdviceContext *context, GArray *consumers,
			  gpointer states[N_DETECTORS],
			  gboolean omitted[N_DETECTORS])
{
	guint i;

	for (i = 0; i < N_DETECTORS; i++) {
		const KmtAdviceDetector *detector = detectors[i];
		const char *why = why_omitted(context, detector);
		KmtReplayConsumer consumer = {.on_event = detector->on_event};

		omitted[i] = why != NULL;
		states[i] = NULL;
		if (why) {
			g_ptr_array_add(
				context->list->omitted,
				g_strdup_printf("%s: %s", detector->what, why));
			continue;
		}
		if (detector->new)
			states[i] = detector->new (context);
		consumer.user = states[i];
		if (detector->on_event)
			g_array_append_val(consumers, consumer);
	}
}

/* Append the consumer that counts the requests for the sets of sizes, if these
 * can be compared. */
static void add_size_classes(KmtAdviceContext *context, GArray *consumers)
{
	const char *why = NULL;
	KmtReplayConsumer consumer;

	if (!context->layout)
		why = "they are unknown for this kernel";
	else if (kmt_report_is_sample(context->report))
		why = "the slabs of a sample are unknown";
	if (why) {
		g_ptr_array_add(context->list->omitted,
				g_strdup_printf("sizes of kmalloc: %s", why));
		return;
	}
	context->list->sizes = kmt_size_classes_new(&context->layout->kernel);
	consumer = kmt_size_classes_consumer(context->list->sizes);
	g_array_append_val(consumers, consumer);
}

/* Set the time of the figures. */
static void set_time(KmtAdviceContext *context, const KmtReplay *replay)
{
	guint64 ns = replay->end > replay->begin
			     ? (guint64)replay->end - (guint64)replay->begin
			     : 0;

	context->list->duration_ns = ns;
	/* A rate of no time is that of a nanosecond. */
	context->seconds = (double)MAX(ns, 1) / 1e9;
}

/* Add the findings of a topic, or record that it has none. */
static void find(KmtAdviceContext *context, const KmtAdviceDetector *detector,
		 gpointer state)
{
	guint n = context->list->findings->len;

	detector->find(state, context);
	if (context->list->findings->len == n)
		g_ptr_array_add(context->list->empty, (gpointer)detector->what);
}

KmtAdviceList *kmt_advice_new(const KmtReport *report,
			      const KmtAdviceOptions *options)
{
	g_autoptr(KmtAdviceSites) sites = kmt_advice_sites_new();
	g_autoptr(GArray) consumers =
		g_array_new(FALSE, FALSE, sizeof(KmtReplayConsumer));
	g_autoptr(KmtReplay) replay = NULL;
	g_autoptr(KmtAdviceLayout) layout =
		kmt_advice_layout_new(report->capture);
	KmtAdviceContext context = {.report = report,
				    .sites = sites,
				    .list = kmt_advice_list_new(),
				    .layout = layout,
				    .wrappers = options->wrappers,
				    .churn_ns = options->churn_ns};
	KmtReplayConsumer counts = kmt_advice_sites_consumer(sites);
	gpointer states[N_DETECTORS];
	gboolean omitted[N_DETECTORS];
	guint i;

	if (layout) {
		context.list->model = kmt_advice_layout_text(layout);
		context.list->warning =
			g_strdup(kmt_input_slab_table_warning(layout->slabs));
	}
	g_array_append_val(consumers, counts);
	add_consumers(&context, consumers, states, omitted);
	add_size_classes(&context, consumers);
	replay = kmt_replay_run(
		&options->replay,
		(const KmtReplayConsumer *)(void *)consumers->data,
		consumers->len);
	set_time(&context, replay);
	context.replay = replay;
	for (i = 0; i < N_DETECTORS; i++) {
		if (!omitted[i])
			find(&context, detectors[i], states[i]);
		if (detectors[i]->free && states[i])
			detectors[i]->free(states[i]);
	}
	kmt_advice_list_sort(context.list);
	if (context.list->sizes)
		kmt_size_classes_measure(context.list->sizes, &options->replay);
	return context.list;
}
