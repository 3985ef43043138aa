/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile of pprof as a compressed stream. A profile is the concatenation of
 * its parts, so each part is written when it is known, and the memory does not
 * depend on the number of samples.
 */
#ifndef KMEMTRACE_REPORT_PPROF_STREAM_H
#define KMEMTRACE_REPORT_PPROF_STREAM_H

#include <glib.h>
#include <stdio.h>

#include "report/profile.pb-c.h"

typedef struct KmtPprofStream KmtPprofStream;

/* Create a profile on @out, which must outlive the stream. The caller frees the
 * stream. */
KmtPprofStream *kmt_pprof_stream_new(FILE *out);
void kmt_pprof_stream_free(KmtPprofStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtPprofStream, kmt_pprof_stream_free)

/* Return the number of a string in the table of the profile; 0 for "". */
gint64 kmt_pprof_stream_string(KmtPprofStream *stream, const char *text);

/* Write a part of the profile. @part must have no strings of its own. */
void kmt_pprof_stream_add(KmtPprofStream *stream,
			  const KmtPprof__Profile *part);

/* Write the table of strings, and end the stream. The caller checks ferror() of
 * the file. */
void kmt_pprof_stream_end(KmtPprofStream *stream);

#endif
