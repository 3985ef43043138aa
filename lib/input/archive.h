/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is compressed by gzip or zstd, and tars, through libarchive.  A program
 * that was built without it knows them, and says so.
 */
#ifndef KMEMTRACE_INPUT_ARCHIVE_H
#define KMEMTRACE_INPUT_ARCHIVE_H

#include "lib/input/byte-stream.h"

/* So many bytes tell. */
#define KMT_INPUT_SIGNATURE_BYTES 512

/* By their first bytes. */
gboolean kmt_input_is_compressed(const guint8 *head, gsize n);
gboolean kmt_input_is_tar(const guint8 *head, gsize n);

/*
 * What packed (which is taken) unpacks to.  A defect of its own is that what is
 * packed is damaged, which leaves what was unpacked before.
 */
KmtInputByteStream *kmt_input_decompress(KmtInputByteStream *packed,
					 const char *path, GError **error);

/*
 * A member of a tar: data if it lies in the memory that the tar is read from,
 * else bytes.  Both are gone after the call, but for what data points to.
 */
typedef struct {
	const char *name;
	const guint8 *data;
	gsize n;
	KmtInputByteStream *bytes;
	/* The tar ends in it: data is all there is. */
	gboolean truncated;
} KmtInputTarMember;

typedef gboolean (*KmtInputTarMemberFunc)(gpointer user,
					  const KmtInputTarMember *member,
					  GError **error);

/*
 * Calls func for each regular file in a tar until it returns FALSE.  The tar is
 * data, or if that is NULL, bytes.  *defect becomes why the tar could not be
 * read to its end, or stays.
 */
gboolean kmt_input_tar_foreach(const guint8 *data, gsize n,
			       KmtInputByteStream *bytes, const char *path,
			       KmtInputTarMemberFunc func, gpointer user,
			       char **defect, GError **error);

#endif
