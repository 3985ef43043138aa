// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <unistd.h>

#include "lib/capture/zstd-cpu-file.h"
#include "lib/capture/zstd-sink.h"

/* Create the sink of a CPU that writes to the file, which it owns. */
static KmtCaptureCpuSink *make_sink(const KmtZstdSettings *settings,
				    KmtZstdFile *file, guint cpu,
				    gsize record_bytes, gsize subbuf_bytes,
				    KmtCaptureCpuWriterMemory memory,
				    GError **error)
{
	KmtZstdEncoder *encoder;

	if (memory == KMT_CAPTURE_CPU_WRITER_SMALL)
		return kmt_zstd_sink_new_simple(file, settings->encoder, cpu,
						record_bytes);
	encoder = kmt_zstd_encoder_new(settings->level, true, error);
	if (encoder)
		return kmt_zstd_sink_new(file, encoder, cpu, record_bytes,
					 kmt_capture_cpu_writer_sink_capacity(
						 record_bytes, subbuf_bytes),
					 error);
	kmt_zstd_file_free(file);
	return NULL;
}

KmtCaptureCpuWriter *kmt_zstd_cpu_file_new(const KmtZstdSettings *settings,
					   int dir_fd, const char *name,
					   guint cpu, gsize record_bytes,
					   gsize subbuf_bytes,
					   KmtCaptureCpuWriterMemory memory,
					   GError **error)
{
	KmtZstdFile *file = kmt_zstd_file_create(
		dir_fd, name, memory == KMT_CAPTURE_CPU_WRITER_LOCKED, error);
	KmtCaptureCpuWriter *writer = NULL;
	KmtCaptureCpuSink *sink;

	if (!file)
		return NULL;
	sink = make_sink(settings, file, cpu, record_bytes, subbuf_bytes,
			 memory, error);
	if (sink)
		writer = kmt_capture_cpu_writer_new_sink(
			sink, record_bytes, subbuf_bytes, memory, error);
	if (!writer)
		unlinkat(dir_fd, name, 0);
	return writer;
}
