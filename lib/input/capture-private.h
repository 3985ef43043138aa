/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that the steps of kmt_input_capture_open() share. */
#ifndef KMEMTRACE_INPUT_CAPTURE_PRIVATE_H
#define KMEMTRACE_INPUT_CAPTURE_PRIVATE_H

#include "lib/capture/names.h"
#include "lib/input/capture.h"

#define KMT_INPUT_META_NAME KMT_CAPTURE_META

/* Limit of the 16-bit file index in KmtMatchObject. */
#define KMT_INPUT_MAX_FILES 65536

/* ---- lib/input/cpu-file.c ---- */

/*
 * Parse cpu<n>.out, which .gz or .zst may follow. Return FALSE for any other
 * name, and for a CPU number above 16 bits.
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

/* As kmt_input_capture_add_file(), but fail if the capture has
 * KMT_INPUT_MAX_FILES - 1 files. */
KmtInputCpuFile *kmt_input_add_file_checked(KmtInputCapture *capture,
					    const char *path, guint cpu,
					    GError **error);

/* Set *error from errno after open(2) or opendir(3). Return FALSE. */
gboolean kmt_input_fail_open(const char *path, GError **error);

/*
 * Open file->path and map it, or create a stream for a pipe. named: an operand
 * names the file. Only such a file may be a pipe or a descriptor that was read
 * before.
 */
gboolean kmt_input_cpu_file_open(KmtInputCpuFile *file, gboolean named,
				 GError **error);
/*
 * As kmt_input_cpu_file_open() for an open descriptor, which the file owns; it
 * is closed on failure.
 */
gboolean kmt_input_cpu_file_adopt_fd(KmtInputCpuFile *file, int fd,
				     gboolean named, GError **error);

/*
 * Replace a compressed file by its decompressed content. *is_tar is set if the
 * content is a tar.
 */
gboolean kmt_input_decompress_file(KmtInputCpuFile *file, gboolean *is_tar,
				   GError **error);

/* ---- lib/input/operands.c ---- */

/* Open the files that the operands name. */
gboolean kmt_input_open_operands(KmtInputCapture *capture,
				 const char *const *operands, GError **error);

/* ---- lib/input/tar.c ---- */

/* Replace the file tar, which is a tar, by its members. */
gboolean kmt_input_open_tar(KmtInputCapture *capture, KmtInputCpuFile *tar,
			    GError **error);
void kmt_input_tar_free(gpointer tar);
/*
 * Return the path of a member that is not a cpu file, or NULL. The caller frees
 * the string.
 */
char *kmt_input_tar_path(gconstpointer tar, const char *name);
/*
 * Return the name of a member for messages; NULL if path is not a member of the
 * capture's tar. The caller frees the string.
 */
char *kmt_input_tar_display_path(const KmtInputCapture *capture,
				 const char *path);

/* ---- lib/input/capture-meta.c ---- */

/* Find and read kmemtrace.meta. capture->meta remains NULL if there is none. */
gboolean kmt_input_meta_read(KmtInputCapture *capture, GError **error);
/*
 * Apply kmemtrace.meta to the files: numbers of lost events, expected sizes,
 * nodes. The sizes of the files must be known.
 */
void kmt_input_meta_apply(KmtInputCapture *capture);

/* ---- lib/input/record-format.c ---- */

/*
 * Determine layout, record size and byte order of all files. wanted is the
 * layout that the user requested, or UNKNOWN.
 */
gboolean kmt_input_format_resolve(KmtInputCapture *capture,
				  KmtInputLayout wanted, GError **error);
/* Return "little" or "big": the byte order that swapped means on this host. */
const char *kmt_input_byte_order_name(gboolean swapped);

#endif
