// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/capture/error.h"
#include "lib/recovery/kernel-mount.h"
#include "kmemtraced/tracefs-instance.h"
#include "kmemtraced/wait-lock.h"

#define NAME "kmemtrace"

/* How long a killed process may keep a file of the instance open. */
#define REMOVE_WAIT_MS 5000
/*
 * A starting kmemtraced removes a stale instance while it holds the lock, and a
 * second kmemtraced waits for the lock meanwhile. LOCK_WAIT_MS exceeds
 * STALE_WAIT_MS, so that the removal does not make the second one fail.
 */
#define STALE_WAIT_MS  1500
#define LOCK_WAIT_MS   4000
#define REMOVE_POLL_MS 20

struct kmtd_instance {
	char *tracefs;
	char *path;
	int parent_fd; /* directory tracefs/instances; holds the lock */
	int fd;
	gboolean created;
};

static KmtDaemonError error_code(int errnum)
{
	switch (errnum) {
	case EACCES:
		return KMT_DAEMON_ERROR_PERMISSION;
	case EPERM:
		return KMT_DAEMON_ERROR_LOCKDOWN;
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return KMT_DAEMON_ERROR_RESOURCES;
	default:
		return KMT_DAEMON_ERROR_TRACEFS;
	}
}

static int open_parent(const char *tracefs)
{
	g_autofree char *path = g_build_filename(tracefs, "instances", NULL);

	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Set an error that explains why tracefs/instances cannot be opened. */
static void explain_open(const char *tracefs, int errnum, GError **error)
{
	if (errnum != ENOENT && errnum != ENOTDIR)
		kmt_capture_set_errno(error, error_code(errnum), errnum,
				      "cannot open %s/instances", tracefs);
	else
		g_set_error(error, KMT_DAEMON_ERROR,
			    KMT_DAEMON_ERROR_NO_TRACEFS,
			    "no tracefs is mounted on %s", tracefs);
}

/*
 * Open tracefs/instances. @tracefs: mount point; NULL: any. Return the path of
 * tracefs, or NULL and set an error if there is none.
 */
static const char *find(KmtdInstance *instance, const char *tracefs,
			GError **error)
{
	if (!tracefs)
		tracefs = kmt_kernel_mount(KMT_TRACEFS);
	instance->parent_fd = open_parent(tracefs);
	if (instance->parent_fd >= 0)
		return tracefs;
	explain_open(tracefs, errno, error);
	return NULL;
}

/*
 * Acquire the lock of tracefs/instances. The kernel drops the lock when this
 * process and its cleanup process have ended.
 */
static gboolean lock(KmtdInstance *instance, GError **error)
{
	int errnum = kmtd_wait_lock(instance->parent_fd, LOCK_WAIT_MS,
				    REMOVE_POLL_MS);

	if (errnum == EWOULDBLOCK)
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_BUSY,
			    "another kmemtraced uses %s", instance->path);
	else if (errnum)
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_TRACEFS, errnum,
				      "cannot lock %s", instance->path);
	return errnum == 0;
}

/*
 * Remove the instance. A file that was just closed may keep the instance busy
 * for a moment, so retry for up to @wait_ms. Return 0 or a positive errno.
 */
static int remove_waiting(KmtdInstance *instance, guint wait_ms)
{
	for (guint waited_ms = 0;; waited_ms += REMOVE_POLL_MS) {
		if (unlinkat(instance->parent_fd, NAME, AT_REMOVEDIR) == 0)
			return 0;
		if (errno != EBUSY || waited_ms >= wait_ms)
			return errno;
		g_usleep(REMOVE_POLL_MS * 1000);
	}
}

/*
 * Remove a stale instance. The caller holds the lock, so no other kmemtraced
 * uses the instance.
 */
static gboolean remove_stale(KmtdInstance *instance, gboolean *was_stale,
			     GError **error)
{
	int errnum = remove_waiting(instance, STALE_WAIT_MS);

	*was_stale = errnum == 0;
	if (errnum == 0 || errnum == ENOENT)
		return TRUE;
	kmt_capture_set_errno(
		error, KMT_DAEMON_ERROR_LEFT, errnum,
		"cannot remove %s, which an earlier kmemtraced left",
		instance->path);
	return FALSE;
}

gboolean kmtd_instance_remove_stale(const char *tracefs, GError **error)
{
	KmtdInstance instance = {.fd = -1, .parent_fd = -1};
	gboolean removed = FALSE;

	tracefs = find(&instance, tracefs, NULL);
	if (tracefs && faccessat(instance.parent_fd, NAME, F_OK, 0) == 0 &&
	    flock(instance.parent_fd, LOCK_EX | LOCK_NB) == 0) {
		instance.path =
			g_build_filename(tracefs, "instances", NAME, NULL);
		(void)remove_stale(&instance, &removed, error);
		g_free(instance.path);
	}
	if (instance.parent_fd >= 0)
		close(instance.parent_fd);
	return removed;
}

KmtdInstance *kmtd_instance_open(const char *tracefs, GError **error)
{
	g_autoptr(KmtdInstance) instance = g_new0(KmtdInstance, 1);

	instance->parent_fd = -1;
	instance->fd = -1;
	tracefs = find(instance, tracefs, error);
	if (!tracefs)
		return NULL;
	instance->tracefs = g_strdup(tracefs);
	instance->path = g_build_filename(tracefs, "instances", NAME, NULL);
	return lock(instance, error) ? g_steal_pointer(&instance) : NULL;
}

gboolean kmtd_instance_create(KmtdInstance *instance, gboolean *was_stale,
			      GError **error)
{
	if (!remove_stale(instance, was_stale, error))
		return FALSE;
	if (mkdirat(instance->parent_fd, NAME, 0700) < 0) {
		kmt_capture_set_errno(error, error_code(errno), errno,
				      "cannot make %s", instance->path);
		return FALSE;
	}
	instance->created = TRUE;
	instance->fd = openat(instance->parent_fd, NAME,
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (instance->fd >= 0)
		return TRUE;
	kmt_capture_set_errno(error, error_code(errno), errno, "cannot open %s",
			      instance->path);
	return FALSE;
}

void kmtd_instance_close(KmtdInstance *instance)
{
	if (!instance)
		return;
	if (instance->fd >= 0)
		close(instance->fd);
	/* If the removal fails, the next kmemtraced recognises the instance as
	 * stale. */
	if (instance->created)
		remove_waiting(instance, REMOVE_WAIT_MS);
	if (instance->parent_fd >= 0)
		close(instance->parent_fd);
	g_free(instance->tracefs);
	g_free(instance->path);
	g_free(instance);
}

void kmtd_instance_close_inherited(KmtdInstance *instance)
{
	if (instance->fd >= 0)
		close(instance->fd);
	instance->fd = -1;
}

void kmtd_instance_clean_up(KmtdInstance *instance)
{
	instance->fd = openat(instance->parent_fd, NAME,
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (instance->fd < 0)
		return;
	kmtd_instance_write(instance, "tracing_on", "0", NULL);
	close(instance->fd);
	remove_waiting(instance, REMOVE_WAIT_MS);
}

const char *kmtd_instance_path(const KmtdInstance *instance)
{
	return instance->path;
}

gboolean kmtd_instance_has(KmtdInstance *instance, const char *name)
{
	return faccessat(instance->fd, name, F_OK, 0) == 0;
}

int kmtd_instance_open_file(KmtdInstance *instance, const char *name, int flags,
			    GError **error)
{
	int fd = openat(instance->fd, name, flags | O_CLOEXEC);

	if (fd < 0)
		kmt_capture_set_errno(error, error_code(errno), errno,
				      "cannot open %s/%s", instance->path,
				      name);
	return fd;
}

/*
 * Read a whole file and close @fd. Return the text without trailing white
 * space, or NULL and set an error.
 */
static char *read_all(const char *directory, const char *name, int fd,
		      GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char block[4096];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n > 0) {
			g_string_append_len(text, block, n);
		} else if (errno != EINTR) {
			kmt_capture_set_errno(error, error_code(errno), errno,
					      "cannot read %s/%s", directory,
					      name);
			close(fd);
			return NULL;
		}
	}
	close(fd);
	return g_strchomp(g_string_free(g_steal_pointer(&text), FALSE));
}

char *kmtd_instance_read(KmtdInstance *instance, const char *name,
			 GError **error)
{
	int fd = kmtd_instance_open_file(instance, name, O_RDONLY, error);

	return fd < 0 ? NULL : read_all(instance->path, name, fd, error);
}

char *kmtd_instance_read_top(KmtdInstance *instance, const char *name,
			     GError **error)
{
	g_autofree char *path = g_build_filename(instance->tracefs, name, NULL);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return read_all(instance->tracefs, name, fd, error);
	if (errno != ENOENT)
		kmt_capture_set_errno(error, error_code(errno), errno,
				      "cannot open %s", path);
	return NULL;
}

gboolean kmtd_instance_write(KmtdInstance *instance, const char *name,
			     const char *text, GError **error)
{
	int fd = kmtd_instance_open_file(instance, name, O_WRONLY, error);
	ssize_t n;

	if (fd < 0)
		return FALSE;
	do
		n = write(fd, text, strlen(text));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		kmt_capture_set_errno(error, error_code(errno), errno,
				      "cannot write '%s' to %s/%s", text,
				      instance->path, name);
	close(fd);
	return n >= 0;
}
