/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that only pass an allocation on: who called them is the one to
 * blame.
 */
#ifndef KMEMTRACE_SYMBOLS_WRAPPER_FUNCTIONS_H
#define KMEMTRACE_SYMBOLS_WRAPPER_FUNCTIONS_H

#include <glib.h>

#define KMT_SKIP_ERROR (kmt_skip_error_quark())
GQuark kmt_skip_error_quark(void);

typedef enum {
	KMT_SKIP_ERROR_READ, /* the list cannot be read */
	KMT_SKIP_ERROR_LINE, /* a line of it has more than a glob */
} KmtSkipError;

typedef struct KmtSkip KmtSkip;

/* Matches nothing yet. */
KmtSkip *kmt_skip_new(void);
void kmt_skip_free(KmtSkip *skip);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSkip, kmt_skip_free)

/* A glob as the shell has them: * ? [a-z]. */
void kmt_skip_add(KmtSkip *skip, const char *glob);

/*
 * Adds a file's globs: one a line, # starts a comment.  path NULL: the list
 * that is installed with the programs.  After an error none of them is added.
 */
gboolean kmt_skip_load(KmtSkip *skip, const char *path, GError **error);

/*
 * Whether function, without offset and module, is one of them.  What the
 * compiler appended to its name (".isra.0") is not looked at.  Any thread, as
 * long as nothing is added.
 */
gboolean kmt_skip_matches(const KmtSkip *skip, const char *function);

#endif
