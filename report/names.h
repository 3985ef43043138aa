/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the names of the call sites come from, and what is wrong with them.
 */
#ifndef KMEMTRACE_REPORT_NAMES_H
#define KMEMTRACE_REPORT_NAMES_H

#include "report/sites.h"
#include "report/symbols.h"
#include "trace/capture.h"

typedef struct {
	const char *kallsyms;	/* or NULL: the captured one */
	const char *system_map; /* instead of a kallsyms; or NULL */
	gboolean raw;		/* no names at all */
} KmtNamesOptions;

typedef struct {
	KmtSymbols *symbols; /* NULL: there are no names */
	char *source;	     /* path of the file, NULL likewise */
} KmtNames;

/*
 * A file named in the options must be readable.  That the captured kallsyms is
 * missing or of no use is a text added to warnings (of char *, owned by it).
 */
KmtNames *kmt_names_open(const KmtCapture *capture,
			 const KmtNamesOptions *options, GPtrArray *warnings,
			 GError **error);
void kmt_names_free(KmtNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtNames, kmt_names_free)

/* Adds a warning if the names do not seem to be those of this kernel. */
void kmt_names_check(const KmtNames *names, const KmtSites *sites,
		     GPtrArray *warnings);

/* "function+0x1f [module]"; NULL if the address has no name. */
char *kmt_names_format(const KmtNames *names, guint64 address);

#endif
