/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lookup of the functions in a kallsyms by address. */
#ifndef KMEMTRACE_IMPORT_FUNCTIONS_H
#define KMEMTRACE_IMPORT_FUNCTIONS_H

#include <glib.h>

typedef struct KmtImportFunctions KmtImportFunctions;

/*
 * Parse the content of a kallsyms. The function takes ownership of text. Free
 * the result with kmt_import_functions_free(), which accepts NULL.
 */
KmtImportFunctions *kmt_import_functions_new(char *text);
void kmt_import_functions_free(KmtImportFunctions *functions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtImportFunctions, kmt_import_functions_free)

/*
 * Return the name of the last function that begins at or before address, or
 * NULL. functions, a KmtImportFunctions, owns the string. The signature matches
 * KmtImportFunctionName.
 */
const char *kmt_import_functions_name(gpointer functions, guint64 address);

/* A parsed line of kallsyms, such as "ffffffff81000000 T _text\t[module]". */
typedef struct {
	guint64 address;
	char type;
	const char *name; /* n_name bytes, not NUL-terminated */
	gsize n_name;
	gboolean is_of_module;
} KmtImportKallsymsLine;

/*
 * Parse the first line of *text and advance *text to the next line. Returns
 * FALSE if the line is not a line of kallsyms.
 */
gboolean kmt_import_kallsyms_next(const char **text,
				  KmtImportKallsymsLine *line);

#endif
