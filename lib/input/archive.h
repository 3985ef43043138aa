/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads gzip, zstd and tar through libarchive. A program that was built without
 * libarchive recognizes these formats and reports that the library is missing.
 */
#ifndef KMEMTRACE_INPUT_ARCHIVE_H
#define KMEMTRACE_INPUT_ARCHIVE_H

#include "lib/input/byte-stream.h"

/* Number of first bytes that the functions below need to recognize a format. */
#define KMT_INPUT_SIGNATURE_BYTES 512

/*
 * Return whether the first n bytes of a file are those of a compressed file, or
 * of a tar.
 */
gboolean kmt_input_is_compressed(const guint8 *head, gsize n);
gboolean kmt_input_is_tar(const guint8 *head, gsize n);

/*
 * Return a stream of the decompressed bytes of packed, which the stream then
 * owns. path names the input in messages. If packed is damaged, the stream ends
 * early and has a defect. Return NULL and set an error if libarchive cannot be
 * used.
 */
KmtInputByteStream *kmt_input_decompress(KmtInputByteStream *packed,
					 const char *path, GError **error);

/*
 * A member of a tar. data points to the content if the tar is in memory;
 * otherwise bytes reads it. Both are valid only during the call, except for the
 * memory of the tar itself.
 */
typedef struct {
	const char *name;
	const guint8 *data;
	gsize n;
	KmtInputByteStream *bytes;
	/* The tar ends within this member: data has the available part. */
	gboolean truncated;
} KmtInputTarMember;

typedef gboolean (*KmtInputTarMemberFunc)(gpointer user,
					  const KmtInputTarMember *member,
					  GError **error);

/*
 * Call func for each regular file in a tar until func returns FALSE. The tar is
 * in data, or if data is NULL, in bytes. If the tar cannot be read to its end,
 * *defect is set to the reason, which the caller frees.
 */
gboolean kmt_input_tar_foreach(const guint8 *data, gsize n,
			       KmtInputByteStream *bytes, const char *path,
			       KmtInputTarMemberFunc func, gpointer user,
			       char **defect, GError **error);

#endif
