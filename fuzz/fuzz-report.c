// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: a report of a capture (fuzz/container.h) with its symbols, with
 * an arbitrary command line; see fuzz/reports.h.
 */
#include "config.h"

#include "fuzz/container.h"
#include "fuzz/exercise.h"
#include "fuzz/reports.h"
#include "fuzz/scratch.h"
#include "fuzz/target.h"

#define MAX_WORDS 32

/*
 * Return the words of the container as a command line, NULL-terminated. The
 * caller frees the array.
 */
static GStrv command_line(const KmtContainer *container)
{
	g_autofree char *text =
		kmt_container_text(container, KMT_CONTAINER_WORDS);
	GPtrArray *words = g_ptr_array_new();
	g_auto(GStrv) all = g_strsplit(text ? text : "", "\n", MAX_WORDS);
	char **word;

	g_ptr_array_add(words, g_strdup("report"));
	for (word = all; *word; word++)
		if (**word)
			g_ptr_array_add(words, g_strdup(*word));
	g_ptr_array_add(words, NULL);
	return (GStrv)g_ptr_array_free(words, FALSE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_auto(KmtContainer) container = {0};
	g_auto(KmtReports) reports = {0};
	g_auto(GStrv) words = NULL;

	kmt_exercise_begin();
	kmt_container_parse(&container, data, size);
	words = command_line(&container);
	if (!kmt_reports_parse(words, &reports))
		return 0;
	kmt_container_extract(&container);
	kmt_reports_run(&reports);
	kmt_scratch_clear();
	return 0;
}
