// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <math.h>
#include <string.h>

#include "lib/cli/json-writer.h"

struct KmtJson {
	FILE *out;
	guint indent;
	guint depth;
	gboolean is_empty; /* innermost object or array has no member yet */
};

KmtJson *kmt_json_new(FILE *out, guint indent)
{
	KmtJson *json = g_new0(KmtJson, 1);

	json->out = out;
	json->indent = indent;
	return json;
}

void kmt_json_free(KmtJson *json)
{
	g_free(json);
}

static void print_indent(const KmtJson *json)
{
	fprintf(json->out, "\n%*s", (int)(json->depth * json->indent), "");
}

/* Escape and print the bytes before @end: valid UTF-8 without NUL. */
static void print_valid(const KmtJson *json, const char *value, const char *end)
{
	static const char letters[] =
		"btn?fr"; /* letters of \b to \r; \v has no escape */

	for (; value < end; value++) {
		guchar c = (guchar)*value;

		if (c == '"' || c == '\\')
			fprintf(json->out, "\\%c", c);
		else if (c >= '\b' && c <= '\r' && c != '\v')
			fprintf(json->out, "\\%c", letters[c - '\b']);
		else if (c < ' ' || c == 0x7f)
			fprintf(json->out, "\\u%04x", c);
		else
			fputc(c, json->out);
	}
}

static void print_string(const KmtJson *json, const char *value)
{
	const char *end;

	fputc('"', json->out);
	while (!g_utf8_validate(value, -1, &end)) {
		print_valid(json, value, end);
		fputs("\357\277\275", json->out);
		value = end + 1;
	}
	print_valid(json, value, end);
	fputc('"', json->out);
}

/* Print what precedes a value: in an object or array a comma, except before the
 * first value, and a line break; then the key, unless @key is NULL. */
static void begin_value(KmtJson *json, const char *key)
{
	if (json->depth) {
		if (!json->is_empty)
			fputc(',', json->out);
		print_indent(json);
	}
	if (key) {
		print_string(json, key);
		fputs(" : ", json->out);
	}
	json->is_empty = FALSE;
}

static void begin(KmtJson *json, const char *key, char bracket)
{
	begin_value(json, key);
	fputc(bracket, json->out);
	json->depth++;
	json->is_empty = TRUE;
}

static void end(KmtJson *json, const char *empty, char bracket)
{
	g_return_if_fail(json->depth > 0);
	json->depth--;
	if (json->is_empty)
		fputs(empty, json->out);
	else
		print_indent(json);
	fputc(bracket, json->out);
	json->is_empty = FALSE;
	if (!json->depth)
		fputc('\n', json->out);
}

void kmt_json_begin_object(KmtJson *json, const char *key)
{
	begin(json, key, '{');
}

void kmt_json_end_object(KmtJson *json)
{
	end(json, " ", '}');
}

void kmt_json_begin_array(KmtJson *json, const char *key)
{
	begin(json, key, '[');
}

void kmt_json_end_array(KmtJson *json)
{
	end(json, "", ']');
}

void kmt_json_integer(KmtJson *json, const char *key, gboolean negative,
		      guint64 magnitude)
{
	begin_value(json, key);
	fprintf(json->out, "%s%" G_GUINT64_FORMAT,
		negative && magnitude ? "-" : "", magnitude);
}

void kmt_json_u64(KmtJson *json, const char *key, guint64 value)
{
	kmt_json_integer(json, key, FALSE, value);
}

void kmt_json_i64(KmtJson *json, const char *key, gint64 value)
{
	kmt_json_integer(json, key, value < 0,
			 value < 0 ? -(guint64)value : (guint64)value);
}

void kmt_json_double(KmtJson *json, const char *key, double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (!isfinite(value)) {
		kmt_json_null(json, key);
		return;
	}
	begin_value(json, key);
	g_ascii_dtostr(text, sizeof(text), value);
	fputs(text, json->out);
	/* Some JSON readers parse a number without a decimal point or an
	 * exponent as an integer. */
	if (!strpbrk(text, ".e"))
		fputs(".0", json->out);
}

void kmt_json_hex(KmtJson *json, const char *key, guint64 value, int digits)
{
	begin_value(json, key);
	fprintf(json->out, "\"0x%0*" G_GINT64_MODIFIER "x\"", digits, value);
}

void kmt_json_null(KmtJson *json, const char *key)
{
	begin_value(json, key);
	fputs("null", json->out);
}

void kmt_json_known_u64(KmtJson *json, const char *key, gboolean known,
			guint64 value)
{
	if (known)
		kmt_json_u64(json, key, value);
	else
		kmt_json_null(json, key);
}

void kmt_json_flag(KmtJson *json, const char *key, gboolean value)
{
	begin_value(json, key);
	fputs(value ? "true" : "false", json->out);
}

void kmt_json_text(KmtJson *json, const char *key, const char *value)
{
	if (!value) {
		kmt_json_null(json, key);
		return;
	}
	begin_value(json, key);
	print_string(json, value);
}

void kmt_json_path(KmtJson *json, const char *key, const char *path)
{
	g_autofree char *text = path ? g_filename_display_name(path) : NULL;

	kmt_json_text(json, key, text);
}
