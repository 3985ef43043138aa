// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <langinfo.h>
#include <locale.h>

#include "report/bar.h"

#define FULL_BLOCK "\xe2\x96\x88"

/* Blocks of 1/8 to 7/8 of a column: U+258F to U+2589. */
static const char *const eighths[] = {
	"",
	"\xe2\x96\x8f",
	"\xe2\x96\x8e",
	"\xe2\x96\x8d",
	"\xe2\x96\x8c",
	"\xe2\x96\x8b",
	"\xe2\x96\x8a",
	"\xe2\x96\x89",
};

KmtBarStyle kmt_bar_locale_style(void)
{
	/* The program itself stays in the locale C, so that its output does not
	 * depend on the locale otherwise. */
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	gboolean is_utf8;

	if (!locale)
		return KMT_BAR_ASCII;
	is_utf8 = g_ascii_strcasecmp(nl_langinfo_l(CODESET, locale), "UTF-8") ==
		  0;
	freelocale(locale);
	return is_utf8 ? KMT_BAR_BLOCKS : KMT_BAR_ASCII;
}

char *kmt_bar_new(KmtBarStyle style, double share, guint width)
{
	double columns = CLAMP(share, 0.0, 1.0) * width;
	GString *text;
	guint n;

	if (style == KMT_BAR_NONE)
		return g_strdup("");
	if (style == KMT_BAR_ASCII)
		return g_strnfill((gsize)(columns + .5), '#');
	text = g_string_new(NULL);
	n = (guint)(columns * 8 + .5);
	for (; n >= 8; n -= 8)
		g_string_append(text, FULL_BLOCK);
	g_string_append(text, eighths[n]);
	return g_string_free(text, FALSE);
}
