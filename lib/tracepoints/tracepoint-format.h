/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parser of the kernel's format files of tracepoints, based on libtraceevent.
 */
#ifndef KMEMTRACE_TRACEPOINTS_TRACEPOINT_FORMAT_H
#define KMEMTRACE_TRACEPOINTS_TRACEPOINT_FORMAT_H

#include "lib/tracepoints/kmem-events.h"

#define KMT_TRACEPOINT_ERROR (kmt_tracepoint_error_quark())

/* Return the error domain; use the macro KMT_TRACEPOINT_ERROR. */
GQuark kmt_tracepoint_error_quark(void);

/* Error codes of KMT_TRACEPOINT_ERROR. */
typedef enum {
	KMT_TRACEPOINT_ERROR_FORMAT, /* the format cannot be used for records */
	KMT_TRACEPOINT_ERROR_MEMORY,
	KMT_TRACEPOINT_ERROR_NO_LIBRARY, /* built without libtraceevent */
} KmtTracepointError;

/* Locations of the fields that all events have. */
typedef struct {
	KmtTracepointSlot type, flags, pid;
	guint bytes; /* minimum size that contains the fields */
} KmtTracepointCommonFields;

struct tep_handle; /* type of libtraceevent */
struct tep_event;

/*
 * Create a container for formats of a kernel with the host's byte order and
 * this size of long. Returns NULL and sets *error if memory or the library is
 * missing. The caller frees the container with tep_free().
 */
struct tep_handle *kmt_tracepoint_formats_new(guint long_bytes, GError **error);

/*
 * Parse text, the content of a format file, and return the event, which belongs
 * to formats. Returns NULL and sets *error if the text cannot be parsed.
 */
struct tep_event *kmt_tracepoint_formats_add(struct tep_handle *formats,
					     const char *system,
					     const char *name, const char *text,
					     GError **error);

/*
 * Parse the format file of a tracepoint in kmt_tracepoint_names. Other
 * tracepoints are ignored. Returns FALSE and sets *error if the text cannot be
 * parsed.
 */
gboolean kmt_tracepoint_formats_add_known(struct tep_handle *formats,
					  const char *system, const char *name,
					  const char *text, GError **error);

/*
 * Create a tracepoint from its format, and set *common; common->bytes is only
 * increased and must be 0 before the first call. page_bytes and cpus: see
 * kmt_tracepoint_prepare(). The caller frees the result with g_free(). Returns
 * NULL and sets *error if a required field is missing or is not an integer.
 */
KmtTracepoint *kmt_tracepoint_new(const KmtTracepointName *name,
				  struct tep_event *event, guint page_bytes,
				  guint cpus, KmtTracepointCommonFields *common,
				  GError **error);

#endif
