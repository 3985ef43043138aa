/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file cpu<n>.out.zst: frames of zstd, and at its end the seek table of
 * zstd's seekable format. kmemtrace(5) describes the file.
 *
 * The file always ends with a complete frame, unless the process is killed
 * while it writes one. Only a file with a seek table has all records.
 *
 * One thread may write at a time; any thread may read the figures, and
 * call kmt_zstd_file_set_urgent().
 */
#ifndef KMEMTRACE_CAPTURE_ZSTD_FILE_H
#define KMEMTRACE_CAPTURE_ZSTD_FILE_H

#include <glib.h>
#include <stdbool.h>

#include "lib/capture/cpu-sink.h"
#include "lib/capture/zstd-encoder.h"

typedef struct kmt_zstd_file KmtZstdFile;

/*
 * Create the file name, which must not exist, in the directory dir_fd.
 * is_direct: bypass the page cache if the file system supports it. Return NULL
 * and set an error on failure.
 */
KmtZstdFile *kmt_zstd_file_create(int dir_fd, const char *name, bool is_direct,
				  GError **error);

/* Close the file. NULL is ignored. */
void kmt_zstd_file_free(KmtZstdFile *file);

/*
 * Append n_bytes of complete records, in groups of KMT_ZSTD_GROUP_FRAMES frames
 * at most, each of which is one write. *n_done is set to the number of bytes
 * that were appended. Return 0 or a negative errno; the file is then cut to
 * complete groups.
 */
int kmt_zstd_file_append(KmtZstdFile *file, KmtZstdEncoder *encoder,
			 const guint8 *records, gsize n_bytes,
			 gsize record_bytes, bool is_stored, gsize *n_done);

/*
 * Write the seek table. An empty frame precedes the table of a file without
 * records, because not all programs recognise a file of zstd by a seek table.
 * Return 0 or a negative errno.
 */
int kmt_zstd_file_finish(KmtZstdFile *file, KmtZstdEncoder *encoder);

/* Wait until the file is on the disk. Return 0 or a negative errno. */
int kmt_zstd_file_sync(KmtZstdFile *file);

/*
 * Set whether frames are stored uncompressed if storing is faster than
 * compressing. This also applies to the remaining frames of a group that
 * another thread is appending.
 */
void kmt_zstd_file_set_urgent(KmtZstdFile *file, bool on);

/* Return the time to compress the last compressed group, in microseconds. */
gint64 kmt_zstd_file_encode_us(const KmtZstdFile *file);

/*
 * Return whether writing a group uncompressed takes less time than compressing
 * and writing the group, as estimated from the last groups. On a slow disk,
 * compressing is faster.
 */
bool kmt_zstd_file_stores_faster(const KmtZstdFile *file);

/* Set the figures of the file. */
void kmt_zstd_file_figures(const KmtZstdFile *file,
			   KmtCaptureCpuFrames *figures);

#endif
