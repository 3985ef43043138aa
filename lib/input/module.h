/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries that are loaded when they are needed: with all that they depend on
 * this takes longer than many a run that does without. */
#ifndef KMEMTRACE_INPUT_MODULE_H
#define KMEMTRACE_INPUT_MODULE_H

#include <glib.h>

typedef struct {
	const char *name;
	gpointer *function; /* where its address goes */
} KmtModuleFunction;

/*
 * Loads soname, a library that calls itself name, for good.  Any thread, but
 * one at a time for a library.  Errors: KMT_TRACE_ERROR_READ.
 */
gboolean kmt_module_load(const char *soname, const char *name,
			 const KmtModuleFunction *functions, guint n,
			 GError **error);

#endif
