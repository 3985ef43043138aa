// SPDX-License-Identifier: GPL-2.0-or-later
/* In place of the reader of perf.data, where there is no libtraceevent. */
#include "config.h"

#include "import/import.h"

gboolean kmt_import_perf_data(KmtImport *import, const char *path,
			      GError **error)
{
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_NO_LIBRARY,
		    "it is a perf.data, and kmemtrace-import was built without "
		    "libtraceevent: install libtraceevent-dev "
		    "(libtraceevent-devel), configure and build again");
	return FALSE;
}
