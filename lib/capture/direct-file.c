// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/capture/direct-file.h"
#include "lib/capture/error.h"
#include "lib/capture/owner.h"

gboolean kmt_capture_direct_file_create(KmtCaptureDirectFile *file, int dir_fd,
					const char *name, bool is_direct,
					GError **error)
{
	/*
	 * Set O_DIRECT later: with O_CREAT, a file system without O_DIRECT
	 * creates the file and then fails.
	 */
	file->direct = false;
	file->fd = openat(dir_fd, name,
			  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			  0600);
	/* The umask may have removed permissions of the owner. */
	if (file->fd < 0 || fchmod(file->fd, 0600) < 0) {
		kmt_capture_set_errno(error,
				      kmt_capture_write_error_code(errno),
				      errno, "cannot create %s", name);
		kmt_capture_direct_file_close(file);
		return FALSE;
	}
	kmt_capture_owner_give(file->fd);
	if (is_direct)
		kmt_capture_direct_file_set_direct(file, true);
	return TRUE;
}

void kmt_capture_direct_file_close(KmtCaptureDirectFile *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void kmt_capture_direct_file_set_direct(KmtCaptureDirectFile *file, bool on)
{
	int flags = fcntl(file->fd, F_GETFL);

	if (flags < 0)
		return;
	flags = on ? flags | O_DIRECT : flags & ~O_DIRECT;
	/* EINVAL from a file system without O_DIRECT is not an error. */
	if (fcntl(file->fd, F_SETFL, flags) == 0)
		file->direct = on;
}

gsize kmt_capture_direct_file_write(KmtCaptureDirectFile *file,
				    const guint8 *from, gsize n_bytes,
				    guint64 offset, int *error)
{
	gsize done = 0;

	while (done < n_bytes) {
		ssize_t n = pwrite(file->fd, from + done, n_bytes - done,
				   (off_t)(offset + done));

		if (n > 0) {
			done += (gsize)n;
		} else if (n < 0 && errno == EINTR) {
			continue;
		} else if (n < 0 && errno == EINVAL && file->direct) {
			/*
			 * Some file systems accept the flag O_DIRECT and then
			 * fail a write with EINVAL. EINVAL also follows a short
			 * write, because the next offset is not aligned.
			 * Continue through the page cache.
			 */
			kmt_capture_direct_file_set_direct(file, false);
			if (!file->direct)
				continue;
			*error = -EINVAL;
			break;
		} else {
			*error = n < 0 ? -errno : -ENOSPC;
			break;
		}
	}
	return done;
}

void kmt_capture_direct_file_cut(KmtCaptureDirectFile *file, guint64 n_bytes)
{
	while (ftruncate(file->fd, (off_t)n_bytes) < 0 && errno == EINTR)
		;
}

int kmt_capture_direct_file_sync(KmtCaptureDirectFile *file)
{
	int r;

	do
		r = fsync(file->fd);
	while (r < 0 && errno == EINTR);
	/* A file without fsync() is not an error. */
	return r < 0 && errno != EINVAL && errno != ENOSYS ? -errno : 0;
}
