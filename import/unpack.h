/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decompression of blocks of a trace.dat file. */
#ifndef KMEMTRACE_IMPORT_UNPACK_H
#define KMEMTRACE_IMPORT_UNPACK_H

#include <glib.h>

/*
 * Return whether data compressed by algorithm can be read. algorithm is the
 * name in the trace.dat file. Otherwise sets *error to a message with the
 * command that converts path.
 */
gboolean kmt_unpack_is_supported(const char *algorithm, const char *path,
				 GError **error);

/*
 * Decompress n_packed bytes into exactly n bytes at to. Call
 * kmt_unpack_is_supported() before. Returns FALSE if the data are damaged or
 * memory runs out.
 */
gboolean kmt_unpack_block(const char *algorithm, const guint8 *packed,
			  gsize n_packed, guint8 *to, gsize n);

#endif
