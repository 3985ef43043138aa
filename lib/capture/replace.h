/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognizes the files of a directory that belong to captures, and replaces one
 * capture by another. The caller holds the lock of the directory.
 */
#ifndef KMEMTRACE_CAPTURE_REPLACE_H
#define KMEMTRACE_CAPTURE_REPLACE_H

#include <glib.h>

/* The contents of a directory with respect to captures. */
typedef struct {
	gboolean has_capture; /* the directory has a kmemtrace.meta */
	gboolean cut_off;     /* kmemtrace.meta says complete=false */
	char *foreign;	      /* name of the first file that a user created
			       * under a name that captures use; or NULL */
	GPtrArray *recorded;  /* char *: kmemtrace.new-<n> with records */
	GPtrArray *empty;     /* char *: names of the subdirectories
			       * kmemtrace.new-<n> without a meta or without
			       * records */
} KmtCaptureContents;

/*
 * Read the contents of the directory dir_fd. path is its path, for messages.
 * Return NULL and set an error on failure.
 */
KmtCaptureContents *kmt_capture_contents_read(int dir_fd, const char *path,
					      GError **error);
void kmt_capture_contents_free(KmtCaptureContents *contents);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCaptureContents, kmt_capture_contents_free)

/*
 * Remove the files of a capture from the subdirectory name, and the
 * subdirectory unless it contains other files.
 */
void kmt_capture_replace_remove_subdirectory(int dir_fd, const char *name);

/*
 * Return whether the replacement of a capture was interrupted, which is the
 * case if kmemtrace.complete exists.
 */
gboolean kmt_capture_replace_is_interrupted(int dir_fd);

/*
 * Replace the capture in dir_fd by that in kmemtrace.complete. An interrupted
 * replacement continues at the interrupted step. path is the path of dir_fd,
 * for messages. If kmemtrace.complete contains files that do not belong to a
 * capture, the function renames it and sets *left to its new name, which the
 * caller frees. Otherwise *left is set to NULL.
 */
gboolean kmt_capture_replace_run(int dir_fd, const char *path, char **left,
				 GError **error);

#endif
