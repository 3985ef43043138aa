// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects the warnings about a capture: lost and missing events, limits of the
 * recording and of the check, and the notes of the reader, the merge and the
 * name tables. */
#include "config.h"

#include "check/check.h"

static char *overruns_by_cpu(const KmtInputCapture *capture)
{
	GString *text = g_string_new(NULL);
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		if (file->has_overruns && file->overruns)
			g_string_append_printf(text,
					       "%scpu%u: %" G_GUINT64_FORMAT,
					       text->len ? ", " : "", file->cpu,
					       file->overruns);
	}
	return g_string_free(text, FALSE);
}

/*
 * Add warnings about the switches, filter and sampling that limited the
 * recorded events.
 */
static void add_recording_limits(GPtrArray *warnings, const KmtInputCapture *c)
{
	g_auto(GStrv) incomplete = kmt_input_capture_incomplete(c);
	g_auto(GStrv) off = kmt_input_capture_events_off(c);
	gboolean changed;
	g_autofree char *filter = kmt_input_capture_filter(c, &changed);
	guint i;

	for (i = 0; incomplete && incomplete[i]; i++)
		g_ptr_array_add(warnings, g_strdup_printf("incomplete: %s",
							  incomplete[i]));
	for (i = 0; off && off[i]; i++)
		g_ptr_array_add(
			warnings,
			g_strdup_printf("switched off at times: %s", off[i]));
	if (filter)
		g_ptr_array_add(
			warnings,
			g_strdup_printf("filtered: %s%s", filter,
					changed ? " (changed during the trace)"
						: ""));
	if (c->sample > 1)
		g_ptr_array_add(
			warnings,
			g_strdup_printf("sampled: one of %" G_GUINT64_FORMAT
					" allocations was recorded",
					c->sample));
}

/* Add a warning if the number of lost events is unknown, with the reason. */
static void add_unknown_loss(GPtrArray *warnings, const KmtInputCapture *c)
{
	if (!c->meta)
		g_ptr_array_add(warnings,
				g_strdup("whether events were lost is unknown: "
					 "there is no kmemtrace.meta; "
					 "none are assumed"));
	else if (!c->complete && c->imported)
		g_ptr_array_add(warnings,
				g_strdup("the file that was imported is "
					 "damaged: events are missing where "
					 "records of losses are"));
	else if (!c->complete)
		g_ptr_array_add(warnings,
				g_strdup("the capture was cut off: how many "
					 "events were lost is not known"));
	else if (!c->has_overruns && c->imported && !c->reports_loss)
		g_ptr_array_add(
			warnings,
			g_strdup("whether events were lost is unknown: the "
				 "recorder does not report losses"));
	else if (!c->has_overruns && !c->imported)
		g_ptr_array_add(warnings,
				g_strdup("whether events were lost is unknown: "
					 "kmemtrace.meta has no count"));
}

/* Add the warnings of the reader, the merge, the name tables and the marks. */
static void add_notes(GPtrArray *warnings, const KmtCheck *check)
{
	const GPtrArray *lists[] = {check->capture->notes, check->notes,
				    kmt_input_tables_warnings(check->tables),
				    kmt_input_tag_table_warnings(check->tags)};
	guint i, j;

	for (i = 0; i < G_N_ELEMENTS(lists); i++)
		for (j = 0; j < lists[i]->len; j++)
			g_ptr_array_add(warnings, g_strdup(lists[i]->pdata[j]));
	if (check->marks && kmt_input_marks_dropped(check->marks))
		g_ptr_array_add(
			warnings,
			g_strdup_printf("the text of %u marks was checked, "
					"that of %" G_GUINT64_FORMAT
					" marks was not",
					kmt_input_marks_count(check->marks),
					kmt_input_marks_dropped(check->marks)));
}

/* Add warnings about parts of the trace that this capture lacks: overwritten
 * events, an earlier part, and missing files. */
static void add_missing_parts(GPtrArray *warnings, const KmtCheck *check)
{
	const KmtInputCapture *c = check->capture;
	g_autofree char *snapshot = kmt_input_capture_snapshot(c);

	if (snapshot)
		g_ptr_array_add(
			warnings,
			g_strdup_printf(
				"this is a snapshot, taken for '%s': "
				"events overwritten in its buffers are missing",
				snapshot));
	else if (c->continues)
		g_ptr_array_add(warnings,
				g_strdup("the first part of this trace is in "
					 "another capture"));
	if (check->across_files && c->missing_files)
		g_ptr_array_add(
			warnings,
			g_strdup_printf("%u file%s of this capture "
					"%s not here",
					c->missing_files,
					c->missing_files == 1 ? "" : "s",
					c->missing_files == 1 ? "is" : "are"));
}

GPtrArray *kmt_check_warnings(const KmtCheck *check)
{
	const KmtInputCapture *c = check->capture;
	GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) not_seen = kmt_input_capture_not_seen(c);
	guint i;

	if (c->has_overruns && c->overruns) {
		g_autofree char *by_cpu = overruns_by_cpu(c);

		g_ptr_array_add(warnings,
				g_strdup_printf("%" G_GUINT64_FORMAT
						" events were lost%s%s%s",
						c->overruns,
						*by_cpu ? " (" : "", by_cpu,
						*by_cpu ? ")" : ""));
	}
	for (i = 0; not_seen && not_seen[i]; i++)
		g_ptr_array_add(warnings,
				g_strdup_printf("not seen by this source: %s",
						not_seen[i]));
	add_recording_limits(warnings, c);
	add_notes(warnings, check);
	add_unknown_loss(warnings, c);
	add_missing_parts(warnings, check);
	return warnings;
}
