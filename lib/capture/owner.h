/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user for whom root writes a capture: the caller of sudo (SUDO_UID).
 *
 * Without root, or without sudo, there is no such user, and files belong to the
 * process. Root without sudo trusts only directories of root. Another user
 * trusts every directory as far as the kernel lets the process write to it.
 */
#ifndef KMEMTRACE_CAPTURE_OWNER_H
#define KMEMTRACE_CAPTURE_OWNER_H

#include <glib.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Return whether a directory or symbolic link that belongs to uid may determine
 * where files are created. Root trusts only root and the caller of sudo;
 * another user trusts every uid.
 */
gboolean kmt_capture_owner_trusts(uid_t uid);

/*
 * Return whether root may create files in the directory that *st describes: its
 * owner is trusted, and no other user can rename or replace files in it. Return
 * TRUE if the process is not root.
 */
gboolean kmt_capture_owner_is_safe(const struct stat *st);

/*
 * Return a copy of path without trailing slashes. With a trailing slash, open()
 * follows a symbolic link in the last component regardless of its flags. The
 * caller frees the string.
 */
char *kmt_capture_owner_strip_slashes(const char *path);

/*
 * Open the directory that contains the last component of path. A relative path
 * begins at the directory descriptor at. Return an O_PATH descriptor, or -1 and
 * errno. Links among the components are followed as in
 * kmt_capture_owner_open().
 */
int kmt_capture_owner_open_parent(int at, const char *path);

/*
 * Open the directory base in the directory parent_fd. If base is a symbolic
 * link, root follows the link only if its owner is trusted, and fails with
 * ELOOP otherwise. Return a descriptor, or -1 and errno.
 */
int kmt_capture_owner_open(int parent_fd, const char *base);

/*
 * Change the owner of the file or directory fd to the caller of sudo, if there
 * is one. If that fails, as on a file system without owners, root remains the
 * owner, and the readers advise to use sudo.
 */
void kmt_capture_owner_give(int fd);

#endif
