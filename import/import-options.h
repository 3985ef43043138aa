/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command line options of kmemtrace-import. */
#ifndef KMEMTRACE_IMPORT_IMPORT_OPTIONS_H
#define KMEMTRACE_IMPORT_IMPORT_OPTIONS_H

#include <glib.h>

/* Values of the options. A string is NULL if its option was not given. */
typedef struct {
	gboolean help;
	gboolean version;
	gboolean quiet;
	gboolean force;
	char *abi;
	char *buffer;
	char *build_id_dir;
	char *cpus;
	char *color;
	char *kallsyms;
	char *modules;
	char *proc;
	char *sys;
	char *stall;
	int compress_level; /* of zstd; 0: write uncompressed files */
	char **operands;
} KmtImportOptions;

/* Free the strings of *options. */
void kmt_import_options_clear(KmtImportOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtImportOptions, kmt_import_options_clear)

/*
 * Parse argv into *options. Returns the context for --help, which the caller
 * frees, or NULL with *error set.
 */
GOptionContext *kmt_import_options_parse(char **argv, KmtImportOptions *options,
					 GError **error);

#endif
