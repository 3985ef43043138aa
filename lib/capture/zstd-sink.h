/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink that compresses the records of a CPU and writes cpu<n>.out.zst.
 *
 * In a program that records, a thread of its own compresses, so that the reader
 * of the CPU does not wait. A few buffers circulate between the two. If the
 * thread cannot keep up, it stores frames uncompressed until no buffer is left
 * to write. The reader waits only if all buffers are full, as it would wait for
 * the disk without compression.
 */
#ifndef KMEMTRACE_CAPTURE_ZSTD_SINK_H
#define KMEMTRACE_CAPTURE_ZSTD_SINK_H

#include "lib/capture/cpu-sink.h"
#include "lib/capture/zstd-file.h"

/*
 * Create a sink of @cpu with a thread. It owns @file and @encoder, even on
 * failure. capacity: bytes of the buffers that the sink receives. Return NULL
 * and set an error on failure.
 */
KmtCaptureCpuSink *kmt_zstd_sink_new(KmtZstdFile *file, KmtZstdEncoder *encoder,
				     guint cpu, gsize record_bytes,
				     gsize capacity, GError **error);

/*
 * Create a sink without a thread, for a program that is not traced. It owns
 * @file; @encoder belongs to the caller and may serve several sinks.
 */
KmtCaptureCpuSink *kmt_zstd_sink_new_simple(KmtZstdFile *file,
					    KmtZstdEncoder *encoder, guint cpu,
					    gsize record_bytes);

#endif
