// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include <json-glib/json-glib.h>

#include "cli/json.h"
#include "trace/module.h"

/*
 * An integer that does not fit into a gint64 goes in as a string of MARK and
 * its digits, and is made a number again in the text; no other string has a
 * MARK in it.
 */
#define MARK	     "\001"
#define ESCAPED_MARK "\"\\u0001"

/* The only one that has what json-glib.h declares. */
#define SONAME "libjson-glib-1.0.so.0"

#define FUNCTIONS(X)                                                           \
	X(g_object_unref)                                                      \
	X(json_builder_add_boolean_value)                                      \
	X(json_builder_add_double_value)                                       \
	X(json_builder_add_int_value)                                          \
	X(json_builder_add_null_value)                                         \
	X(json_builder_add_string_value)                                       \
	X(json_builder_begin_array)                                            \
	X(json_builder_begin_object)                                           \
	X(json_builder_end_array)                                              \
	X(json_builder_end_object)                                             \
	X(json_builder_get_root)                                               \
	X(json_builder_new)                                                    \
	X(json_builder_set_member_name)                                        \
	X(json_generator_new)                                                  \
	X(json_generator_set_indent)                                           \
	X(json_generator_set_pretty)                                           \
	X(json_generator_set_root)                                             \
	X(json_generator_to_data)                                              \
	X(json_node_unref)

/* What this file uses of it. */
static struct {
#define FUNCTION(name) __typeof__((name)) *name;
	FUNCTIONS(FUNCTION)
#undef FUNCTION
} lib;

gboolean kmt_json_load(GError **error)
{
	static const KmtModuleFunction functions[] = {
#define FUNCTION(name) {#name, (gpointer *)&lib.name},
		FUNCTIONS(FUNCTION)
#undef FUNCTION
	};

	g_autoptr(GError) why = NULL;

	if (lib.json_node_unref ||
	    kmt_module_load(SONAME, "json-glib", functions,
			    G_N_ELEMENTS(functions), &why))
		return TRUE;
	g_set_error(error, why->domain, why->code,
		    "--json needs a library: %s; install libjson-glib",
		    why->message);
	return FALSE;
}

KmtJson *kmt_json_new(void)
{
	return lib.json_builder_new();
}

void kmt_json_free(KmtJson *builder)
{
	if (builder)
		lib.g_object_unref(builder);
}

static void add_key(KmtJson *builder, const char *key)
{
	if (key)
		lib.json_builder_set_member_name(builder, key);
}

void kmt_json_begin_object(KmtJson *builder, const char *key)
{
	add_key(builder, key);
	lib.json_builder_begin_object(builder);
}

void kmt_json_end_object(KmtJson *builder)
{
	lib.json_builder_end_object(builder);
}

void kmt_json_begin_array(KmtJson *builder, const char *key)
{
	add_key(builder, key);
	lib.json_builder_begin_array(builder);
}

void kmt_json_end_array(KmtJson *builder)
{
	lib.json_builder_end_array(builder);
}

void kmt_json_integer(KmtJson *builder, const char *key, gboolean negative,
		      guint64 magnitude)
{
	g_autofree char *text = NULL;

	add_key(builder, key);
	if (magnitude <= G_MAXINT64) {
		lib.json_builder_add_int_value(builder,
					       negative ? -(gint64)magnitude
							: (gint64)magnitude);
		return;
	}
	text = g_strdup_printf(MARK "%s%" G_GUINT64_FORMAT, negative ? "-" : "",
			       magnitude);
	lib.json_builder_add_string_value(builder, text);
}

void kmt_json_u64(KmtJson *builder, const char *key, guint64 value)
{
	kmt_json_integer(builder, key, FALSE, value);
}

void kmt_json_double(KmtJson *builder, const char *key, double value)
{
	add_key(builder, key);
	lib.json_builder_add_double_value(builder, value);
}

void kmt_json_i64(KmtJson *builder, const char *key, gint64 value)
{
	add_key(builder, key);
	lib.json_builder_add_int_value(builder, value);
}

void kmt_json_hex(KmtJson *builder, const char *key, guint64 value, int digits)
{
	g_autofree char *text =
		g_strdup_printf("0x%0*" G_GINT64_MODIFIER "x", digits, value);

	add_key(builder, key);
	lib.json_builder_add_string_value(builder, text);
}

void kmt_json_null(KmtJson *builder, const char *key)
{
	add_key(builder, key);
	lib.json_builder_add_null_value(builder);
}

void kmt_json_flag(KmtJson *builder, const char *key, gboolean value)
{
	add_key(builder, key);
	lib.json_builder_add_boolean_value(builder, value);
}

void kmt_json_text(KmtJson *builder, const char *key, const char *value)
{
	g_autofree char *text = NULL;

	if (!value) {
		kmt_json_null(builder, key);
		return;
	}
	text = g_strdelimit(g_utf8_make_valid(value, -1), MARK, '?');
	add_key(builder, key);
	lib.json_builder_add_string_value(builder, text);
}

void kmt_json_path(KmtJson *builder, const char *key, const char *path)
{
	g_autofree char *text = path ? g_filename_display_name(path) : NULL;

	kmt_json_text(builder, key, text);
}

void kmt_json_loss(KmtJson *builder, const KmtCapture *capture)
{
	if (capture->has_overruns)
		kmt_json_u64(builder, "overruns", capture->overruns);
	else
		kmt_json_null(builder, "overruns");
	if (capture->meta)
		kmt_json_flag(builder, "complete", capture->complete);
	else
		kmt_json_null(builder, "complete");
	kmt_json_flag(builder, "continues", capture->continues);
	kmt_json_u64(builder, "missing_files", capture->missing_files);
}

void kmt_json_not_seen(KmtJson *builder, const KmtCapture *capture)
{
	g_auto(GStrv) list = kmt_capture_not_seen(capture);
	g_autofree char *source = NULL;
	guint i;

	if (capture->meta)
		source = g_key_file_get_string(capture->meta, "capture",
					       "source", NULL);
	kmt_json_text(builder, "source", source);
	kmt_json_begin_array(builder, "not_seen");
	for (i = 0; list && list[i]; i++)
		kmt_json_text(builder, NULL, list[i]);
	kmt_json_end_array(builder);
}

void kmt_json_choice(KmtJson *builder, const KmtCapture *capture)
{
	g_auto(GStrv) off = kmt_capture_events_off(capture);
	gboolean changed;
	g_autofree char *filter = kmt_capture_filter(capture, &changed);
	guint i;

	kmt_json_begin_array(builder, "events_off");
	for (i = 0; off && off[i]; i++)
		kmt_json_text(builder, NULL, off[i]);
	kmt_json_end_array(builder);
	kmt_json_text(builder, "filter", filter);
	kmt_json_flag(builder, "filter_changed", changed);
	kmt_json_u64(builder, "sample", capture->sample);
}

void kmt_json_findings(KmtJson *builder, const KmtFindings *findings)
{
	kmt_json_begin_object(builder, "unmatched_frees");
	kmt_json_u64(builder, "before_trace",
		     findings->unmatched[KMT_UNMATCHED_BEFORE_TRACE]);
	kmt_json_u64(builder, "after_loss",
		     findings->unmatched[KMT_UNMATCHED_AFTER_LOSS]);
	kmt_json_u64(builder, "unexplained",
		     findings->unmatched[KMT_UNMATCHED_UNEXPLAINED]);
	kmt_json_end_object(builder);

	kmt_json_begin_object(builder, "double_allocations");
	kmt_json_u64(builder, "after_loss",
		     findings->doubles[KMT_DOUBLE_AFTER_LOSS]);
	kmt_json_u64(builder, "race", findings->doubles[KMT_DOUBLE_RACE]);
	kmt_json_u64(builder, "unexplained",
		     findings->doubles[KMT_DOUBLE_UNEXPLAINED]);
	kmt_json_end_object(builder);

	kmt_json_u64(builder, "type_mismatches", findings->mismatches);
	kmt_json_u64(builder, "type_mismatches_after_loss",
		     findings->mismatches_after_loss);
}

/* Turns "\u0001123" into 123. */
static void print_marked(const char *text, FILE *out)
{
	const char *mark;

	while ((mark = strstr(text, ESCAPED_MARK))) {
		const char *digits = mark + strlen(ESCAPED_MARK);
		gsize n_digits = strcspn(digits, "\"");

		fwrite(text, 1, (gsize)(mark - text), out);
		fwrite(digits, 1, n_digits, out);
		text = digits + n_digits + 1;
	}
	fputs(text, out);
	fputc('\n', out);
}

void kmt_json_print(KmtJson *builder, guint indent, FILE *out)
{
	JsonNode *root = lib.json_builder_get_root(builder);
	JsonGenerator *generator = lib.json_generator_new();
	g_autofree char *text = NULL;

	lib.json_generator_set_pretty(generator, TRUE);
	lib.json_generator_set_indent(generator, indent);
	lib.json_generator_set_root(generator, root);
	text = lib.json_generator_to_data(generator, NULL);
	print_marked(text, out);
	lib.g_object_unref(generator);
	lib.json_node_unref(root);
}
