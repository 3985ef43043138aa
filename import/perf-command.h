/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parser of perf record's command line: the options that affect which events a
 * file contains.
 */
#ifndef KMEMTRACE_IMPORT_PERF_COMMAND_H
#define KMEMTRACE_IMPORT_PERF_COMMAND_H

#include <glib.h>

/*
 * Options of a perf record command line. All fields are 0 or NULL if the
 * command line is not that of perf record.
 */
typedef struct {
	gboolean is_perf_record; /* words are a command line of perf record */
	gboolean all_cpus;	 /* -a; perf kmem record implies -a */
	gboolean exclude_perf;	 /* --exclude-perf */
	gboolean control;	 /* --control */
	gboolean switch_output;
	/* Values of options, or NULL; owned by the command line. */
	const char *cpus;    /* -C */
	const char *tasks;   /* -p, -t or -u */
	const char *cgroups; /* -G or --for-each-cgroup */
	const char *filter;  /* --filter of a memory event */
	const char *delay;   /* -D */
} KmtPerfCommand;

/*
 * Parse a NULL-terminated command line. words may be NULL if the command line
 * is not known.
 */
KmtPerfCommand kmt_perf_command_parse(const char *const *words);

#endif
