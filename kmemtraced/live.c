// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kmemtraced/live.h"

#define CLEAR_LINE "\r\033[K"

struct kmtd_live {
	int fd;
	gboolean shown;
	KmtdLiveFigures last;
};

static gboolean accepts_output(const KmtdLive *live)
{
	struct pollfd fd = {.fd = live->fd, .events = POLLOUT};

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT);
}

static void write_text(KmtdLive *live, const char *text)
{
	/* The line is only informative, so skip it if the terminal accepts no
	 * output. */
	if (accepts_output(live))
		(void)!write(live->fd, text, strlen(text));
}

KmtdLive *kmtd_live_new(int fd)
{
	KmtdLive *live;

	if (!isatty(fd))
		return NULL;
	live = g_new0(KmtdLive, 1);
	live->fd = fd;
	live->last.now_us = g_get_monotonic_time();
	return live;
}

void kmtd_live_free(KmtdLive *live)
{
	if (!live)
		return;
	kmtd_live_clear(live);
	g_free(live);
}

void kmtd_live_clear(KmtdLive *live)
{
	if (!live || !live->shown)
		return;
	write_text(live, CLEAR_LINE);
	live->shown = FALSE;
}

void kmtd_live_update(KmtdLive *live, const KmtdLiveFigures *figures)
{
	char lost[64] = "lost unknown";
	char line[256];
	gint64 elapsed_us;
	double rate;

	if (!live)
		return;
	elapsed_us = MAX(figures->now_us - live->last.now_us, 1);
	rate = (double)(figures->events - live->last.events) * G_USEC_PER_SEC /
	       (double)elapsed_us;
	if (figures->has_lost)
		snprintf(lost, sizeof(lost), "%" G_GUINT64_FORMAT " lost",
			 figures->lost);
	snprintf(line, sizeof(line),
		 CLEAR_LINE "%.0f events/s, %.1f MB written, %s", rate,
		 (double)figures->bytes / 1e6, lost);
	write_text(live, line);
	live->shown = TRUE;
	live->last = *figures;
}
