/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A temporary file without a name, in $TMPDIR: for what can be read only once
 * and is needed more often.  It is gone with the last that has it open.
 */
#ifndef KMEMTRACE_INPUT_SPOOL_H
#define KMEMTRACE_INPUT_SPOOL_H

#include "lib/input/byte-stream.h"

typedef struct {
	int fd;
	guint64 size; /* written so far, and what waits */
	GByteArray *unwritten;
} KmtInputSpool;

/* what: whose contents it is for, in messages. */
KmtInputSpool *kmt_input_spool_new(const char *what, GError **error);
void kmt_input_spool_free(KmtInputSpool *spool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputSpool, kmt_input_spool_free)

gboolean kmt_input_spool_add(KmtInputSpool *spool, gconstpointer data, gsize n,
			     const char *what, GError **error);
/* All that bytes have. */
gboolean kmt_input_spool_add_stream(KmtInputSpool *spool,
				    KmtInputByteStream *bytes, const char *what,
				    GError **error);

/* What waits, to the file. */
gboolean kmt_input_spool_flush(KmtInputSpool *spool, const char *what,
			       GError **error);

/* Until munmap(*map, spool->size), after the spool itself; NULL if empty. */
gboolean kmt_input_spool_map(KmtInputSpool *spool, const guint8 **map,
			     const char *what, GError **error);

#endif
