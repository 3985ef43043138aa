// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include "lib/capture/sync.h"

int kmt_capture_directory_sync(int fd)
{
	int r;

	do
		r = fsync(fd);
	while (r < 0 && errno == EINTR);
	/* Not every file system can sync a directory. */
	return r == 0 || errno == EINVAL || errno == ENOSYS || errno == EBADF
		       ? 0
		       : errno;
}
