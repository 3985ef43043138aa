/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that begins in an initramfs and continues in the booted system:
 * kmemtraced runs in the background, systemd does not kill it when the root
 * file system changes, and it follows process 1 to the new root.
 */
#ifndef KMEMTRACED_INITRAMFS_H
#define KMEMTRACED_INITRAMFS_H

#include <glib.h>
#include <sys/types.h>

typedef struct kmtd_initramfs KmtdInitramfs;

/*
 * Fork, write the number of the child process to @pid_file, and return in the
 * child only. The parent process waits until the child calls
 * kmtd_initramfs_ready() or ends, for two minutes at most, and ten seconds
 * more for a child that fails but does not end. The parent exits with
 * status 0 unless the child has failed.
 *
 * The first character of argv[0] becomes '@' in the child, which makes systemd
 * spare a process of root when the root file system changes (see
 * https://systemd.io/ROOT_STORAGE_DAEMONS). @proc: mount point of proc. Return
 * NULL and set an error, in either process, on failure. No other thread may
 * exist.
 */
KmtdInitramfs *kmtd_initramfs_start(char **argv, const char *pid_file,
				    const char *proc, GError **error);

/*
 * Wait in the parent process, and return its exit status. @ready_fd: the pipe
 * from the child. @ready_ms: how long the child may take to write to the pipe
 * or to close it. @exit_ms: how long a child that has closed the pipe without
 * writing may take to end; it is killed afterwards.
 */
int kmtd_initramfs_wait(pid_t child, int ready_fd, int ready_ms, int exit_ms);

/* Let the parent process exit, because the recording has begun. */
void kmtd_initramfs_ready(KmtdInitramfs *initramfs);

/*
 * Change to the root directory of process 1 if it is not that of this process.
 * Return FALSE and set an error if that fails; further calls then do nothing.
 */
gboolean kmtd_initramfs_follow_root(KmtdInitramfs *initramfs, GError **error);

void kmtd_initramfs_free(KmtdInitramfs *initramfs);

#endif
