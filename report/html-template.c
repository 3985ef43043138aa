// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/html-template.h"

#include <string.h>

/* Stands in the page where the data belongs. */
#define MARKER "<!--KMT-DATA-->"
/* Bytes that the page may take, so that there is room for data. */
#define MAX_BYTES 1000000
#define FILE_NAME "template.html"

/*
 * Return the path of the page in the build directory, if the program runs from
 * there: the program is report/kmemtrace-report, or report/.libs/... of
 * libtool. The caller frees the string.
 */
static char *path_in_build(void)
{
	g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *folder = program ? g_path_get_dirname(program) : NULL;
	g_autofree char *makefile = NULL;
	char *path;

	if (!folder)
		return NULL;
	/* An installed program has no config.h beside its folder. */
	makefile = g_build_filename(folder, "..", "config.h", NULL);
	if (!g_file_test(makefile, G_FILE_TEST_EXISTS))
		return NULL;
	path = g_build_filename(folder, "html", FILE_NAME, NULL);
	if (g_file_test(path, G_FILE_TEST_EXISTS))
		return path;
	g_free(path);
	return NULL;
}

/* Return the path of the page. The caller frees the string. */
static char *find_path(void)
{
	const char *given = g_getenv("KMEMTRACE_HTML_TEMPLATE");
	char *path;

	if (given && *given)
		return g_strdup(given);
	path = path_in_build();
	return path ? path : g_build_filename(KMT_PKGDATADIR, FILE_NAME, NULL);
}

static gboolean split(KmtHtmlTemplate *template, const char *path,
		      GError **error)
{
	const char *marker = strstr(template->text, MARKER);

	if (template->length > MAX_BYTES) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "--html: the page %s has more than %d bytes", path,
			    MAX_BYTES);
		return FALSE;
	}
	if (!marker || strstr(marker + 1, MARKER)) {
		g_set_error(
			error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			"--html: %s is no page for the report: it must have "
			"%s once; install the package again",
			path, MARKER);
		return FALSE;
	}
	template->before = (gsize)(marker - template->text);
	template->after = template->before + strlen(MARKER);
	return TRUE;
}

gboolean kmt_html_template_load(KmtHtmlTemplate *template, GError **error)
{
	g_autofree char *path = find_path();
	g_autoptr(GError) reason = NULL;

	*template = (KmtHtmlTemplate){0};
	if (g_file_get_contents(path, &template->text, &template->length,
				&reason))
		return split(template, path, error);
	g_set_error(error, G_FILE_ERROR, reason->code,
		    "--html: the page of the report is missing: %s; install "
		    "the package of this program completely, or build it where "
		    "configure finds npm",
		    reason->message);
	return FALSE;
}

void kmt_html_template_clear(KmtHtmlTemplate *template)
{
	g_clear_pointer(&template->text, g_free);
}
