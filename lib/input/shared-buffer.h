/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A buffer with a reference count. */
#ifndef KMEMTRACE_INPUT_SHARED_BUFFER_H
#define KMEMTRACE_INPUT_SHARED_BUFFER_H

#include <glib.h>

/* The count is atomic, so any thread may acquire or release a reference. */
typedef struct {
	gint refs;
	gsize n_bytes; /* size of data */
	guint8 data[];
} KmtInputBuffer;

/* Create a buffer with at least n bytes of data, which are not initialised. The
 * caller owns the only reference. */
KmtInputBuffer *kmt_input_buffer_new(gsize n);

/*
 * Acquire and release a reference of a buffer. Releasing the last reference
 * frees the buffer, or keeps it for kmt_input_buffer_new().
 * kmt_input_buffer_unref() accepts NULL.
 */
KmtInputBuffer *kmt_input_buffer_ref(KmtInputBuffer *buffer);
void kmt_input_buffer_unref(KmtInputBuffer *buffer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputBuffer, kmt_input_buffer_unref)

#endif
