/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decompression of the parts of a trace.dat. */
#ifndef KMEMTRACE_IMPORT_UNPACK_H
#define KMEMTRACE_IMPORT_UNPACK_H

#include <glib.h>

/*
 * Whether data compressed by algorithm, as a trace.dat names it, can be read.
 * FALSE and an error that names the command that converts path.
 */
gboolean kmt_unpack_can(const char *algorithm, const char *path,
			GError **error);

/*
 * Decompress n_packed bytes into exactly n bytes at to.  FALSE: the data are
 * damaged.  kmt_unpack_can() must have succeeded.
 */
gboolean kmt_unpack_block(const char *algorithm, const guint8 *packed,
			  gsize n_packed, guint8 *to, gsize n);

#endif
