// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls on directories, owners, and file systems; see shim.c. */
/* Defines the size of file offsets, and so the names of functions, as in the
 * programs. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tests/kmemtraced/shim.h"

uid_t geteuid(void)
{
	return (uid_t)number("SHIM_EUID", NEXT(geteuid)());
}

/* The first directories that this process made, if SHIM_EUID is set. */
static struct stat made_directories[8];

static void remember_made(int dir_fd, const char *path)
{
	for (int i = 0; i < 8; i++)
		if (!made_directories[i].st_ino) {
			if (fstatat(dir_fd, path, &made_directories[i],
				    AT_SYMLINK_NOFOLLOW) < 0)
				abort();
			return;
		}
}

static struct stat *find_made(const struct stat *st)
{
	for (int i = 0; i < 8; i++)
		if (made_directories[i].st_ino == st->st_ino &&
		    made_directories[i].st_dev == st->st_dev)
			return &made_directories[i];
	return NULL;
}

int fstat(int fd, struct stat *st)
{
	int r = NEXT(fstat)(fd, st);

	if (r == 0 && getenv("SHIM_EUID") && find_made(st))
		st->st_uid = (uid_t)number("SHIM_EUID", 0);
	return r;
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	const char *log = getenv("SHIM_CHOWN");
	char link[64], path[4096], line[4200];
	ssize_t n;
	int to;

	if (!log)
		return NEXT(fchown)(fd, uid, gid);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	to = NEXT(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (n < 0 || to < 0)
		abort();
	path[n] = '\0';
	snprintf(line, sizeof(line), "%u %u %s\n", uid, gid, path);
	if (NEXT(write)(to, line, strlen(line)) < 0)
		abort();
	close(to);
	return 0;
}

/* Kill the process if SHIM_KILL_AT names this call of the function. */
static void kill_at(const char *function)
{
	const char *at = getenv("SHIM_KILL_AT");
	size_t n = strlen(function);
	static long n_calls;

	if (!at || strncmp(at, function, n) != 0 || at[n] != ' ' ||
	    ++n_calls != strtol(at + n, NULL, 10))
		return;
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	/* Count no renames of hidden files, such as that of a recovery note in
	 * /run. */
	if (*from != '.')
		kill_at("renameat");
	return NEXT(renameat)(from_fd, from, to_fd, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to,
	      unsigned int flags)
{
	kill_at("renameat2");
	if (getenv("SHIM_NO_RENAMEAT2")) {
		errno = EINVAL;
		return -1;
	}
	return NEXT(renameat2)(from_fd, from, to_fd, to, flags);
}

int statfs(const char *path, struct statfs *fs)
{
	int r = NEXT(statfs)(path, fs);

	if (getenv("SHIM_DEBUGFS"))
		fs->f_type = DEBUGFS_MAGIC;
	return r;
}

/*
 * Return the value of SHIM_INSTANCE if dir_fd is the directory of tracefs
 * instances, otherwise NULL.
 */
static const char *instance(int dir_fd)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir_fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return NULL;
	path[n] = '\0';
	return ends_with(path, "/instances") ? getenv("SHIM_INSTANCE") : NULL;
}

static int make_directory(int dir_fd, const char *path, mode_t mode)
{
	const char *command = getenv("SHIM_ON_MKDIR");
	static int was_run;
	int r = NEXT(mkdirat)(dir_fd, path, mode);

	if (r == 0 && getenv("SHIM_EUID"))
		remember_made(dir_fd, path);
	if (r == 0 && command && !was_run) {
		was_run = 1;
		if (shell(command) != 0)
			abort();
	}
	return r;
}

/*
 * Make a directory. An instance of tracefs appears and disappears with all its
 * files, so the copy is made two levels above the directory of instances and
 * renamed. A signal therefore never meets an instance with only some of its
 * files.
 */
int mkdirat(int dir_fd, const char *path, mode_t mode)
{
	const char *from = instance(dir_fd);
	char command[8192], made[64];

	if (!from)
		return make_directory(dir_fd, path, mode);
	snprintf(made, sizeof(made), "../../made.%d", (int)getpid());
	snprintf(command, sizeof(command), "cp -r %s /proc/%d/fd/%d/%s", from,
		 (int)getpid(), dir_fd, made);
	if (faccessat(dir_fd, path, F_OK, 0) == 0) {
		errno = EEXIST;
		return -1;
	}
	if (shell(command) != 0)
		abort();
	return NEXT(renameat)(dir_fd, made, dir_fd, path);
}

int unlinkat(int dir_fd, const char *path, int flags)
{
	char command[8192], gone[64];

	kill_at("unlinkat");
	if (flags & AT_REMOVEDIR && getenv("SHIM_RMDIR_ERRNO") &&
	    instance(dir_fd)) {
		errno = (int)number("SHIM_RMDIR_ERRNO", EBUSY);
		return -1;
	}
	if (!(flags & AT_REMOVEDIR) || !instance(dir_fd))
		return NEXT(unlinkat)(dir_fd, path, flags);
	snprintf(gone, sizeof(gone), "../../gone.%d", (int)getpid());
	if (NEXT(renameat)(dir_fd, path, dir_fd, gone) < 0)
		return -1;
	snprintf(command, sizeof(command), "rm -r /proc/%d/fd/%d/%s",
		 (int)getpid(), dir_fd, gone);
	if (shell(command) != 0)
		abort();
	return 0;
}
