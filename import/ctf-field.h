/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access to fields of CTF events, and conversion of CTF events to records. */
#ifndef KMEMTRACE_IMPORT_CTF_FIELD_H
#define KMEMTRACE_IMPORT_CTF_FIELD_H

#include <babeltrace2/babeltrace.h>

#include "lib/tracepoints/kmem-events.h"

/* Upper bound for the number of fields that a KmtTracepointName lists. */
#define KMT_CTF_MAX_FIELDS 8

/* A CTF event class that corresponds to a memory tracepoint. */
typedef struct {
	guint index;	      /* index in kmt_tracepoint_names */
	KmtTracepoint *point; /* layout of the array of u64 values that
			       * kmt_ctf_point_convert() builds; NULL: the
			       * events cannot be converted, see
			       * kmt_ctf_point_new() */
	guint64 members[KMT_CTF_MAX_FIELDS]; /* indices of payload members */
	guint n_members;
} KmtCtfPoint;

/*
 * Read an integer member of structure, which may be NULL. Returns FALSE if
 * structure has no integer member with this name.
 */
gboolean kmt_ctf_member(const bt_field *structure, const char *name,
			guint64 *value);

/*
 * Return a string member of structure, which may be NULL. The string belongs to
 * the event. Returns NULL if structure has no string member with this name.
 */
const char *kmt_ctf_member_text(const bt_field *structure, const char *name);

/*
 * Create the description of an event class; free it with kmt_ctf_point_free().
 * cpus is the number of possible CPUs, 0 if unknown. Returns NULL without an
 * error if class is not a memory tracepoint, and NULL with *error set if class
 * lacks a required field. In the result, the member point is NULL if class is a
 * page tracepoint of an old kernel, which has the address of struct page
 * instead of the page frame number.
 */
KmtCtfPoint *kmt_ctf_point_new(const bt_event_class *class, guint cpus,
			       GError **error);

/*
 * Free a KmtCtfPoint; NULL is accepted. The parameter type matches
 * GDestroyNotify.
 */
void kmt_ctf_point_free(gpointer point);

/*
 * Convert an event to the record *e with the given time in ns. Returns FALSE if
 * the event describes no memory; see kmt_tracepoint_convert().
 */
gboolean kmt_ctf_point_convert(const KmtCtfPoint *point, const bt_event *event,
			       gint64 time, struct kmemtrace_event *e);

#endif
