/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of kmemtrace-report. */
#ifndef KMEMTRACE_REPORT_REPORT_OPTIONS_H
#define KMEMTRACE_REPORT_REPORT_OPTIONS_H

#include "report/html-template.h"
#include "report/output-file.h"
#include "report/report.h"

/* Output formats. */
typedef enum {
	KMT_FORM_TEXT,
	KMT_FORM_JSON,
	KMT_FORM_CSV,
	KMT_FORM_FOLDED,
	KMT_FORM_HTML,
	KMT_FORM_PPROF,
	KMT_FORM_PERFETTO,
} KmtForm;

/*
 * Option values from the command line. A string is NULL if its option is
 * absent.
 */
typedef struct {
	gboolean help;
	gboolean version;
	gboolean quiet;
	gboolean no_pager;
	gboolean json;
	gboolean csv;
	gboolean folded;
	gboolean raw_ip;
	gboolean slab;
	gboolean page;
	gboolean live;
	gboolean leaks;
	gboolean advise;
	gboolean cross_cpu;
	gboolean before_trace;
	gboolean marks;
	gboolean stacks;
	char *html;
	char *pprof;
	char *perfetto;
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
	char *cgroup;
	char *kallsyms;
	char *system_map;
	char *vmlinux;
	char *debug_dir;
	char *source;
	char *clock_tolerance;
	char *jobs;
	char *layout;
	char *color;
	char **diff; /* --diff: the captures of the base side */
	char *per;
	char *error_rate;
	/* As vmlinux, debug_dir and source, for the base side. NULL: those of
	 * the new side. */
	char *base_vmlinux;
	char *base_debug_dir;
	char *base_source;
	char **operands;
} KmtOptions;

void kmt_options_clear(KmtOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtOptions, kmt_options_clear)

/*
 * Parse the command line into @options. Return NULL on error. The caller frees
 * the context and clears @options.
 */
GOptionContext *kmt_options_parse(char **argv, KmtOptions *options,
				  GError **error);

/* START or STOP of --time. */
typedef struct {
	gint64 ns;
	gboolean by_clock; /* @ns is kernel clock time, else time from the first
			      record */
	gboolean given;
	char *mark; /* name of a mark, or NULL */
} KmtMoment;

/* The divisor of sums over the time: --per. */
typedef enum {
	KMT_DIFF_PER_NONE,
	KMT_DIFF_PER_SECOND, /* seconds of the time of the figures */
	KMT_DIFF_PER_MARK,   /* occurrences of a mark in this time */
} KmtDiffPer;

/* The options of --diff. */
typedef struct {
	gboolean given;
	KmtDiffPer per;
	char *mark;	   /* name of the mark of --per, or NULL */
	double error_rate; /* two-sided, from 0 to 1 */
} KmtDiffOptions;

/* The report that the options describe. */
typedef struct {
	KmtForm form;
	char *file;	       /* NULL: stdout */
	char *filter_text;     /* options that select objects, or NULL */
	KmtOutputFile *output; /* set by kmt_plan_open_file() */
	KmtHtmlTemplate template;
	KmtBy by;
	KmtFilter filter;
	KmtSort *sort;
	KmtSymWrappers *skip;
	GPtrArray *fields;
	KmtInputOptions capture;
	KmtAggregateOptions aggregate;
	KmtMoment start, stop;
	KmtDiffOptions diff;
	gboolean whole_span; /* no STOP: the span lasts to the end */
	KmtPhases *phases;   /* set by kmt_plan_resolve_time(), or NULL */
	KmtReport report;    /* The caller sets capture, aggregate, symbolizer,
			      * warnings and lost. */
} KmtPlan;

void kmt_plan_clear(KmtPlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtPlan, kmt_plan_clear)

/*
 * Fill the zeroed @plan from @options. The plan contains pointers to its own
 * fields and must not move. Return FALSE if an option is invalid, or if the
 * list of wrapper functions cannot be read.
 */
gboolean kmt_plan_make(KmtPlan *plan, const KmtOptions *options,
		       GError **error);

/*
 * Resolve the marks and kernel clock times in the span of the plan to times
 * from the first record of the capture, and read the marks if an option needs
 * them. Return FALSE if a mark does not exist, if the span is invalid, or if
 * its windows need too much memory. @capture and @symbolizer must outlive the
 * plan.
 */
gboolean kmt_plan_resolve_time(KmtPlan *plan, const KmtInputCapture *capture,
			       const KmtSymbolizer *symbolizer, GError **error);
/*
 * Return FALSE with an error if the span begins after the end of the capture.
 * Call this function after all records are read.
 */
gboolean kmt_plan_check_span(const KmtPlan *plan, GError **error);

/*
 * Replay the capture of plan->report for --advise. Its capture, symbolizer,
 * aggregate and losses are set. Return NULL without --advise. The caller frees
 * the list with kmt_advice_free().
 */
KmtAdviceList *kmt_plan_find_advice(const KmtPlan *plan);

/*
 * Return whether the plan has a START or STOP, windows, details of groups, or a
 * lifetime filter, which need the times of records. Such a plan must be
 * rejected for a capture with has_sequence_times.
 */
gboolean kmt_plan_needs_times(const KmtPlan *plan);

/*
 * If the report goes to a file, open the file and everything that the format
 * needs, before the capture is read. Return FALSE on error.
 */
gboolean kmt_plan_open_file(KmtPlan *plan, GError **error);
/* Choose the groups of a format whose groups depend on the capture. */
void kmt_plan_fit_capture(KmtPlan *plan, const KmtInputCapture *capture);
/* Write the report of the plan to plan->file. Return FALSE on error. */
gboolean kmt_plan_write_file(KmtPlan *plan, GError **error);

/* Print the report of the plan to @out in the format of the plan. */
void kmt_plan_print(const KmtPlan *plan, FILE *out);

#endif
