/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * List of wrapper functions: functions that allocate on behalf of their caller.
 * Reports attribute such an allocation to the caller.
 */
#ifndef KMEMTRACE_SYMBOLS_WRAPPER_FUNCTIONS_H
#define KMEMTRACE_SYMBOLS_WRAPPER_FUNCTIONS_H

#include <glib.h>

#define KMT_SYM_WRAPPERS_ERROR (kmt_sym_wrappers_error_quark())
GQuark kmt_sym_wrappers_error_quark(void);

typedef enum {
	KMT_SYM_WRAPPERS_ERROR_READ, /* list not readable */
	KMT_SYM_WRAPPERS_ERROR_LINE, /* line with more than one word */
} KmtSymWrappersError;

typedef struct KmtSymWrappers KmtSymWrappers;

/* Create an empty list, which matches no function. The caller frees it. */
KmtSymWrappers *kmt_sym_wrappers_new(void);
void kmt_sym_wrappers_free(KmtSymWrappers *wrappers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymWrappers, kmt_sym_wrappers_free)

/* Add a shell glob with * ? and [a-z]. */
void kmt_sym_wrappers_add(KmtSymWrappers *wrappers, const char *glob);

/*
 * Add the globs in a file. Each line has at most one glob; # starts a comment.
 * If @path is NULL, the installed default list is read. On error return FALSE
 * with a KMT_SYM_WRAPPERS_ERROR, and no glob is added.
 */
gboolean kmt_sym_wrappers_load(KmtSymWrappers *wrappers, const char *path,
			       GError **error);

/*
 * Return whether @function is in the list. The name has no offset and no
 * module. A suffix that the compiler appended (".isra.0") is ignored. Any
 * thread may call this function while no thread adds globs.
 */
gboolean kmt_sym_wrappers_matches(const KmtSymWrappers *wrappers,
				  const char *function);

#endif
