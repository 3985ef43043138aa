/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user for whom root writes a capture: the caller of sudo (SUDO_UID).
 *
 * Without root, or without sudo, there is no such user: every directory is
 * trusted as far as the kernel lets the process write to it, and files belong
 * to the process.
 */
#ifndef KMEMTRACE_CAPTURE_OWNER_H
#define KMEMTRACE_CAPTURE_OWNER_H

#include <glib.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Whether a directory or a symbolic link of uid may decide where files are
 * created.  Root trusts root and the caller of sudo; other users trust anybody.
 */
gboolean kmt_capture_owner_trusts(uid_t uid);

/*
 * Whether root may create files in the directory that *st describes: its owner
 * is trusted and nobody else can rename or replace files in it.
 */
gboolean kmt_capture_owner_is_safe(const struct stat *st);

/*
 * path without the slashes at its end: with them, open() follows a link that
 * is the last component, whatever its flags are.
 */
char *kmt_capture_owner_strip_slashes(const char *path);

/*
 * Open the directory that contains the last component of path, relative to the
 * directory at: a descriptor for names only (O_PATH), or -1 and errno.  Links
 * among the components are followed as kmt_capture_owner_open() follows base.
 */
int kmt_capture_owner_open_parent(int at, const char *path);

/*
 * Open the directory base in the directory parent_fd.  Where it is a symbolic
 * link, root follows the link only if a trusted user made it, and fails with
 * ELOOP otherwise.  -1 and errno on error.
 */
int kmt_capture_owner_open(int parent_fd, const char *base);

/*
 * Give the file or directory fd to the caller of sudo.  On failure, as on a
 * file system without owners, it remains root's: the readers then advise sudo.
 */
void kmt_capture_owner_give(int fd);

#endif
