/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the steps of opening a capture share; see kmt_capture_open(). */
#ifndef KMEMTRACE_INPUT_CAPTURE_PRIVATE_H
#define KMEMTRACE_INPUT_CAPTURE_PRIVATE_H

#include "lib/capture/names.h"
#include "lib/input/capture.h"

#define KMT_META_NAME KMT_CAPTURE_META

/* KmtObject.file has 16 bits. */
#define KMT_MAX_FILES 65536

/* Adds one that has nothing yet. */
KmtCpuFile *kmt_capture_add_file(KmtCapture *capture, const char *path,
				 guint cpu);

/* What of the file was looked at need not be in memory until it is again. */
void kmt_cpu_file_give_back(const KmtCpuFile *file);

/* Gives up the memory that file has its records in. */
void kmt_cpu_file_drop_base(KmtCpuFile *file);

void kmt_capture_note(KmtCapture *capture, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

/* ---- lib/input/operands.c ---- */

/* The n of cpu<n>.out, also behind it .gz and .zst.  FALSE: none such. */
gboolean kmt_parse_cpu_name(const char *name, guint *cpu);

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

/* Unpacks what is in file, if it is packed.  *is_tar: what it is then. */
gboolean kmt_unpack_file(KmtCpuFile *file, gboolean *is_tar, GError **error);

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
