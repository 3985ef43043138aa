/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel's own description of its tracepoints and of its ring buffer.
 */
#ifndef KMEMTRACED_RING_FORMAT_H
#define KMEMTRACED_RING_FORMAT_H

#include <glib.h>

#include "kmemtraced/ring-page.h"

/*
 * Return the text of a file below events/, newly allocated. NULL without an
 * error means that the file does not exist.
 */
typedef char *(*KmtdFormatReader)(gpointer data, const char *name,
				  GError **error);

/*
 * Return TRUE if kmemtraced was built with libtraceevent, which ring formats
 * need. Otherwise set an error.
 */
gboolean kmtd_ring_format_can_read(GError **error);

/*
 * Read header_page and the format of each tracepoint with @reader. A missing
 * required field is an error, and so is a field whose size is not 1, 2, 4 or 8
 * bytes. Errors in the tracepoints of tasks are ignored. Return NULL and set an
 * error on failure.
 */
KmtdRingFormat *kmtd_ring_format_read(KmtdFormatReader reader, gpointer data,
				      GError **error);

#endif
