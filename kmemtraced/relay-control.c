// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens, checks and locks DEBUGFS/kmemtrace. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "kmemtraced/relay-control-private.h"
#include "kmemtraced/wait-lock.h"
#include "lib/capture/error.h"
#include "lib/recovery/kernel-mount.h"

/* Time that the cleanup process of a killed kmemtraced may need. */
#define CLEANUP_WAIT_MS 2500
#define CLEANUP_POLL_MS 20

/* Set an error that explains why DEBUGFS/kmemtrace cannot be opened. */
static void explain_open(const char *debugfs, const char *path, int errnum,
			 GError **error)
{
	struct statfs fs;

	if (errnum != ENOENT && errnum != ENOTDIR) {
		kmt_capture_set_errno(error, kmtd_control_error_code(errnum),
				      errnum, "cannot open %s", path);
	} else if (statfs(debugfs, &fs) == 0 && fs.f_type == DEBUGFS_MAGIC) {
		g_set_error(error, KMT_DAEMON_ERROR,
			    KMT_DAEMON_ERROR_NO_KMEMTRACE,
			    "there is no kmemtrace in this kernel: "
			    "%s is a debugfs without kmemtrace",
			    debugfs);
	} else {
		g_set_error(error, KMT_DAEMON_ERROR,
			    KMT_DAEMON_ERROR_NO_DEBUGFS,
			    "no debugfs is mounted on %s", debugfs);
	}
}

static gboolean check_abi(KmtdControl *control, GError **error)
{
	guint64 version;

	if (!kmtd_control_read_number(control, "abi_version", &version, error))
		return FALSE;
	if (version >= 1 && version <= KMEMTRACE_ABI_VERSION) {
		control->abi_version = (guint)version;
		return TRUE;
	}
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_ABI,
		    "this kernel writes records of version %" G_GUINT64_FORMAT
		    ", but kmemtraced %s supports versions 1 to %d",
		    version, PACKAGE_VERSION, KMEMTRACE_ABI_VERSION);
	return FALSE;
}

/*
 * Read the size of a record. A kernel without the file record_size writes
 * records of the size that its ABI version defines, without stacks.
 */
static gboolean read_record_size(KmtdControl *control, GError **error)
{
	guint64 bytes;

	control->record_bytes = control->abi_version >= 2
					? KMEMTRACE_EVENT_SIZE_V2
					: KMEMTRACE_EVENT_SIZE_V1;
	if (faccessat(control->dir_fd, "record_size", F_OK, 0) < 0)
		return TRUE;
	if (!kmtd_control_read_number(control, "record_size", &bytes, error))
		return FALSE;
	if (bytes != control->record_bytes &&
	    (bytes != KMEMTRACE_EVENT_SIZE_V2S || control->abi_version < 2)) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_ABI,
			    "this kernel writes records of %" G_GUINT64_FORMAT
			    " bytes, which version %u does not have",
			    bytes, control->abi_version);
		return FALSE;
	}
	control->record_bytes = (guint)bytes;
	return TRUE;
}

/*
 * Acquire the record lock. F_GETLK returns the process that holds a record
 * lock, and child processes do not inherit it.
 */
static gboolean lock(KmtdControl *control, GError **error)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(control->enabled_fd, F_SETLK, &lock) == 0)
		return TRUE;
	if (errno != EACCES && errno != EAGAIN) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_CONTROL, errno,
				      "cannot lock %s/enabled", control->path);
		return FALSE;
	}
	if (fcntl(control->enabled_fd, F_GETLK, &lock) < 0 ||
	    lock.l_type == F_UNLCK)
		lock.l_pid = 0;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_BUSY,
		    "another kmemtraced is running (process %ld)",
		    (long)lock.l_pid);
	return FALSE;
}

/*
 * Acquire the flock, which the cleanup process inherits, unlike the record
 * lock. Wait for the cleanup process of another kmemtraced, because that
 * process may still have to switch tracing off.
 */
static gboolean lock_shared(KmtdControl *control, GError **error)
{
	int errnum = kmtd_wait_lock(control->enabled_fd, CLEANUP_WAIT_MS,
				    CLEANUP_POLL_MS);

	if (errnum == EWOULDBLOCK)
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_BUSY,
			    "the cleanup process of another kmemtraced is "
			    "running");
	else if (errnum)
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_CONTROL, errnum,
				      "cannot lock %s/enabled", control->path);
	return errnum == 0;
}

KmtdControl *kmtd_control_open_to_read(const char *debugfs, GError **error)
{
	g_autoptr(KmtdControl) control = g_new0(KmtdControl, 1);

	control->enabled_fd = -1;
	control->overruns_fd = -1;
	if (!debugfs)
		debugfs = kmt_kernel_mount(KMT_DEBUGFS);
	control->path = g_build_filename(debugfs, "kmemtrace", NULL);
	control->dir_fd =
		open(control->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (control->dir_fd < 0) {
		explain_open(debugfs, control->path, errno, error);
		return NULL;
	}
	if (!check_abi(control, error) || !read_record_size(control, error))
		return NULL;
	control->enabled_fd =
		openat(control->dir_fd, "enabled", O_RDWR | O_CLOEXEC);
	control->overruns_fd =
		openat(control->dir_fd, "total_overruns", O_RDONLY | O_CLOEXEC);
	control->listing =
		fdopendir(openat(control->dir_fd, ".", O_RDONLY | O_CLOEXEC));
	if (control->enabled_fd < 0 || control->overruns_fd < 0 ||
	    !control->listing) {
		kmt_capture_set_errno(error, kmtd_control_error_code(errno),
				      errno, "cannot open %s/%s", control->path,
				      control->enabled_fd < 0 ? "enabled"
				      : control->overruns_fd < 0
					      ? "total_overruns"
					      : ".");
		return NULL;
	}
	return g_steal_pointer(&control);
}

KmtdControl *kmtd_control_open(const char *debugfs, GError **error)
{
	g_autoptr(KmtdControl) control =
		kmtd_control_open_to_read(debugfs, error);

	if (!control || !lock(control, error) || !lock_shared(control, error))
		return NULL;
	return g_steal_pointer(&control);
}

void kmtd_control_close(KmtdControl *control)
{
	if (!control)
		return;
	if (control->listing)
		closedir(control->listing);
	if (control->overruns_fd >= 0)
		close(control->overruns_fd);
	if (control->enabled_fd >= 0)
		close(control->enabled_fd);
	if (control->dir_fd >= 0)
		close(control->dir_fd);
	g_free(control->path);
	g_free(control);
}

int kmtd_control_fd(const KmtdControl *control)
{
	return control->dir_fd;
}

const char *kmtd_control_path(const KmtdControl *control)
{
	return control->path;
}

guint kmtd_control_abi_version(const KmtdControl *control)
{
	return control->abi_version;
}

guint kmtd_control_record_bytes(const KmtdControl *control)
{
	return control->record_bytes;
}
