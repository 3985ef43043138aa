/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the files of a capture directory; kmemtrace(5) describes the
 * directory.
 *
 * One thread may use a writer. A function with an error argument returns FALSE
 * or NULL and sets the error on failure.
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
 * Remove the files and directories that the writer created, including those of
 * kmt_capture_writer_open(), unless the replacement of the old capture has
 * begun. In a subdirectory, every file with a name that a writer uses is
 * removed, whoever created it.
 */
void kmt_capture_writer_undo(KmtCaptureWriter *output);

/*
 * Finish a complete capture: replace the previous capture in the directory, if
 * there is one. See kmt_capture_directory_publish().
 */
gboolean kmt_capture_writer_publish(KmtCaptureWriter *output, GError **error);

/*
 * Return the directory that contains the files of the capture at present: path,
 * and descriptor. The writer owns both.
 */
const char *kmt_capture_writer_path(const KmtCaptureWriter *output);
int kmt_capture_writer_fd(const KmtCaptureWriter *output);

/*
 * Return whether the files are in a subdirectory until
 * kmt_capture_writer_publish() moves them.
 */
gboolean kmt_capture_writer_is_staged(const KmtCaptureWriter *output);

/*
 * Compress the files of the CPUs, which are then cpu<n>.out.zst, with the level
 * of zstd from 1 to KMT_ZSTD_LEVEL_MAX. Call the function before
 * kmt_capture_writer_cpu_file(). Return FALSE and set an error if libzstd
 * cannot be used.
 */
gboolean kmt_capture_writer_compress(KmtCaptureWriter *output, int level,
				     GError **error);

/* Return the name of a CPU's file, which the caller frees. */
char *kmt_capture_writer_cpu_name(const KmtCaptureWriter *output, guint cpu);

/* Return whether name is the name of a CPU's file: cpu<n>.out. */
gboolean kmt_capture_writer_is_cpu_file(const char *name);

/*
 * Create the file of a CPU. subbuf_bytes is the approximate size of one read,
 * such as the size of the kernel's sub-buffers; the writer derives from it how
 * much to gather before a write. The caller frees the result.
 */
KmtCaptureCpuWriter *kmt_capture_writer_cpu_file(KmtCaptureWriter *output,
						 guint cpu, gsize record_bytes,
						 gsize subbuf_bytes,
						 GError **error);

/*
 * Create the file of a CPU with little memory, for a program that writes files
 * of many CPUs and is not traced meanwhile. The caller frees the result before
 * the writer of the capture.
 */
KmtCaptureCpuWriter *kmt_capture_writer_small_cpu_file(KmtCaptureWriter *output,
						       guint cpu,
						       gsize record_bytes,
						       GError **error);

/*
 * Copy the file source into the capture as name. If the copy fails, an existing
 * file of that name remains unchanged. FALSE without an error means that source
 * does not exist. On success *hidden, unless hidden is NULL, is set to whether
 * source is a kallsyms in which all addresses are 0.
 */
gboolean kmt_capture_writer_copy_table(KmtCaptureWriter *output,
				       const char *source, const char *name,
				       gboolean *hidden, GError **error);

/*
 * Return whether all addresses in a block of kallsyms are 0. Each line begins
 * with an address. *in_address is TRUE before the first block; it stores
 * whether the next block begins within an address.
 */
gboolean kmt_capture_addresses_are_zero(const char *block, gsize n_bytes,
					gboolean *in_address);

/*
 * Write text into the capture as the file name. If writing fails, an existing
 * file of that name remains unchanged.
 */
gboolean kmt_capture_writer_write_table(KmtCaptureWriter *output,
					const char *name, const char *text,
					GError **error);

/*
 * Write kmemtrace.meta. On failure an existing kmemtrace.meta remains
 * unchanged. The function also reserves disk space, if the file system can, for
 * the final kmemtrace.meta of n_cpus CPUs.
 */
gboolean kmt_capture_writer_write_meta(KmtCaptureWriter *output, GKeyFile *meta,
				       guint n_cpus, GError **error);

/*
 * Write the final kmemtrace.meta, with the names of all other files that this
 * process created.
 */
gboolean kmt_capture_writer_end_meta(KmtCaptureWriter *output, GKeyFile *meta,
				     guint n_cpus, GError **error);

/* Wait until the directory entries of the files are on the disk. */
gboolean kmt_capture_writer_sync(KmtCaptureWriter *output, GError **error);

#endif
