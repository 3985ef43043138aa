/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields of a group: the columns of tables (--fields) and keys of --sort.
 * CONTRIBUTING.md describes how to add a field.
 */
#ifndef KMEMTRACE_REPORT_FIELD_H
#define KMEMTRACE_REPORT_FIELD_H

#include "report/aggregate.h"

/* The unit of a figure. */
typedef enum {
	KMT_FIGURE_NONE, /* there is no such figure, or it is unknown */
	KMT_FIGURE_INTEGER,
	KMT_FIGURE_RATIO, /* a share, from 0 to 1 */
	KMT_FIGURE_NS,	  /* a duration */
	KMT_FIGURE_TIME,  /* kernel clock time, ns */
	KMT_FIGURE_RATE,  /* another quotient, such as events per second */
} KmtFigureType;

/* The value of a field for a group, a sum of groups, or a kind. */
typedef struct {
	KmtFigureType type;
	gboolean negative; /* of an INTEGER */
	guint64 integer;   /* value of INTEGER, NS and TIME */
	double real;	   /* value of RATIO and RATE */
} KmtFigure;

typedef struct KmtReportField KmtReportField;

/*
 * Return the field of this name, title or alias, ignoring case; NULL if there
 * is none.
 */
const KmtReportField *kmt_report_field_find(const char *name);

/* Return the name of the field in --fields, JSON and CSV. */
const char *kmt_report_field_name(const KmtReportField *field);
/* Return the heading of the field's column. */
const char *kmt_report_field_title(const KmtReportField *field);
/* Return whether the field needs KmtAggregateOptions.lifetimes. */
gboolean kmt_report_field_needs_lifetimes(const KmtReportField *field);
/* Return whether the field is a state, such as live bytes, and not a sum. An
 * event that is missing may make all later states wrong. */
gboolean kmt_report_field_is_state(const KmtReportField *field);
/* Return whether the factor of a sample scales the field: see scale.h. */
gboolean kmt_report_field_is_scaled(const KmtReportField *field);
/*
 * Return whether the field counts bytes, objects or events. The weight for
 * --folded must be such a field, and the factor of a sample scales the field.
 */
gboolean kmt_report_field_is_count(const KmtReportField *field);

/* Return whether the field counts, and its value of several groups is the sum
 * of the values of each group. */
gboolean kmt_report_field_has_sum(const KmtReportField *field);

/* Parse a list such as "wasted,frag" into an array of const KmtReportField.
 * Return NULL on error; the error lists all fields. */
GPtrArray *kmt_fields_parse(const char *text, GError **error);
/*
 * Return the names of all fields, "wasted, frag, ...". The caller frees the
 * string.
 */
char *kmt_report_field_names(void);

/* Return the field of one group. */
KmtFigure kmt_report_field_get(const KmtReportField *field,
			       const KmtAggregate *aggregate,
			       const KmtGroup *group);
/* Return the field of a sum of groups; NONE if the field has no sum. */
KmtFigure kmt_report_field_sum(const KmtReportField *field,
			       const KmtAggregate *aggregate,
			       const KmtTotals *sum,
			       const KmtDeferred *deferred);

/* Return the field of all objects of a kind; NONE if kinds do not have it. */
KmtFigure kmt_report_field_kind(const KmtReportField *field,
				const KmtAggregate *aggregate, KmtKind kind);

/*
 * Return a field of @deferred, the figures of a kind, a group, or a sum of
 * groups. The name of the field must begin with "deferred".
 */
KmtFigure kmt_report_field_deferred(const KmtReportField *field,
				    const KmtAggregate *aggregate,
				    const KmtDeferred *deferred);

/* Compare two figures for ascending order. NONE is the smallest. */
int kmt_figure_compare(const KmtFigure *a, const KmtFigure *b);

#endif
