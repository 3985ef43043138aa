/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bars that show a share in the text report on a terminal. */
#ifndef KMEMTRACE_REPORT_BAR_H
#define KMEMTRACE_REPORT_BAR_H

#include <glib.h>

typedef enum {
	KMT_BAR_NONE,	/* print no bars */
	KMT_BAR_ASCII,	/* '#' */
	KMT_BAR_BLOCKS, /* U+2588 and the narrower blocks, in eighths */
} KmtBarStyle;

/*
 * Return the style for the locale of the environment: BLOCKS if its encoding is
 * UTF-8, otherwise ASCII.
 */
KmtBarStyle kmt_bar_locale_style(void);

/*
 * Return a bar for @share, from 0 to 1, that takes at most @width columns and
 * no padding. A share outside of this range is limited to it. For NONE, return
 * "". The caller frees the string.
 */
char *kmt_bar_new(KmtBarStyle style, double share, guint width);

#endif
