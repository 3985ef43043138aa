/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decompressor for recordings of perf record -z. libzstd is loaded when the
 * first compressed record is read, so the program also runs without the
 * library.
 */
#ifndef KMEMTRACE_IMPORT_PERF_ZSTD_H
#define KMEMTRACE_IMPORT_PERF_ZSTD_H

#include <glib.h>

typedef struct KmtPerfZstd KmtPerfZstd;

/*
 * Create a decompressor; free it with kmt_perf_zstd_free(), which accepts NULL.
 * Returns NULL and sets *error if libzstd cannot be loaded or memory runs out.
 */
KmtPerfZstd *kmt_perf_zstd_new(GError **error);
void kmt_perf_zstd_free(KmtPerfZstd *zstd);

/*
 * Decompress n_bytes of data and append the result to out. The compressed
 * records of a file form one zstd stream, so the calls must follow the order of
 * the file. Returns FALSE and sets *error if the data are damaged or a call
 * yields more than max_bytes.
 */
gboolean kmt_perf_zstd_append(KmtPerfZstd *zstd, const guint8 *data,
			      gsize n_bytes, gsize max_bytes, GByteArray *out,
			      GError **error);

#endif
