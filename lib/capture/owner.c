// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lib/capture/owner.h"

/* Maximum number of links to follow, as in the kernel. */
#define LINKS_MAX 40

/* (uid_t)-1 and (gid_t)-1 mean "leave unchanged" to fchown(). */
#define ID_MAX (G_MAXUINT32 - 1)

static gboolean read_id(const char *variable, guint64 *id)
{
	const char *text = g_getenv(variable);

	return text &&
	       g_ascii_string_to_unsigned(text, 10, 0, ID_MAX, id, NULL);
}

/* Return the caller of sudo. FALSE: not root, root without sudo, or root as the
 * caller of sudo. */
static gboolean sudo_caller(uid_t *uid, gid_t *gid)
{
	guint64 id;

	if (geteuid() != 0 || !read_id("SUDO_UID", &id) || id == 0)
		return FALSE;
	*uid = (uid_t)id;
	*gid = read_id("SUDO_GID", &id) ? (gid_t)id : (gid_t)-1;
	return TRUE;
}

gboolean kmt_capture_owner_trusts(uid_t uid)
{
	uid_t caller;
	gid_t gid;

	if (geteuid() != 0 || uid == 0)
		return TRUE;
	return sudo_caller(&caller, &gid) && caller == uid;
}

gboolean kmt_capture_owner_is_safe(const struct stat *st)
{
	if (geteuid() != 0)
		return TRUE;
	return kmt_capture_owner_trusts(st->st_uid) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

void kmt_capture_owner_give(int fd)
{
	uid_t uid;
	gid_t gid;

	if (sudo_caller(&uid, &gid))
		(void)!fchown(fd, uid, gid);
}

static int walk(int at, const char *path, int flags, guint *n_links);

char *kmt_capture_owner_strip_slashes(const char *path)
{
	char *stripped = g_strdup(path);

	for (gsize n = strlen(stripped); n > 1 && stripped[n - 1] == '/'; n--)
		stripped[n - 1] = '\0';
	return stripped;
}

/* Close fd and preserve errno. */
static void release(int fd)
{
	int errnum = errno;

	close(fd);
	errno = errnum;
}

/*
 * Open the directory that the symbolic link name leads to; name is a component
 * of a path. Root follows the link only if its owner is trusted. The owner
 * vouches for the target, because a link cannot be changed.
 */
static int open_link(int parent_fd, const char *name, int flags, guint *n_links)
{
	int fd = openat(parent_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char target[PATH_MAX];
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0) {
		if (!S_ISLNK(st.st_mode))
			errno = ENOTDIR;
		else if (++*n_links > LINKS_MAX ||
			 !kmt_capture_owner_trusts(st.st_uid))
			errno = ELOOP;
		else
			n = readlinkat(fd, "", target, sizeof(target) - 1);
	}
	release(fd);
	if (n < 0)
		return -1;
	target[n] = '\0';
	return walk(parent_fd, target, flags, n_links);
}

/* Open the directory name in the directory parent_fd. */
static int open_component(int parent_fd, const char *name, int flags,
			  guint *n_links)
{
	int fd = openat(parent_fd, name,
			flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return open_link(parent_fd, name, flags, n_links);
	return fd;
}

/*
 * Open the directory path component by component, because each component may be
 * a link. A relative path begins at the directory descriptor at. flags apply to
 * the last component.
 */
static int walk(int at, const char *path, int flags, guint *n_links)
{
	g_auto(GStrv) names = g_strsplit(path, "/", -1);
	int fd;

	if (!*path) {
		errno = ENOENT;
		return -1;
	}
	fd = openat(at, *path == '/' ? "/" : ".",
		    O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (char **name = names; fd >= 0 && *name; name++) {
		int parent_fd = fd;

		if (!**name)
			continue;
		fd = open_component(parent_fd, *name, O_PATH, n_links);
		release(parent_fd);
	}
	if (fd >= 0 && flags != O_PATH) {
		int path_fd = fd;

		fd = openat(path_fd, ".", flags | O_DIRECTORY | O_CLOEXEC);
		release(path_fd);
	}
	return fd;
}

int kmt_capture_owner_open_parent(int at, const char *path)
{
	g_autofree char *parent = g_path_get_dirname(path);
	guint n_links = 0;

	return walk(at, parent, O_PATH, &n_links);
}

int kmt_capture_owner_open(int parent_fd, const char *base)
{
	guint n_links = 0;

	return open_component(parent_fd, base, O_RDONLY, &n_links);
}
