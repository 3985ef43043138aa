// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <sys/file.h>

#include "kmemtraced/wait-lock.h"

int kmtd_wait_lock(int fd, guint wait_ms, guint poll_ms)
{
	for (guint waited_ms = 0; waited_ms <= wait_ms; waited_ms += poll_ms) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return errno;
		g_usleep(poll_ms * 1000);
	}
	return EWOULDBLOCK;
}
