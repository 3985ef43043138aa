/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of tasks, caches, functions, modules, and directories, from the
 * tables of a directory that the engine keeps up to date.
 *
 * A lock inside makes each function safe for any thread. All texts are valid as
 * long as the names, and printable.
 */
#ifndef KMEMTRACE_TOP_LIVE_NAMES_H
#define KMEMTRACE_TOP_LIVE_NAMES_H

#include "lib/match/keys.h"
#include "lib/symbols/symbolizer.h"
#include "top/top-view.h"

typedef struct KmtTopNames KmtTopNames;

/* Paths of the user, as in KmtSymbolizerOptions; NULL: not given. */
typedef struct {
	const char *vmlinux, *source_tree, *debug_directory;
	/* Read the name of a task that no table has from /proc, because the
	 * trace is one of this machine. */
	gboolean live;
} KmtTopNamesOptions;

/*
 * Open the tables in the directory of capture, which must outlive the names.
 * Return NULL and set *error if a file of the user cannot be used.
 */
KmtTopNames *kmt_top_names_new(const KmtInputCapture *capture,
			       const KmtTopNamesOptions *options,
			       GError **error);
void kmt_top_names_free(KmtTopNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopNames, kmt_top_names_free)

/*
 * Read the tables again, because one of them has changed. symbols: the symbols
 * of the kernel have changed, too. If the new tables cannot be read, the old
 * ones remain.
 */
void kmt_top_names_refresh(KmtTopNames *names, gboolean symbols);

/* Return the tables of the first moment, for kmt_match_keys_new(). */
const KmtInputTables *kmt_top_names_tables(const KmtTopNames *names);

/* Return the name of a task, as KmtMatchTaskName; names is a KmtTopNames. */
const char *kmt_top_names_task(gpointer names, guint32 pid, gint64 time);

/*
 * Return the number of the group that the objects of a class belong to, and the
 * text of a group. A number is never reused.
 */
guint32 kmt_top_names_group(KmtTopNames *names, KmtTopGrouping grouping,
			    const KmtMatchKey *key, guint64 bytes_alloc);
const char *kmt_top_names_text(KmtTopNames *names, guint32 group);

/* The properties of a call site; NULL: unknown. */
typedef struct {
	const char *source, *directory, *module;
} KmtTopSite;

KmtTopSite kmt_top_names_site(KmtTopNames *names, guint64 address);

#endif
