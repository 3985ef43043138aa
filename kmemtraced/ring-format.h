/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel itself says of its tracepoints and of its ring buffer. */
#ifndef KMEMTRACED_RING_FORMAT_H
#define KMEMTRACED_RING_FORMAT_H

#include <glib.h>

#include "kmemtraced/ring-page.h"

/*
 * Text of a file below events/; NULL without an error: it does not exist.
 * Newly allocated.
 */
typedef char *(*KmtdFormatReader)(gpointer data, const char *name,
				  GError **error);

/* FALSE and an error: it was built without libtraceevent. */
gboolean kmtd_ring_format_can_read(GError **error);

/*
 * Looks up header_page and the format of each tracepoint.  A field that is
 * needed and missing, or has no size that a number can have, is an error; not
 * so in the tracepoints of tasks.
 */
KmtdRingFormat *kmtd_ring_format_read(KmtdFormatReader reader, gpointer data,
				      GError **error);

#endif
