/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of hash tables, made of numbers and texts. g_string_printf() takes ten
 * times the instructions, and a comparison makes three keys for each row. */
#ifndef KMEMTRACE_REPORT_DIFF_KEY_H
#define KMEMTRACE_REPORT_DIFF_KEY_H

#include <glib.h>
#include <string.h>

/* Append a number and a separator. */
static inline void kmt_diff_key_number(GString *key, guint64 number)
{
	for (; number; number >>= 4)
		g_string_append_c(key, "0123456789abcdef"[number & 15]);
	g_string_append_c(key, ',');
}

/* Append @length and the first @length bytes of a text. */
static inline void kmt_diff_key_bytes(GString *key, const char *text,
				      gsize length)
{
	kmt_diff_key_number(key, length);
	g_string_append_len(key, text, (gssize)length);
}

/* Append a text with its length; NULL is the empty text. */
static inline void kmt_diff_key_text(GString *key, const char *text)
{
	kmt_diff_key_bytes(key, text ? text : "", text ? strlen(text) : 0);
}

#endif
