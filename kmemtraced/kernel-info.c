// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "kmemtraced/kernel-info.h"

#define CAPTURE "capture"
#define NONE	"none"

/* Parse a line "event NAME EVENT_ID TYPE_ID STATE SESSION ...". */
static void parse_event(KmtdInfo *info, const char *line)
{
	g_auto(GStrv) words = g_strsplit(line, " ", 7);

	/* Skip all events but allocations (1), frees (2), and deferred frees
	 * (7): the analysis does not need the rest. */
	if (g_strv_length(words) < 6 ||
	    (!g_str_equal(words[2], "1") && !g_str_equal(words[2], "2") &&
	     !g_str_equal(words[2], "7")))
		return;
	if (g_str_equal(words[4], "off"))
		g_ptr_array_add(info->events_off, g_strdup(words[1]));
	if (g_str_equal(words[5], "missed"))
		g_ptr_array_add(info->missed, g_strdup(words[1]));
}

KmtdInfo *kmtd_info_parse(const char *text)
{
	KmtdInfo *info = g_new0(KmtdInfo, 1);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	info->values =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	info->events_off = g_ptr_array_new_with_free_func(g_free);
	info->missed = g_ptr_array_new_with_free_func(g_free);
	for (char **line = lines; *line; line++) {
		const char *colon = strstr(*line, ": ");

		if (g_str_has_prefix(*line, "# ") && colon)
			g_hash_table_replace(
				info->values,
				g_strndup(*line + 2,
					  (gsize)(colon - *line - 2)),
				g_strdup(colon + 2));
		else if (g_str_has_prefix(*line, "event "))
			parse_event(info, *line);
	}
	return info;
}

void kmtd_info_free(KmtdInfo *info)
{
	if (!info)
		return;
	g_hash_table_unref(info->values);
	g_ptr_array_unref(info->events_off);
	g_ptr_array_unref(info->missed);
	g_free(info);
}

static guint64 get_number(const KmtdInfo *info, const char *key,
			  guint64 fallback)
{
	const char *text = g_hash_table_lookup(info->values, key);
	guint64 n;

	return text && g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &n,
						  NULL)
		       ? n
		       : fallback;
}

static gboolean value_is(const KmtdInfo *info, const char *key,
			 const char *value)
{
	return g_strcmp0(g_hash_table_lookup(info->values, key), value) == 0;
}

const char *kmtd_info_no_stacks(const KmtdInfo *info)
{
	static const char off[] = "off, ";
	const char *state = g_hash_table_lookup(info->values, "stacks");

	return state && g_str_has_prefix(state, off) ? state + strlen(off)
						     : NULL;
}

guint64 kmtd_info_session(const KmtdInfo *info)
{
	return get_number(info, "session", 0);
}

/*
 * Return n for a filter with "sample=n", which records one of n allocations.
 * Return 1 for any other filter.
 */
static guint64 parse_sample(const char *filter)
{
	g_auto(GStrv) words = g_strsplit(filter, " ", -1);
	guint64 n = 1;

	for (char **word = words; *word; word++)
		if (g_str_has_prefix(*word, "sample="))
			g_ascii_string_to_unsigned(*word + strlen("sample="),
						   10, 1, G_MAXUINT, &n, NULL);
	return n;
}

static void set_events(GKeyFile *meta, const GPtrArray *names)
{
	if (names->len)
		g_key_file_set_string_list(meta, CAPTURE, "events_off",
					   (const char *const *)names->pdata,
					   names->len);
	else
		g_key_file_remove_key(meta, CAPTURE, "events_off", NULL);
}

static void set_filter(GKeyFile *meta, const char *filter, gboolean changed,
		       guint64 sample, const char *frees)
{
	static const char *const keys[] = {"filter", "filter_changed",
					   "filter_frees", "sample"};

	for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
		g_key_file_remove_key(meta, CAPTURE, keys[i], NULL);
	if (!filter)
		return;
	g_key_file_set_string(meta, CAPTURE, "filter", filter);
	if (changed)
		g_key_file_set_boolean(meta, CAPTURE, "filter_changed", TRUE);
	if (frees)
		g_key_file_set_string(meta, CAPTURE, "filter_frees", frees);
	if (sample != 1)
		g_key_file_set_uint64(meta, CAPTURE, "sample", sample);
}

void kmtd_info_describe(const KmtdInfo *info, const char *next, GKeyFile *meta)
{
	const char *filter = g_hash_table_lookup(info->values, "filter");
	gboolean changed = value_is(info, "filtered", "changed");

	if (next) {
		set_events(meta, info->events_off);
		set_filter(meta, g_str_equal(next, NONE) ? NULL : next, FALSE,
			   parse_sample(next), NULL);
		return;
	}
	set_events(meta, info->missed);
	set_filter(meta,
		   changed || value_is(info, "filtered", "yes") ? filter : NULL,
		   changed, get_number(info, "sample", 1),
		   g_hash_table_lookup(info->values, "frees"));
}
