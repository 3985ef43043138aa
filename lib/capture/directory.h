/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory that receives a capture: its lock, and the replacement of the
 * capture that it holds.
 *
 * A capture that replaces another one is written into a subdirectory,
 * kmemtrace.new-<n>.  kmt_capture_directory_publish() moves it into place.
 * Until then the old capture is untouched, whatever ends the program.
 *
 * All files are named relative to open directories, so that nobody can redirect
 * them with a symbolic link.  One thread.
 */
#ifndef KMEMTRACE_CAPTURE_DIRECTORY_H
#define KMEMTRACE_CAPTURE_DIRECTORY_H

#include <glib.h>

typedef struct kmt_capture_directory KmtCaptureDirectory;

typedef struct {
	gboolean force;	 /* replace the capture that is there */
	gboolean staged; /* use a subdirectory even if there is none */
	/* Receives one line about what an earlier run left. */
	void (*warning)(const char *text);
} KmtCaptureDirectoryOptions;

/*
 * Open the directory path, which is created with mode 0700 if it is missing;
 * its parent is not.  Lock it against other writers until close.  An
 * interrupted replacement is completed first.  It is an error
 * - if the directory holds a capture, or records that a killed run left in a
 *   subdirectory, unless options->force is set;
 * - if a file that is not of a capture has the name of one that is;
 * - if root runs this and others could tamper with the directory.
 */
KmtCaptureDirectory *
kmt_capture_directory_open(const char *path,
			   const KmtCaptureDirectoryOptions *options,
			   GError **error);

/* Unlock.  The directory and its subdirectory stay. */
void kmt_capture_directory_close(KmtCaptureDirectory *directory);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCaptureDirectory, kmt_capture_directory_close)

/* Where to create the files of the capture: descriptor, and path for messages.
 */
int kmt_capture_directory_fd(const KmtCaptureDirectory *directory);
const char *kmt_capture_directory_path(const KmtCaptureDirectory *directory);

/* Whether the files are in a subdirectory. */
gboolean kmt_capture_directory_is_staged(const KmtCaptureDirectory *directory);

/*
 * The capture is complete and on the disk: replace the old one by it.  No-op if
 * the capture is not in a subdirectory.  On error the capture is whole at
 * kmt_capture_directory_path(), or the next kmt_capture_directory_open()
 * completes the replacement.
 */
gboolean kmt_capture_directory_publish(KmtCaptureDirectory *directory,
				       GError **error);

/*
 * Remove the subdirectory with all files of a capture in it, and the directory
 * if kmt_capture_directory_open() created it and nothing else is in it.
 */
void kmt_capture_directory_undo(KmtCaptureDirectory *directory);

#endif
