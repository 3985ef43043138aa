/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracepoints as the kernel's own format files describe them. */
#ifndef KMEMTRACE_TRACEPOINTS_TRACEPOINT_FORMAT_H
#define KMEMTRACE_TRACEPOINTS_TRACEPOINT_FORMAT_H

#include "lib/tracepoints/kmem-events.h"

#define KMT_TRACEPOINT_ERROR (kmt_tracepoint_error_quark())
GQuark kmt_tracepoint_error_quark(void);

typedef enum {
	KMT_TRACEPOINT_ERROR_FORMAT, /* of no use to make records of */
	KMT_TRACEPOINT_ERROR_MEMORY,
	KMT_TRACEPOINT_ERROR_NO_LIBRARY, /* built without libtraceevent */
} KmtTracepointError;

/* The fields of each event, whatever the tracepoint. */
typedef struct {
	KmtTracepointSlot type, flags, pid;
	guint bytes; /* these three are within */
} KmtTracepointCommonFields;

struct tep_handle; /* of libtraceevent */
struct tep_event;

/*
 * Tracepoints of a kernel with this host's byte order and such longs.  NULL and
 * an error: there is no memory, or no library.  To be freed with tep_free().
 */
struct tep_handle *kmt_tracepoint_formats_new(guint long_bytes, GError **error);

/*
 * The event that text, a format file, describes.  It belongs to formats.  NULL
 * and an error if it cannot be understood.
 */
struct tep_event *kmt_tracepoint_formats_add(struct tep_handle *formats,
					     const char *system,
					     const char *name, const char *text,
					     GError **error);

/*
 * Add the format of a tracepoint in kmt_tracepoint_names, and ignore any other.
 * FALSE and an error: the format cannot be understood.
 */
gboolean kmt_tracepoint_formats_add_known(struct tep_handle *formats,
					  const char *system, const char *name,
					  const char *text, GError **error);

/*
 * The tracepoint, newly allocated; common is set as well.  A field that is
 * needed and missing, or has no size that a number can have, is an error.
 */
KmtTracepoint *kmt_tracepoint_new(const KmtTracepointName *name,
				  struct tep_event *event, guint page_bytes,
				  guint cpus, KmtTracepointCommonFields *common,
				  GError **error);

#endif
