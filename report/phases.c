// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/base/printable.h"
#include "report/phases.h"

/* Maximum number of names in an error message. */
#define MAX_NAMES 20

/*
 * Maximum number of characters of a user-space line in a phase name. No line
 * that the kernel records is longer.
 */
#define MAX_LABEL 1024

static char *name_address(gpointer user, guint64 address)
{
	const KmtSymSite site = {.address = address};

	return kmt_symbolizer_describe(user, &site);
}

char *kmt_phases_text(const KmtPhases *phases, guint i)
{
	g_autofree char *text = kmt_input_mark_text(
		phases->marks, kmt_input_marks_get(phases->marks, i),
		name_address, (gpointer)phases->symbolizer);

	return kmt_printable(text);
}

/*
 * Return the name of mark @i without the suffix that distinguishes marks of the
 * same name.
 */
static char *base_name(const KmtPhases *phases, guint i)
{
	const KmtInputMark *mark = kmt_input_marks_get(phases->marks, i);
	g_autofree char *text = NULL;

	if (!kmt_input_mark_is_marker(mark) || !mark->kind)
		return kmt_input_mark_name(mark);
	text = kmt_phases_text(phases, i);
	if (g_utf8_strlen(text, -1) > MAX_LABEL)
		*g_utf8_offset_to_pointer(text, MAX_LABEL) = '\0';
	return g_strconcat(mark->kind->name, ":", text, NULL);
}

static void name_all(KmtPhases *phases)
{
	g_autoptr(GHashTable) counts =
		g_hash_table_new(g_str_hash, g_str_equal);
	guint n = kmt_input_marks_count(phases->marks), i;

	for (i = 0; i < n; i++) {
		const KmtInputMark *mark =
			kmt_input_marks_get(phases->marks, i);
		char *name = base_name(phases, i);
		gint64 time = mark->time;
		guint ordinal;

		ordinal =
			1 + GPOINTER_TO_UINT(g_hash_table_lookup(counts, name));
		g_ptr_array_add(phases->mark_names, name);
		g_hash_table_insert(counts, name, GUINT_TO_POINTER(ordinal));
		g_array_append_val(phases->ordinals, ordinal);
		g_array_append_val(phases->starts, time);
	}
}

KmtPhases *kmt_phases_new(const KmtInputCapture *capture,
			  const KmtSymbolizer *symbolizer)
{
	KmtPhases *phases = g_new0(KmtPhases, 1);

	phases->capture = capture;
	phases->symbolizer = symbolizer;
	phases->tables = kmt_input_tables_new(capture);
	phases->marks = kmt_input_marks_new(capture, NULL, NULL);
	if (kmt_input_capture_has_owners(capture))
		kmt_input_marks_scan(phases->marks);
	kmt_input_marks_finish(phases->marks, phases->tables);
	phases->starts = g_array_new(FALSE, FALSE, sizeof(gint64));
	phases->ordinals = g_array_new(FALSE, FALSE, sizeof(guint));
	phases->mark_names = g_ptr_array_new_with_free_func(g_free);
	name_all(phases);
	return phases;
}

void kmt_phases_free(KmtPhases *phases)
{
	if (!phases)
		return;
	g_ptr_array_unref(phases->mark_names);
	g_array_unref(phases->ordinals);
	g_array_unref(phases->starts);
	kmt_input_marks_free(phases->marks);
	kmt_input_tables_free(phases->tables);
	g_free(phases);
}

char *kmt_phases_label(const KmtPhases *phases, guint64 phase)
{
	const char *name;
	guint ordinal;

	if (!phase)
		return g_strdup("(start)");
	name = phases->mark_names->pdata[phase - 1];
	ordinal = g_array_index(phases->ordinals, guint, phase - 1);
	return ordinal == 1 ? g_strdup(name)
			    : g_strdup_printf("%s:%u", name, ordinal);
}

/* Return whether mark @i or its annotation has this name. */
static gboolean has_name(const KmtPhases *phases, guint i, const char *name)
{
	const KmtInputMark *mark = kmt_input_marks_get(phases->marks, i);

	return strcmp(phases->mark_names->pdata[i], name) == 0 ||
	       (mark->kind && strcmp(mark->kind->name, name) == 0);
}

/*
 * Find mark number @nth of this name. If @nth is 0, find the first mark of this
 * name later than @after.
 */
static gboolean find_mark(const KmtPhases *phases, const char *name,
			  guint64 nth, gint64 after, gint64 *time)
{
	guint n = kmt_input_marks_count(phases->marks), i;
	guint64 seen = 0;

	for (i = 0; i < n; i++) {
		if (!has_name(phases, i, name))
			continue;
		seen++;
		*time = g_array_index(phases->starts, gint64, i);
		if (nth ? seen == nth : *time > after)
			return TRUE;
	}
	return FALSE;
}

static char *all_names(const KmtPhases *phases)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	GString *text = g_string_new(NULL);
	guint i;

	for (i = 0; i < phases->mark_names->len; i++) {
		if (!g_hash_table_add(seen, phases->mark_names->pdata[i]))
			continue;
		if (g_hash_table_size(seen) > MAX_NAMES) {
			g_string_append(text, ", ...");
			break;
		}
		g_string_append_printf(text, "%s%s", text->len ? ", " : "",
				       (char *)phases->mark_names->pdata[i]);
	}
	return g_string_free(text, FALSE);
}

/* Find a mark by a name, or by a name with the suffix ":N". */
static gboolean find_numbered(const KmtPhases *phases, const char *wanted,
			      gint64 after, gint64 *time)
{
	const char *colon = strrchr(wanted, ':');
	g_autofree char *name =
		colon ? g_strndup(wanted, (gsize)(colon - wanted)) : NULL;
	guint64 nth;

	if (find_mark(phases, wanted, 0, after, time))
		return TRUE;
	return colon &&
	       g_ascii_string_to_unsigned(colon + 1, 10, 1, G_MAXUINT32, &nth,
					  NULL) &&
	       find_mark(phases, name, nth, after, time);
}

gboolean kmt_phases_find(const KmtPhases *phases, const char *wanted,
			 gint64 after, gint64 *time, GError **error)
{
	g_autofree char *line = g_strconcat("marker:", wanted, NULL);
	g_autofree char *shown = kmt_printable(wanted);
	g_autofree char *names = NULL;

	if (find_numbered(phases, wanted, after, time) ||
	    find_numbered(phases, line, after, time))
		return TRUE;
	names = all_names(phases);
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    *names ? "--time: there is no mark '%s'%s; there is: %s"
			   : "--time: there is no mark '%s'%s: the capture has "
			     "none%s",
		    shown, after == G_MININT64 ? "" : " after START", names);
	return FALSE;
}

static guint64 count_named(const KmtPhases *phases, const char *name,
			   gint64 from, gint64 until)
{
	guint n = kmt_input_marks_count(phases->marks), i;
	guint64 count = 0;

	for (i = 0; i < n; i++) {
		gint64 time = g_array_index(phases->starts, gint64, i);

		count += time >= from && time < until &&
			 has_name(phases, i, name);
	}
	return count;
}

guint64 kmt_phases_count(const KmtPhases *phases, const char *wanted,
			 gint64 from, gint64 until)
{
	g_autofree char *line = g_strconcat("marker:", wanted, NULL);
	gboolean is_name =
		count_named(phases, wanted, G_MININT64, G_MAXINT64) > 0;

	return count_named(phases, is_name ? wanted : line, from, until);
}

void kmt_phases_warn(const KmtPhases *phases, GPtrArray *warnings)
{
	guint64 dropped = kmt_input_marks_dropped(phases->marks);
	guint64 defects = kmt_input_marks_count_defects(phases->marks);

	if (!kmt_input_capture_has_owners(phases->capture))
		g_ptr_array_add(warnings,
				g_strdup("records of version 1 have no marks"));
	else if (!kmt_input_tables_has_marks(phases->tables)) {
		g_autofree char *why = kmt_input_tables_missing_reason(
			phases->capture, "marks");

		g_ptr_array_add(
			warnings,
			g_strdup_printf("%s: the text of marks is unknown",
					why));
	}
	if (dropped)
		g_ptr_array_add(
			warnings,
			g_strdup_printf("only %u marks were read, "
					"%" G_GUINT64_FORMAT " were not",
					kmt_input_marks_count(phases->marks),
					dropped));
	if (defects)
		g_ptr_array_add(
			warnings,
			g_strdup_printf("%" G_GUINT64_FORMAT
					" records of marks are damaged: see "
					"kmemtrace-check",
					defects));
}
