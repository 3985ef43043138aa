/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event sources. A source supplies records from the relay files of a kernel
 * with kmemtrace, or from the tracepoints of any kernel.
 *
 * The main thread makes all calls except those of a KmtdCpuStream. One thread
 * at a time uses a KmtdCpuStream.
 */
#ifndef KMEMTRACED_EVENT_SOURCE_H
#define KMEMTRACED_EVENT_SOURCE_H

#include <glib.h>

#include "lib/recovery/recovery.h"

typedef struct kmtd_source KmtdSource;
typedef struct kmtd_cpu_stream KmtdCpuStream;

/* Records in the memory of the source, valid from @acquire to @release. */
typedef struct {
	const void *from;
	gsize n_bytes;	  /* a multiple of the record size */
	guint64 position; /* position in the buffer, in units of the source */
	/* Number of events that were lost before these records; 0: none. The
	 * times of the loss are those of struct kmemtrace_event_lost. */
	guint64 lost_events;
	gint64 lost_since, lost_timestamp;
} KmtdCpuStreamBatch;

/* Operations of a stream, which supplies the records of one CPU. */
typedef struct {
	/* Register a thread of the reader by its id. May be NULL. */
	void (*attach)(KmtdCpuStream *stream, pid_t thread);
	/*
	 * Copy records to the @n_bytes bytes at @to. Return the number of bytes
	 * copied, or -errno on a read error. Without @all, 0 means that there
	 * are no records, or too few to be worth a call. With @all, 0 means the
	 * end of the records.
	 */
	gssize (*read)(KmtdCpuStream *stream, void *to, gsize n_bytes,
		       gboolean all);
	/*
	 * Read without a copy, instead of @read; NULL if not supported.
	 * @acquire sets *batch and returns the same values as @read. Records
	 * that were not released by @release are supplied again to the next
	 * reader. @release returns 0, -EAGAIN if another reader consumed the
	 * records or the kernel overwrote them, or another -errno. After an
	 * error the records must not be used.
	 */
	gssize (*acquire)(KmtdCpuStream *stream, KmtdCpuStreamBatch *batch,
			  gboolean all);
	int (*release)(KmtdCpuStream *stream, const KmtdCpuStreamBatch *batch);
	/*
	 * Return a time before which @read or @acquire holds no record back,
	 * after it returned 0. The kernel may still have younger records. NULL:
	 * the source holds no records back. A record is not held back forever
	 * if the function is called repeatedly.
	 */
	gint64 (*settled_until)(KmtdCpuStream *stream);
	/* Check the stream after its last read. Return FALSE and set an error
	 * if the records are damaged. May be NULL. */
	gboolean (*check)(const KmtdCpuStream *stream, guint cpu,
			  GError **error);
	/* Close and free the stream. */
	void (*free)(KmtdCpuStream *stream);
} KmtdCpuStreamClass;

/* Common part of a stream. A source appends its own fields. */
struct kmtd_cpu_stream {
	const KmtdCpuStreamClass *class;
	int fd;		      /* polled unless cannot_poll or read_at_end */
	gboolean cannot_poll; /* poll() does not indicate records */
	gboolean read_at_end; /* read only after tracing is switched off */
	gboolean was_off;     /* tracing was off when the stream was opened */
	int timeout_ms;	      /* longest wait after the pause; -1: unlimited */
	int pause_ms;	      /* shortest time between reads; 0: none */
	char *name;	      /* for messages */
};

/* Operations of a source. */
typedef struct {
	/* Name of the source, as in kmemtrace.meta. */
	const char *name;
	/* The buffers may contain records from before the source was opened. */
	gboolean keeps_records;
	/* The option -b sets the size of the buffers. */
	gboolean sizes_buffers;
	/* Set *enabled to whether tracing is on. */
	gboolean (*is_enabled)(KmtdSource *source, gboolean *enabled,
			       GError **error);
	/*
	 * Create or set what the recording needs in the kernel. The source has
	 * changed nothing in the kernel before this call. The cleanup process
	 * must be running, because it undoes all later changes. May be NULL.
	 */
	gboolean (*prepare)(KmtdSource *source, GError **error);
	/*
	 * Switch tracing on or off. Switching on begins a new trace and
	 * discards unread records. When @disable has returned, all records can
	 * be read. Return FALSE and set an error on failure.
	 */
	gboolean (*enable)(KmtdSource *source, GError **error);
	gboolean (*disable)(KmtdSource *source, GError **error);
	/*
	 * Detect changes that other programs make while the source records.
	 * The session calls this function often, also when changes_fd is
	 * readable, and with @now TRUE directly before disable(). NULL: the
	 * source detects no changes.
	 */
	void (*poll_changes)(KmtdSource *source, gboolean now);
	/* Set *n_events to the number of events lost on all CPUs since tracing
	 * was switched on. */
	gboolean (*total_overruns)(KmtdSource *source, guint64 *n_events,
				   GError **error);
	/* Return the lost events of each CPU, as a new table of CPU
	 * (GUINT_TO_POINTER) to guint64 *. */
	GHashTable *(*overruns)(KmtdSource *source, GError **error);
	/* Set *consumed to whether an earlier reader has consumed the first
	 * part of this trace. */
	gboolean (*any_consumed)(KmtdSource *source, gboolean *consumed,
				 GError **error);
	/*
	 * Return the CPUs that can be read, ascending, as a new array of guint.
	 * The session calls it often, so it must be cheap for the kernel.
	 */
	GArray *(*cpus)(KmtdSource *source);
	/*
	 * Open the stream of a CPU. Return NULL and set an error on failure.
	 * The streams must be freed before the source.
	 */
	KmtdCpuStream *(*open_cpu)(KmtdSource *source, guint cpu,
				   GError **error);
	/*
	 * Write the keys that the source supplies to @meta: @describe at the
	 * start, @conclude at the end of the recording. @conclude returns FALSE
	 * and sets an error if the capture is not complete; it may be NULL.
	 */
	void (*describe)(KmtdSource *source, GKeyFile *meta);
	gboolean (*conclude)(KmtdSource *source, GKeyFile *meta,
			     GError **error);
	/*
	 * Return the current text of the table @name, "tasks", "cgroups",
	 * "caches" or "stacks", newly allocated, or NULL if the source has no
	 * such table or the table is empty. For a source whose kernel keeps no
	 * tables; may be NULL otherwise.
	 */
	char *(*table)(KmtdSource *source, const char *name);
	/*
	 * Describe in *state the kernel's state from before the source was
	 * opened. Return FALSE if there is nothing to restore. The strings
	 * belong to the source.
	 */
	gboolean (*initial_state)(KmtdSource *source, KmtRecoveryState *state);
	/*
	 * Called in the cleanup process, at its start: close the descriptors
	 * that would keep the kernel's buffers in use after kmemtraced closes
	 * its own. Other threads may have been using *source during the fork.
	 */
	void (*close_inherited)(KmtdSource *source);
	/*
	 * Called in the cleanup process, after the end of kmemtraced: restore
	 * the kernel's state from before the source was opened, without
	 * allocating memory. *source is a copy from the time of the fork.
	 */
	void (*clean_up)(KmtdSource *source);
	/* Restore the kernel's state, except that tracing is not switched on or
	 * off, and free the source. All streams of the source must have been
	 * freed. */
	void (*free)(KmtdSource *source);
} KmtdSourceClass;

/* Common part of a source. A source appends its own fields. */
struct kmtd_source {
	const KmtdSourceClass *class;
	char *description;     /* description of the source for messages */
	char *watch_path;      /* directory to watch for new CPUs, or NULL */
	int changes_fd;	       /* readable: call @poll_changes; -1: none */
	KmtRecovery *recovery; /* recovery note (recovery.h); NULL: none */
	/*
	 * Directory with the tables that records refer to since version 2;
	 * NULL: none. The tables of a session exist until the next session
	 * begins.
	 */
	char *tables_path;
	guint abi_version;  /* version of the records */
	guint record_bytes; /* size of a record */
	/* Geometry of a CPU's buffer. */
	guint64 n_subbufs;
	guint64 subbuf_bytes;
	gboolean keeps_newest; /* relay: the mode is overwrite */
	/* Set by @conclude: a snapshot was taken. Some of the events that count
	 * as lost may be in the snapshot. */
	gboolean had_snapshots;
	/* Set by @conclude: lost events that no larger buffer would have kept,
	 * because the kernel skipped the programs that record them. */
	guint64 n_skipped;
	gsize batch_bytes; /* approximate amount of one read */
};

/* Free a source. NULL is ignored. */
static inline void kmtd_source_free(KmtdSource *source)
{
	if (source)
		source->class->free(source);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdSource, kmtd_source_free)

/* Free a stream. NULL is ignored. */
static inline void kmtd_cpu_stream_free(KmtdCpuStream *stream)
{
	if (stream)
		stream->class->free(stream);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdCpuStream, kmtd_cpu_stream_free)

/* Options of a source. The strings must outlive the source. */
typedef struct {
	const char *debugfs; /* mount point of debugfs; NULL: the usual one */
	const char *tracefs; /* mount point of tracefs; NULL: the usual ones */
	const char *sys;     /* mount point of sysfs */
	const char *proc;    /* mount point of procfs */
	guint64 buffer_kb;  /* KB of a CPU's buffer; 0: default of the source */
	const char *reader; /* "mmap", "read", or NULL: mmap if supported */
	const gint *pids;   /* record only these processes */
	guint n_pids;	    /* 0: record all processes */
	gboolean keep_own;  /* ftrace, bpf: record kmemtraced's own events */
	gboolean no_recover; /* bpf: do not record skipped events */
	gboolean stacks;     /* record the call stack of each event */
	guint stack_depth;   /* bpf: callers of a stack; 0: the default */
	gboolean children;   /* record the children of the processes too */
	const char *filter;  /* filter of the kernel, or NULL */
	/* relay, bpf: record only tasks in cgroups whose path matches one of
	 * these globs, and below. NULL: record all tasks. */
	char *const *cgroups;
	/* Print a warning; the option -q does not suppress it. */
	void (*warning)(const char *text);
} KmtdSourceOptions;

/*
 * Open the source "relay", a kernel with kmemtrace. Return NULL and set an
 * error on failure. Free the result with kmtd_source_free().
 */
KmtdSource *kmtd_relay_open(const KmtdSourceOptions *options, GError **error);

/*
 * Open the source "ftrace", the tracepoints of any kernel. Return NULL and set
 * an error on failure. Free the result with kmtd_source_free().
 */
KmtdSource *kmtd_ftrace_open(const KmtdSourceOptions *options, GError **error);

/*
 * Open the source "bpf", programs in an unmodified kernel. Return NULL and set
 * an error on failure. Free the result with kmtd_source_free().
 */
KmtdSource *kmtd_bpf_open(const KmtdSourceOptions *options, GError **error);

/*
 * Open the source named @name, "relay", "bpf" or "ftrace". NULL selects the
 * first of these that the kernel has and the privileges permit; if @options
 * limit the recording to processes, the first that can be opened. Return NULL
 * and set an error on failure.
 */
KmtdSource *kmtd_source_open(const char *name, const KmtdSourceOptions *options,
			     GError **error);

#endif
