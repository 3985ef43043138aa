// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/printable.h"

/* GLib counts U+2028 and U+2029 as printable, but they end a line. */
static gboolean is_printable(gunichar c)
{
	GUnicodeType type = g_unichar_type(c);

	return g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR &&
	       type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

char *kmt_printable(const char *text)
{
	GString *out = g_string_new(NULL);

	while (*text) {
		gunichar c = g_utf8_get_char_validated(text, -1);
		/* (gunichar)-1 and -2 mean invalid or truncated UTF-8. */
		gboolean valid = c < 0x110000;

		if (valid && is_printable(c))
			g_string_append_unichar(out, c);
		else
			g_string_append_c(out, '?');
		text = valid ? g_utf8_next_char(text) : text + 1;
	}
	return g_string_free(out, FALSE);
}
