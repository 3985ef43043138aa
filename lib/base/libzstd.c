// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/libzstd.h"

#include "lib/base/optional-library.h"

#ifdef HAVE_LIBZSTD

#include "lib/base/dlopen-note.h"

/* Name of the library version whose interface zstd.h declares. */
#define SONAME "libzstd.so.1"

KMT_DLOPEN_NOTE("zstd", "Reads and writes compressed captures", "recommended",
		SONAME);

static KmtLibzstd functions;

static const KmtOptionalLibraryFunction names[] = {
#define FUNCTION(name) {#name, (gpointer *)&functions.name},
	KMT_LIBZSTD_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static KmtOptionalLibrary library = {.soname = SONAME,
				     .title = SONAME,
				     .functions = names,
				     .n_functions = G_N_ELEMENTS(names)};

const KmtLibzstd *kmt_libzstd_get(GError **error)
{
	return kmt_optional_library_load(&library, error) ? &functions : NULL;
}

gboolean kmt_libzstd_check(GError **error)
{
	return kmt_libzstd_get(error) != NULL;
}

#else

gboolean kmt_libzstd_check(GError **error)
{
	g_set_error(error, KMT_OPTIONAL_LIBRARY_ERROR,
		    KMT_OPTIONAL_LIBRARY_ERROR_MISSING,
		    "this program was built without libzstd");
	return FALSE;
}

#endif
