/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two forms of output, text.c and json.c, are given. */
#ifndef KMEMTRACE_REPORT_REPORT_H
#define KMEMTRACE_REPORT_REPORT_H

#include "report/aggregate.h"
#include "report/table.h"
#include "symbols/names.h"

#include <stdio.h>

typedef struct {
	const KmtCapture *capture;
	const KmtAggregate *aggregate;
	const KmtNames *names;
	const KmtSort *sort;
	guint64 max_lines;	   /* of each table; 0: all */
	gboolean slab_only;	   /* kinds in the tables of call sites; */
	gboolean pages_only;	   /* both or none: all */
	gboolean before_trace;	   /* list those frees by call site */
	gboolean separators;	   /* 1,234,567 */
	const GPtrArray *warnings; /* of const char * */
} KmtReport;

/* Print to out, in which errors stick (ferror()). */
void kmt_report_text(const KmtReport *report, FILE *out);
void kmt_report_json(const KmtReport *report, FILE *out);

/* A KmtTableFilter: the kinds that the options of user, a report, chose. */
gboolean kmt_report_is_chosen(const KmtSite *site, gconstpointer user);
/* The sites that the options chose, sorted and cut. */
KmtTable *kmt_report_table(const KmtReport *report);

/* What is known about events that were lost. */
typedef enum {
	KMT_LOSS_NONE,	  /* none were */
	KMT_LOSS_EVENTS,  /* capture->overruns of them */
	KMT_LOSS_CUT,	  /* unknown: the capture was cut off */
	KMT_LOSS_UNKNOWN, /* unknown: kmemtrace.meta does not say */
} KmtLoss;

KmtLoss kmt_report_loss(const KmtCapture *capture);

/* How many files are not of the size that kmemtrace.meta says: damaged. */
guint kmt_report_wrong_sizes(const KmtCapture *capture);

/* "none", "events", "cut_off", "unknown". */
const char *kmt_loss_name(KmtLoss loss);

/* Records of this time may be missing, ns. */
typedef struct {
	gint64 from;
	gint64 until;
} KmtInterval;

#define KMT_MAX_INTERVALS 2

/*
 * Where what is told may be due to missing records; how many intervals there
 * are.  Version 1 of the record does not tell where events were lost, so that
 * then it is all of the capture.  What was cut off is missing from the moment
 * on at which the first of the CPUs ends, what an earlier reader took up to the
 * moment at which the last of them begins.
 */
guint kmt_report_intervals(const KmtReport *report,
			   KmtInterval intervals[KMT_MAX_INTERVALS]);

/* A value of group [capture] of kmemtrace.meta; NULL if it is not there. */
char *kmt_report_meta(const KmtCapture *capture, const char *key);

#endif
