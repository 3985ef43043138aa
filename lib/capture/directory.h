/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory that receives a capture: its lock, and the replacement of an
 * existing capture.
 *
 * A capture that replaces another one is written into a subdirectory,
 * kmemtrace.new-<n>. kmt_capture_directory_publish() moves the new capture into
 * place. Until then the old capture is unchanged, however the program ends.
 *
 * All files are named relative to open directories, so that no other user can
 * redirect an access with a symbolic link. One thread may use a directory.
 */
#ifndef KMEMTRACE_CAPTURE_DIRECTORY_H
#define KMEMTRACE_CAPTURE_DIRECTORY_H

#include <glib.h>

typedef struct kmt_capture_directory KmtCaptureDirectory;

typedef struct {
	gboolean force;	 /* replace an existing capture */
	gboolean staged; /* use a subdirectory even without an existing capture
			  */
	/* called with one line about a replacement that an earlier run did not
	 * complete, or about files that an earlier run or the user left; may be
	 * NULL */
	void (*warning)(const char *text);
} KmtCaptureDirectoryOptions;

/*
 * Open and lock the directory path for a capture. A missing directory is
 * created with mode 0700; its parent must exist. The lock excludes other
 * writers until kmt_capture_directory_close() and the end of all children that
 * inherited it; on a file system without locks it has no effect. An interrupted
 * replacement is completed first. Return NULL and set an error on failure, and
 * - if another program writes to the directory;
 * - if the directory contains a capture, or records of a killed run in a
 * subdirectory, unless options->force is set;
 * - if a file that does not belong to a capture has the name of a capture file;
 * - if the caller is root and other users could tamper with the directory.
 */
KmtCaptureDirectory *
kmt_capture_directory_open(const char *path,
			   const KmtCaptureDirectoryOptions *options,
			   GError **error);

/* Unlock and free; the process that created the lock file also removes it. All
 * other files remain. */
void kmt_capture_directory_close(KmtCaptureDirectory *directory);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCaptureDirectory, kmt_capture_directory_close)

/* Return the directory in which to create the files of the capture: descriptor,
 * and path for messages. Both belong to the object. */
int kmt_capture_directory_fd(const KmtCaptureDirectory *directory);
const char *kmt_capture_directory_path(const KmtCaptureDirectory *directory);

/*
 * Return whether the files are in a subdirectory until
 * kmt_capture_directory_publish() moves them.
 */
gboolean kmt_capture_directory_is_staged(const KmtCaptureDirectory *directory);

/*
 * Replace the old capture by the new one, which must be complete and on the
 * disk. If the new capture is not in a subdirectory, there is nothing to
 * replace. In both cases, then remove the subdirectories with records of
 * earlier runs. After an error, either the complete new capture is in
 * kmt_capture_directory_path(), or the next kmt_capture_directory_open()
 * completes the replacement.
 */
gboolean kmt_capture_directory_publish(KmtCaptureDirectory *directory,
				       GError **error);

/*
 * Remove the lock file; the subdirectory with all files of a capture in it,
 * unless its replacement of the old capture has begun; and the directory if
 * kmt_capture_directory_open() created it and nothing else is in it.
 */
void kmt_capture_directory_undo(KmtCaptureDirectory *directory);

#endif
