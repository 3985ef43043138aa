/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Iterator over the records of one perf file. Compressed records are
 * decompressed.
 */
#ifndef KMEMTRACE_IMPORT_PERF_STREAM_H
#define KMEMTRACE_IMPORT_PERF_STREAM_H

#include "import/byte-span.h"
#include "import/perf-layout.h"

/* Types of records that perf itself writes: those that the import uses. */
enum {
	KMT_PERF_USER_ATTR = 64,
	KMT_PERF_USER_TRACING_DATA = 66,
	KMT_PERF_USER_BUILD_ID = 67,
	KMT_PERF_USER_ROUND = 68,
	KMT_PERF_USER_ID_INDEX = 69,
	KMT_PERF_USER_AUXTRACE = 71,
	KMT_PERF_USER_THREAD_MAP = 73,
	KMT_PERF_USER_FEATURE = 80,
	KMT_PERF_USER_COMPRESSED = 81,
	KMT_PERF_USER_COMPRESSED2 = 83,
};

/*
 * A record of a perf file. The spans are valid until the next record is read.
 */
typedef struct {
	guint type;
	KmtByteSpan body; /* bytes behind the header */
	/* Data that follow the record and are not included in the size that the
	 * header of the record states. */
	KmtByteSpan payload;
} KmtPerfRecord;

/* Return whether a record can have this type. Any other type is damage. */
gboolean kmt_perf_stream_is_type(guint32 type);

typedef struct KmtPerfStream KmtPerfStream;

/*
 * Create an iterator; free it with kmt_perf_stream_free(), which accepts NULL.
 * bytes and layouts must outlive the iterator. With layouts, a record that is a
 * sample by its content but has another type in its header, which is damage, is
 * returned as type 0. layouts may be NULL: types are then not checked.
 */
KmtPerfStream *kmt_perf_stream_new(KmtByteSpan bytes,
				   const KmtPerfLayouts *layouts);
void kmt_perf_stream_free(KmtPerfStream *stream);

/*
 * Read the next record, which is valid until the next call. A compressed record
 * is replaced by its content, or returned unchanged if return_compressed is
 * set. Returns FALSE at the end, and FALSE with *error set after an error.
 */
gboolean kmt_perf_stream_next(KmtPerfStream *stream, gboolean return_compressed,
			      KmtPerfRecord *record, GError **error);

/*
 * Return whether the decompressed bytes end with an incomplete record. perf
 * record -z causes such an end if the compressor retains the last bytes of a
 * full buffer.
 */
gboolean kmt_perf_stream_is_cut_off(const KmtPerfStream *stream);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtPerfStream, kmt_perf_stream_free)

#endif
