/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a directory that belong to captures, and how one capture takes
 * the place of another.  The caller holds the lock of the directory.
 */
#ifndef KMEMTRACE_CAPTURE_REPLACE_H
#define KMEMTRACE_CAPTURE_REPLACE_H

#include <glib.h>

/* The contents of a directory, as far as captures are concerned. */
typedef struct {
	gboolean has_capture; /* there is a kmemtrace.meta */
	gboolean cut_off;     /* that says complete=false */
	char *foreign;	      /* a file that is in the way; NULL: none */
	GPtrArray *recorded;  /* char *: kmemtrace.new-<n> with records */
	GPtrArray *empty;     /* char *: the others */
} KmtCaptureContents;

/* path: of dir_fd, for messages. */
KmtCaptureContents *kmt_capture_contents_read(int dir_fd, const char *path,
					      GError **error);
void kmt_capture_contents_free(KmtCaptureContents *contents);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCaptureContents, kmt_capture_contents_free)

/*
 * Remove the files of a capture from the subdirectory name, and the
 * subdirectory if nothing else is in it.
 */
void kmt_capture_replace_remove_subdirectory(int dir_fd, const char *name);

/*
 * Whether the replacement of a capture was interrupted: there is a
 * kmemtrace.complete.
 */
gboolean kmt_capture_replace_is_interrupted(int dir_fd);

/*
 * Replace the capture in dir_fd by the one in kmemtrace.complete, from the step
 * on at which the previous attempt was interrupted.  path: of dir_fd, for
 * messages.  *left: NULL, or the new name of kmemtrace.complete, newly
 * allocated, if files that are not of a capture remain in it.
 */
gboolean kmt_capture_replace_run(int dir_fd, const char *path, char **left,
				 GError **error);

#endif
