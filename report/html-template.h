/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of the HTML report, without data. The build assembles it. */
#ifndef KMEMTRACE_REPORT_HTML_TEMPLATE_H
#define KMEMTRACE_REPORT_HTML_TEMPLATE_H

#include <glib.h>

/* The page is split where the data belongs. */
typedef struct {
	char *text;
	gsize length; /* of text, bytes */
	gsize before; /* bytes of text before the data */
	gsize after;  /* offset in text of the rest of the page */
} KmtHtmlTemplate;

/*
 * Read the page from $KMEMTRACE_HTML_TEMPLATE, else from the build directory of
 * the program, else from where it is installed. Return FALSE if it is missing
 * or no such page; the error names the remedy.
 */
gboolean kmt_html_template_load(KmtHtmlTemplate *template, GError **error);
void kmt_html_template_clear(KmtHtmlTemplate *template);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtHtmlTemplate, kmt_html_template_clear)

#endif
