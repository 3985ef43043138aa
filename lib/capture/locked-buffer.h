/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of pages for records.
 *
 * While the kernel is traced, each page that a program touches for the first
 * time is an event of the trace, so the memory is populated and locked before.
 */
#ifndef KMEMTRACE_CAPTURE_LOCKED_BUFFER_H
#define KMEMTRACE_CAPTURE_LOCKED_BUFFER_H

#include <glib.h>
#include <stdbool.h>

typedef struct {
	guint8 *data;	/* aligned to a page; NULL: no buffer */
	gsize capacity; /* in bytes */
} KmtCaptureBuffer;

/*
 * Allocate n_bytes. is_locked: populate the memory, and lock it if the limits
 * permit. Return whether the memory was allocated; otherwise errno is set.
 */
bool kmt_capture_buffer_allocate(KmtCaptureBuffer *buffer, gsize n_bytes,
				 bool is_locked);

/* Change the capacity to n_bytes. Return 0 or a negative errno. */
int kmt_capture_buffer_resize(KmtCaptureBuffer *buffer, gsize n_bytes);

/* Free the memory, if there is any. */
void kmt_capture_buffer_free(KmtCaptureBuffer *buffer);

#endif
