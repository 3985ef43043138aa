/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures that only the HTML report has: of allocation classes, of groups by
 * window of time, and of frees by CPU and by call site. The detailed statistics
 * count them. The memory is bounded by the numbers of classes and of groups and
 * by the limits below.
 */
#ifndef KMEMTRACE_REPORT_HISTORY_H
#define KMEMTRACE_REPORT_HISTORY_H

#include "report/history-series.h"
#include "report/totals.h"

/*
 * Limit of the entries of all series. When it is reached, the groups of a half
 * with the least memory share one series of their kind from then on.
 */
#ifndef KMT_HISTORY_MAX_ENTRIES /* a test reduces the limits */
#define KMT_HISTORY_MAX_ENTRIES (1U << 19)
#endif
/* Limit of the pairs of a group and a freeing call site. Frees of further pairs
 * are not counted by pair. */
#ifndef KMT_HISTORY_MAX_PAIRS
#define KMT_HISTORY_MAX_PAIRS (1U << 18)
#endif
/* log2 of the entries of a direct-mapped cache that finds frequent pairs. */
#define KMT_HISTORY_RECENT_BITS 12
/* Limit of the rows of the matrix of CPUs. A row stands for one CPU or, if
 * there are more CPUs, for several ones. */
#define KMT_HISTORY_MAX_ROWS 128

/* The figures of an allocation class. The bytes follow from the sizes of the
 * class. */
typedef struct {
	guint64 epoch;	 /* epoch of the kind to which at_peak belongs */
	guint64 at_peak; /* live objects at that peak */
	guint64 live;	 /* live objects */
	guint64 allocs;	 /* in the span */
	guint32 group;	 /* KMT_NO_GROUP: no event, or excluded by the filter */
	guint8 kind;
} KmtHistoryClass;

/* Frees of the objects of a group by one call site. */
typedef struct {
	guint64 site;
	guint64 frees; /* 0: the slot is empty */
	guint32 group;
} KmtHistoryPair;

typedef struct {
	KmtTimeline timeline;
	KmtHistoryClass *classes;
	guint32 n_classes;
	KmtSeries **series; /* by group; NULL: no event yet */
	guint32 n_series;
	KmtSeries rest[KMT_N_KINDS]; /* groups that share a series point here */
	guint32 n_shared;	     /* groups that share a series */
	guint32 n_entries;	     /* allocated entries of the other groups */
	/* FREE records by kind and window, and their numbers. */
	KmtSeries free_records[KMT_N_KINDS];
	guint64 n_free_records[KMT_N_KINDS];
	KmtHistoryPair *pairs; /* hash table of n_slots slots, a power of 2 */
	guint32 n_slots, n_pairs;
	guint64 unpaired; /* frees beyond KMT_HISTORY_MAX_PAIRS */
	/* Slots of frequent pairs; each may be that of another pair. */
	guint32 recent[1 << KMT_HISTORY_RECENT_BITS];
	guint n_rows;	 /* rows and columns of the matrix */
	guint block;	 /* CPUs in a row */
	guint8 *rows;	 /* row of each of capture->files */
	guint64 *matrix; /* frees; the row of the allocating CPU comes first */
	guint64 seed;
} KmtHistory;

/* Return an empty history for a capture with @n_files files. The caller frees
 * the result. */
KmtHistory *kmt_history_new(guint n_files);
void kmt_history_free(KmtHistory *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtHistory, kmt_history_free)

/* Return the class with this number. Valid until the next call. */
KmtHistoryClass *kmt_history_class(KmtHistory *history, guint32 class_id);

/* Count a free by pair in the hash table, and return the slot of the pair.
 * Private to kmt_history_count_free(). */
guint32 kmt_history_count_pair(KmtHistory *history, guint32 group,
			       guint64 site);

/* An event of an object. */
typedef struct {
	guint32 class_id;
	guint32 group;
	guint8 kind;
	guint64 epoch; /* of the kind, before the event */
	guint64 bytes_req;
	guint64 bytes_alloc;
	gboolean inside; /* the event is in the span */
} KmtHistoryEvent;

/* Account for an allocation, and for an object that is no longer live. */
void kmt_history_alloc(KmtHistory *history, const KmtHistoryEvent *event);
void kmt_history_close(KmtHistory *history, const KmtHistoryEvent *event);
/* Account for an object whose free is deferred from now on (@begins) or no
 * longer. */
void kmt_history_defer(KmtHistory *history, const KmtHistoryEvent *event,
		       gboolean begins);

/*
 * Account for many events of a class in four parts, which is faster:
 * kmt_history_enter() before the first event of the current window,
 * kmt_history_change() for each event that changes the live objects,
 * kmt_history_count_free() for each free in the span, and kmt_history_add()
 * with the numbers of the events before the window ends and before
 * kmt_history_limit().
 */
void kmt_history_enter(KmtHistory *history, const KmtHistoryEvent *event);
void kmt_history_add(KmtHistory *history, const KmtHistoryEvent *event,
		     guint64 allocs, guint64 frees);

/* Add @change to the live objects of a class; -1 as modulo 2^64. @epoch is that
 * of the kind, before the event. */
static inline void kmt_history_change(KmtHistoryClass *class, guint64 epoch,
				      guint64 change)
{
	if (class->epoch != epoch) {
		class->epoch = epoch;
		class->at_peak = class->live;
	}
	class->live += change;
}

/*
 * Count the free of an object by CPUs and by call site. @alloc_file and
 * @free_file are indexes in capture->files; @site is the freeing call site.
 */
static inline void kmt_history_count_free(KmtHistory *history, guint32 group,
					  guint alloc_file, guint free_file,
					  guint64 site)
{
	guint64 hash = (site + group) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	guint32 *recent =
		&history->recent[hash >> (64 - KMT_HISTORY_RECENT_BITS)];
	KmtHistoryPair *pair = &history->pairs[*recent];

	history->matrix[history->rows[alloc_file] * history->n_rows +
			history->rows[free_file]]++;
	if (G_LIKELY(pair->site == site && pair->group == group && pair->frees))
		pair->frees++;
	else
		*recent = kmt_history_count_pair(history, group, site);
}

/* Count the free of an object in the span: kmt_history_count_free(), and in the
 * series of the group. */
void kmt_history_free_object(KmtHistory *history, guint32 group, guint8 kind,
			     guint alloc_file, guint free_file, guint64 site);
/*
 * Count the FREE records of the current window. @numbers is, by kind, the
 * number of all FREE records of the span so far.
 */
void kmt_history_free_records(KmtHistory *history, const guint64 *numbers);

/* Return whether the entries exceed KMT_HISTORY_MAX_ENTRIES. */
static inline gboolean kmt_history_is_full(const KmtHistory *history)
{
	return history->n_entries > KMT_HISTORY_MAX_ENTRIES;
}

/* If the history is full, let groups share a series. */
void kmt_history_limit(KmtHistory *history);

/* Begin the span at @start: the live objects remain. */
void kmt_history_begin(KmtHistory *history, gint64 start);

/* Complete at_peak of all classes, and refer all series to the final width.
 * @epochs is of each kind, after the last event. */
void kmt_history_finish(KmtHistory *history, const guint64 *epochs);

/* After kmt_history_finish(): double the width of the windows. */
void kmt_history_double(KmtHistory *history);

/* Return the series of a group; NULL: the group has no event of its own, or it
 * shares a series. */
KmtSeries *kmt_history_series(const KmtHistory *history, guint32 group);

#endif
