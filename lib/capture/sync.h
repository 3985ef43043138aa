/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMEMTRACE_CAPTURE_SYNC_H
#define KMEMTRACE_CAPTURE_SYNC_H

/*
 * Write the entries of the directory fd to the disk. Return 0 or a positive
 * errno. A file system that cannot sync a directory is not an error.
 */
int kmt_capture_directory_sync(int fd);

#endif
