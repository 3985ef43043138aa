/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kmemtrace-top shows: the interface between the engine, which counts, and
 * the output (screen, text, JSON), which prints.
 *
 * A snapshot has all figures of one moment and of the interval since the
 * snapshot before. A snapshot never changes, so any thread may read one that it
 * has a reference of. A view is a snapshot as a query selects, groups, and
 * sorts it. All texts are safe to print on a terminal, and valid UTF-8.
 */
#ifndef KMEMTRACE_TOP_TOP_VIEW_H
#define KMEMTRACE_TOP_TOP_VIEW_H

#include <glib.h>

typedef struct KmtTopSnapshot KmtTopSnapshot;

/* Acquire and release a reference of a snapshot; NULL is allowed for
 * kmt_top_snapshot_unref(). Any thread may call these functions. */
KmtTopSnapshot *kmt_top_snapshot_ref(KmtTopSnapshot *snapshot);
void kmt_top_snapshot_unref(KmtTopSnapshot *snapshot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopSnapshot, kmt_top_snapshot_unref)

/* ---- queries ---- */

/* What a row stands for. */
typedef enum {
	KMT_TOP_BY_CALL_SITE,
	KMT_TOP_BY_CACHE,
	KMT_TOP_BY_COMMAND,
	KMT_TOP_BY_MODULE,
	KMT_TOP_BY_DIRECTORY,
	KMT_TOP_N_GROUPINGS
} KmtTopGrouping;

/*
 * The kind of memory. The bytes of different kinds overlap, so a row has memory
 * of one kind only. KMALLOC and CACHE share the rows of SLAB, unless the query
 * selects one of them or groups by call site or cache. KMT_TOP_ALL_KINDS
 * selects the rows of all kinds.
 */
typedef enum {
	KMT_TOP_ALL_KINDS,
	KMT_TOP_SLAB,
	KMT_TOP_KMALLOC,
	KMT_TOP_CACHE,
	KMT_TOP_PAGES,
	KMT_TOP_PERCPU,
	KMT_TOP_VMALLOC,
	KMT_TOP_N_KINDS
} KmtTopKind;

/* The column by which rows are sorted: the largest value first, names in
 * ascending order. Rows with equal values are sorted by name and kind. */
typedef enum {
	KMT_TOP_ORDER_RATE, /* allocated bytes per second */
	KMT_TOP_ORDER_LIVE, /* live bytes */
	KMT_TOP_ORDER_WASTED,
	KMT_TOP_ORDER_GROWTH,
	KMT_TOP_ORDER_ALLOCS, /* allocations per second */
	KMT_TOP_ORDER_NAME,
	KMT_TOP_N_ORDERS
} KmtTopOrder;

typedef struct {
	KmtTopGrouping grouping;
	KmtTopKind kind;
	KmtTopOrder order;
	gboolean reverse;
	/* Shows only rows whose name contains this text or, with *, ?, or [,
	 * whose name matches it as a whole; case-insensitive. NULL or "": all
	 * rows. */
	const char *filter;
} KmtTopQuery;

/*
 * Names of the enumerators as in options and JSON ("call-site", "slab",
 * "rate"), and the reverse. The strings are constant. kmt_top_*_parse() return
 * FALSE for an unknown name.
 */
const char *kmt_top_grouping_name(KmtTopGrouping grouping);
const char *kmt_top_kind_name(KmtTopKind kind);
const char *kmt_top_order_name(KmtTopOrder order);
gboolean kmt_top_grouping_parse(const char *name, KmtTopGrouping *grouping);
gboolean kmt_top_kind_parse(const char *name, KmtTopKind *kind);
gboolean kmt_top_order_parse(const char *name, KmtTopOrder *order);

/* ---- views ---- */

/* The figures of a row or of a kind. Bytes are allocated bytes, unless the name
 * contains another word. */
typedef struct {
	/* Since the beginning of the trace. Frees are those of allocations that
	 * were traced. */
	guint64 allocs, frees;
	guint64 alloc_bytes;
	guint64 live_objects;
	guint64 live_bytes;
	gint64 wasted_bytes; /* of live_bytes: not requested; negative only if
			      * records are invalid */
	/* Within the interval. */
	guint64 interval_allocs, interval_frees;
	guint64 interval_bytes;
	gint64 growth_bytes; /* change of live_bytes */
	/* Per second of the interval; 0 if the interval has no length. */
	double allocs_per_s, frees_per_s, bytes_per_s;
} KmtTopFigures;

typedef struct {
	const char *name;
	KmtTopKind kind; /* never KMT_TOP_ALL_KINDS */
	/* Identifies the row in later views with the same grouping and kind of
	 * the query. */
	guint64 id;
	KmtTopFigures figures;
} KmtTopRow;

/* What happened to the raw capture that the user has requested last. */
typedef enum {
	KMT_TOP_CAPTURE_NONE, /* none was requested */
	KMT_TOP_CAPTURE_RUNNING,
	KMT_TOP_CAPTURE_COMPLETE,
	KMT_TOP_CAPTURE_FAILED
} KmtTopCaptureState;

/* The state of the trace at the moment of the snapshot. */
typedef struct {
	const char *source; /* "relay", "bpf", "ftrace", or NULL: unknown */
	const char *kernel; /* release of the kernel; NULL: unknown */
	const char *input;  /* name of the file that is read; NULL: live */
	guint n_cpus;
	double time;	  /* wall-clock time of the snapshot, Unix seconds */
	double elapsed_s; /* from the first tick of the trace to the snapshot */
	double interval_s; /* length of the interval */
	gboolean ended;	   /* the stream has ended; no later snapshot differs */
	const char *end_reason; /* why, as one line; NULL: has not ended */
	/* Records: all, those of the interval, and per second of the interval.
	 */
	guint64 events, interval_events;
	double events_per_s;
	/* Events that the source lost; with_losses_unknown: it lost others,
	 * whose number is unknown. */
	guint64 lost, interval_lost;
	gboolean losses_unknown;
	/* What the source does not record; NULL: no gap is known. */
	const char *const *not_seen;
	/* Records that came after a tick that they should have preceded. Their
	 * order among the records of other CPUs is not exact. */
	guint64 late_records;
	guint64 frees_before;	 /* frees of memory from before the trace */
	guint64 unmatched_frees; /* other frees without an allocation */
	/* Objects beyond the limit are counted as allocations, but are not
	 * among the live ones; nor are their frees counted. */
	guint64 live_objects, max_objects;
	gboolean limit_reached; /* now or earlier */
	guint64 untracked_allocs;
	guint64 memory_bytes; /* of the table of live objects */
	/* Processor time within the interval, in percent of one CPU, negative
	 * if unknown: of this program, and of kmemtraced. */
	double own_cpu_percent, daemon_cpu_percent;
	KmtTopCaptureState capture;
	const char *capture_path;  /* NULL: none was requested */
	const char *capture_error; /* KMT_TOP_CAPTURE_FAILED: why, one line */
	guint64 capture_bytes;	   /* written so far */
} KmtTopHeader;

typedef struct {
	const KmtTopHeader *header; /* owned by the snapshot */
	/* Figures of each kind, without the filter. [KMT_TOP_ALL_KINDS] is 0,
	 * because kinds overlap. */
	const KmtTopFigures *kinds;
	const KmtTopRow *rows;
	guint n_rows;
	guint n_groups; /* rows without the filter */
} KmtTopView;

/* Return the rows that a query selects. The view has a reference of the
 * snapshot. */
KmtTopView *kmt_top_view_new(KmtTopSnapshot *snapshot,
			     const KmtTopQuery *query);
void kmt_top_view_free(KmtTopView *view);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopView, kmt_top_view_free)

/* Return the header of a snapshot, which owns it. */
const KmtTopHeader *kmt_top_snapshot_header(const KmtTopSnapshot *snapshot);

/* ---- details of one row ---- */

typedef struct {
	guint64 bytes_req, bytes; /* of one object */
	KmtTopFigures figures;
} KmtTopSize;

/* Number of freed objects that lived for [from_ns, until_ns). */
typedef struct {
	guint64 from_ns, until_ns;
	guint64 frees;
} KmtTopLifetime;

/* A name with its part of the row's figures: a command, a cache, or a call
 * site. */
typedef struct {
	const char *name;
	KmtTopFigures figures;
} KmtTopPart;

typedef struct {
	KmtTopRow row;
	/* Source location and directory of a call site; NULL: unknown, or the
	 * row is none. */
	const char *source, *directory, *module;
	/* Sorted by live bytes, then by allocations, the largest first. */
	const KmtTopSize *sizes;
	guint n_sizes;
	const KmtTopPart *commands, *caches, *call_sites;
	guint n_commands, n_caches, n_call_sites;
	/* In ascending order, without those before the first and after the last
	 * free. */
	const KmtTopLifetime *lifetimes;
	guint n_lifetimes;
} KmtTopDetails;

/*
 * Return the details of the row with this id in a view of the same query, or
 * NULL if there is none. The details have a reference of the snapshot.
 */
KmtTopDetails *kmt_top_details_new(KmtTopSnapshot *snapshot,
				   const KmtTopQuery *query, guint64 id);
void kmt_top_details_free(KmtTopDetails *details);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopDetails, kmt_top_details_free)

/* ---- output that the batch mode and the keys to save share ---- */

/* Print a view as text, at most max_rows rows (0: all), or as one JSON
 * document, to out. The caller checks ferror(). */
void kmt_top_print_text(const KmtTopView *view, const KmtTopQuery *query,
			guint max_rows, gpointer out);
void kmt_top_print_json(const KmtTopView *view, const KmtTopQuery *query,
			guint max_rows, gpointer out);

#endif
