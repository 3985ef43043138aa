/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decompressor of a recording that perf record -z made.  libzstd is loaded
 * when the first compressed record is read, so that the program runs without
 * it.
 */
#ifndef KMEMTRACE_IMPORT_PERFZSTD_H
#define KMEMTRACE_IMPORT_PERFZSTD_H

#include <glib.h>

typedef struct PerfZstd PerfZstd;

/* NULL and an error: libzstd cannot be loaded, or memory ran out. */
PerfZstd *perf_zstd_new(GError **error);
void perf_zstd_free(PerfZstd *zstd);

/*
 * Decompresses all n_bytes of data and appends the result to out.  The
 * compressed records of one file are one zstd stream, so calls depend on the
 * calls before.  FALSE and an error if the data are damaged, or if one call
 * yields more than most_bytes.
 */
gboolean perf_zstd_append(PerfZstd *zstd, const guint8 *data, gsize n_bytes,
			  gsize most_bytes, GByteArray *out, GError **error);

#endif
