/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that only pass an allocation on: who called them is the one to
 * blame.
 */
#ifndef KMEMTRACE_SYMBOLS_WRAPPER_FUNCTIONS_H
#define KMEMTRACE_SYMBOLS_WRAPPER_FUNCTIONS_H

#include <glib.h>

#define KMT_SYM_WRAPPERS_ERROR (kmt_sym_wrappers_error_quark())
GQuark kmt_sym_wrappers_error_quark(void);

typedef enum {
	KMT_SYM_WRAPPERS_ERROR_READ, /* the list cannot be read */
	KMT_SYM_WRAPPERS_ERROR_LINE, /* a line of it has more than a glob */
} KmtSymWrappersError;

typedef struct KmtSymWrappers KmtSymWrappers;

/* Matches nothing yet. */
KmtSymWrappers *kmt_sym_wrappers_new(void);
void kmt_sym_wrappers_free(KmtSymWrappers *skip);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymWrappers, kmt_sym_wrappers_free)

/* A glob as the shell has them: * ? [a-z]. */
void kmt_sym_wrappers_add(KmtSymWrappers *skip, const char *glob);

/*
 * Adds a file's globs: one a line, # starts a comment.  path NULL: the list
 * that is installed with the programs.  After an error none of them is added.
 */
gboolean kmt_sym_wrappers_load(KmtSymWrappers *skip, const char *path,
			       GError **error);

/*
 * Whether function, without offset and module, is one of them.  What the
 * compiler appended to its name (".isra.0") is not looked at.  Any thread, as
 * long as nothing is added.
 */
gboolean kmt_sym_wrappers_matches(const KmtSymWrappers *skip,
				  const char *function);

#endif
