/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the steps of opening a capture share; see kmt_capture_open(). */
#ifndef KMEMTRACE_INPUT_CAPTURE_PRIVATE_H
#define KMEMTRACE_INPUT_CAPTURE_PRIVATE_H

#include "lib/capture/names.h"
#include "lib/input/capture.h"

#define KMT_META_NAME KMT_CAPTURE_META

/* KmtObject.file has 16 bits. */
#define KMT_MAX_FILES 65536

/* ---- lib/input/cpu-file.c ---- */

/*
 * Parse cpu<n>.out, which .gz or .zst may follow.  Returns FALSE for any other
 * name, and for a CPU number that does not fit 16 bits.
 */
gboolean kmt_parse_cpu_name(const char *name, guint *cpu);

/* Append a file without contents to capture->files, which owns the file. */
KmtCpuFile *kmt_capture_add_file(KmtCapture *capture, const char *path,
				 guint cpu);
/* GDestroyNotify of capture->files. */
void kmt_cpu_file_free(gpointer file);

/* Unmap the memory that holds the records of file. */
void kmt_cpu_file_drop_base(KmtCpuFile *file);

/* Append a line to the notes of capture. */
void kmt_capture_note(KmtCapture *capture, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

/* ---- lib/input/open-file.c ---- */

/* Like kmt_capture_add_file(); fails if the capture has KMT_MAX_FILES - 1. */
KmtCpuFile *kmt_capture_add_file_checked(KmtCapture *capture, const char *path,
					 guint cpu, GError **error);

/* Set *error for an errno of open(2) or opendir(3); always return FALSE. */
gboolean kmt_fail_open(const char *path, GError **error);

/*
 * Open file->path and map it, or make a stream of a pipe.  named: an operand
 * names the file; only such a file may be a pipe or partly read.
 */
gboolean kmt_cpu_file_open(KmtCpuFile *file, gboolean named, GError **error);
/* The same for an open file descriptor, which is closed on failure. */
gboolean kmt_cpu_file_take_fd(KmtCpuFile *file, int fd, gboolean named,
			      GError **error);

/* Decompress file if it is compressed.  *is_tar: its contents are a tar. */
gboolean kmt_unpack_file(KmtCpuFile *file, gboolean *is_tar, GError **error);

/* ---- lib/input/operands.c ---- */

/* Opens what operands name. */
gboolean kmt_open_operands(KmtCapture *capture, const char *const *operands,
			   GError **error);

/* ---- lib/input/tar.c ---- */

/* Takes the members of the tar that file is, and of it no more. */
gboolean kmt_open_tar(KmtCapture *capture, KmtCpuFile *tar, GError **error);
void kmt_tar_free(gpointer tar);
/* The path of a member that is no cpu file; NULL if there is none. */
char *kmt_tar_path(gconstpointer tar, const char *name);
/* Its name in messages; NULL if path is not of this tar. */
char *kmt_tar_path_name(const KmtCapture *capture, const char *path);

/* ---- lib/input/capture-meta.c ---- */

/* Finds and reads kmemtrace.meta; capture->meta stays NULL without one. */
gboolean kmt_meta_read(KmtCapture *capture, GError **error);
/* What it says of the files, whose size is known as far as it can be. */
void kmt_meta_apply(KmtCapture *capture);

/* ---- lib/input/record-format.c ---- */

/* Settles layout, record size and byte order. */
gboolean kmt_format_settle(KmtCapture *capture, KmtLayout wanted,
			   GError **error);
/* "little" or "big". */
const char *kmt_order_name(gboolean swapped);

#endif
