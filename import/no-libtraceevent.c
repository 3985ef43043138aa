// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Readers of perf.data and trace.dat for a build without libtraceevent. Both
 * fail.
 */
#include "config.h"

#include "import/import.h"

static gboolean fail(const char *kind, GError **error)
{
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_NO_LIBRARY,
		    "it is a %s, and kmemtrace-import was built without "
		    "libtraceevent: install libtraceevent-dev "
		    "(libtraceevent-devel), configure and build again",
		    kind);
	return FALSE;
}

gboolean kmt_import_perf_data(G_GNUC_UNUSED KmtImport *import,
			      G_GNUC_UNUSED const char *const *paths,
			      GError **error)
{
	return fail("perf.data", error);
}

gboolean kmt_import_trace_dat(G_GNUC_UNUSED KmtImport *import,
			      G_GNUC_UNUSED const char *path,
			      G_GNUC_UNUSED const char *buffer, GError **error)
{
	return fail("trace.dat", error);
}
