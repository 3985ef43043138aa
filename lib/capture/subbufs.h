/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recommended size of a CPU's buffer, of kmemtrace or of ftrace. */
#ifndef KMEMTRACE_CAPTURE_SUBBUFS_H
#define KMEMTRACE_CAPTURE_SUBBUFS_H

#include <glib.h>

/*
 * Return the number of sub-buffers that would have preserved all events on the
 * CPU that lost most, where lost is the number of its lost events and n the
 * number of its sub-buffers. record_bytes must not be 0. Return 0 if n is 0, if
 * no record fits into a sub-buffer, or if the result exceeds G_MAXUINT64.
 *
 * If the buffer had had additional room for all lost events, no event would
 * have been lost. The result is at least 2 n, because the losses of the next
 * run are unknown.
 */
guint64 kmt_capture_enough_subbufs(guint64 n, guint64 subbuf_bytes,
				   guint64 record_bytes, guint64 lost);

#endif
