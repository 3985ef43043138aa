// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/name-filter.h"

#include <fnmatch.h>
#include <string.h>

struct KmtTopNameFilter {
	char *text; /* case-folded; NULL: every name matches */
	gboolean is_glob;
};

KmtTopNameFilter *kmt_top_name_filter_new(const char *text)
{
	KmtTopNameFilter *filter = g_new0(KmtTopNameFilter, 1);

	if (text && *text) {
		filter->text = g_utf8_validate(text, -1, NULL)
				       ? g_utf8_casefold(text, -1)
				       : g_strdup(text);
		filter->is_glob = strpbrk(filter->text, "*?[") != NULL;
	}
	return filter;
}

void kmt_top_name_filter_free(KmtTopNameFilter *filter)
{
	if (!filter)
		return;
	g_free(filter->text);
	g_free(filter);
}

gboolean kmt_top_name_filter_matches(const KmtTopNameFilter *filter,
				     const char *name)
{
	g_autofree char *folded = NULL;

	if (!filter->text)
		return TRUE;
	folded = g_utf8_casefold(name, -1);
	return filter->is_glob ? fnmatch(filter->text, folded, 0) == 0
			       : strstr(folded, filter->text) != NULL;
}
