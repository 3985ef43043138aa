// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/html-data.h"
#include "lib/base/hash.h"
#include "lib/base/printable.h"

#include <string.h>

KmtHtmlData *kmt_html_data_new(void)
{
	KmtHtmlData *data = g_new0(KmtHtmlData, 1);

	data->text = g_string_new(NULL);
	data->names = g_ptr_array_new_with_free_func(g_free);
	data->index = g_hash_table_new(kmt_str_hash, g_str_equal);
	data->cuts = g_ptr_array_new_with_free_func(g_free);
	data->limit = data->total = G_MAXSIZE;
	return data;
}

void kmt_html_data_free(KmtHtmlData *data)
{
	g_string_free(data->text, TRUE);
	g_hash_table_unref(data->index);
	g_ptr_array_unref(data->names);
	g_ptr_array_unref(data->cuts);
	g_free(data);
}

gsize kmt_html_size(const KmtHtmlData *data)
{
	return data->text->len + data->names_bytes;
}

/* ---- values ---- */

/* Return whether a character of a JSON string is written as it is. */
static gboolean is_plain(char c)
{
	return (guchar)c >= ' ' && c != 0x7f && c != '"' && c != '\\' &&
	       c != '<' && c != '>' && c != '&';
}

/* Append printable text as a JSON string. */
static void append_string(GString *out, const char *text)
{
	const char *end;

	g_string_append_c(out, '"');
	for (;; text = end + 1) {
		for (end = text; *end && is_plain(*end);)
			end++;
		g_string_append_len(out, text, end - text);
		if (!*end)
			break;
		g_string_append_printf(out, "\\u%04x", (guchar)*end);
	}
	g_string_append_c(out, '"');
}

/* Add a comma unless the value is the first one, and the key. */
static void begin_value(KmtHtmlData *data, const char *key)
{
	GString *text = data->text;
	char last = text->len ? text->str[text->len - 1] : '{';

	if (last != '{' && last != '[' && last != ':')
		g_string_append_c(text, ',');
	if (!key)
		return;
	g_string_append_c(text, '"');
	g_string_append(text, key);
	g_string_append_len(text, "\":", 2);
}

void kmt_html_begin(KmtHtmlData *data, const char *key, char bracket)
{
	begin_value(data, key);
	g_string_append_c(data->text, bracket);
}

void kmt_html_end(KmtHtmlData *data, char bracket)
{
	g_string_append_c(data->text, bracket);
}

void kmt_html_u64(KmtHtmlData *data, const char *key, guint64 value)
{
	char digits[24], *p = digits + sizeof(digits);

	begin_value(data, key);
	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	g_string_append_len(data->text, p, digits + sizeof(digits) - p);
}

void kmt_html_integer(KmtHtmlData *data, const char *key, gboolean negative,
		      guint64 magnitude)
{
	if (!negative) {
		kmt_html_u64(data, key, magnitude);
		return;
	}
	begin_value(data, key);
	g_string_append_printf(data->text, "-%" G_GUINT64_FORMAT, magnitude);
}

void kmt_html_i64(KmtHtmlData *data, const char *key, gint64 value)
{
	kmt_html_integer(data, key, value < 0,
			 value < 0 ? -(guint64)value : (guint64)value);
}

void kmt_html_known_u64(KmtHtmlData *data, const char *key, gboolean known,
			guint64 value)
{
	if (known)
		kmt_html_u64(data, key, value);
	else
		kmt_html_null(data, key);
}

void kmt_html_flag(KmtHtmlData *data, const char *key, gboolean value)
{
	begin_value(data, key);
	g_string_append(data->text, value ? "true" : "false");
}

void kmt_html_fraction(KmtHtmlData *data, const char *key, double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	begin_value(data, key);
	g_string_append(data->text,
			g_ascii_formatd(text, sizeof(text), "%.9f", value));
}

void kmt_html_null(KmtHtmlData *data, const char *key)
{
	begin_value(data, key);
	g_string_append(data->text, "null");
}

/* Return @text, printable and shortened to @max bytes. The caller frees the
 * string. */
static char *shorten(const char *text, gsize max)
{
	/* Do not convert all of a text of many megabytes. */
	g_autofree char *head = g_strndup(text, max * 2);
	char *result = kmt_printable(head);
	const char *end = result + max - strlen("…");
	GString *shortened;

	if (strlen(result) <= max)
		return result;
	shortened = g_string_new_len(
		result, g_utf8_find_prev_char(result, end + 1) - result);
	g_string_append(shortened, "…");
	g_free(result);
	return g_string_free(shortened, FALSE);
}

void kmt_html_text(KmtHtmlData *data, const char *key, const char *text)
{
	g_autofree char *shown = text ? shorten(text, KMT_HTML_MAX_TEXT) : NULL;

	if (!shown) {
		kmt_html_null(data, key);
		return;
	}
	begin_value(data, key);
	append_string(data->text, shown);
}

/* ---- names ---- */

static gsize bytes_of_name(const char *name)
{
	g_autoptr(GString) text = g_string_new(NULL);

	append_string(text, name);
	return text->len + 1;
}

guint kmt_html_intern(KmtHtmlData *data, const char *name)
{
	g_autofree char *shown = shorten(name, KMT_HTML_MAX_NAME);
	guint number =
		GPOINTER_TO_UINT(g_hash_table_lookup(data->index, shown));

	if (number)
		return number - 1;
	data->names_bytes += bytes_of_name(shown);
	number = data->names->len;
	g_hash_table_insert(data->index, shown, GUINT_TO_POINTER(number + 1));
	g_ptr_array_add(data->names, g_steal_pointer(&shown));
	return number;
}

void kmt_html_name(KmtHtmlData *data, const char *key, const char *name)
{
	if (name)
		kmt_html_u64(data, key, kmt_html_intern(data, name));
	else
		kmt_html_i64(data, key, -1);
}

/* Remove the names that were added after the first @n. */
static void forget_names(KmtHtmlData *data, guint n)
{
	while (data->names->len > n) {
		const char *name = data->names->pdata[data->names->len - 1];

		data->names_bytes -= bytes_of_name(name);
		g_hash_table_remove(data->index, name);
		g_ptr_array_set_size(data->names, (gint)data->names->len - 1);
	}
}

void kmt_html_add_names(KmtHtmlData *data)
{
	guint i;

	kmt_html_begin(data, "names", '[');
	for (i = 0; i < data->names->len; i++) {
		begin_value(data, NULL);
		append_string(data->text, data->names->pdata[i]);
	}
	kmt_html_end(data, ']');
	kmt_html_begin(data, "cuts", '[');
	for (i = 0; i < data->cuts->len; i++)
		kmt_html_text(data, NULL, data->cuts->pdata[i]);
	kmt_html_end(data, ']');
}

/* ---- sections ---- */

void kmt_html_set_total(KmtHtmlData *data, gsize total)
{
	data->total = total;
}

void kmt_html_allow(KmtHtmlData *data, gsize allowance)
{
	data->limit = MIN(kmt_html_size(data) + allowance, data->total);
}

gboolean kmt_html_has_room(const KmtHtmlData *data, gsize bytes)
{
	return kmt_html_size(data) + bytes <= data->limit;
}

void kmt_html_begin_element(KmtHtmlData *data)
{
	data->element = data->text->len;
	data->element_name = data->names->len;
}

gboolean kmt_html_fits(KmtHtmlData *data)
{
	if (kmt_html_size(data) <= data->limit)
		return TRUE;
	g_string_truncate(data->text, data->element);
	forget_names(data, data->element_name);
	return FALSE;
}

void kmt_html_cut(KmtHtmlData *data, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_ptr_array_add(data->cuts, g_strdup_vprintf(format, arguments));
	va_end(arguments);
}
