/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers at which sums, products and conversions in C change behaviour. */
#ifndef KMEMTRACE_FUZZ_BOUNDARY_H
#define KMEMTRACE_FUZZ_BOUNDARY_H

#include <glib.h>
#include <kmemtrace_abi.h>

extern const guint64 kmt_boundaries[];
extern const guint kmt_n_boundaries;

/*
 * Return the text of a boundary: a number, or a text that a parser may mistake
 * for a number. Any index is valid. The caller frees the text.
 */
char *kmt_boundary_text(guint index);

/* Fields of a record. A field byte in an input of fuzz-options is the number of
 * a constant, modulo KMT_BOUNDARY_N_FIELDS. */
typedef enum {
	KMT_BOUNDARY_BYTES_REQ,
	KMT_BOUNDARY_BYTES_ALLOC,
	KMT_BOUNDARY_TIMESTAMP,
	KMT_BOUNDARY_PTR,
	KMT_BOUNDARY_CALL_SITE,
	KMT_BOUNDARY_GFP_FLAGS,
	KMT_BOUNDARY_NODE,
	KMT_BOUNDARY_EVENT_ID,
	KMT_BOUNDARY_TYPE_ID,
	KMT_BOUNDARY_EVENT_SIZE,
	KMT_BOUNDARY_PID,
	KMT_BOUNDARY_CACHE_AND_FLAGS, /* both, as one word of 32 bits */
	KMT_BOUNDARY_STACK,
	KMT_BOUNDARY_N_FIELDS
} KmtBoundaryField;

/*
 * Set a field of a record to the lowest bytes of @boundary. The record may be
 * unaligned, and of any version that has the field.
 */
void kmt_boundary_set(void *record, KmtBoundaryField field, guint64 boundary);

#endif
