/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of kmemtrace-report. */
#ifndef KMEMTRACE_REPORT_REPORT_OPTIONS_H
#define KMEMTRACE_REPORT_REPORT_OPTIONS_H

#include "report/report.h"

typedef enum {
	KMT_FORM_TEXT,
	KMT_FORM_JSON,
	KMT_FORM_CSV,
	KMT_FORM_FOLDED,
} KmtForm;

/* As the command line gave them. */
typedef struct {
	gboolean help;
	gboolean version;
	gboolean quiet;
	gboolean json;
	gboolean csv;
	gboolean folded;
	gboolean raw_ip;
	gboolean slab;
	gboolean page;
	gboolean live;
	gboolean leaks;
	gboolean cross_cpu;
	gboolean before_trace;
	gboolean marks;
	gboolean stacks;
	char *skip;
	char *by;
	char *fields;
	char *sort;
	char *lines;
	char *time;
	char *windows;
	char *histogram;
	char *churn;
	char *kind;
	char *cpu;
	char *node;
	char *size;
	char *lifetime;
	char *callsite;
	char *module;
	char *kallsyms;
	char *system_map;
	char *vmlinux;
	char *debug_dir;
	char *source;
	char *clock_tolerance;
	char *jobs;
	char *layout;
	char **operands;
} KmtOptions;

void kmt_options_clear(KmtOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtOptions, kmt_options_clear)

/* NULL: something is wrong with the options. */
GOptionContext *kmt_options_parse(char **argv, KmtOptions *options,
				  GError **error);

/* An end of --time. */
typedef struct {
	gint64 ns;
	gboolean by_clock; /* the kernel's, else from the first record */
	gboolean given;
	char *mark; /* or where this mark is */
} KmtMoment;

/* What the options ask for. */
typedef struct {
	KmtForm form;
	KmtBy by;
	KmtFilter filter;
	KmtSort *sort;
	KmtSymWrappers *skip;
	GPtrArray *fields;
	KmtInputOptions capture;
	KmtAggregateOptions aggregate;
	KmtMoment start, stop;
	gboolean whole_span; /* stop is the end of the capture */
	KmtPhases *phases;   /* once it is placed, or NULL */
	KmtReport report;    /* but capture, aggregate, names and warnings */
} KmtPlan;

void kmt_plan_clear(KmtPlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtPlan, kmt_plan_clear)

/* plan is zeroed; it points into itself. */
gboolean kmt_plan_make(KmtPlan *plan, const KmtOptions *options,
		       GError **error);

/* Where in the capture the span is.  Both must live as long. */
gboolean kmt_plan_place(KmtPlan *plan, const KmtInputCapture *capture,
			const KmtSymbolizer *names, GError **error);
/* When all is read: does the span begin before the capture ends? */
gboolean kmt_plan_check_span(const KmtPlan *plan, GError **error);

#endif
