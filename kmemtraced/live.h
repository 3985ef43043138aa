/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line on the terminal that shows how the recording goes. */
#ifndef KMEMTRACED_LIVE_H
#define KMEMTRACED_LIVE_H

#include <glib.h>

typedef struct kmtd_live KmtdLive;

typedef struct {
	guint64 events; /* read so far */
	guint64 bytes;	/* written so far */
	guint64 lost;	/* events, since tracing was switched on */
	gint64 now_us;	/* g_get_monotonic_time() */
	gboolean has_lost;
} KmtdLiveFigures;

/* NULL, which all calls take, unless fd is a terminal. */
KmtdLive *kmtd_live_new(int fd);

/* Takes the line away. */
void kmtd_live_free(KmtdLive *live);

/*
 * Shows the figures, with the rate since the last time.  Never waits: on a
 * terminal that takes no output (Ctrl+S) nothing is shown.
 */
void kmtd_live_update(KmtdLive *live, const KmtdLiveFigures *figures);

/* Takes the line away for now, so that something else can be printed. */
void kmtd_live_clear(KmtdLive *live);

#endif
