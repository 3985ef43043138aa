/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line on the terminal that shows the progress of the recording. */
#ifndef KMEMTRACED_LIVE_H
#define KMEMTRACED_LIVE_H

#include <glib.h>

typedef struct kmtd_live KmtdLive;

typedef struct {
	guint64 events; /* events so far, with those not yet read from the
			   kernel */
	guint64 bytes;	/* written so far */
	guint64 lost;	/* events lost since tracing was switched on */
	gint64 now_us;	/* g_get_monotonic_time() */
	gboolean has_lost;
} KmtdLiveFigures;

/*
 * Create the line on @fd. Return NULL if @fd is not a terminal. All functions
 * accept NULL and do nothing then.
 */
KmtdLive *kmtd_live_new(int fd);

/* Erase the line and free @live. */
void kmtd_live_free(KmtdLive *live);

/*
 * Draw the figures, with the rate since the last update. The function never
 * blocks: nothing is drawn on a terminal that accepts no output (Ctrl+S).
 */
void kmtd_live_update(KmtdLive *live, const KmtdLiveFigures *figures);

/*
 * Erase the line, so that a message can be printed. The next update draws it
 * again.
 */
void kmtd_live_clear(KmtdLive *live);

#endif
