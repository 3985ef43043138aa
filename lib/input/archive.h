/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is compressed by gzip or zstd, and tars, through libarchive.  A program
 * that was built without it knows them, and says so.
 */
#ifndef KMEMTRACE_INPUT_ARCHIVE_H
#define KMEMTRACE_INPUT_ARCHIVE_H

#include "lib/input/byte-stream.h"

/* So many bytes tell. */
#define KMT_ARCHIVE_HEAD 512

/* By their first bytes. */
gboolean kmt_is_packed(const guint8 *head, gsize n);
gboolean kmt_is_tar(const guint8 *head, gsize n);

/*
 * What packed (which is taken) unpacks to.  A defect of its own is that what is
 * packed is damaged, which leaves what was unpacked before.
 */
KmtBytes *kmt_unpack(KmtBytes *packed, const char *path, GError **error);

/*
 * A member of a tar: data if it lies in the memory that the tar is read from,
 * else bytes.  Both are gone after the call, but for what data points to.
 */
typedef struct {
	const char *name;
	const guint8 *data;
	gsize n;
	KmtBytes *bytes;
	/* The tar ends in it: data is all there is. */
	gboolean cut;
} KmtMember;

typedef gboolean (*KmtMemberFunc)(gpointer user, const KmtMember *member,
				  GError **error);

/*
 * Calls func for each regular file in a tar until it returns FALSE.  The tar is
 * data, or if that is NULL, bytes.  *defect becomes why the tar could not be
 * read to its end, or stays.
 */
gboolean kmt_tar_foreach(const guint8 *data, gsize n, KmtBytes *bytes,
			 const char *path, KmtMemberFunc func, gpointer user,
			 char **defect, GError **error);

#endif
