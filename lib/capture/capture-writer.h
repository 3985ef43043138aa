/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory of a capture, as kmemtrace(5) describes it.
 *
 * One thread.
 */
#ifndef KMEMTRACE_CAPTURE_CAPTURE_WRITER_H
#define KMEMTRACE_CAPTURE_CAPTURE_WRITER_H

#include <glib.h>

#include "lib/capture/directory.h"
#include "lib/capture/cpu-file-writer.h"

typedef struct kmt_capture_writer KmtCaptureWriter;

/* Open the directory path for a capture; see kmt_capture_directory_open(). */
KmtCaptureWriter *
kmt_capture_writer_open(const char *path,
			const KmtCaptureDirectoryOptions *options,
			GError **error);
void kmt_capture_writer_close(KmtCaptureWriter *output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCaptureWriter, kmt_capture_writer_close)

/*
 * Remove what was created since open, by this process or, in a subdirectory, by
 * any other: nothing has been recorded.
 */
void kmt_capture_writer_undo(KmtCaptureWriter *output);

/*
 * The capture is complete: replace the one that was there before.  See
 * kmt_capture_directory_publish().
 */
gboolean kmt_capture_writer_publish(KmtCaptureWriter *output, GError **error);

/* Where the files of the capture are now. */
const char *kmt_capture_writer_path(const KmtCaptureWriter *output);
int kmt_capture_writer_fd(const KmtCaptureWriter *output);

/* Whether they are in a subdirectory. */
gboolean kmt_capture_writer_is_staged(const KmtCaptureWriter *output);

/* Whether name is that of a CPU's file: cpu<n>.out. */
gboolean kmt_capture_writer_is_cpu_file(const char *name);

/* Makes cpu<n>.out.  subbuf_bytes: what the kernel will give at once. */
KmtCaptureCpuWriter *kmt_capture_writer_cpu_file(KmtCaptureWriter *output,
						 guint cpu, gsize record_bytes,
						 gsize subbuf_bytes,
						 GError **error);

/*
 * Make cpu<n>.out with little memory, for a writer of many CPUs that does not
 * trace meanwhile.
 */
KmtCaptureCpuWriter *kmt_capture_writer_small_cpu_file(KmtCaptureWriter *output,
						       guint cpu,
						       gsize record_bytes,
						       GError **error);

/*
 * Puts a copy of the file source there as name; one that is there already
 * stays as it is if that fails.  FALSE without an error being set: there is no
 * source.  hidden, unless NULL: source is a kallsyms whose addresses are all 0.
 */
gboolean kmt_capture_writer_copy_table(KmtCaptureWriter *output,
				       const char *source, const char *name,
				       gboolean *hidden, GError **error);

/*
 * Writes text there as name; one that is there already stays as it is if that
 * fails.
 */
gboolean kmt_capture_writer_write_table(KmtCaptureWriter *output,
					const char *name, const char *text,
					GError **error);

/*
 * Write kmemtrace.meta, whole or not at all.  Disk space for the next time is
 * reserved, with n_cpus CPUs.
 */
gboolean kmt_capture_writer_write_meta(KmtCaptureWriter *output, GKeyFile *meta,
				       guint n_cpus, GError **error);

/*
 * Write kmemtrace.meta for the last time, with the names of all files that were
 * written.
 */
gboolean kmt_capture_writer_end_meta(KmtCaptureWriter *output, GKeyFile *meta,
				     guint n_cpus, GError **error);

/* Waits until the names of the files are on the disk. */
gboolean kmt_capture_writer_sync(KmtCaptureWriter *output, GError **error);

#endif
