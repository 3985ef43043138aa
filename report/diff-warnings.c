// SPDX-License-Identifier: GPL-2.0-or-later
/* Warnings about the captures of a comparison. */
#include "config.h"

#include "report/diff-private.h"

#include <string.h>

/* Add a warning about a capture. */
static void warn(KmtDiff *diff, const KmtDiffCapture *capture, const char *text)
{
	g_ptr_array_add(diff->warnings,
			g_strdup_printf("%s: %s", capture->path, text));
}

/* Warn about groups that have no name and match by their address. */
static void warn_of_unnamed(KmtDiff *diff, const KmtDiffCapture *capture)
{
	g_autofree char *text = NULL;

	if (!capture->unnamed)
		return;
	text = capture->unnamed == 1
		       ? g_strdup("a group has a function without a name, so "
				  "it matches only within the same build")
		       : g_strdup_printf("%u groups have a function without a "
					 "name, so they match only within the "
					 "same build",
					 capture->unnamed);
	warn(diff, capture, text);
}

/* Warn if a property of a capture is not that of the first capture. A value
 * that is NULL is unknown. */
static void compare_values(KmtDiff *diff, const KmtDiffCapture *capture,
			   const char *what, const char *value,
			   const char *first_value)
{
	const KmtDiffCapture *first = diff->captures->pdata[0];
	g_autofree char *text = NULL;

	if (!value || !first_value || strcmp(value, first_value) == 0)
		return;
	text = g_strdup_printf("%s is %s, and that of %s is %s", what, value,
			       first->path, first_value);
	warn(diff, capture, text);
}

static void compare_numbers(KmtDiff *diff, const KmtDiffCapture *capture,
			    const char *what, guint64 value,
			    guint64 first_value)
{
	g_autofree char *a = g_strdup_printf("%" G_GUINT64_FORMAT, value);
	g_autofree char *b = g_strdup_printf("%" G_GUINT64_FORMAT, first_value);

	compare_values(diff, capture, what, a, b);
}

/* Warn about properties of the machine and of the recording that change figures
 * without a change of the kernel. */
static void warn_of_properties(KmtDiff *diff, const KmtDiffCapture *capture)
{
	static const struct {
		const char *key;
		const char *what;
		const char *absent; /* value without the key; NULL: unknown */
	} keys[] = {
		{"machine", "the architecture", NULL},
		{"page_size", "the page size", NULL},
		{"source", "the source of the events", NULL},
		{"filter", "the filter of the recording", "none"},
	};
	const KmtDiffCapture *first = diff->captures->pdata[0];
	guint i;

	for (i = 0; i < G_N_ELEMENTS(keys); i++) {
		g_autofree char *value =
			kmt_diff_capture_value(capture, keys[i].key);
		g_autofree char *first_value =
			kmt_diff_capture_value(first, keys[i].key);

		compare_values(diff, capture, keys[i].what,
			       value ? value : keys[i].absent,
			       first_value ? first_value : keys[i].absent);
	}
	compare_numbers(diff, capture, "the number of CPUs", capture->cpus,
			first->cpus);
	compare_numbers(diff, capture, "the factor of the sample",
			capture->sample, first->sample);
}

void kmt_diff_add_warnings(KmtDiff *diff)
{
	guint i, j;

	for (i = 0; i < diff->captures->len; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];

		for (j = 0; j < capture->warnings->len; j++)
			warn(diff, capture, capture->warnings->pdata[j]);
		warn_of_unnamed(diff, capture);
		warn_of_properties(diff, capture);
	}
}
