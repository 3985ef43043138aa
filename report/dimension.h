/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By what the figures of a report are kept: --by. */
#ifndef KMEMTRACE_REPORT_DIMENSION_H
#define KMEMTRACE_REPORT_DIMENSION_H

#include "lib/match/keys.h"

typedef enum {
	KMT_BY_CALLSITE,
	KMT_BY_FUNCTION,
	KMT_BY_MODULE,
	KMT_BY_DIRECTORY,
	KMT_BY_KIND,
	KMT_BY_CACHE,
	KMT_BY_SIZE,
	KMT_BY_CPU,
	KMT_BY_NODE,
	KMT_BY_GFP,
	KMT_BY_PID,
	KMT_BY_COMM,
	KMT_BY_CONTEXT,
	KMT_BY_MARK,
	KMT_BY_OWNER,
	KMT_BY_STACK,
	KMT_N_DIMENSIONS
} KmtDimension;

typedef struct {
	guint n;
	KmtDimension dimensions[KMT_N_DIMENSIONS]; /* in the order given */
	/* kmalloc and cache are kept apart, as a call site and a cache are of
	 * one kind; else there are slab and pages. */
	gboolean kinds;
	KmtMatchKeyParts parts; /* that cells must have */
} KmtBy;

/* "function,cpu".  An error names the dimensions there are. */
gboolean kmt_by_parse(const char *text, KmtBy *by, GError **error);
gboolean kmt_by_has(const KmtBy *by, KmtDimension dimension);

/* "callsite", ...; for --by, JSON and CSV. */
const char *kmt_dimension_name(KmtDimension dimension);
/* "call site", ...; a heading. */
const char *kmt_dimension_title(KmtDimension dimension);
/* "call sites", ... */
const char *kmt_dimension_plural(KmtDimension dimension);
/* "callsite, function, ...": all of them. */
char *kmt_dimension_names(void);

#endif
