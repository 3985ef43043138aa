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

typedef struct kmt_output KmtOutput;

/* Open the directory path for a capture; see kmt_directory_open(). */
KmtOutput *kmt_output_open(const char *path, const KmtDirectoryOptions *options,
			   GError **error);
void kmt_output_close(KmtOutput *output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtOutput, kmt_output_close)

/*
 * Remove what was created since open, by this process or, in a subdirectory, by
 * any other: nothing has been recorded.
 */
void kmt_output_undo(KmtOutput *output);

/*
 * The capture is complete: replace the one that was there before.  See
 * kmt_directory_publish().
 */
gboolean kmt_output_publish(KmtOutput *output, GError **error);

/* Where the files of the capture are now. */
const char *kmt_output_path(const KmtOutput *output);
int kmt_output_fd(const KmtOutput *output);

/* Whether they are in a subdirectory. */
gboolean kmt_output_is_staged(const KmtOutput *output);

/* Whether name is that of a CPU's file: cpu<n>.out. */
gboolean kmt_output_is_cpu_file(const char *name);

/* Makes cpu<n>.out.  subbuf_bytes: what the kernel will give at once. */
KmtSink *kmt_output_cpu_file(KmtOutput *output, guint cpu, gsize record_bytes,
			     gsize subbuf_bytes, GError **error);

/*
 * Make cpu<n>.out with little memory, for a writer of many CPUs that does not
 * trace meanwhile.
 */
KmtSink *kmt_output_small_cpu_file(KmtOutput *output, guint cpu,
				   gsize record_bytes, GError **error);

/*
 * Puts a copy of the file source there as name; one that is there already
 * stays as it is if that fails.  FALSE without an error being set: there is no
 * source.  hidden, unless NULL: source is a kallsyms whose addresses are all 0.
 */
gboolean kmt_output_copy_table(KmtOutput *output, const char *source,
			       const char *name, gboolean *hidden,
			       GError **error);

/*
 * Writes text there as name; one that is there already stays as it is if that
 * fails.
 */
gboolean kmt_output_write_table(KmtOutput *output, const char *name,
				const char *text, GError **error);

/*
 * Write kmemtrace.meta, whole or not at all.  Disk space for the next time is
 * reserved, with n_cpus CPUs.
 */
gboolean kmt_output_write_meta(KmtOutput *output, GKeyFile *meta, guint n_cpus,
			       GError **error);

/*
 * Write kmemtrace.meta for the last time, with the names of all files that were
 * written.
 */
gboolean kmt_output_end_meta(KmtOutput *output, GKeyFile *meta, guint n_cpus,
			     GError **error);

/* Waits until the names of the files are on the disk. */
gboolean kmt_output_sync(KmtOutput *output, GError **error);

#endif
