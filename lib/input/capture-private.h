/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that are shared by the source files behind
 * kmt_input_capture_open().
 */
#ifndef KMEMTRACE_INPUT_CAPTURE_PRIVATE_H
#define KMEMTRACE_INPUT_CAPTURE_PRIVATE_H

#include "lib/capture/names.h"
#include "lib/input/shared-buffer.h"
#include "lib/input/capture.h"

#define KMT_INPUT_META_NAME KMT_CAPTURE_META

/*
 * Exclusive limit of the number of files, because KmtMatchObject stores a
 * 16-bit file index.
 */
#define KMT_INPUT_MAX_FILES 65536

/* ---- lib/input/record.c ---- */

/*
 * Copy the known fields of n consecutive records and convert them to the byte
 * order of this host. to and from may be equal; if they are not, bytes beyond
 * the known fields remain undefined.
 */
void kmt_input_swap_records(guint8 *to, const guint8 *from, guint64 n,
			    guint record_size);

/* ---- lib/input/cpu-file.c ---- */

/*
 * Return a pointer to byte at of the content, and set *n to the number of bytes
 * that are readable from there on. at must be less than file->size, and the
 * file no stream. Set *buffer to a reference that the caller releases after the
 * last access, or to NULL. The bytes have the byte order of the file.
 */
const guint8 *kmt_input_cpu_file_view(const KmtInputCpuFile *file, guint64 at,
				      gsize *n, KmtInputBuffer **buffer);

/*
 * Parse a file name cpu<n>.out, optionally followed by .gz or .zst, and set
 * *cpu to n. Return FALSE for any other name, and for a CPU number of 65535 or
 * more.
 */
gboolean kmt_input_parse_cpu_name(const char *name, guint *cpu);

/*
 * Append a KmtInputCpuFile without content to capture->files and return the
 * KmtInputCpuFile. The capture owns it.
 */
KmtInputCpuFile *kmt_input_capture_add_file(KmtInputCapture *capture,
					    const char *path, guint cpu);
/* Free a KmtInputCpuFile; the GDestroyNotify of capture->files. */
void kmt_input_cpu_file_free(gpointer file);

/*
 * Unmap the mapping that the file owns, if any. The fields that point into the
 * mapping become invalid.
 */
void kmt_input_cpu_file_unmap(KmtInputCpuFile *file);

/* Append a warning, formatted as by printf(), to capture->notes. */
void kmt_input_capture_add_note(KmtInputCapture *capture, const char *format,
				...) G_GNUC_PRINTF(2, 3);

/* ---- lib/input/capture.c ---- */

/*
 * Add a note for each table that is not a regular file, and for each that is
 * missing although kmemtrace.meta lists it. Call this function after
 * kmt_input_meta_read(). Without a common directory of the files no table is
 * read, and the function adds no notes.
 */
void kmt_input_note_bad_tables(KmtInputCapture *capture);

/* ---- lib/input/open-file.c ---- */

/*
 * Return the reason why path cannot be read as a regular file: the type of the
 * file, or a link that leads to no file. Return NULL if path does not exist or
 * is a regular file, even one without read permission. The caller frees the
 * string.
 */
char *kmt_input_bad_type_reason(const char *path);

/* Append a KmtInputCpuFile as kmt_input_capture_add_file() does. If the capture
 * already has KMT_INPUT_MAX_FILES - 1 files, set *error and return NULL. */
KmtInputCpuFile *kmt_input_add_file_checked(KmtInputCapture *capture,
					    const char *path, guint cpu,
					    GError **error);

/*
 * Set *error according to errno after a failed call that opens path. Always
 * return FALSE.
 */
gboolean kmt_input_fail_open(const char *path, GError **error);

/*
 * Open file->path and map the content, or create a stream if the file is a
 * pipe. named: an operand names the file directly. Other files, found in a
 * directory, must be regular files. On failure return FALSE and set *error.
 */
gboolean kmt_input_cpu_file_open(KmtInputCpuFile *file, gboolean named,
				 GError **error);
/*
 * Map the content of the descriptor fd, or create a stream for a pipe, a
 * socket, or a regular file whose offset is not 0. The function always consumes
 * fd: a stream owns the descriptor; otherwise the function closes it. named has
 * the same meaning as for kmt_input_cpu_file_open(). On failure return FALSE
 * and set *error.
 */
gboolean kmt_input_cpu_file_adopt_fd(KmtInputCpuFile *file, int fd,
				     gboolean named, GError **error);

/*
 * Replace the content of a compressed file by its frames, or by a stream of the
 * decompressed content. Set *is_tar to whether the content, after
 * decompression, is a tar; FALSE for a name that ends with .out. Files with a
 * name that ends with .out, and other files with uncompressed content, stay
 * unchanged; but a file with the suffix .gz or .zst and uncompressed content is
 * replaced by an empty file with a defect. On failure return FALSE and set
 * *error.
 */
gboolean kmt_input_decompress_file(KmtInputCpuFile *file, gboolean *is_tar,
				   GError **error);

/*
 * Set a defect for each empty file with the suffix of a compressed file, unless
 * kmemtrace.meta shows that the recording was cut off. Call this function after
 * kmt_input_meta_read().
 */
void kmt_input_note_empty_files(KmtInputCapture *capture);

/* ---- lib/input/operands.c ---- */

/*
 * Open the directory, tar or cpu files that the operands name, and add the cpu
 * files to the capture. On failure return FALSE and set *error.
 */
gboolean kmt_input_open_operands(KmtInputCapture *capture,
				 const char *const *operands, GError **error);

/* ---- lib/input/tar.c ---- */

/*
 * Replace the file tar by the cpu files in the tar and set capture->tar. On
 * failure return FALSE and set *error.
 */
gboolean kmt_input_open_tar(KmtInputCapture *capture, KmtInputCpuFile *tar,
			    GError **error);
void kmt_input_tar_free(gpointer tar);
/*
 * Return the path of a temporary file with the content of the member whose last
 * component is name, the name of kmemtrace.meta or of a table. Return NULL if
 * the directory of the cpu files in the tar has no such member. The caller
 * frees the string.
 */
char *kmt_input_tar_path(gconstpointer tar, const char *name);
/*
 * Return the name for messages of a path from kmt_input_tar_path(): the path of
 * the tar and the name of the member. Return NULL for any other path. The
 * caller frees the string.
 */
char *kmt_input_tar_display_path(const KmtInputCapture *capture,
				 const char *path);

/* ---- lib/input/capture-meta.c ---- */

/*
 * Find kmemtrace.meta beside the files and parse it into capture->meta, which
 * stays NULL unless every directory of the files has one. Set the fields of the
 * capture that the content determines, except the fields that
 * kmt_input_meta_apply() sets. An invalid file, or two files of different
 * captures, are an error: return FALSE and set *error.
 */
gboolean kmt_input_meta_read(KmtInputCapture *capture, GError **error);
/*
 * Copy the values of kmemtrace.meta to the files: numbers of lost events,
 * expected sizes, NUMA nodes, is_unlisted. Set shortened, missing_files and
 * unlisted_files of the capture, and add a note about unlisted files. Call this
 * function after the sizes of all mapped files are known.
 */
void kmt_input_meta_apply(KmtInputCapture *capture);
/*
 * Return the names of the other files of the capture according to
 * kmemtrace.meta, or NULL if it has no such list. The caller frees the array.
 */
GStrv kmt_input_capture_listed_files(const KmtInputCapture *capture);

/* ---- lib/input/record-format.c ---- */

/*
 * Detect layout, record size and byte order of all files, and set the fields of
 * the capture and its files. wanted is the layout that the user requested, or
 * UNKNOWN. If the files contradict each other or a file does not begin with
 * records of the requested layout A, C or D, return FALSE and set *error.
 */
gboolean kmt_input_format_resolve(KmtInputCapture *capture,
				  KmtInputLayout wanted, GError **error);
/*
 * Return the byte order of a file as "little" or "big". swapped: the byte order
 * of the file differs from this host.
 */
const char *kmt_input_byte_order_name(gboolean swapped);

#endif
