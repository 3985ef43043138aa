/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of CTF, and tracepoints by them. */
#ifndef KMEMTRACE_IMPORT_CTFFIELD_H
#define KMEMTRACE_IMPORT_CTFFIELD_H

#include <babeltrace2/babeltrace.h>

#include "lib/tracepoints/kmem-events.h"

/* More than any tracepoint has. */
#define CTF_MAX_FIELDS 8

/* A class of events that are of memory. */
typedef struct {
	guint index;	      /* in kmt_tracepoint_names */
	KmtTracepoint *point; /* of the data that convert() lays out */
	guint64 members[CTF_MAX_FIELDS]; /* of the payload, by place there */
	guint n_members;
} CtfPoint;

/* A number in a structure.  FALSE: it has no such member. */
gboolean ctf_member(const bt_field *structure, const char *name,
		    guint64 *value);

/* A text, that lives as long as the event, or NULL. */
const char *ctf_member_text(const bt_field *structure, const char *name);

/*
 * NULL: of another tracepoint; or an error, as an event of memory lacks a
 * field. Without a page's number, as old kernels have it, point is NULL.
 */
CtfPoint *ctf_point_new(const bt_event_class *class, guint cpus,
			GError **error);
void ctf_point_free(gpointer point);

/* As kmt_tracepoint_convert(). */
gboolean ctf_point_convert(const CtfPoint *point, const bt_event *event,
			   gint64 time, struct kmemtrace_event *e);

#endif
