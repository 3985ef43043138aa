/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a snapshot, for the engine, which makes it, and top-view.c. */
#ifndef KMEMTRACE_TOP_TOP_SNAPSHOT_H
#define KMEMTRACE_TOP_TOP_SNAPSHOT_H

#include "top/counts.h"
#include "top/top-view.h"

struct KmtTopSnapshot {
	gint refs;
	KmtTopNames *names;	  /* of the engine, which outlives snapshots */
	const KmtMatchKeys *keys; /* of the engine */
	KmtTopCounts *now;
	KmtTopCounts *before; /* of the snapshot before; NULL: there is none */
	KmtTopHeader header;  /* its strings are those below, or constant */
	char *source, *kernel, *input, *end_reason, *capture_path,
		*capture_error;
	GStrv not_seen;
};

/* Create a snapshot without header. It has a reference of each counts. */
KmtTopSnapshot *kmt_top_snapshot_new(KmtTopNames *names,
				     const KmtMatchKeys *keys,
				     KmtTopCounts *now, KmtTopCounts *before);

/* Copy the header with its strings. */
void kmt_top_snapshot_set_header(KmtTopSnapshot *snapshot,
				 const KmtTopHeader *header);

/* Return the counts of a class since the beginning, and those before the
 * interval. */
static inline KmtTopCount kmt_top_snapshot_before(const KmtTopSnapshot *s,
						  guint32 class_id)
{
	return s->before && class_id < s->before->n
		       ? s->before->classes[class_id]
		       : (KmtTopCount){0};
}

/* Add the figures of a class, without the rates. */
void kmt_top_snapshot_add(const KmtTopSnapshot *snapshot, guint32 class_id,
			  KmtTopFigures *figures);
/* Compute the rates of complete figures. */
void kmt_top_snapshot_set_rates(const KmtTopSnapshot *snapshot,
				KmtTopFigures *figures);

/* ---- the classes of a query ---- */

/* Return the kind of the rows of a class in the query, or KMT_TOP_ALL_KINDS:
 * the query does not select the class. */
KmtTopKind kmt_top_query_kind(const KmtTopQuery *query, guint type);

/* Return the id of the row of a class. *kind is kmt_top_query_kind(). */
guint64 kmt_top_query_row(const KmtTopSnapshot *snapshot,
			  const KmtTopQuery *query, guint32 class_id,
			  const KmtMatchKey *key, KmtTopKind kind);
/* Return the group of the row with this id. */
static inline guint32 kmt_top_row_group(guint64 id)
{
	return (guint32)(id / KMT_TOP_N_KINDS);
}

static inline KmtTopKind kmt_top_row_kind(guint64 id)
{
	return (KmtTopKind)(id % KMT_TOP_N_KINDS);
}

#endif
