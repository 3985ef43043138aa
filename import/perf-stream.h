/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Iterator over the records of one perf file. Compressed records are
 * decompressed.
 */
#ifndef KMEMTRACE_IMPORT_PERF_STREAM_H
#define KMEMTRACE_IMPORT_PERF_STREAM_H

#include "import/byte-span.h"
#include "import/perf-layout.h"

/* Types of records that perf itself writes. */
enum {
	PERF_USER_ATTR = 64,
	PERF_USER_TRACING_DATA = 66,
	PERF_USER_BUILD_ID = 67,
	PERF_USER_ROUND = 68,
	PERF_USER_ID_INDEX = 69,
	PERF_USER_AUXTRACE = 71,
	PERF_USER_THREAD_MAP = 73,
	PERF_USER_FEATURE = 80,
	PERF_USER_COMPRESSED = 81,
	PERF_USER_COMPRESSED2 = 83,
};

typedef struct {
	guint type;
	KmtByteSpan body; /* bytes behind the header */
	/* Data that follow the record and are not included in its size. */
	KmtByteSpan payload;
} PerfRecord;

/* Return whether a record can have this type. Any other type is damage. */
gboolean perf_stream_is_type(guint32 type);

typedef struct PerfStream PerfStream;

/*
 * Create an iterator; free it with perf_stream_free(), which accepts NULL.
 * bytes and layouts must outlive the iterator. With layouts, a sample with the
 * type of another record is detected and returned as type 0. layouts may be
 * NULL, which disables the detection.
 */
PerfStream *perf_stream_new(KmtByteSpan bytes, const PerfLayouts *layouts);
void perf_stream_free(PerfStream *stream);

/*
 * Read the next record, which is valid until the next call. A compressed record
 * is replaced by its content, or returned unchanged if keep_compressed is set.
 * Returns FALSE at the end, and FALSE with *error set after an error.
 */
gboolean perf_stream_next(PerfStream *stream, gboolean keep_compressed,
			  PerfRecord *record, GError **error);

/*
 * Return whether the compressed records ended within a record. perf record -z
 * causes such an end if the compressor retains the last bytes of a full buffer.
 */
gboolean perf_stream_is_cut_off(const PerfStream *stream);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PerfStream, perf_stream_free)

#endif
