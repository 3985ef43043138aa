/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of one file of perf, decompressed where perf compressed them. */
#ifndef KMEMTRACE_IMPORT_PERFSTREAM_H
#define KMEMTRACE_IMPORT_PERFSTREAM_H

#include "import/byte-span.h"
#include "import/perflayout.h"

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
	KmtByteSpan body; /* behind the header */
	/* Data that follow the record and are not part of its size. */
	KmtByteSpan payload;
} PerfRecord;

/* Whether a record can have this type; any other is damage. */
gboolean perf_stream_is_type(guint32 type);

typedef struct PerfStream PerfStream;

/*
 * bytes and layouts have to stay valid.  By the layouts a sample with the type
 * of another record is found, and returned as type 0.  NULL: it is not.
 */
PerfStream *perf_stream_new(KmtByteSpan bytes, const PerfLayouts *layouts);
void perf_stream_free(PerfStream *stream);

/*
 * Reads the next record, which is valid until the next call.  Compressed
 * records are replaced by what they contain, unless keep_compressed is set:
 * then they are returned as they are.  FALSE: the end, or an error.
 */
gboolean perf_stream_next(PerfStream *stream, gboolean keep_compressed,
			  PerfRecord *record, GError **error);

/*
 * Whether the compressed records ended within a record.  perf record -z leaves
 * such an end when the compressor holds back the last bytes of a full buffer.
 */
gboolean perf_stream_is_cut_off(const PerfStream *stream);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PerfStream, perf_stream_free)

#endif
