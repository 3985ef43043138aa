/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Libraries that a program loads with dlopen(3) when the program first needs
 * their functions.
 */
#ifndef KMEMTRACE_BASE_OPTIONAL_LIBRARY_H
#define KMEMTRACE_BASE_OPTIONAL_LIBRARY_H

#include <glib.h>

#define KMT_OPTIONAL_LIBRARY_ERROR (kmt_optional_library_error_quark())
GQuark kmt_optional_library_error_quark(void);

typedef enum {
	KMT_OPTIONAL_LIBRARY_ERROR_MISSING, /* the library cannot be used */
} KmtOptionalLibraryError;

typedef struct {
	const char *name;
	gpointer *pointer; /* kmt_optional_library_load() stores the address of
			    * the function there */
} KmtOptionalLibraryFunction;

/* A library; .mutex and .loaded are zero at first. */
typedef struct {
	const char *soname;
	const char *title; /* name of the library in messages */
	const KmtOptionalLibraryFunction *functions;
	gsize n_functions;
	GMutex mutex; /* protects loaded and the loading */
	gboolean loaded;
} KmtOptionalLibrary;

/*
 * Load a library and look up its functions, unless an earlier call succeeded. A
 * loaded library stays loaded. Return FALSE and set an error of
 * KMT_OPTIONAL_LIBRARY_ERROR if the library cannot be loaded or lacks a
 * function; the message is a clause such as "libarchive cannot be loaded". Any
 * thread may call this function.
 */
gboolean kmt_optional_library_load(KmtOptionalLibrary *library, GError **error);

#endif
