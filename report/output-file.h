/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that an option names for the output. A regular file is replaced as a
 * whole: the data goes to a temporary file in the same directory, which takes
 * the name only after all data is on the disk. On error, the old file remains.
 * The new file has the permissions of the old file.
 * A pipe, a device, or a symbolic link to a missing file is written in place.
 */
#ifndef KMEMTRACE_REPORT_OUTPUT_FILE_H
#define KMEMTRACE_REPORT_OUTPUT_FILE_H

#include <glib.h>
#include <stdio.h>

typedef struct KmtOutputFile KmtOutputFile;

/*
 * Open @path for @option, which error messages name; "-" is stdout, unless it
 * is a terminal. The file appears only with kmt_output_file_commit(). Errors
 * are of G_FILE_ERROR. The caller frees the result.
 */
KmtOutputFile *kmt_output_file_open(const char *option, const char *path,
				    GError **error);
/* Close the file. Without kmt_output_file_commit(), the data is discarded. */
void kmt_output_file_free(KmtOutputFile *output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtOutputFile, kmt_output_file_free)

/* Return the stream to write to. @output owns the stream. */
FILE *kmt_output_file_stream(const KmtOutputFile *output);

/*
 * Write all data to the disk and give the file its name. Return FALSE with an
 * error if that or any earlier write failed.
 */
gboolean kmt_output_file_commit(KmtOutputFile *output, GError **error);

#endif
