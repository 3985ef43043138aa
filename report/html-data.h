/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writer of the data of the HTML report: compact JSON in memory, with a limit
 * of its size. report/html/README.md specifies the data.
 *
 * The text is safe in a script element of HTML: <, >, & and the line
 * separators of JavaScript are escaped, so no text of a capture ends the
 * element. Each text is printable; a text of KMT_HTML_MAX_TEXT bytes and a
 * name of KMT_HTML_MAX_NAME bytes is the longest.
 *
 * A section has an allowance of bytes. The caller adds an element, then calls
 * kmt_html_fits(); if the allowance is exceeded, that call removes the element
 * and the section is cut.
 */
#ifndef KMEMTRACE_REPORT_HTML_DATA_H
#define KMEMTRACE_REPORT_HTML_DATA_H

#include <glib.h>

#define KMT_HTML_MAX_NAME 256
#define KMT_HTML_MAX_TEXT 1024

typedef struct {
	GString *text;
	/* Names, each once; their index is in the member "names". */
	GPtrArray *names;  /* char * */
	GHashTable *index; /* name -> index + 1 */
	gsize names_bytes; /* bytes of all names as JSON */
	GPtrArray *cuts;   /* char *: what was cut */
	/* Start and end of the innermost section with an allowance. */
	gsize limit;	    /* of text and names */
	gsize total;	    /* upper limit of all limits */
	gsize element;	    /* start of the current element */
	guint element_name; /* number of names at that time */
} KmtHtmlData;

KmtHtmlData *kmt_html_data_new(void);
void kmt_html_data_free(KmtHtmlData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtHtmlData, kmt_html_data_free)

/* Return the bytes of the text and the names. */
gsize kmt_html_size(const KmtHtmlData *data);

/* Add '{', '}', '[' or ']'; @key is NULL in an array. */
void kmt_html_begin(KmtHtmlData *data, const char *key, char bracket);
void kmt_html_end(KmtHtmlData *data, char bracket);

/* Add a value; @key is NULL in an array. */
void kmt_html_u64(KmtHtmlData *data, const char *key, guint64 value);
void kmt_html_i64(KmtHtmlData *data, const char *key, gint64 value);
void kmt_html_integer(KmtHtmlData *data, const char *key, gboolean negative,
		      guint64 magnitude);
void kmt_html_known_u64(KmtHtmlData *data, const char *key, gboolean known,
			guint64 value);
void kmt_html_flag(KmtHtmlData *data, const char *key, gboolean value);
void kmt_html_fraction(KmtHtmlData *data, const char *key, double value);
void kmt_html_null(KmtHtmlData *data, const char *key);
/* Add a text, or null if it is NULL. */
void kmt_html_text(KmtHtmlData *data, const char *key, const char *text);
/* Store a name and return its index. */
guint kmt_html_intern(KmtHtmlData *data, const char *name);
/* Add the index of a name, or -1 if it is NULL. */
void kmt_html_name(KmtHtmlData *data, const char *key, const char *name);

/* Limit the text and names of all sections that begin from now on. */
void kmt_html_set_total(KmtHtmlData *data, gsize total);
/* Begin a section of at most @allowance bytes. */
void kmt_html_allow(KmtHtmlData *data, gsize allowance);
/* Return whether the section has room for another @bytes bytes. */
gboolean kmt_html_has_room(const KmtHtmlData *data, gsize bytes);
/* Begin an element of the section. */
void kmt_html_begin_element(KmtHtmlData *data);
/*
 * End an element. Return FALSE, after removing it, if the section exceeds its
 * allowance.
 */
gboolean kmt_html_fits(KmtHtmlData *data);
/* Add a sentence to the cuts. */
void kmt_html_cut(KmtHtmlData *data, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

/* Add the members "names" and "cuts". */
void kmt_html_add_names(KmtHtmlData *data);

#endif
