/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMEMTRACE_CAPTURE_SYNC_H
#define KMEMTRACE_CAPTURE_SYNC_H

/*
 * Write the entries of the directory fd to the disk.  Returns 0 or an errno
 * value; a file system that cannot sync a directory is no error.
 */
int kmt_capture_directory_sync(int fd);

#endif
