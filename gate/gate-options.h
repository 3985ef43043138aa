/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of kmemtrace-gate. */
#ifndef KMEMTRACE_GATE_GATE_OPTIONS_H
#define KMEMTRACE_GATE_GATE_OPTIONS_H

#include <glib.h>

/* Values from the command line. A string is NULL if its option is absent. */
typedef struct {
	gboolean help;
	gboolean version;
	gboolean quiet;
	gboolean check;
	char *junit;
	char *markdown;
	char *error_rate;
	char *lines;
	char *vmlinux, *debug_dir, *source;
	char *base_vmlinux, *base_debug_dir, *base_source;
	char *clock_tolerance;
	char *jobs;
	char *color;
	char **operands; /* RULES and the base captures */
	char *rules;	 /* not owned */
	char **base;	 /* not owned */
	char **new;	 /* not owned */
	gdouble rate;	 /* value of --error-rate */
	guint64 max_lines;
} KmtGateOptions;

void kmt_gate_options_clear(KmtGateOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtGateOptions, kmt_gate_options_clear)

/*
 * Parse the command line RULES BASE... -- NEW... into the zeroed @options,
 * which refer to @argv. The last "--" separates both sides. Return NULL on
 * error. The caller frees the context and clears @options.
 */
GOptionContext *kmt_gate_options_parse(char **argv, KmtGateOptions *options,
				       GError **error);

/*
 * Check the values and the operands. Return FALSE on error; a base side and a
 * new side are needed unless options->check is set.
 */
gboolean kmt_gate_options_check(KmtGateOptions *options, GError **error);

#endif
