/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that a kallsyms lists, by address. */
#ifndef KMEMTRACE_IMPORT_FUNCTIONS_H
#define KMEMTRACE_IMPORT_FUNCTIONS_H

#include <glib.h>

typedef struct KmtImportFunctions KmtImportFunctions;

/* Takes text, which is the content of a kallsyms. */
KmtImportFunctions *kmt_import_functions_new(char *text);
void kmt_import_functions_free(KmtImportFunctions *functions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtImportFunctions, kmt_import_functions_free)

/*
 * The name of the last function that begins at address or before, or NULL.  It
 * belongs to functions.  The type is that of KmtImportFunctionName.
 */
const char *kmt_import_functions_name(gpointer functions, guint64 address);

/* A line of kallsyms: "ffffffff81000000 T _text\t[module]". */
typedef struct {
	guint64 address;
	char type;
	const char *name; /* not terminated */
	gsize n_name;
	gboolean is_of_module;
} KmtImportKallsymsLine;

/*
 * Parses the line that *text begins with, and moves *text behind it.  FALSE: it
 * is no such line.
 */
gboolean kmt_import_kallsyms_next(const char **text,
				  KmtImportKallsymsLine *line);

#endif
