// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/screen-private.h"

/* Short lines, so that a terminal of 40 columns shows most of them. */
static const char *const help[] = {
	"o        select the order; < > change it",
	"R        reverse the order",
	"k        select the kind of memory",
	"g        select the grouping of the rows",
	"/        show only names with a text, or",
	"         that match it (*, ?, [a-z])",
	"enter    show the details of a row",
	"space    pause, and continue",
	"d        set the seconds between updates",
	"u        show all digits, or short numbers",
	"w W      save the view as text or JSON",
	"c        start or stop a raw capture",
	"arrows   select a row; scroll the names",
	"PgUp PgDn Home End",
	"ctrl-L   draw the screen again",
	"ctrl-Z   suspend",
	"h ?      show this help",
	"q        quit, or leave a page",
	"",
	"Bytes are allocated bytes. LIVE: allocated",
	"during the trace and not freed. WASTED:",
	"the part of LIVE that was not requested.",
	"GROWTH: change of LIVE in the interval.",
	"LOST: events that the kernel did not",
	"record; + is the part of the interval.",
};

void kmt_top_help_add_lines(GArray *lines)
{
	kmt_top_text_lines_add(lines, KMT_TOP_TITLE, "kmemtrace-top: keys");
	for (gsize i = 0; i < G_N_ELEMENTS(help); i++)
		kmt_top_text_lines_add(lines, KMT_TOP_PLAIN, "%s", help[i]);
}
