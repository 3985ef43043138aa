/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a recording session, and the steps that the files session-*.c
 * implement. Only the main thread uses a KmtdSession.
 */
#ifndef KMEMTRACED_SESSION_PRIVATE_H
#define KMEMTRACED_SESSION_PRIVATE_H

#include "kmemtraced/capture-output.h"
#include "kmemtraced/capture-session.h"
#include "kmemtraced/cleanup-process.h"
#include "kmemtraced/cpu-reader.h"
#include "kmemtraced/event-source.h"
#include "kmemtraced/kernel-tables.h"
#include "kmemtraced/live.h"

/*
 * Period of the updates of the live line. kmtd_session_record() also searches
 * for new CPUs at least this often.
 */
#define KMTD_SESSION_TICK_US ((gint64)G_USEC_PER_SEC)

/* The ticks of a stream; see session-stream.c. */
typedef struct {
	atomic_uint n_pending; /* readers that have not done the round */
	guint n_readers;       /* readers that existed when the round began */
	gboolean is_open;      /* a round has begun and not ended */
	guint64 round;	       /* number of the last round that has begun */
	guint64 n_posted;      /* ticks so far */
	gint64 last_ns;	       /* time of the last record of the last round */
	gint64 watermark;      /* of the last tick */
	gint64 next_us;	       /* monotonic time of the next round */
	gint64 tables_us;      /* monotonic time of the next look at tables */
} KmtdSessionTicks;

/* A recording session. */
typedef struct {
	const KmtdSessionOptions *options;
	const KmtdSessionUi *ui;
	GPtrArray *errors;

	KmtdSource *source;
	KmtdOutput *output;
	KmtStreamWriter *stream; /* NULL: output is a directory */
	KmtdSessionTicks ticks;
	KmtStreamEndReason end_reason; /* why the recording ended */
	KmtdCleanup *cleanup;
	KmtdLive *live;
	GKeyFile *meta;
	GPtrArray *readers; /* of KmtdReader *, in the order of creation */
	KmtdTables tables;
	int signal_fd;
	int notify_fd; /* eventfd that the reader threads write */
	int watch_fd;  /* inotify on the directory with the CPU files */

	gboolean was_enabled;
	gboolean running; /* readers are started when they are created */
	gboolean frozen;  /* saving a trace that was already switched off */
	gboolean has_write_error;   /* a failed write was reported */
	gboolean failed;	    /* an error left the capture incomplete */
	gint64 signal_us;	    /* monotonic time of the last stop signal */
	guint n_stop_requests;	    /* stop requests so far */
	gboolean warned_no_cleanup; /* warned: no cleanup process */
} KmtdSession;

/* Add @error, which the session then owns. The capture becomes incomplete. */
static inline void kmtd_session_add_error(KmtdSession *session, GError *error)
{
	g_ptr_array_add(session->errors, error);
	session->failed = TRUE;
}

/*
 * Prepare the recording, as far as possible without switching tracing on.
 * Return FALSE and set an error on failure. In both cases the caller must call
 * kmtd_session_clear() at the end.
 */
gboolean kmtd_session_prepare(KmtdSession *session, GError **error);

/* Restore the kernel's state and release everything that the session owns. */
void kmtd_session_clear(KmtdSession *session);

/*
 * Create readers for new CPUs, and stop the readers of CPUs whose file has
 * disappeared. Return FALSE and set an error if a reader cannot be created.
 */
gboolean kmtd_session_follow_cpus(KmtdSession *session, GError **error);

/*
 * Start all readers. Readers that are created later start at once. Return FALSE
 * and set an error on failure.
 */
gboolean kmtd_session_start_readers(KmtdSession *session, GError **error);

/*
 * Join the readers that have ended, and print a warning for each reader that
 * failed. Return TRUE if recording must end, because a reader cannot write or
 * no reader is left. If a reader cannot write, no reader is joined. Otherwise
 * *n_ended, 0 before the first call, is set to the number of ended readers.
 */
gboolean kmtd_session_check_readers(KmtdSession *session, guint *n_ended);

/* Return the number of readers whose thread still runs. */
guint kmtd_session_n_unfinished(KmtdSession *session);

/*
 * Return the largest number of CPUs that the capture can contain, to reserve
 * room for them in the meta file.
 */
guint kmtd_session_meta_cpus(KmtdSession *session);

/* Return the number of bytes that all readers have read. */
guint64 kmtd_session_bytes_read(KmtdSession *session);

/*
 * Return the number of bytes that all readers have read or seen. Seen records
 * may still be in the kernel.
 */
guint64 kmtd_session_bytes_seen(KmtdSession *session);

/* Return the number of bytes that all readers have written to their files. */
guint64 kmtd_session_bytes_written(KmtdSession *session);

/*
 * Consume all pending signals. Forward stop signals to @forward_to, unless
 * @forward_to is NULL or the signal comes from the terminal. Return TRUE if a
 * signal was a new request to stop.
 */
gboolean kmtd_session_consume_signals(KmtdSession *session,
				      KmtdCommand *forward_to);

/*
 * Sleep until a signal, a reader, a new CPU or a changed setting needs
 * attention, but not beyond the monotonic time @when_us.
 */
void kmtd_session_sleep_until(KmtdSession *session, gint64 when_us);

/*
 * If the recording began in an initramfs, change to the root directory of
 * process 1, whose /proc has the tables of the kernel. Warn once if that fails.
 */
void kmtd_session_follow_root(KmtdSession *session);

/* Restart the cleanup process if it was killed. While that fails, warn once. */
void kmtd_session_restart_cleanup(KmtdSession *session);

/*
 * Detect changes that other programs make to the source. @now: check at once,
 * because tracing is about to be switched off.
 */
void kmtd_session_poll_changes(KmtdSession *session, gboolean now);

/*
 * Record from the monotonic time @start_us until a stop request, the end of the
 * command, the end of the requested time, the end of tracing by another
 * program, or an error after which recording is pointless.
 */
void kmtd_session_record(KmtdSession *session, gint64 start_us);

/*
 * Wait until each reader has consumed all records that were present when the
 * reader started. Return FALSE if a stop signal arrived first.
 */
gboolean kmtd_session_wait_drained(KmtdSession *session);

/*
 * Stop all readers after tracing was switched off, and wait until each reader
 * has consumed its remaining records and ended.
 */
void kmtd_session_drain(KmtdSession *session);

/*
 * If the session writes a stream: begin or end a round of ticks if it is time.
 * Return the monotonic time of the next call; a reader may wake the main thread
 * before.
 */
gint64 kmtd_session_tick(KmtdSession *session);

/*
 * Write the last counters, the last tick, and the end of the stream, and wait
 * until the reader of the stream has accepted all frames.
 */
void kmtd_session_end_stream(KmtdSession *session, const KmtdSummary *summary);

/*
 * Report, once for all CPUs, that records of @cpu could not be written because
 * of @errnum. @unsaved: bytes of all CPUs that were not written.
 */
void kmtd_session_add_write_error(KmtdSession *session, guint cpu, int errnum,
				  guint64 unsaved);

/*
 * Save figures, tables and meta file, and publish the capture if no error has
 * occurred. Tracing must be off, and every reader must have ended. Errors are
 * added to the session.
 */
void kmtd_session_save(KmtdSession *session, KmtdSummary *summary);

#endif
