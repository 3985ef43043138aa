/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The groups of objects that a report has figures of, by the dimensions that it
 * was asked for. For one thread at a time, the pipeline's consumer.
 */
#ifndef KMEMTRACE_REPORT_GROUPS_H
#define KMEMTRACE_REPORT_GROUPS_H

#include "report/dimension.h"
#include "report/object-filter.h"
#include "report/histogram.h"
#include "report/index.h"
#include "report/counters.h"
#include "report/phases.h"
#include "lib/symbols/symbolizer.h"
#include "lib/symbols/wrapper-functions.h"

/* How the live bytes of a group change from window to window. */
typedef struct {
	guint64 first; /* at the end of the first window, and */
	guint64 last;  /* at that of the last one that was seen */
	guint32 seen;  /* windows whose end was seen */
	guint32 grown; /* windows with more at their end than at their start */
} KmtGrowth;

/* What is kept only if somebody asked for it. */
typedef struct {
	KmtHistogram lifetimes; /* ns, of what was freed */
	KmtHistogram sizes;	/* bytes requested */
	KmtHistogram ages;	/* ns, of what is live at the end */
	guint64 short_lived;	/* freed sooner than the churn limit */
	KmtGrowth growth;
} KmtDetail;

typedef struct {
	/* kmt_kind_layer(), or a single kind if by->kinds. */
	KmtKind kind;
	/* A value for each of by->dimensions: an address, a number, or the
	 * number of a text. */
	const guint64 *values;
	KmtTotals totals; /* frees: of this group's own objects */
	guint64 at_peak;  /* live bytes when those of kind were at their peak */
	KmtDetail *detail; /* or NULL */
} KmtGroup;

#define KMT_NO_GROUP G_MAXUINT32

typedef struct {
	const KmtBy *by;
	const KmtFilter *filter;
	const KmtSymbolizer *names;
	const KmtSymWrappers *skip; /* functions that are nobody's owner */
	const KmtInputCapture *capture;
	const KmtInputTables *tables; /* or NULL: records have no owner */
	const KmtPhases *phases;      /* for KMT_BY_MARK */
	gboolean details;
} KmtGroupsOptions;

/* The counters of a group while records are read; its figures from
 * kmt_groups_finish() on. */
typedef union {
	KmtCounters counters;
	KmtGroup group;
} KmtGroupState;
G_STATIC_ASSERT(sizeof(KmtGroupState) == sizeof(KmtCounters));

/* Addresses that called each other, the innermost first. */
typedef struct {
	const guint64 *addresses;
	guint n;
} KmtChain;

/* Groups per chunk; a chunk does not move. */
#define KMT_GROUPS_CHUNK 256

typedef struct {
	KmtGroupsOptions options;
	const KmtMatchKeys *cells;
	guint32 n_groups;
	/* private: */
	KmtGroupState **states;
	KmtDetail **details; /* NULL: there are none */
	guint64 **keys;	     /* of each group its kind, then its values */
	KmtIndex index;	     /* by key */
	guint64 seed;	     /* of the hashes */
	/* Values that are no numbers: */
	GStringChunk *text_bytes;
	GPtrArray *texts; /* of const char *, in text_bytes */
	KmtIndex text_index;
	GHashTable *comms; /* name in tables -> number of its text */
	GArray *chains;	   /* of KmtChain, in cells or tables */
	KmtIndex chain_index;
} KmtGroups;

/* What options points to must live as long. */
KmtGroups *kmt_groups_new(const KmtGroupsOptions *options,
			  const KmtMatchKeys *cells);
void kmt_groups_free(KmtGroups *groups);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtGroups, kmt_groups_free)

/* The group of a class_id's objects; KMT_NO_GROUP if the filter does not want
 * them.
 */
guint32 kmt_groups_get(KmtGroups *groups, guint32 class_id);

/* Before kmt_groups_finish(). */
static inline KmtCounters *kmt_groups_counters(const KmtGroups *groups,
					       guint32 group)
{
	return &groups->states[group / KMT_GROUPS_CHUNK]
			      [group % KMT_GROUPS_CHUNK]
				      .counters;
}

/* options.details must be set. */
static inline KmtDetail *kmt_groups_detail(const KmtGroups *groups,
					   guint32 group)
{
	return &groups->details[group / KMT_GROUPS_CHUNK]
			       [group % KMT_GROUPS_CHUNK];
}

/* After kmt_groups_finish(). */
static inline KmtGroup *kmt_groups_at(const KmtGroups *groups, guint32 group)
{
	return &groups->states[group / KMT_GROUPS_CHUNK]
			      [group % KMT_GROUPS_CHUNK]
				      .group;
}

/* All is read.  epochs: how often the live bytes of each kind were never as
 * many. */
void kmt_groups_finish(KmtGroups *groups, const guint64 epochs[KMT_N_KINDS]);

/* A value of a group as text, a new string. */
char *kmt_groups_value(const KmtGroups *groups, const KmtGroup *group, guint i);
/* All of them, with commas between. */
char *kmt_groups_text(const KmtGroups *groups, const KmtGroup *group);
/* Of a KMT_BY_STACK, the addresses, the innermost first.  Never none. */
const guint64 *kmt_groups_chain(const KmtGroups *groups, const KmtGroup *group,
				guint i, guint *n);
/* The address of its call site; FALSE if by has none. */
gboolean kmt_groups_address(const KmtGroups *groups, const KmtGroup *group,
			    guint64 *address);

/* Ascending, by all values: call sites by name, or by address.  What has no
 * name comes last.  Groups may differ in their kind alone, which is not looked
 * at. */
int kmt_groups_compare_names(const KmtGroups *groups, const KmtGroup *a,
			     const KmtGroup *b);
int kmt_groups_compare(const KmtGroups *groups, const KmtGroup *a,
		       const KmtGroup *b);

#endif
