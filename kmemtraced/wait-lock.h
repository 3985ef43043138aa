/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMEMTRACED_WAIT_LOCK_H
#define KMEMTRACED_WAIT_LOCK_H

#include <glib.h>

/*
 * Acquire an exclusive flock of @fd. While another process holds the lock,
 * retry every @poll_ms for up to @wait_ms. Return 0 on success, EWOULDBLOCK if
 * the lock is still held, or another positive errno.
 */
int kmtd_wait_lock(int fd, guint wait_ms, guint poll_ms);

#endif
