/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the capture whole when kmemtraced is killed.
 *
 * The kernel may end a write() at any page when its process is killed, and a
 * page is no whole number of records.  So a child process, which sleeps all the
 * while, sees the end of its parent and cuts each cpu<n>.out back to whole
 * records.  It holds the lock of the directory until it is done.  It also takes
 * away what the source left in the kernel.
 */
#ifndef KMEMTRACED_GUARD_H
#define KMEMTRACED_GUARD_H

#include <glib.h>

#include "kmemtraced/source.h"

typedef struct kmt_guard KmtGuard;

/*
 * Call before any thread exists.  dir_fd: the directory of the capture.
 */
KmtGuard *kmt_guard_start(int dir_fd, KmtSource *source, GError **error);

/* The files are whole: lets the child go, and waits for its end. */
void kmt_guard_end(KmtGuard *guard);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtGuard, kmt_guard_end)

#endif
