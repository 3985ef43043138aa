/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The format files of tracepoints, which trace.dat and perf.data store alike.
 */
#ifndef KMEMTRACE_IMPORT_FORMAT_SECTION_H
#define KMEMTRACE_IMPORT_FORMAT_SECTION_H

#include "import/byte-span.h"

/*
 * Callback for the format file of one tracepoint. The strings are valid during
 * the call. Return FALSE with *error set to stop the iteration.
 */
typedef gboolean (*KmtImportFormatFunc)(gpointer user, const char *system,
					const char *name, const char *text,
					GError **error);

/*
 * Call func for each format file of a tracepoint in formats. A file without the
 * name of a tracepoint is skipped. Returns FALSE with *error set if func fails,
 * or if formats is cut off; in the second case, the error message is cut_off.
 */
gboolean kmt_import_read_formats(KmtByteSpan formats, const char *cut_off,
				 KmtImportFormatFunc func, gpointer user,
				 GError **error);

#endif
