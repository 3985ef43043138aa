// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <stdio.h>
#include <unistd.h>

#include "lib/cli/color.h"
#include "lib/cli/progress.h"

#define FIRST_US  (1 * G_USEC_PER_SEC)
#define PERIOD_US (G_USEC_PER_SEC / 5)

static struct {
	KmtProgressTask task;
	gboolean is_active;
	guint64 events;
	gint64 begun; /* monotonic time in us */
	gint64 shown; /* time of the last drawing; 0: not drawn */
} progress;

void kmt_progress_begin(const KmtProgressTask *task)
{
	progress.task = *task;
	progress.is_active = kmt_color_is_capable(STDERR_FILENO);
	progress.events = 0;
	progress.begun = g_get_monotonic_time();
	progress.shown = 0;
}

static void draw(gint64 passed)
{
	const KmtProgressTask *task = &progress.task;
	double done = (double)progress.events / task->passes;
	double percent = 100.0 * done / (double)task->total;

	fprintf(stderr, "\r%s: ", task->program);
	if (task->total)
		fprintf(stderr, "%3.0f %% %s", MIN(percent, 100.0), task->verb);
	else
		fprintf(stderr, "%.1f M events %s", done / 1e6, task->verb);
	fprintf(stderr, ", %.1f M events/s\033[K", done / (double)passed);
	fflush(stderr);
}

void kmt_progress_show(guint64 events)
{
	gint64 now;

	if (!progress.is_active)
		return;
	now = g_get_monotonic_time();
	progress.events = events;
	if (now - progress.begun < FIRST_US || now - progress.shown < PERIOD_US)
		return;
	progress.shown = now;
	draw(now - progress.begun);
}

void kmt_progress_add(guint64 events)
{
	kmt_progress_show(progress.events + events);
}

static void end(gboolean is_drawn)
{
	if (progress.is_active && is_drawn)
		fputs("\r\033[K", stderr);
	progress.is_active = FALSE;
}

void kmt_progress_end(void)
{
	end(progress.shown != 0);
}

void kmt_progress_end_of_child(void)
{
	end(TRUE);
}
