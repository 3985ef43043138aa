/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How large kmemtrace's buffers have to be. */
#ifndef KMEMTRACE_CAPTURE_SUBBUFS_H
#define KMEMTRACE_CAPTURE_SUBBUFS_H

#include <glib.h>

/*
 * The number of sub-buffers that would have kept the events lost on the CPU
 * that lost most of them, where there were n; 0 if a figure is not known, or
 * if the result is above G_MAXUINT64.
 *
 * Never is more missing at once than was lost in all; so room for as many more
 * events is enough for the same run.  Twice as many as there were at least:
 * what is lost in the next run is not known.
 */
guint64 kmt_capture_enough_subbufs(guint64 n, guint64 subbuf_bytes,
				   guint64 record_bytes, guint64 lost);

#endif
