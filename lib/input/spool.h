/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An unnamed temporary file in $TMPDIR, or in /tmp if TMPDIR is not set. A
 * spool stores data that is in no file of its own, such as that of a pipe or of
 * a tar member, so that the program can read or map the data several times. The
 * kernel deletes the file when the last descriptor and mapping are gone.
 *
 * In all functions, what is the name of the data in messages. A function that
 * returns FALSE or NULL sets *error.
 */
#ifndef KMEMTRACE_INPUT_SPOOL_H
#define KMEMTRACE_INPUT_SPOOL_H

#include "lib/input/byte-stream.h"

typedef struct {
	int fd;
	guint64 size; /* total size of the data in bytes, including the bytes in
		       * unwritten */
	GByteArray *unwritten; /* buffered bytes that follow the file content */
} KmtInputSpool;

/* Create an empty temporary file. The caller frees the spool. */
KmtInputSpool *kmt_input_spool_new(const char *what, GError **error);
void kmt_input_spool_free(KmtInputSpool *spool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputSpool, kmt_input_spool_free)

/*
 * Append n bytes at data. The bytes may stay in a buffer until a later call
 * adds more bytes or flushes.
 */
gboolean kmt_input_spool_add(KmtInputSpool *spool, gconstpointer data, gsize n,
			     const char *what, GError **error);
/*
 * Append all remaining bytes of a stream, and flush. A defect of the stream is
 * not an error.
 */
gboolean kmt_input_spool_add_stream(KmtInputSpool *spool,
				    KmtInputByteStream *bytes, const char *what,
				    GError **error);

/* Write the buffered bytes to the file. */
gboolean kmt_input_spool_flush(KmtInputSpool *spool, const char *what,
			       GError **error);

/*
 * Flush the file and map it for reading. Set *map to the mapping, or to NULL if
 * the file is empty. The mapping stays valid after kmt_input_spool_free(),
 * until the caller calls munmap(*map, spool->size).
 */
gboolean kmt_input_spool_map(KmtInputSpool *spool, const guint8 **map,
			     const char *what, GError **error);

#endif
