/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates the writer of a compressed file cpu<n>.out.zst. */
#ifndef KMEMTRACE_CAPTURE_ZSTD_CPU_FILE_H
#define KMEMTRACE_CAPTURE_ZSTD_CPU_FILE_H

#include "lib/capture/cpu-file-writer.h"
#include "lib/capture/zstd-encoder.h"

/* Settings of the compression of all files of a capture. */
typedef struct {
	int level;		 /* level of zstd; 0: no compression */
	KmtZstdEncoder *encoder; /* shared by the files with small memory */
} KmtZstdSettings;

/*
 * Create the file name of @cpu in the directory dir_fd; the file must not
 * exist. @subbuf_bytes: size of one read. *settings must outlive the result.
 * Return NULL and set an error on failure.
 */
KmtCaptureCpuWriter *kmt_zstd_cpu_file_new(const KmtZstdSettings *settings,
					   int dir_fd, const char *name,
					   guint cpu, gsize record_bytes,
					   gsize subbuf_bytes,
					   KmtCaptureCpuWriterMemory memory,
					   GError **error);

#endif
