/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Consistency check of the timestamps of one CPU's pages. */
#ifndef KMEMTRACE_IMPORT_DAT_PAGE_ORDER_H
#define KMEMTRACE_IMPORT_DAT_PAGE_ORDER_H

#include <glib.h>

/*
 * Times in ns of the first and the last event of a page; intact is FALSE for a
 * damaged page.
 */
typedef struct {
	gboolean intact;
	gint64 first, last;
} KmtDatPageTime;

/*
 * Find pages with damaged times in an array of KmtDatPageTime, and clear their
 * field intact. The check leaves as many pages intact as possible.
 */
void kmt_dat_order_check(GArray *times);

#endif
