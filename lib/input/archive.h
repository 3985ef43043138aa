/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers of gzip, zstd and tar, based on libarchive. A program built without
 * libarchive still recognizes these formats; its errors report that libarchive
 * is missing.
 */
#ifndef KMEMTRACE_INPUT_ARCHIVE_H
#define KMEMTRACE_INPUT_ARCHIVE_H

#include "lib/input/byte-stream.h"

/*
 * Number of bytes at the start of a file that are sufficient to recognize each
 * format below.
 */
#define KMT_INPUT_SIGNATURE_BYTES 512

/*
 * Return whether head, the first n bytes of a file, is the start of a
 * compressed file, or of a tar. n may be less than KMT_INPUT_SIGNATURE_BYTES
 * for a short file.
 */
gboolean kmt_input_is_compressed(const guint8 *head, gsize n);
gboolean kmt_input_is_tar(const guint8 *head, gsize n);

/*
 * Return a stream of the decompressed bytes of packed. The function takes over
 * packed, also on failure. path names the input in messages. If the compressed
 * data is damaged, the new stream ends early and has a defect. If libarchive
 * cannot be used, return NULL and set *error.
 */
KmtInputByteStream *kmt_input_decompress(KmtInputByteStream *packed,
					 const char *path, GError **error);

/*
 * A member of a tar. For a tar in memory, data points to the n bytes of the
 * content, unless the member is sparse or libarchive cannot read it. In all
 * other cases data is NULL, and the callback reads the content from bytes. name
 * and bytes are valid only during the callback; data is valid as long as the
 * memory of the tar.
 */
typedef struct {
	const char *name;
	const guint8 *data;
	gsize n;
	KmtInputByteStream *bytes;
	/*
	 * The tar ends within this member, and data contains only the first n
	 * bytes of the content. FALSE if data is NULL.
	 */
	gboolean truncated;
} KmtInputTarMember;

/*
 * Callback for a tar member. Return FALSE and set *error to stop the iteration.
 */
typedef gboolean (*KmtInputTarMemberFunc)(gpointer user,
					  const KmtInputTarMember *member,
					  GError **error);

/*
 * Call func(user, member, error) for each regular file in a tar, until func
 * returns FALSE. The n bytes at data contain the tar; if data is NULL, the tar
 * is read from bytes. path names the tar in messages.
 *
 * If the tar is damaged, set *defect to the reason and return TRUE; the caller
 * frees the string. *defect must be NULL initially. Return FALSE with *error
 * set if func failed or libarchive cannot be used.
 */
gboolean kmt_input_tar_foreach(const guint8 *data, gsize n,
			       KmtInputByteStream *bytes, const char *path,
			       KmtInputTarMemberFunc func, gpointer user,
			       char **defect, GError **error);

#endif
