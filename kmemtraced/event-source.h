/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where records come from: the relay files of a kernel with kmemtrace, or the
 * tracepoints of any kernel.
 *
 * All calls but those of a feed are the main thread's.  A feed is used by one
 * thread at a time.
 */
#ifndef KMEMTRACED_EVENT_SOURCE_H
#define KMEMTRACED_EVENT_SOURCE_H

#include <glib.h>

#include "lib/recovery/recovery.h"

typedef struct kmtd_source KmtdSource;
typedef struct kmtd_cpu_stream KmtdCpuStream;

/* Records that are somewhere, to be used and given back. */
typedef struct {
	const void *from;
	gsize n_bytes;	  /* whole records */
	guint64 position; /* the source's */
	/* Before these, so many records were lost; 0: none. */
	guint64 lost_events;
	gint64 lost_since, lost_timestamp;
} KmtdCpuStreamPart;

/* The records of one CPU. */
typedef struct {
	/* The calling thread is the one that will read.  May be NULL. */
	void (*attach)(KmtdCpuStream *feed);
	/*
	 * Puts records into the n_bytes at to, and returns how many bytes: 0 if
	 * there are none now, or too few to be worth a call.  With all, 0 is
	 * the end of what there is.  -errno if it cannot be read.
	 */
	gssize (*read)(KmtdCpuStream *feed, void *to, gsize n_bytes,
		       gboolean all);
	/*
	 * Instead of read, where records need no copy; or NULL.  take returns
	 * what read does.  What was not given back is taken again by the next
	 * reader.  give: 0, or -EAGAIN: the records were not ours alone, or are
	 * no more, and must not be used.
	 */
	gssize (*take)(KmtdCpuStream *feed, KmtdCpuStreamPart *part,
		       gboolean all);
	int (*give)(KmtdCpuStream *feed, const KmtdCpuStreamPart *part);
	/* When all was read: FALSE and an error if something was wrong. */
	gboolean (*check)(const KmtdCpuStream *feed, guint cpu, GError **error);
	void (*free)(KmtdCpuStream *feed);
} KmtdCpuStreamClass;

struct kmtd_cpu_stream {
	const KmtdCpuStreamClass *class;
	int fd;		   /* to be polled, unless is_blind */
	gboolean is_blind; /* polling tells nothing */
	gboolean at_end;   /* to be read only when tracing is off */
	gboolean is_off;   /* which it is when the feed is opened */
	int timeout_ms;	   /* look after so long in any case; -1: never */
	int pause_ms;	   /* and not before; 0: at once */
	char *name;	   /* for messages */
};

typedef struct {
	/* As in kmemtrace.meta. */
	const char *name;
	/* It may have records from before it was opened. */
	gboolean keeps_records;
	/* The size of the buffers is an option, -b. */
	gboolean sizes_buffers;
	gboolean (*is_enabled)(KmtdSource *source, gboolean *enabled,
			       GError **error);
	/*
	 * Make what the recording needs in the kernel.  Up to here the source
	 * has changed nothing there, and from here on the cleanup process
	 * would undo it.  May be NULL.
	 */
	gboolean (*prepare)(KmtdSource *source, GError **error);
	/*
	 * Switching on starts at zero: unread records are thrown away.  When
	 * switching off has returned, all records can be read.
	 */
	gboolean (*enable)(KmtdSource *source, GError **error);
	gboolean (*disable)(KmtdSource *source, GError **error);
	/*
	 * While it records: find changes that others make.  Call it often, when
	 * changes_fd is readable, and with now right before disable.  May be
	 * NULL.
	 */
	void (*look)(KmtdSource *source, gboolean now);
	/* Events lost since then, over all CPUs. */
	gboolean (*total_overruns)(KmtdSource *source, guint64 *n_events,
				   GError **error);
	/* The same as a table of CPU (GUINT_TO_POINTER) to guint64 *. */
	GHashTable *(*overruns)(KmtdSource *source, GError **error);
	/* Whether an earlier reader took the first part of this trace. */
	gboolean (*any_consumed)(KmtdSource *source, gboolean *consumed,
				 GError **error);
	/*
	 * The CPUs that can be read, ascending, as an array of guint.  Asked
	 * often, so that it has to cost the kernel little.
	 */
	GArray *(*cpus)(KmtdSource *source);
	KmtdCpuStream *(*open_cpu)(KmtdSource *source, guint cpu,
				   GError **error);
	/*
	 * What only this source can tell, at the start and at the end.  At the
	 * end it may be an error, and the capture is not complete.
	 */
	void (*describe)(KmtdSource *source, GKeyFile *meta);
	gboolean (*conclude)(KmtdSource *source, GKeyFile *meta,
			     GError **error);
	/*
	 * The table tasks as it is now, newly allocated, or NULL: for a source
	 * whose kernel has no tables.  May be NULL.
	 */
	char *(*tasks)(KmtdSource *source);
	/*
	 * Describe the state in which open found the kernel.  Return FALSE if
	 * the source changes nothing.  The strings belong to the source.
	 */
	gboolean (*initial_state)(KmtdSource *source, KmtRecoveryState *state);
	/*
	 * In the cleanup process, at its start: close the descriptors that
	 * would keep the kernel's buffers busy when kmemtraced closes its own.
	 * Other threads may have been using *source.
	 */
	void (*disown)(KmtdSource *source);
	/*
	 * In the cleanup process, after the end of kmemtraced: put the kernel
	 * into the state in which open found it, without allocating.  *source
	 * is as it was when the process was forked.
	 */
	void (*clean_up)(KmtdSource *source);
	/* Feeds are free by then. */
	void (*free)(KmtdSource *source);
} KmtdSourceClass;

struct kmtd_source {
	const KmtdSourceClass *class;
	char *what;	  /* what is recorded from, for people */
	char *watch_path; /* a directory that changes with the CPUs, or NULL */
	int changes_fd;	  /* see look; -1: there is none */
	KmtRecovery *recovery; /* the note of initial_state, or NULL */
	/*
	 * A directory with the tables of version 2, or NULL.
	 * Those of a session are there while it lasts, and until the next one.
	 */
	char *tables_path;
	guint abi_version;  /* of the records */
	guint record_bytes; /* of each */
	/* A CPU's buffer. */
	guint64 n_subbufs;
	guint64 subbuf_bytes;
	gboolean keeps_newest; /* a full one loses what is oldest */
	/* At the end: what snapshots took is among the events lost. */
	gboolean had_snapshots;
	gsize batch_bytes; /* what a reader gets each time, about */
};

static inline void kmtd_source_free(KmtdSource *source)
{
	if (source)
		source->class->free(source);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdSource, kmtd_source_free)

static inline void kmtd_cpu_stream_free(KmtdCpuStream *feed)
{
	if (feed)
		feed->class->free(feed);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdCpuStream, kmtd_cpu_stream_free)

/* What the user wants of a source. */
typedef struct {
	const char *debugfs; /* where it is mounted */
	const char *tracefs; /* likewise; NULL: where it usually is */
	const char *sys;     /* likewise, sysfs */
	const char *proc;    /* and procfs */
	guint64 buffer_kb;   /* of a CPU; 0: as the source thinks fit */
	const char *reader;  /* "mmap", "read", or NULL: the best there is */
	const gint *pids;    /* only these processes ... */
	guint n_pids;	     /* ..., unless there are none */
	gboolean keep_own;   /* do not leave out what is our own */
	gboolean children;   /* and those that they start */
	const char *filter;  /* in the kernel, only what passes; or NULL */
	/* Report something to the user; -q does not hide it. */
	void (*warning)(const char *text);
} KmtdSourceOptions;

KmtdSource *kmtd_relay_open(const KmtdSourceOptions *options, GError **error);
KmtdSource *kmtd_ftrace_open(const KmtdSourceOptions *options, GError **error);

/*
 * The source by that name; NULL: the best there is.  A kernel with kmemtrace
 * tells more; one that has no filter cannot be limited to processes, though.
 */
KmtdSource *kmtd_source_open(const char *name, const KmtdSourceOptions *options,
			     GError **error);

#endif
