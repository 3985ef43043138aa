/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of objects by the dimensions of --by, with the figures of each group.
 * One thread at a time may use the groups; while records are read, only the
 * pipeline's consumer.
 */
#ifndef KMEMTRACE_REPORT_GROUPS_H
#define KMEMTRACE_REPORT_GROUPS_H

#include "report/dimension.h"
#include "report/object-filter.h"
#include "report/histogram.h"
#include "report/index.h"
#include "report/counters.h"
#include "report/deferred.h"
#include "report/phases.h"
#include "lib/symbols/symbolizer.h"
#include "lib/symbols/wrapper-functions.h"

/* Change of a group's bytes in use from window to window. Bytes in use are the
 * bytes of objects that are live and not deferred. */
typedef struct {
	guint64 first;	   /* bytes in use at the end of the first window */
	guint64 last;	   /* bytes in use at the end of window n_windows */
	guint32 n_windows; /* number of windows that have ended */
	guint32 grown;	   /* windows after the first with more bytes in use at
			    * the end than at the start */
} KmtGrowth;

/* Figures of a group that are computed only if an option needs them. */
typedef struct {
	KmtHistogram lifetimes; /* lifetimes of freed objects, ns */
	KmtHistogram sizes;	/* requested bytes of the allocations */
	KmtHistogram ages;	/* ages of the objects that are live and not
				 * deferred at the end of the span, ns */
	guint64 short_lived; /* freed objects that lived less than churn_ns */
	KmtGrowth growth;
} KmtDetail;

/* The values and figures of a group. */
typedef struct {
	/* A result of kmt_kind_layer(), or any kind but SLAB if by->kinds. */
	KmtKind kind;
	/* One value for each of by->dimensions: an address, a number, or the
	 * index of a text or of a call chain. */
	const guint64 *values;
	KmtTotals totals;      /* frees: frees of objects of this group */
	guint64 at_peak;       /* live bytes at the peak of the kind */
	KmtDetail *detail;     /* NULL: no option needs details */
	KmtDeferred *deferred; /* NULL: no object was deferred */
} KmtGroup;

#define KMT_NO_GROUP G_MAXUINT32

/*
 * Selects the groups and provides the names of their values. No pointer is
 * owned.
 */
typedef struct {
	const KmtBy *by;
	const KmtFilter *filter;
	const KmtSymbolizer *symbolizer;
	const KmtSymWrappers *skip; /* wrapper functions, or NULL */
	const KmtInputCapture *capture;
	const KmtInputTables *tables; /* NULL: no dimension needs owners, or the
				       * records have none */
	const KmtPhases *phases;      /* for KMT_BY_MARK */
	gboolean details;
} KmtGroupsOptions;

/* A group has counters while records are read, and figures after
 * kmt_groups_finish(). */
typedef union {
	KmtCounters counters;
	KmtGroup group;
} KmtGroupState;
G_STATIC_ASSERT(sizeof(KmtGroupState) == sizeof(KmtCounters));

/* Addresses of a call chain, the innermost function first. */
typedef struct {
	const guint64 *addresses;
	guint n;	      /* at least 1 */
	const KmtSymTag *tag; /* tag of the first address */
} KmtChain;

/* Number of groups in a chunk. The address of a chunk never changes. */
#define KMT_GROUPS_CHUNK 256

/* log2 of the number of slots of KmtGroups.recent. */
#define KMT_GROUPS_RECENT_BITS 12

/* A class and its group. */
typedef struct {
	guint32 class_number; /* number of the class plus 1; 0: unused slot */
	guint32 group;	      /* KMT_NO_GROUP: the filter excludes the class */
} KmtGroupOfClass;

/* All groups of a report. */
typedef struct {
	KmtGroupsOptions options;
	const KmtMatchKeys *match_keys;
	guint32 n_groups;
	/* Private: */
	gboolean has_tags; /* the key of a group ends with the tag of its call
			    * site, because this tag depends on the time */
	KmtGroupState **states;
	KmtDetail **details;	/* NULL: no option needs details */
	KmtDeferred **deferred; /* of groups 0 to n_deferred - 1; an entry is
				 * NULL if no object was deferred */
	guint32 n_deferred;
	guint64 **keys; /* for each group its kind and values */
	KmtIndex index; /* from keys to groups */
	/* A direct-mapped cache by the key of a class; NULL if the group also
	 * depends on the size of a class. */
	KmtGroupOfClass *recent;
	guint64 seed; /* seed of the hashes */
	/* Interned texts of values that are not numbers. */
	GStringChunk *text_bytes;
	GPtrArray *texts; /* const char *, stored in text_bytes */
	KmtIndex text_index;
	KmtMatchIntern *sources; /* that on which the values depend; see
				  * group-values.c */
	GArray *values;		 /* guint64: the value of each source */
	GArray *chains; /* KmtChain, with addresses in match_keys or tables */
	KmtIndex chain_index;
} KmtGroups;

/*
 * Create the groups. All objects that @options points to and @match_keys must
 * outlive the groups.
 */
KmtGroups *kmt_groups_new(const KmtGroupsOptions *options,
			  const KmtMatchKeys *match_keys);
void kmt_groups_free(KmtGroups *groups);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtGroups, kmt_groups_free)

/* Return the group of a class, creating the group if necessary; KMT_NO_GROUP if
 * the filter excludes the class. */
guint32 kmt_groups_of_class(KmtGroups *groups, guint32 class_id);

/* Return the counters of a group. Valid until kmt_groups_finish(). */
static inline KmtCounters *kmt_groups_counters(const KmtGroups *groups,
					       guint32 group)
{
	return &groups->states[group / KMT_GROUPS_CHUNK]
			      [group % KMT_GROUPS_CHUNK]
				      .counters;
}

/* Return the details of a group. options.details must be set. */
static inline KmtDetail *kmt_groups_detail(const KmtGroups *groups,
					   guint32 group)
{
	return &groups->details[group / KMT_GROUPS_CHUNK]
			       [group % KMT_GROUPS_CHUNK];
}

/*
 * Return the figures of deferred memory of a group. If no object was deferred,
 * kmt_groups_deferred() returns NULL, and kmt_groups_add_deferred() creates the
 * figures.
 */
static inline KmtDeferred *kmt_groups_deferred(const KmtGroups *groups,
					       guint32 group)
{
	return group < groups->n_deferred ? groups->deferred[group] : NULL;
}

KmtDeferred *kmt_groups_add_deferred(KmtGroups *groups, guint32 group);

/* Return the figures of a group. Valid after kmt_groups_finish(). */
static inline KmtGroup *kmt_groups_at(const KmtGroups *groups, guint32 group)
{
	return &groups->states[group / KMT_GROUPS_CHUNK]
			      [group % KMT_GROUPS_CHUNK]
				      .group;
}

/* Convert the counters of all groups to figures, after the last record. @epochs
 * has the KmtCounters.epoch of each kind. */
void kmt_groups_finish(KmtGroups *groups, const guint64 epochs[KMT_N_KINDS]);

/* Return value @i of a group as text. The caller frees the string. */
char *kmt_groups_value(const KmtGroups *groups, const KmtGroup *group, guint i);
/*
 * Return all values of a group as text, separated by ", ". The caller frees the
 * string.
 */
char *kmt_groups_text(const KmtGroups *groups, const KmtGroup *group);
/*
 * Return the call chain of a group. Dimension @i must be KMT_BY_STACK. The
 * groups own the chain.
 */
const KmtChain *kmt_groups_chain(const KmtGroups *groups, const KmtGroup *group,
				 guint i);
/*
 * Return address @i of a chain as a call site. The time of the callers is
 * unknown, so a caller only has a tag whose code was not freed.
 */
KmtSymSite kmt_groups_frame(const KmtGroups *groups, const KmtChain *chain,
			    guint i);
/*
 * Set *site to the call site of a group. Return FALSE if KMT_BY_CALLSITE is not
 * among the dimensions.
 */
gboolean kmt_groups_site(const KmtGroups *groups, const KmtGroup *group,
			 KmtSymSite *site);

/* Return a number for the first value of a group, so that a sort rarely calls
 * kmt_groups_compare(): different numbers have the order of that function. */
guint64 kmt_groups_rank(const KmtGroups *groups, const KmtGroup *group);

/* Compare all values of two groups for ascending order.
 * kmt_groups_compare_names() compares call sites by name, and call sites
 * without a name are last. kmt_groups_compare() compares call sites by address.
 * Neither function compares KmtGroup.kind. */
int kmt_groups_compare_names(const KmtGroups *groups, const KmtGroup *a,
			     const KmtGroup *b);
int kmt_groups_compare(const KmtGroups *groups, const KmtGroup *a,
		       const KmtGroup *b);

#endif
