/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replays a capture: calls consumers for each allocation and free in merged
 * order, with the object. The pipeline of lib/match decides which FREE belongs
 * to which ALLOC, so the objects are those of the statistics. A consumer can
 * simulate an allocator or compare objects with each other, which sums of
 * groups cannot.
 *
 * Each live object has a slot, a small number that no other live object has. A
 * consumer stores data of an object in an array by slot.
 */
#ifndef KMEMTRACE_REPORT_REPLAY_H
#define KMEMTRACE_REPORT_REPLAY_H

#include "report/object-filter.h"
#include "report/totals.h"
#include "lib/input/name-tables.h"
#include "lib/match/pipeline.h"

/*
 * The properties that a set of allocations shares: the call site, the kind, the
 * cache, the gfp flags and the sizes. A filter can add properties, so classes
 * may have equal fields.
 */
typedef struct {
	guint64 call_site;
	gint64 tag_time; /* time for kmt_symbolizer_alloc_site() */
	guint64 bytes_req;
	guint64 bytes_alloc;
	guint64 gfp_flags;
	guint16 cache; /* number of the cache; KMEMTRACE_CACHE_NONE if none */
	guint8 kind;   /* KmtKind, never SLAB */
	guint8 is_selected; /* the filter of the report selects the class */
} KmtReplayClass;

/* A live object, or an object that the current event frees. Times are merged
 * times in ns. A file is an index in capture->files and identifies a CPU. */
typedef struct {
	guint64 ptr;
	gint64 alloc_time;
	gint64 defer_time;  /* valid if is_deferred */
	guint64 defer_site; /* valid if is_deferred */
	guint32 class_id;
	guint32 alloc_pid; /* valid if has_alloc_task */
	guint16 alloc_file;
	guint16 defer_file; /* valid if is_deferred */
	guint8 kind;
	guint8 has_alloc_task; /* a task allocated the object, not an interrupt,
				* and the record has its pid */
	guint8 is_deferred;
	guint8 is_live;
} KmtReplayObject;

typedef enum {
	KMT_REPLAY_ALLOC,
	KMT_REPLAY_FREE,
	/* The object is handed over to be freed later. */
	KMT_REPLAY_DEFER,
	/* The address was allocated again without a FREE. The object ends. The
	 * event has the CPU and call site of the new ALLOC. */
	KMT_REPLAY_REPLACED,
} KmtReplayOp;

/* An event. All pointers are valid until the consumer returns. */
typedef struct {
	guint8 op;	   /* KmtReplayOp */
	guint8 has_task;   /* a task caused the event, not an interrupt, and
			    * pid is known */
	guint8 is_inside;  /* the event is in the time of the report; events
			    * before that time are replayed too, because
			    * their objects may be live later */
	guint16 file;	   /* index in capture->files */
	guint32 cpu;	   /* number of the CPU */
	guint32 pid;	   /* valid if has_task */
	guint32 slot;	   /* slot of the object */
	gint64 now;	   /* merged time, ns */
	guint64 call_site; /* of this record */
	const KmtReplayObject *object;
	const KmtReplayClass *class; /* of the object */
} KmtReplayEvent;

/* The live bytes of a kind, of the selected objects. */
typedef struct {
	guint64 live; /* allocated bytes */
	guint64 peak; /* largest live bytes in the time of the report */
	gint64 peak_time;
	/* Incremented at each new peak; see kmt_replay_at_peak(). */
	guint32 peak_number;
} KmtReplayKind;

typedef struct KmtReplay KmtReplay;

/* Functions of a consumer; each may be NULL. user is the first argument. */
typedef struct {
	/* An event, also of objects that the filter does not select. The
	 * figures of replay->kinds are those before the event. */
	void (*on_event)(gpointer user, const KmtReplay *replay,
			 const KmtReplayEvent *event);
	/* The time of the report begins at now. Not called for a capture
	 * without records. */
	void (*on_begin)(gpointer user, const KmtReplay *replay, gint64 now);
	/* The time of the report, and the replay, end at now. */
	void (*on_end)(gpointer user, const KmtReplay *replay, gint64 now);
	gpointer user;
} KmtReplayConsumer;

typedef struct {
	const KmtInputCapture *capture; /* its files must not be streams */
	const KmtSymbolizer *symbolizer;
	const KmtFilter *filter; /* without a lifetime */
	const GArray *tag_ends;	 /* KmtMatchTagEnd; see KmtAggregate */
	gint64 start, stop;	 /* as in KmtSpan */
	guint jobs;
	gint64 clock_tolerance_ns;
	/* As in KmtAggregateOptions; may be NULL. */
	void (*progress)(guint64 records);
} KmtReplayOptions;

/* The state that consumers may read. */
struct KmtReplay {
	KmtReplayOptions options;
	const KmtInputTables *tables;	  /* NULL: the records have no owners */
	KmtReplayKind kinds[KMT_N_KINDS]; /* SLAB: kmalloc and cache together */
	GPtrArray *classes; /* KmtReplayClass by class id; NULL: no
			     * allocation of the class yet */
	GArray *objects; /* KmtReplayObject by slot; slots without is_live are
			  * free */
	guint64 n_live;	 /* live objects, selected or not */
	gint64 begin;	 /* of the time of the report, merged time, ns */
	gint64 end;	 /* of the time of the report; valid in on_end */
	struct KmtReplayState *state; /* private */
};

/*
 * Replay the capture for n consumers. The consumers run for each event in the
 * order of the array, in one thread at a time. The result is valid until
 * kmt_replay_free(); its objects are those that are live at the end.
 */
KmtReplay *kmt_replay_run(const KmtReplayOptions *options,
			  const KmtReplayConsumer *consumers, guint n);
void kmt_replay_free(KmtReplay *replay);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtReplay, kmt_replay_free)

/* Return the object of a slot. */
static inline const KmtReplayObject *kmt_replay_object(const KmtReplay *replay,
						       guint32 slot)
{
	return &g_array_index(replay->objects, KmtReplayObject, slot);
}

/*
 * A number that a consumer counts (such as live objects of a call site), with
 * its value at the peak of a kind.
 */
typedef struct {
	guint64 now;
	guint64 at_peak;     /* valid for the peak peak_number */
	guint32 peak_number; /* initially 0 */
} KmtReplayGauge;

/*
 * Save the value of a gauge if its kind had a new peak since the last call.
 * Call this function before each change of gauge->now, and in on_end.
 */
static inline void kmt_replay_at_peak(KmtReplayGauge *gauge,
				      const KmtReplayKind *kind)
{
	if (gauge->peak_number != kind->peak_number) {
		gauge->peak_number = kind->peak_number;
		gauge->at_peak = gauge->now;
	}
}

/* Add a change to a gauge of a kind; a decrease is negative, modulo 2^64. */
static inline void kmt_replay_gauge_add(KmtReplayGauge *gauge,
					const KmtReplayKind *kind,
					guint64 change)
{
	kmt_replay_at_peak(gauge, kind);
	gauge->now += change;
}

#endif
