/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of kmemtrace-top. */
#ifndef KMEMTRACE_TOP_TOP_OPTIONS_H
#define KMEMTRACE_TOP_TOP_OPTIONS_H

#include "top/engine.h"

/* Default of --delay, in seconds, and of --lines, for text. */
#define KMT_TOP_DELAY_S 2.0
#define KMT_TOP_LINES	20

/* Default of --max-objects. They take half a gigabyte. */
#define KMT_TOP_MAX_OBJECTS 10000000

typedef struct {
	gboolean help, version;
	gboolean batch, json;
	guint64 n_iterations; /* 0: no limit */
	double delay_s;	      /* greater than 0 */
	guint64 lines;	      /* of a batch; 0: all */
	KmtTopQuery query;
	KmtTopEngineOptions engine; /* without wake_fd */
	/* Own the strings above: */
	char *read, *match, *capture, *vmlinux, *tree, *debug_dir;
	GPtrArray *daemon_args;
} KmtTopOptions;

/*
 * Parse the command line. Return the context for kmt_cli_must_exit(), or NULL
 * with *error set. The caller clears the options in both cases.
 */
GOptionContext *kmt_top_options_parse(char **argv, KmtTopOptions *options,
				      GError **error);
void kmt_top_options_clear(KmtTopOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtTopOptions, kmt_top_options_clear)

#endif
