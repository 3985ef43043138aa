// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/capture/directory.h"
#include "lib/capture/error.h"
#include "lib/capture/owner.h"
#include "lib/capture/replace.h"
#include "lib/capture/sync.h"
#include "lib/capture/names.h"

/* How long the cleanup process of a killed kmemtraced may hold the lock. */
#define LOCK_WAIT_MS 6000
#define LOCK_POLL_MS 20

struct kmt_capture_directory {
	char *path;
	char *base;    /* last component of path */
	int parent_fd; /* the directory that contains base, or -1 */
	int fd;	       /* the directory, with a flock that children inherit */
	int lock_fd;   /* file with a record lock that children do not
			* inherit */
	pid_t pid;     /* process that created KMT_CAPTURE_LOCK */
	gboolean created;  /* this object created the directory */
	char *staged;	   /* name of the subdirectory, or NULL */
	int staged_fd;	   /* its descriptor, or -1 */
	char *staged_path; /* path of the subdirectory */
	void (*warning)(const char *text); /* may be NULL */
	GPtrArray *left; /* char *: kmemtrace.new-<n> of earlier runs */
};

static gboolean fail(const KmtCaptureDirectory *directory, const char *verb,
		     GError **error)
{
	kmt_capture_set_errno(error, KMT_DAEMON_ERROR_DIRECTORY, errno,
			      "cannot %s the directory %s", verb,
			      directory->path);
	return FALSE;
}

/* Check that no untrusted user can replace the files that root creates. */
static gboolean check_owner(KmtCaptureDirectory *directory, GError **error)
{
	struct stat st;

	if (fstat(directory->fd, &st) < 0)
		return fail(directory, "examine", error);
	if (kmt_capture_owner_is_safe(&st))
		return TRUE;
	if (!kmt_capture_owner_trusts(st.st_uid))
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_UNSAFE,
			    "the directory %s belongs to another user "
			    "(uid %lu)",
			    directory->path, (unsigned long)st.st_uid);
	else
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_UNSAFE,
			    "other users can write to the directory %s "
			    "(mode %04o)",
			    directory->path, (guint)(st.st_mode & 07777));
	return FALSE;
}

/*
 * Set the mode and owner of a directory that mkdirat() has just created. The
 * caller of sudo, who may own the parent directory, can replace the new
 * directory before it is opened. Only a directory that belongs to the effective
 * user is changed; any other directory must already be safe. Return 0 or a
 * positive errno.
 */
static int claim(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return errno;
	if (st.st_uid != geteuid())
		return kmt_capture_owner_is_safe(&st) ? 0 : EPERM;
	/* The umask may have removed required permissions. */
	if (fchmod(fd, 0700) < 0)
		return errno;
	kmt_capture_owner_give(fd);
	return 0;
}

/*
 * Open a directory that was just created; do not follow a symbolic link in its
 * place.
 */
static int open_made(int parent_fd, const char *name)
{
	return openat(parent_fd, name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static gboolean refuse_link(const KmtCaptureDirectory *directory,
			    GError **error)
{
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_UNSAFE,
		    "%s is a symbolic link of another user, or leads to one",
		    directory->path);
	return FALSE;
}

static gboolean open_directory(KmtCaptureDirectory *directory, GError **error)
{
	g_autofree char *stripped =
		kmt_capture_owner_strip_slashes(directory->path);

	if (!*stripped) {
		errno = ENOENT;
		return fail(directory, "open", error);
	}
	directory->base = g_path_get_basename(stripped);
	directory->parent_fd =
		kmt_capture_owner_open_parent(AT_FDCWD, stripped);
	if (directory->parent_fd < 0)
		return errno == ELOOP ? refuse_link(directory, error)
				      : fail(directory, "make", error);
	if (mkdirat(directory->parent_fd, directory->base, 0700) == 0)
		directory->created = TRUE;
	else if (errno != EEXIST)
		return fail(directory, "make", error);
	directory->fd =
		directory->created
			? open_made(directory->parent_fd, directory->base)
			: kmt_capture_owner_open(directory->parent_fd,
						 directory->base);
	if (directory->fd < 0 && errno == ELOOP)
		return refuse_link(directory, error);
	if (directory->fd < 0)
		return fail(directory, "open", error);
	if (!check_owner(directory, error))
		return FALSE;
	if (!directory->created)
		return TRUE;
	errno = claim(directory->fd);
	return errno == 0 || fail(directory, "set the mode of", error);
}

/*
 * Return the process that writes to the directory, or 0. The process has a
 * record lock on KMT_CAPTURE_LOCK. Its child processes, such as the cleanup
 * process of kmemtraced, inherit the flock of the directory but not this record
 * lock.
 */
static pid_t find_writer(int dir_fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = openat(dir_fd, KMT_CAPTURE_LOCK,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	pid_t pid = 0;

	if (fd < 0)
		return 0;
	if (fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
		pid = lock.l_pid;
	close(fd);
	return pid;
}

/*
 * Lock the directory. On a file system without locks, continue without a lock.
 */
static gboolean lock_directory(KmtCaptureDirectory *directory, GError **error)
{
	for (guint waited_ms = 0;; waited_ms += LOCK_POLL_MS) {
		pid_t pid;

		if (flock(directory->fd, LOCK_EX | LOCK_NB) == 0 ||
		    errno != EWOULDBLOCK)
			return TRUE;
		pid = find_writer(directory->fd);
		if (pid) {
			g_set_error(error, KMT_DAEMON_ERROR,
				    KMT_DAEMON_ERROR_DIRECTORY_BUSY,
				    "process %ld writes to the directory %s",
				    (long)pid, directory->path);
			return FALSE;
		}
		if (waited_ms >= LOCK_WAIT_MS)
			break;
		g_usleep(LOCK_POLL_MS * 1000);
	}
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_DIRECTORY_BUSY,
		    "another program writes to the directory %s",
		    directory->path);
	return FALSE;
}

/*
 * Create the lock file. The directory is locked, if its file system has locks,
 * so an existing lock file belongs to a process that has ended.
 */
static gboolean create_lock_file(KmtCaptureDirectory *directory, GError **error)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	unlinkat(directory->fd, KMT_CAPTURE_LOCK, 0);
	directory->lock_fd = openat(
		directory->fd, KMT_CAPTURE_LOCK,
		O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (directory->lock_fd < 0) {
		kmt_capture_set_errno(error,
				      errno == ENOSPC || errno == EDQUOT
					      ? KMT_DAEMON_ERROR_DISK_FULL
					      : KMT_DAEMON_ERROR_DIRECTORY,
				      errno, "cannot create %s/%s",
				      directory->path, KMT_CAPTURE_LOCK);
		return FALSE;
	}
	directory->pid = getpid();
	kmt_capture_owner_give(directory->lock_fd);
	/* If this fails, another program does not find this process, and waits
	 * for LOCK_WAIT_MS before it reports that the directory is in use. */
	(void)fcntl(directory->lock_fd, F_SETLK, &lock);
	return TRUE;
}

static void warn_of_left(KmtCaptureDirectory *directory,
			 const KmtCaptureContents *contents,
			 const KmtCaptureDirectoryOptions *options)
{
	for (guint i = 0; i < contents->recorded->len; i++) {
		const char *name = contents->recorded->pdata[i];
		g_autofree char *text = g_strdup_printf(
			"%s/%s has the records of an earlier run that did "
			"not complete; they are removed when this capture is "
			"complete: move the directory to keep them",
			directory->path, name);

		if (options->warning)
			options->warning(text);
		g_ptr_array_add(directory->left, g_strdup(name));
	}
}

static gboolean refuse_existing(KmtCaptureDirectory *directory,
				const KmtCaptureContents *contents,
				GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (contents->has_capture)
		g_string_printf(text,
				"there is a capture already%s: %s/%s "
				"exists",
				contents->cut_off ? ", which was cut off" : "",
				directory->path, KMT_CAPTURE_META);
	for (guint i = 0; i < contents->recorded->len; i++)
		g_string_append_printf(
			text,
			"%s%s/%s has the records of an earlier run that did "
			"not complete",
			text->len ? ", and " : "", directory->path,
			(char *)contents->recorded->pdata[i]);
	if (!text->len)
		return TRUE;
	g_set_error_literal(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_EXISTS,
			    text->str);
	return FALSE;
}

static gboolean check_contents(KmtCaptureDirectory *directory,
			       const KmtCaptureContents *contents,
			       const KmtCaptureDirectoryOptions *options,
			       GError **error)
{
	if (!options->force && !refuse_existing(directory, contents, error))
		return FALSE;
	if (!contents->foreign)
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_FOREIGN,
		    "%s/%s exists and does not belong to a capture that can "
		    "be replaced%s",
		    directory->path, contents->foreign,
		    contents->has_capture ? ""
					  : ": there is no " KMT_CAPTURE_META);
	return FALSE;
}

/* Create the subdirectory for the new capture. */
static gboolean stage(KmtCaptureDirectory *directory, GError **error)
{
	for (guint n = 1; !directory->staged; n++) {
		g_autofree char *name =
			g_strdup_printf(KMT_CAPTURE_NEW "%u", n);

		if (mkdirat(directory->fd, name, 0700) == 0)
			directory->staged = g_steal_pointer(&name);
		else if (errno != EEXIST || n == G_MAXUINT)
			return fail(directory, "make a subdirectory of", error);
	}
	directory->staged_path =
		g_build_filename(directory->path, directory->staged, NULL);
	directory->staged_fd = open_made(directory->fd, directory->staged);
	if (directory->staged_fd >= 0)
		errno = claim(directory->staged_fd);
	return (directory->staged_fd >= 0 && errno == 0) ||
	       fail(directory, "open a subdirectory of", error);
}

/* Replace the old capture by that in kmemtrace.complete. If files of the user
 * remain in kmemtrace.complete, rename it and warn. */
static gboolean replace(KmtCaptureDirectory *directory, GError **error)
{
	g_autofree char *left = NULL;
	g_autofree char *text = NULL;

	if (!kmt_capture_replace_run(directory->fd, directory->path, &left,
				     error))
		return FALSE;
	if (!left || !directory->warning)
		return TRUE;
	text = g_strdup_printf("%s/" KMT_CAPTURE_COMPLETE " has files that "
			       "do not belong to a capture; the directory "
			       "was renamed to %s/%s",
			       directory->path, directory->path, left);
	directory->warning(text);
	return TRUE;
}

static gboolean complete_interrupted(KmtCaptureDirectory *directory,
				     const KmtCaptureDirectoryOptions *options,
				     GError **error)
{
	g_autofree char *text = NULL;

	if (!kmt_capture_replace_is_interrupted(directory->fd))
		return TRUE;
	if (!replace(directory, error))
		return FALSE;
	text = g_strdup_printf("an earlier run was interrupted while it "
			       "replaced the capture in %s; the replacement "
			       "is now complete",
			       directory->path);
	if (options->warning)
		options->warning(text);
	return TRUE;
}

static gboolean prepare(KmtCaptureDirectory *directory,
			const KmtCaptureDirectoryOptions *options,
			GError **error)
{
	g_autoptr(KmtCaptureContents) contents = NULL;

	if (!complete_interrupted(directory, options, error))
		return FALSE;
	contents = kmt_capture_contents_read(directory->fd, directory->path,
					     error);
	if (!contents || !check_contents(directory, contents, options, error))
		return FALSE;
	for (guint i = 0; i < contents->empty->len; i++)
		kmt_capture_replace_remove_subdirectory(
			directory->fd, contents->empty->pdata[i]);
	unlinkat(directory->fd, KMT_CAPTURE_META KMT_CAPTURE_TEMPORARY, 0);
	warn_of_left(directory, contents, options);
	return (!options->staged && !contents->has_capture) ||
	       stage(directory, error);
}

KmtCaptureDirectory *
kmt_capture_directory_open(const char *path,
			   const KmtCaptureDirectoryOptions *options,
			   GError **error)
{
	g_autoptr(KmtCaptureDirectory) directory =
		g_new0(KmtCaptureDirectory, 1);

	directory->path = g_strdup(path);
	directory->warning = options->warning;
	directory->parent_fd = directory->fd = -1;
	directory->lock_fd = directory->staged_fd = -1;
	directory->left = g_ptr_array_new_with_free_func(g_free);
	if (open_directory(directory, error) &&
	    lock_directory(directory, error)) {
		if (create_lock_file(directory, error) &&
		    prepare(directory, options, error))
			return g_steal_pointer(&directory);
		kmt_capture_directory_undo(directory);
	}
	return NULL;
}

static void remove_lock_file(KmtCaptureDirectory *directory)
{
	if (directory->lock_fd < 0)
		return;
	/* A forked child does not own the lock and must not remove the file. */
	if (directory->pid == getpid())
		unlinkat(directory->fd, KMT_CAPTURE_LOCK, 0);
	close(directory->lock_fd);
	directory->lock_fd = -1;
}

void kmt_capture_directory_close(KmtCaptureDirectory *directory)
{
	if (!directory)
		return;
	remove_lock_file(directory);
	if (directory->staged_fd >= 0)
		close(directory->staged_fd);
	if (directory->fd >= 0)
		close(directory->fd);
	if (directory->parent_fd >= 0)
		close(directory->parent_fd);
	g_ptr_array_unref(directory->left);
	g_free(directory->staged_path);
	g_free(directory->staged);
	g_free(directory->base);
	g_free(directory->path);
	g_free(directory);
}

int kmt_capture_directory_fd(const KmtCaptureDirectory *directory)
{
	return directory->staged ? directory->staged_fd : directory->fd;
}

const char *kmt_capture_directory_path(const KmtCaptureDirectory *directory)
{
	return directory->staged ? directory->staged_path : directory->path;
}

gboolean kmt_capture_directory_is_staged(const KmtCaptureDirectory *directory)
{
	return directory->staged != NULL;
}

/*
 * Before the old capture is removed, check that the user has not created a file
 * with the name of a capture file meanwhile.
 */
static gboolean check_again(KmtCaptureDirectory *directory, GError **error)
{
	const KmtCaptureDirectoryOptions options = {.force = TRUE};
	g_autoptr(KmtCaptureContents) contents = kmt_capture_contents_read(
		directory->fd, directory->path, error);

	return contents && check_contents(directory, contents, &options, error);
}

static gboolean commit(KmtCaptureDirectory *directory, GError **error)
{
	int errnum = kmt_capture_directory_sync(directory->staged_fd);

	if (errnum == 0 && renameat(directory->fd, directory->staged,
				    directory->fd, KMT_CAPTURE_COMPLETE) < 0)
		errnum = errno;
	if (errnum) {
		kmt_capture_set_errno(
			error, kmt_capture_write_error_code(errnum), errnum,
			"cannot replace the capture in %s", directory->path);
		return FALSE;
	}
	g_free(directory->staged);
	g_free(directory->staged_path);
	directory->staged = g_strdup(KMT_CAPTURE_COMPLETE);
	directory->staged_path =
		g_build_filename(directory->path, KMT_CAPTURE_COMPLETE, NULL);
	errnum = kmt_capture_directory_sync(directory->fd);
	if (errnum)
		kmt_capture_set_errno(
			error, kmt_capture_write_error_code(errnum), errnum,
			"cannot sync the directory %s", directory->path);
	return errnum == 0;
}

gboolean kmt_capture_directory_publish(KmtCaptureDirectory *directory,
				       GError **error)
{
	if (directory->staged) {
		if (!check_again(directory, error) ||
		    !commit(directory, error) || !replace(directory, error))
			return FALSE;
		g_clear_pointer(&directory->staged, g_free);
	}
	for (guint i = 0; i < directory->left->len; i++)
		kmt_capture_replace_remove_subdirectory(
			directory->fd, directory->left->pdata[i]);
	g_ptr_array_set_size(directory->left, 0);
	return TRUE;
}

void kmt_capture_directory_undo(KmtCaptureDirectory *directory)
{
	remove_lock_file(directory);
	/* Keep a replacement that has begun: the next run completes it. */
	if (directory->staged && kmt_capture_is_new(directory->staged))
		kmt_capture_replace_remove_subdirectory(directory->fd,
							directory->staged);
	if (directory->created)
		unlinkat(directory->parent_fd, directory->base, AT_REMOVEDIR);
}
