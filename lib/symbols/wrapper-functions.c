// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/symbols/wrapper-functions.h"

#include <fnmatch.h>
#include <string.h>

#define DEFAULT_LIST KMT_PKGDATADIR "/wrappers.list"

struct KmtSymWrappers {
	GPtrArray *globs; /* char * elements */
};

G_DEFINE_QUARK(kmt_sym_wrappers_error, kmt_sym_wrappers_error)

KmtSymWrappers *kmt_sym_wrappers_new(void)
{
	KmtSymWrappers *wrappers = g_new0(KmtSymWrappers, 1);

	wrappers->globs = g_ptr_array_new_with_free_func(g_free);
	return wrappers;
}

void kmt_sym_wrappers_free(KmtSymWrappers *wrappers)
{
	if (!wrappers)
		return;
	g_ptr_array_unref(wrappers->globs);
	g_free(wrappers);
}

void kmt_sym_wrappers_add(KmtSymWrappers *wrappers, const char *glob)
{
	g_ptr_array_add(wrappers->globs, g_strdup(glob));
}

gboolean kmt_sym_wrappers_load(KmtSymWrappers *wrappers, const char *path,
			       GError **error)
{
	g_autoptr(GError) read_error = NULL;
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	guint i, old_len = wrappers->globs->len;

	if (!g_file_get_contents(path ? path : DEFAULT_LIST, &text, NULL,
				 &read_error)) {
		g_set_error(error, KMT_SYM_WRAPPERS_ERROR,
			    KMT_SYM_WRAPPERS_ERROR_READ,
			    "cannot read the list of wrappers: %s%s",
			    read_error->message,
			    path ? ""
				 : "; run 'make install', or set "
				   "KMEMTRACE_WRAPPERS to "
				   "lib/symbols/wrappers.list of the source "
				   "tree");
		return FALSE;
	}
	lines = g_strsplit(text, "\n", -1);
	for (i = 0; lines[i]; i++) {
		lines[i][strcspn(lines[i], "#")] = '\0';
		g_strstrip(lines[i]);
		if (strpbrk(lines[i], " \t")) {
			g_ptr_array_set_size(wrappers->globs, (gint)old_len);
			g_set_error(error, KMT_SYM_WRAPPERS_ERROR,
				    KMT_SYM_WRAPPERS_ERROR_LINE,
				    "line %u of '%s' has more than one word: "
				    "'%s'",
				    i + 1, path ? path : DEFAULT_LIST,
				    lines[i]);
			return FALSE;
		}
		if (*lines[i])
			kmt_sym_wrappers_add(wrappers, lines[i]);
	}
	return TRUE;
}

gboolean kmt_sym_wrappers_matches(const KmtSymWrappers *wrappers,
				  const char *function)
{
	g_autofree char *name = NULL;
	guint i;

	if (strchr(function, '.'))
		function = name = g_strndup(function, strcspn(function, "."));
	for (i = 0; i < wrappers->globs->len; i++)
		if (fnmatch(g_ptr_array_index(wrappers->globs, i), function,
			    0) == 0)
			return TRUE;
	return FALSE;
}
