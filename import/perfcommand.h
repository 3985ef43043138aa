/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choices of perf record's command line that the records depend on. */
#ifndef KMEMTRACE_IMPORT_PERFCOMMAND_H
#define KMEMTRACE_IMPORT_PERFCOMMAND_H

#include <glib.h>

typedef struct {
	gboolean known;	       /* there is a command line of perf record */
	gboolean all_cpus;     /* -a, which perf kmem record sets too */
	gboolean exclude_perf; /* --exclude-perf */
	gboolean control;      /* --control */
	gboolean switch_output;
	/* Values of options, or NULL; they belong to the command line. */
	const char *cpus;    /* -C */
	const char *tasks;   /* -p, -t or -u */
	const char *cgroups; /* -G or --for-each-cgroup */
	const char *filter;  /* --filter of an event of memory */
	const char *delay;   /* -D */
} PerfCommand;

/* words: a NULL-terminated command line; NULL: none is known. */
PerfCommand perf_command_parse(const char *const *words);

#endif
