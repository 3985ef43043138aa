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
 * Find pages with damaged times in an array of KmtDatPageTime, and set their
 * member intact to FALSE. If the times decrease, the check trusts the longest
 * sequence of pages in which the member first does not decrease.
 */
void kmt_dat_order_check(GArray *times);

#endif
