// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print each decision of the matcher for a capture on a line, except plain
 * allocations; then each live object, and the counts.
 *
 *     match-dump [-q] TOLERANCE_NS OPERAND...
 *
 * Records are named CPU:INDEX. -q prints only the counts.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/match/matcher.h"

static const KmtInputCapture *capture;
static guint64 n_alloc, n_live;
static gboolean quiet;

static guint object_cpu(const KmtMatchObject *object)
{
	const KmtInputCpuFile *file = capture->files->pdata[object->file];

	return file->cpu;
}

static void on_alloc(gpointer user, const KmtMatchObject *object,
		     const struct kmemtrace_event *event,
		     const KmtMatchPosition *position)
{
	n_alloc++;
}

static void on_free(gpointer user, const KmtMatchObject *object,
		    const struct kmemtrace_event *event,
		    const KmtMatchPosition *position, gboolean mismatch)
{
	if (!quiet)
		printf("free %u:%" G_GUINT64_FORMAT " %u:%" G_GUINT64_FORMAT
		       "%s\n",
		       object_cpu(object), object->index, position->file->cpu,
		       position->index, mismatch ? " mismatch" : "");
}

static void on_replaced(gpointer user, const KmtMatchObject *object,
			const struct kmemtrace_event *event,
			const KmtMatchPosition *position)
{
	if (!quiet)
		printf("replaced %u:%" G_GUINT64_FORMAT " %u:%" G_GUINT64_FORMAT
		       "\n",
		       object_cpu(object), object->index, position->file->cpu,
		       position->index);
}

static void on_double(gpointer user, const KmtMatchObject *object,
		      const struct kmemtrace_event *event,
		      const KmtMatchPosition *position,
		      KmtMatchDoubleAlloc class,
		      const struct kmemtrace_event *free_event)
{
	static const char *const names[KMT_MATCH_N_DOUBLE] = {
		[KMT_MATCH_DOUBLE_AFTER_LOSS] = "after_loss",
		[KMT_MATCH_DOUBLE_RACE] = "race",
		[KMT_MATCH_DOUBLE_UNEXPLAINED] = "unexplained",
	};

	if (quiet)
		return;
	printf("double %u:%" G_GUINT64_FORMAT " %u:%" G_GUINT64_FORMAT " %s",
	       object_cpu(object), object->index, position->file->cpu,
	       position->index, names[class]);
	if (free_event)
		printf(" %" G_GINT64_FORMAT, (gint64)free_event->timestamp);
	putchar('\n');
}

static void on_defer(gpointer user, const KmtMatchObject *object,
		     const struct kmemtrace_event *event,
		     const KmtMatchPosition *position,
		     KmtMatchDeferEffect effect)
{
	static const char *const names[] = {
		[KMT_MATCH_DEFER_FIRST] = "first",
		[KMT_MATCH_DEFER_AGAIN] = "again",
		[KMT_MATCH_DEFER_LATE] = "late",
	};

	if (quiet)
		return;
	if (object)
		printf("defer %u:%" G_GUINT64_FORMAT, object_cpu(object),
		       object->index);
	else
		printf("defer none");
	printf(" %u:%" G_GUINT64_FORMAT " %s\n", position->file->cpu,
	       position->index, names[effect]);
}

static void on_double_defer(gpointer user, const KmtMatchObject *object,
			    const struct kmemtrace_event *event,
			    const KmtMatchPosition *position,
			    gboolean after_loss)
{
	if (!quiet)
		printf("double_defer %u:%" G_GUINT64_FORMAT
		       " %u:%" G_GUINT64_FORMAT " %s\n",
		       object_cpu(object), object->index, position->file->cpu,
		       position->index,
		       after_loss ? "after_loss" : "unexplained");
}

static void print_unmatched(const char *what, const KmtMatchPosition *position,
			    KmtMatchUnmatched class)
{
	static const char *const names[KMT_MATCH_N_UNMATCHED] = {
		[KMT_MATCH_UNMATCHED_BEFORE_TRACE] = "before_trace",
		[KMT_MATCH_UNMATCHED_AFTER_LOSS] = "after_loss",
		[KMT_MATCH_UNMATCHED_UNEXPLAINED] = "unexplained",
	};

	if (!quiet)
		printf("%s %u:%" G_GUINT64_FORMAT " %s\n", what,
		       position->file->cpu, position->index, names[class]);
}

static void on_unmatched(gpointer user, const struct kmemtrace_event *event,
			 const KmtMatchPosition *position,
			 KmtMatchUnmatched class)
{
	print_unmatched("unmatched", position, class);
}

static void on_unmatched_defer(gpointer user,
			       const struct kmemtrace_event *event,
			       const KmtMatchPosition *position,
			       KmtMatchUnmatched class)
{
	print_unmatched("unmatched_defer", position, class);
}

static void on_live(gpointer user, const KmtMatchObject *object)
{
	n_live++;
	if (quiet)
		return;
	printf("live %u:%" G_GUINT64_FORMAT, object_cpu(object), object->index);
	if (object->is_deferred)
		printf(" deferred %" G_GINT64_FORMAT, object->defer.time);
	putchar('\n');
}

int main(int argc, char **argv)
{
	static const KmtMatchOps ops = {
		.on_alloc = on_alloc,
		.on_free = on_free,
		.on_replaced = on_replaced,
		.on_double = on_double,
		.on_unmatched = on_unmatched,
		.on_defer = on_defer,
		.on_double_defer = on_double_defer,
		.on_unmatched_defer = on_unmatched_defer,
	};
	KmtMatchOptions options = {.keep_indexes = TRUE};
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtInputCapture) opened = NULL;
	g_autoptr(KmtMatchMerge) merge = NULL;
	g_autoptr(KmtMatcher) matcher = NULL;
	struct kmemtrace_event event;
	KmtMatchPosition position;
	guint64 n = 0;

	if (argc > 1 && strcmp(argv[1], "-q") == 0) {
		quiet = TRUE;
		argv++;
		argc--;
	}
	if (argc < 3)
		return 1;
	opened = kmt_input_capture_open((const char *const *)argv + 2, NULL,
					&error);
	if (!opened) {
		fprintf(stderr, "%s\n", error->message);
		return 1;
	}
	capture = opened;
	merge = kmt_match_merge_new(opened);
	options.clock_tolerance_ns = g_ascii_strtoll(argv[1], NULL, 10);
	matcher = kmt_matcher_new(opened, &options, &ops, NULL);
	while (kmt_match_merge_next(merge, &event, &position)) {
		kmt_matcher_process(matcher, &event, &position);
		n++;
	}
	kmt_matcher_finish(matcher);
	kmt_matcher_foreach_live(matcher, on_live, NULL);
	printf("records %" G_GUINT64_FORMAT " skipped %" G_GUINT64_FORMAT
	       " unordered %" G_GUINT64_FORMAT " allocs %" G_GUINT64_FORMAT
	       " live %" G_GUINT64_FORMAT "\n",
	       n, kmt_match_merge_skipped(merge),
	       kmt_match_merge_unordered(merge), n_alloc, n_live);
	return 0;
}
