// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "kmemtraced/owner.h"

/* As many as the kernel follows. */
#define LINKS_MAX 40

/* (uid_t)-1 and (gid_t)-1 mean "leave unchanged" to fchown(). */
#define ID_MAX (G_MAXUINT32 - 1)

static gboolean read_id(const char *variable, guint64 *id)
{
	const char *text = g_getenv(variable);

	return text &&
	       g_ascii_string_to_unsigned(text, 10, 0, ID_MAX, id, NULL);
}

/* The caller of sudo.  FALSE: not run as root by sudo. */
static gboolean sudo_caller(uid_t *uid, gid_t *gid)
{
	guint64 id;

	if (geteuid() != 0 || !read_id("SUDO_UID", &id) || id == 0)
		return FALSE;
	*uid = (uid_t)id;
	*gid = read_id("SUDO_GID", &id) ? (gid_t)id : (gid_t)-1;
	return TRUE;
}

gboolean kmt_owner_trusts(uid_t uid)
{
	uid_t caller;
	gid_t gid;

	if (geteuid() != 0 || uid == 0)
		return TRUE;
	return sudo_caller(&caller, &gid) && caller == uid;
}

gboolean kmt_owner_is_safe(const struct stat *st)
{
	if (geteuid() != 0)
		return TRUE;
	return kmt_owner_trusts(st->st_uid) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

void kmt_owner_give(int fd)
{
	uid_t uid;
	gid_t gid;

	if (sudo_caller(&uid, &gid))
		(void)!fchown(fd, uid, gid);
}

static int open_at(int at, const char *path, guint n_links);

char *kmt_owner_strip_slashes(const char *path)
{
	char *stripped = g_strdup(path);

	for (gsize n = strlen(stripped); n > 1 && stripped[n - 1] == '/'; n--)
		stripped[n - 1] = '\0';
	return stripped;
}

/*
 * The last component of a path is the symbolic link base.  Root follows the
 * link only if a trusted user made it.  A link cannot be changed, so its owner
 * vouches for its target.
 */
static int open_link(int parent_fd, const char *base, guint n_links)
{
	int fd = openat(parent_fd, base, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char target[PATH_MAX];
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0) {
		if (!S_ISLNK(st.st_mode))
			errno = ENOTDIR;
		else if (n_links >= LINKS_MAX || !kmt_owner_trusts(st.st_uid))
			errno = ELOOP;
		else
			n = readlinkat(fd, "", target, sizeof(target) - 1);
	}
	if (n >= 0) {
		target[n] = '\0';
		close(fd);
		return open_at(parent_fd, target, n_links + 1);
	}
	n = errno;
	close(fd);
	errno = (int)n;
	return -1;
}

int kmt_owner_open_parent(int at, const char *path)
{
	g_autofree char *parent = g_path_get_dirname(path);

	return openat(at, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_base(int parent_fd, const char *base, guint n_links)
{
	int fd = openat(parent_fd, base,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return open_link(parent_fd, base, n_links);
	return fd;
}

/* Open a directory relative to the directory at. */
static int open_at(int at, const char *path, guint n_links)
{
	g_autofree char *stripped = kmt_owner_strip_slashes(path);
	g_autofree char *base = NULL;
	int parent_fd, fd, errnum;

	base = g_path_get_basename(stripped);
	parent_fd = kmt_owner_open_parent(at, stripped);
	if (parent_fd < 0)
		return -1;
	fd = open_base(parent_fd, base, n_links);
	errnum = errno;
	close(parent_fd);
	errno = errnum;
	return fd;
}

int kmt_owner_open(int parent_fd, const char *base)
{
	return open_base(parent_fd, base, 0);
}
