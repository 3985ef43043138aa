/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the files of a capture directory.
 *
 * The programs that write a capture, the code that replaces a capture and the
 * readers all take the names from here.  kmemtrace(5) describes the contents.
 */
#ifndef KMEMTRACE_CAPTURE_NAMES_H
#define KMEMTRACE_CAPTURE_NAMES_H

#include <glib.h>

/*
 * kmemtraced creates the meta file first, and each writer completes it last.
 * Its presence identifies a capture.
 */
#define KMT_CAPTURE_META "kmemtrace.meta"

/* Suffix of a CPU's file that a writer compressed. */
#define KMT_CAPTURE_ZSTD ".zst"

/* Suffix of a table while it is written, and of the file that reserves the disk
 * space of kmemtrace.meta. */
#define KMT_CAPTURE_TEMPORARY ".tmp"

/* Lock file of the process that writes to the directory; see
 * kmt_capture_directory_open(). */
#define KMT_CAPTURE_LOCK "kmemtrace.lock"

/*
 * Subdirectories that exist while one capture replaces another, or while
 * kmemtrace-import writes a capture: kmemtrace.new-<n> receives the new
 * capture, and is renamed to kmemtrace.complete when the replacement begins.
 * Until the other files of the old capture are removed, kmemtrace.complete also
 * contains the old capture's kmemtrace.meta, under the name kmemtrace.meta.old.
 */
#define KMT_CAPTURE_NEW	     "kmemtrace.new-"
#define KMT_CAPTURE_COMPLETE "kmemtrace.complete"
#define KMT_CAPTURE_OLD_META KMT_CAPTURE_META ".old"

/*
 * Prefix of the new name of a kmemtrace.complete that contains files of the
 * user after a replacement and is therefore not removed.
 */
#define KMT_CAPTURE_LEFT "kmemtrace.left-"

/* Names of the tables.  Terminated by NULL. */
extern const char *const kmt_capture_tables[];

typedef enum {
	KMT_CAPTURE_FILE_OTHER, /* not a file of a capture */
	KMT_CAPTURE_FILE_META,
	KMT_CAPTURE_FILE_TABLE,
	KMT_CAPTURE_FILE_CPU,	     /* cpu<n>.out */
	KMT_CAPTURE_FILE_ZSTD_CPU,   /* cpu<n>.out.zst, which a writer or the
				      * user compressed */
	KMT_CAPTURE_FILE_PACKED_CPU, /* cpu<n>.out.gz */
	KMT_CAPTURE_FILE_TEMPORARY,  /* META or TABLE while it is written */
} KmtCaptureFile;

/*
 * Return the kind of the file with this name. A CPU number with leading zeros
 * or more than 5 digits makes the kind OTHER, because no writer uses such a
 * name.
 */
KmtCaptureFile kmt_capture_file(const char *name);

/*
 * Parse cpu<n>.out, which .gz or .zst may follow.  Return FALSE for any other
 * name.  The number may have leading zeros.  *suffix, unless NULL, is set to
 * what follows ".out".
 */
gboolean kmt_capture_parse_cpu(const char *name, guint *cpu,
			       const char **suffix);

/*
 * Return the text that the table begins with, which distinguishes the table
 * from a user's file of the same name: the first line, or, for the copy of
 * /proc/slabinfo, the beginning of the first line. Return NULL for the copies
 * of /proc/kallsyms and /proc/modules, and for names that are not tables. The
 * caller frees the string.
 */
char *kmt_capture_header(const char *name);

/* Return whether name is the name of a subdirectory kmemtrace.new-<n>. */
gboolean kmt_capture_is_new(const char *name);

#endif
