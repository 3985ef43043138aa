/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the steps of opening a capture share; see kmt_input_capture_open(). */
#ifndef KMEMTRACE_INPUT_CAPTURE_PRIVATE_H
#define KMEMTRACE_INPUT_CAPTURE_PRIVATE_H

#include "lib/capture/names.h"
#include "lib/input/capture.h"

#define KMT_INPUT_META_NAME KMT_CAPTURE_META

/* KmtMatchObject.file has 16 bits. */
#define KMT_INPUT_MAX_FILES 65536

/* ---- lib/input/cpu-file.c ---- */

/*
 * Parse cpu<n>.out, which .gz or .zst may follow.  Returns FALSE for any other
 * name, and for a CPU number that does not fit 16 bits.
 */
gboolean kmt_input_parse_cpu_name(const char *name, guint *cpu);

/* Append a file without contents to capture->files, which owns the file. */
KmtInputCpuFile *kmt_input_capture_add_file(KmtInputCapture *capture,
					    const char *path, guint cpu);
/* GDestroyNotify of capture->files. */
void kmt_input_cpu_file_free(gpointer file);

/* Unmap the memory that holds the records of file. */
void kmt_input_cpu_file_unmap(KmtInputCpuFile *file);

/* Append a line to the notes of capture. */
void kmt_input_capture_add_note(KmtInputCapture *capture, const char *format,
				...) G_GNUC_PRINTF(2, 3);

/* ---- lib/input/open-file.c ---- */

/* Like kmt_input_capture_add_file(); fails if the capture has
 * KMT_INPUT_MAX_FILES - 1. */
KmtInputCpuFile *kmt_input_add_file_checked(KmtInputCapture *capture,
					    const char *path, guint cpu,
					    GError **error);

/* Set *error for an errno of open(2) or opendir(3); always return FALSE. */
gboolean kmt_input_fail_open(const char *path, GError **error);

/*
 * Open file->path and map it, or make a stream of a pipe.  named: an operand
 * names the file; only such a file may be a pipe or partly read.
 */
gboolean kmt_input_cpu_file_open(KmtInputCpuFile *file, gboolean named,
				 GError **error);
/* The same for an open file descriptor, which is closed on failure. */
gboolean kmt_input_cpu_file_adopt_fd(KmtInputCpuFile *file, int fd,
				     gboolean named, GError **error);

/* Decompress file if it is compressed.  *is_tar: its contents are a tar. */
gboolean kmt_input_decompress_file(KmtInputCpuFile *file, gboolean *is_tar,
				   GError **error);

/* ---- lib/input/operands.c ---- */

/* Opens what operands name. */
gboolean kmt_input_open_operands(KmtInputCapture *capture,
				 const char *const *operands, GError **error);

/* ---- lib/input/tar.c ---- */

/* Takes the members of the tar that file is, and of it no more. */
gboolean kmt_input_open_tar(KmtInputCapture *capture, KmtInputCpuFile *tar,
			    GError **error);
void kmt_input_tar_free(gpointer tar);
/* The path of a member that is no cpu file; NULL if there is none. */
char *kmt_input_tar_path(gconstpointer tar, const char *name);
/* Its name in messages; NULL if path is not of this tar. */
char *kmt_input_tar_display_path(const KmtInputCapture *capture,
				 const char *path);

/* ---- lib/input/capture-meta.c ---- */

/* Finds and reads kmemtrace.meta; capture->meta stays NULL without one. */
gboolean kmt_input_meta_read(KmtInputCapture *capture, GError **error);
/* What it says of the files, whose size is known as far as it can be. */
void kmt_input_meta_apply(KmtInputCapture *capture);

/* ---- lib/input/record-format.c ---- */

/* Settles layout, record size and byte order. */
gboolean kmt_input_format_resolve(KmtInputCapture *capture,
				  KmtInputLayout wanted, GError **error);
/* "little" or "big". */
const char *kmt_input_byte_order_name(gboolean swapped);

#endif
