/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dimensions by which a report groups its figures: --by. */
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
	KMT_BY_CGROUP,
	KMT_BY_CONTEXT,
	KMT_BY_MARK,
	KMT_BY_OWNER,
	KMT_BY_STACK,
	KMT_N_DIMENSIONS
} KmtDimension;

/* The parsed value of --by. */
typedef struct {
	guint n;
	KmtDimension dimensions[KMT_N_DIMENSIONS]; /* in the order given */
	/* TRUE: kmalloc and cache are separate kinds, because one of the
	 * dimensions is callsite, kind, cache or stack. FALSE: the kinds are
	 * those of kmt_kind_layer(). */
	gboolean kinds;
	KmtMatchKeyParts parts; /* key parts that the dimensions need */
} KmtBy;

/*
 * Parse a list such as "function,cpu". Return FALSE on error; the error lists
 * all dimensions.
 */
gboolean kmt_by_parse(const char *text, KmtBy *by, GError **error);

/* Return whether @by includes @dimension. */
gboolean kmt_by_has(const KmtBy *by, KmtDimension dimension);

/* Return the name of a dimension in --by, JSON and CSV: "callsite", ... */
const char *kmt_dimension_name(KmtDimension dimension);
/* Return the heading of a dimension: "call site", ... */
const char *kmt_dimension_title(KmtDimension dimension);
/* Return the plural of the heading: "call sites", ... */
const char *kmt_dimension_plural(KmtDimension dimension);
/*
 * Return the names of all dimensions, "callsite, function, ...". The caller
 * frees the string.
 */
char *kmt_dimension_names(void);

#endif
