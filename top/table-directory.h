/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private directory with the tables and the kmemtrace.meta of a stream, in
 * the form of a capture without records, so that lib/input and lib/symbols read
 * them.
 */
#ifndef KMEMTRACE_TOP_TABLE_DIRECTORY_H
#define KMEMTRACE_TOP_TABLE_DIRECTORY_H

#include "lib/capture/stream-format.h"
#include "lib/input/capture.h"

typedef struct KmtTopTables KmtTopTables;

/* Create the directory below $TMPDIR. */
KmtTopTables *kmt_top_tables_new(GError **error);
/* Remove the directory with its files; NULL is allowed. */
void kmt_top_tables_free(KmtTopTables *tables);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopTables, kmt_top_tables_free)

const char *kmt_top_tables_path(const KmtTopTables *tables);

/*
 * Store a part of a table. *changed is set to the name of the table if it is
 * complete, and to NULL otherwise; the string is constant. A table of an
 * unknown name is ignored. Return FALSE and set *error if the part is invalid
 * or cannot be written.
 */
gboolean kmt_top_tables_add(KmtTopTables *tables, const guint8 *payload,
			    gsize length, const char **changed, GError **error);

/* Store the text of kmemtrace.meta. Return FALSE and set *error if it is
 * invalid. */
gboolean kmt_top_tables_set_meta(KmtTopTables *tables, const guint8 *payload,
				 gsize length, GError **error);
/* Return the last kmemtrace.meta; NULL: there was none. */
GKeyFile *kmt_top_tables_meta(const KmtTopTables *tables);

/*
 * Open the directory as a capture that has a file without records for each CPU,
 * and counts as complete. Call this function once, after the first
 * kmt_top_tables_set_meta(). The caller frees the capture before the directory.
 */
KmtInputCapture *kmt_top_tables_open(KmtTopTables *tables,
				     const KmtStreamHeader *header,
				     GError **error);

#endif
