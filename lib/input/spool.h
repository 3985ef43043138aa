/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A temporary file without a name in $TMPDIR, for data that can be read only
 * once and is needed several times. The file disappears when its last user
 * closes it.
 */
#ifndef KMEMTRACE_INPUT_SPOOL_H
#define KMEMTRACE_INPUT_SPOOL_H

#include "lib/input/byte-stream.h"

typedef struct {
	int fd;
	guint64 size; /* bytes in the file and in unwritten */
	GByteArray *unwritten;
} KmtInputSpool;

/*
 * Create a file. what names the data in messages. Return NULL and set an error
 * on failure.
 */
KmtInputSpool *kmt_input_spool_new(const char *what, GError **error);
void kmt_input_spool_free(KmtInputSpool *spool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputSpool, kmt_input_spool_free)

gboolean kmt_input_spool_add(KmtInputSpool *spool, gconstpointer data, gsize n,
			     const char *what, GError **error);
/* Add all bytes of a stream. */
gboolean kmt_input_spool_add_stream(KmtInputSpool *spool,
				    KmtInputByteStream *bytes, const char *what,
				    GError **error);

/* Write buffered bytes to the file. */
gboolean kmt_input_spool_flush(KmtInputSpool *spool, const char *what,
			       GError **error);

/*
 * Map the file; NULL if it is empty. The mapping remains after the spool is
 * freed, until munmap(*map, spool->size).
 */
gboolean kmt_input_spool_map(KmtInputSpool *spool, const guint8 **map,
			     const char *what, GError **error);

#endif
