/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State and functions that the html-*.c files share. */
#ifndef KMEMTRACE_REPORT_HTML_PRIVATE_H
#define KMEMTRACE_REPORT_HTML_PRIVATE_H

#include "report/groups-private.h"
#include "report/diff.h"
#include "report/html-data.h"
#include "report/leaks.h"
#include "report/report.h"

/* Figures for each window. */
typedef struct {
	guint64 live[KMT_HISTORY_MAX_WINDOWS]; /* at the end of the window */
	guint64 allocs[KMT_HISTORY_MAX_WINDOWS];
	guint64 frees[KMT_HISTORY_MAX_WINDOWS];
	guint64 bytes_req[KMT_HISTORY_MAX_WINDOWS];
	guint64 bytes_alloc[KMT_HISTORY_MAX_WINDOWS];
} KmtHtmlWindows;

/* The report while its data is written. */
typedef struct {
	const KmtReport *report;
	const KmtDiff *diff; /* NULL: no --diff */
	KmtHtmlData *data;
	guint n_windows;
	guint n_kinds;
	KmtKind kinds[KMT_N_KINDS]; /* n_kinds kinds, the order of "kinds" */
	gint kind_index[KMT_N_KINDS];
	guint32 *groups; /* n_groups selected groups by relevance */
	guint32 n_groups;
	guint32 n_sites;    /* number of these that fit */
	gint32 *site_of;    /* for each group, its index in "sites" or -1 */
	char **directories; /* for each group; in texts */
	GStringChunk *texts;
	GArray *leaks;	      /* KmtLeak */
	guint32 *class_start; /* for each group, index in classes; one more */
	guint32 *classes;     /* classes, sorted by group */
} KmtHtmlReport;

/* html-names.c */

/* Return a figure of records times the factor of the sample. */
guint64 kmt_html_scaled(const KmtHtmlReport *html, guint64 value);
/* Return the number of a class's group, or KMT_NO_GROUP. */
guint32 kmt_html_group_of_class(const KmtHtmlReport *html, guint32 class_id);
/* Return the name of a call site. The caller frees the string. */
char *kmt_html_site_name(const KmtHtmlReport *html, const KmtSymSite *site);
/* Return the call site of a group. */
KmtSymSite kmt_html_group_site(const KmtHtmlReport *html, guint32 group);
/* Return text number @number of @dimension for a class. The groups own it. */
const char *kmt_html_class_text(const KmtHtmlReport *html, guint32 class_id,
				KmtDimension dimension);

/* Each function adds one or more members of the document. */
void kmt_html_add_capture(KmtHtmlReport *html); /* html-capture.c */
void kmt_html_add_trust(KmtHtmlReport *html);
void kmt_html_add_marks(KmtHtmlReport *html);
/* Add nothing without --diff; html-comparison.c. */
void kmt_html_add_comparison(KmtHtmlReport *html);
void kmt_html_add_kinds(KmtHtmlReport *html); /* html-kinds.c */
void kmt_html_add_lifetimes(KmtHtmlReport *html);
void kmt_html_add_heat(KmtHtmlReport *html);
void kmt_html_add_caches(KmtHtmlReport *html);
void kmt_html_add_sites(KmtHtmlReport *html);  /* html-sites.c */
void kmt_html_add_series(KmtHtmlReport *html); /* html-series.c */
void kmt_html_add_trees(KmtHtmlReport *html);  /* html-tree.c */
void kmt_html_add_leaks(KmtHtmlReport *html);  /* html-findings.c */
void kmt_html_add_findings(KmtHtmlReport *html);

/* Add the members of sums that kinds and call sites share; html-kinds.c. */
void kmt_html_add_totals(KmtHtmlReport *html, const KmtTotals *t);
/* Add a histogram as an array of pairs. */
void kmt_html_add_histogram(KmtHtmlReport *html, const char *key,
			    const KmtHistogram *histogram);

#endif
