/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of the pages of one CPU. */
#ifndef KMEMTRACE_IMPORT_DATORDER_H
#define KMEMTRACE_IMPORT_DATORDER_H

#include <glib.h>

/* Times of the first and last event of a page, ns. */
typedef struct {
	gboolean whole;
	gint64 first, last;
} DatPageTime;

/*
 * Find pages with damaged times in an array of DatPageTime, and clear whole in
 * each.  As many pages as possible stay whole.
 */
void dat_order_check(GArray *times);

#endif
