/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds debugfs and tracefs, also on a machine where nobody has mounted them.
 * Only the main thread may call the functions.
 */
#ifndef KMEMTRACE_RECOVERY_KERNEL_MOUNT_H
#define KMEMTRACE_RECOVERY_KERNEL_MOUNT_H

typedef enum {
	KMT_DEBUGFS,
	KMT_TRACEFS,
} KmtKernelMount;

/*
 * Return the path of the file system. If nothing is mounted at its usual mount
 * points, the function makes a mount that has no mount point: only this process
 * and the processes that it forks reach the mount, and the kernel removes it
 * when they have ended. Without the privilege for that, return the first usual
 * mount point. The string is never freed.
 */
const char *kmt_kernel_mount(KmtKernelMount mount);

/*
 * Return @path, or, if another process reached @path through such a mount of
 * its own, the path of the same file for this process. The caller frees the
 * string.
 */
char *kmt_kernel_mount_translate(KmtKernelMount mount, const char *path);

#endif
