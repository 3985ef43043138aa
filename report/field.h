/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of a table: --fields, and what --sort sorts by. */
#ifndef KMEMTRACE_REPORT_FIELD_H
#define KMEMTRACE_REPORT_FIELD_H

#include "report/aggregate.h"

typedef enum {
	KMT_FIGURE_NONE, /* there is none */
	KMT_FIGURE_INTEGER,
	KMT_FIGURE_RATIO, /* from 0 to 1 */
	KMT_FIGURE_NS,	  /* a length of time */
	KMT_FIGURE_TIME,  /* a moment, ns */
	KMT_FIGURE_RATE,  /* for each second */
} KmtFigureType;

typedef struct {
	KmtFigureType type;
	gboolean negative; /* INTEGER only */
	guint64 integer;   /* INTEGER, NS, TIME */
	double real;	   /* RATIO, RATE */
} KmtFigure;

typedef struct KmtReportField KmtReportField;

/* NULL if there is none of that name. */
const KmtReportField *kmt_report_field_find(const char *name);
const char *kmt_report_field_name(const KmtReportField *field);
/* For the head of a column. */
const char *kmt_report_field_title(const KmtReportField *field);
/* Whether it needs KmtAggregateOptions.lifetimes. */
gboolean kmt_report_field_needs_lifetimes(const KmtReportField *field);
/* Whether events that are missing could have changed it though they were freed
 * long ago: all but sums. */
gboolean kmt_report_field_is_state(const KmtReportField *field);
/* Whether it is larger where a sample is made the whole: see scale.h. */
gboolean kmt_report_field_is_scaled(const KmtReportField *field);
/* Whether it counts bytes, objects or events. */
gboolean kmt_report_field_is_count(const KmtReportField *field);

/* "wasted,frag": of const KmtReportField; or NULL, and the error names them
 * all. */
GPtrArray *kmt_fields_parse(const char *text, GError **error);
/* "wasted, frag, ...": all names. */
char *kmt_report_field_names(void);

KmtFigure kmt_report_field_get(const KmtReportField *field,
			       const KmtAggregate *aggregate,
			       const KmtGroup *group);
/* Of several groups together; NONE if that makes no sense. */
KmtFigure kmt_report_field_sum(const KmtReportField *field,
			       const KmtAggregate *aggregate,
			       const KmtTotals *sum);

/* Ascending. */
int kmt_figure_compare(const KmtFigure *a, const KmtFigure *b);

#endif
