// SPDX-License-Identifier: GPL-2.0-or-later
/* The output of the JSON writer for each type of value. */
#include "config.h"

#include "lib/cli/json-writer.h"

#include <math.h>
#include <stdlib.h>

typedef void (*Fill)(KmtJson *json);

static void expect(Fill fill, guint indent, const char *wanted)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	g_autoptr(KmtJson) json = kmt_json_new(out, indent);

	fill(json);
	fclose(out);
	g_assert_cmpstr(text, ==, wanted);
	g_assert_true(g_utf8_validate_len(text, size, NULL));
	free(text);
}

static void fill_nesting(KmtJson *json)
{
	kmt_json_begin_object(json, NULL);
	kmt_json_begin_object(json, "empty");
	kmt_json_end_object(json);
	kmt_json_begin_array(json, "none");
	kmt_json_end_array(json);
	kmt_json_begin_array(json, "some");
	kmt_json_u64(json, NULL, 1);
	kmt_json_begin_array(json, NULL);
	kmt_json_null(json, NULL);
	kmt_json_end_array(json);
	kmt_json_flag(json, NULL, TRUE);
	kmt_json_end_array(json);
	kmt_json_flag(json, "last", FALSE);
	kmt_json_end_object(json);
}

static void test_nesting(void)
{
	expect(fill_nesting, 2,
	       "{\n  \"empty\" : { },\n  \"none\" : [],\n  \"some\" : [\n"
	       "    1,\n    [\n      null\n    ],\n    true\n  ],\n"
	       "  \"last\" : false\n}\n");
}

static void fill_numbers(KmtJson *json)
{
	static const double doubles[] = {0, 1, -2.5, .1, 1e300, NAN, INFINITY};
	guint i;

	kmt_json_begin_array(json, NULL);
	kmt_json_u64(json, NULL, G_MAXUINT64);
	kmt_json_i64(json, NULL, G_MININT64);
	kmt_json_i64(json, NULL, G_MAXINT64);
	kmt_json_integer(json, NULL, TRUE, G_MAXUINT64);
	kmt_json_integer(json, NULL, TRUE, 0);
	kmt_json_hex(json, NULL, G_MAXUINT64, 1);
	kmt_json_hex(json, NULL, 10, 4);
	for (i = 0; i < G_N_ELEMENTS(doubles); i++)
		kmt_json_double(json, NULL, doubles[i]);
	kmt_json_end_array(json);
}

static void test_numbers(void)
{
	expect(fill_numbers, 0,
	       "[\n18446744073709551615,\n-9223372036854775808,\n"
	       "9223372036854775807,\n-18446744073709551615,\n0,\n"
	       "\"0xffffffffffffffff\",\n\"0x000a\",\n0.0,\n1.0,\n-2.5,\n"
	       "0.10000000000000001,\n1.0000000000000001e+300,\nnull,\n"
	       "null\n]\n");
}

static void fill_strings(KmtJson *json)
{
	kmt_json_begin_object(json, NULL);
	kmt_json_text(json, "null", NULL);
	kmt_json_text(json, "escaped", "\"\\/\b\f\n\r\t\v\001\037\177");
	kmt_json_text(json, "utf8", "gr\303\274n");
	/* Invalid UTF-8: a single byte, a truncated character, a surrogate, an
	 * overlong form. */
	kmt_json_text(json, "bytes", "\377a\303");
	kmt_json_text(json, "surrogate", "\355\240\200");
	kmt_json_text(json, "overlong", "\300\200");
	kmt_json_end_object(json);
}

#define BAD "\357\277\275"

static void test_strings(void)
{
	expect(fill_strings, 1,
	       "{\n \"null\" : null,\n"
	       " \"escaped\" : \"\\\"\\\\/\\b\\f\\n\\r\\t\\u000b\\u0001\\u001f"
	       "\\u007f\",\n"
	       " \"utf8\" : \"gr\303\274n\",\n"
	       " \"bytes\" : \"" BAD "a" BAD "\",\n"
	       " \"surrogate\" : \"" BAD BAD BAD "\",\n"
	       " \"overlong\" : \"" BAD BAD "\"\n}\n");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/json/nesting", test_nesting);
	g_test_add_func("/json/numbers", test_numbers);
	g_test_add_func("/json/strings", test_strings);
	return g_test_run();
}
