// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/input/libarchive.h"

#ifdef HAVE_LIBARCHIVE

#include "lib/base/dlopen-note.h"
#include "lib/base/optional-library.h"

/* Name of the library version whose interface archive.h declares. */
#define SONAME "libarchive.so.13"

KMT_DLOPEN_NOTE("archive", "Reads compressed captures and tars", "recommended",
		SONAME);

static KmtInputLibarchive functions;

static const KmtOptionalLibraryFunction names[] = {
#define FUNCTION(name) {#name, (gpointer *)&functions.name},
	KMT_INPUT_LIBARCHIVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static KmtOptionalLibrary library = {.soname = SONAME,
				     .title = "libarchive",
				     .functions = names,
				     .n_functions = G_N_ELEMENTS(names)};

const KmtInputLibarchive *kmt_input_libarchive_get(GError **error)
{
	return kmt_optional_library_load(&library, error) ? &functions : NULL;
}

#endif
