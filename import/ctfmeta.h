/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file metadata of a CTF trace, checked before libbabeltrace2 reads it. */
#ifndef KMEMTRACE_IMPORT_CTFMETA_H
#define KMEMTRACE_IMPORT_CTFMETA_H

#include <glib.h>

/*
 * Check the file, and that the trace's directory dir holds nothing but regular
 * files and directories: a FIFO would block the library.  FALSE and an error of
 * the input.
 */
gboolean kmt_ctf_check(const char *dir, GError **error);

/*
 * Whether the n bytes of a file metadata are text, or whole packets.  The
 * library reads the last packet for ever if it is cut off.
 */
gboolean kmt_ctf_metadata_is_whole(const guint8 *bytes, gsize n);

#endif
