/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of a capture, which is written from its beginning to its end, with
 * O_DIRECT if the file system supports it.
 *
 * One thread may write at a time.
 */
#ifndef KMEMTRACE_CAPTURE_DIRECT_FILE_H
#define KMEMTRACE_CAPTURE_DIRECT_FILE_H

#include <glib.h>
#include <stdbool.h>

/*
 * Size and alignment of O_DIRECT writes. If a disk requires more, the writes go
 * through the page cache.
 */
#define KMT_CAPTURE_BLOCK_BYTES 4096

typedef struct {
	int fd;	     /* -1: none */
	bool direct; /* O_DIRECT is set on fd */
} KmtCaptureDirectFile;

/*
 * Create the file name with mode 0600 in the directory dir_fd; the file must
 * not exist. is_direct: set O_DIRECT if the file system supports it. Return
 * FALSE and set an error on failure.
 */
gboolean kmt_capture_direct_file_create(KmtCaptureDirectFile *file, int dir_fd,
					const char *name, bool is_direct,
					GError **error);

/* Close the file, if it is open. */
void kmt_capture_direct_file_close(KmtCaptureDirectFile *file);

/*
 * Switch O_DIRECT on or off. If the file system does not support it, the switch
 * has no effect.
 */
void kmt_capture_direct_file_set_direct(KmtCaptureDirectFile *file, bool on);

/*
 * Write the n_bytes at from to the offset. With O_DIRECT, from, n_bytes, and
 * offset are multiples of KMT_CAPTURE_BLOCK_BYTES. Return the number of written
 * bytes; if there are fewer than n_bytes, *error is set to the negative errno
 * of the failure.
 */
gsize kmt_capture_direct_file_write(KmtCaptureDirectFile *file,
				    const guint8 *from, gsize n_bytes,
				    guint64 offset, int *error);

/* Truncate the file to n_bytes. */
void kmt_capture_direct_file_cut(KmtCaptureDirectFile *file, guint64 n_bytes);

/*
 * Wait until the written bytes are on the disk. Return 0 or a negative errno. A
 * file that cannot be synced is not an error.
 */
int kmt_capture_direct_file_sync(KmtCaptureDirectFile *file);

#endif
