/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a CTF trace's metadata file before libbabeltrace2 reads the
 * trace.
 */
#ifndef KMEMTRACE_IMPORT_CTF_METADATA_H
#define KMEMTRACE_IMPORT_CTF_METADATA_H

#include <glib.h>

/*
 * Check the metadata file of the trace in dir. dir may contain only regular
 * files and directories, because a FIFO would block the library. Returns FALSE
 * and sets *error if the check fails.
 */
gboolean kmt_ctf_check(const char *dir, GError **error);

/*
 * Return whether libbabeltrace2 can read the n bytes of a metadata file: text,
 * which is not tested further, or a sequence of complete packets of version 1
 * without compression, encryption and checksum. The library loops forever on a
 * truncated last packet.
 */
gboolean kmt_ctf_metadata_is_complete(const guint8 *bytes, gsize n);

#endif
