/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine of kmemtrace-top: reads a stream of records, matches and counts
 * them, and makes snapshots.
 *
 * The batch mode calls kmt_top_engine_run() from its only thread. The screen
 * calls kmt_top_engine_start() once; a thread of the engine then does the same
 * work, so that a key never waits for events. All other state belongs to the
 * thread that runs; requests and results pass under a lock that no thread holds
 * for longer than a few assignments.
 */
#ifndef KMEMTRACE_TOP_ENGINE_H
#define KMEMTRACE_TOP_ENGINE_H

#include "top/top-view.h"

typedef struct KmtTopEngine KmtTopEngine;

typedef struct {
	/* File with a stream, "-" for standard input; NULL: start kmemtraced.
	 */
	const char *read;
	const char *const *daemon_args; /* NULL-terminated arguments for
					 * kmemtraced; NULL: none */
	guint64 max_objects;		/* live objects to track; 0: no limit */
	gint64 clock_tolerance_ns;
	/* eventfd, such as kmt_top_stop_fd(), that becomes readable if the
	 * program must stop; the engine uses it for its own requests, too. */
	int wake_fd;
	/* Directory for a raw capture of the complete trace; NULL: none. */
	const char *capture;
	/* Names, as the options of kmemtrace-report; NULL: not given. */
	const char *vmlinux, *source_tree, *debug_directory;
} KmtTopEngineOptions;

/*
 * Open the file, or start kmemtraced, and read the stream up to its first tick.
 * On failure return NULL and set *error, with the messages of kmemtraced. If
 * options->wake_fd became readable before, the error is KMT_TOP_ERROR_STOPPED.
 */
KmtTopEngine *kmt_top_engine_new(const KmtTopEngineOptions *options,
				 GError **error);

/* Stop the thread, end kmemtraced and wait for it, complete a raw capture, and
 * free the engine; NULL is allowed. */
void kmt_top_engine_free(KmtTopEngine *engine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopEngine, kmt_top_engine_free)

/*
 * Batch: process records until the first tick that is at least interval_s
 * seconds of stream time after the last snapshot (or after the first tick), or
 * until the end of the stream. Return the snapshot; the caller has a reference.
 * Return NULL and set *error if the stream is damaged or kmemtraced has failed;
 * records before the damage are counted, and the next call returns a snapshot
 * that has ended. Return NULL without an error if options->wake_fd became
 * readable.
 */
KmtTopSnapshot *kmt_top_engine_run(KmtTopEngine *engine, double interval_s,
				   GError **error);

/* Screen: start the thread. */
void kmt_top_engine_start(KmtTopEngine *engine);
/* Return a descriptor that is readable while kmt_top_engine_take() would return
 * a snapshot. The engine owns the descriptor. */
int kmt_top_engine_fd(const KmtTopEngine *engine);
/* Request a snapshot at the next tick, or at once after the end. */
void kmt_top_engine_request(KmtTopEngine *engine);
/* Return the new snapshot, with a reference for the caller, or NULL if none is
 * new. At the end of the stream there is a new snapshot without a request. */
KmtTopSnapshot *kmt_top_engine_take(KmtTopEngine *engine);
/* Return why the stream has ended early, or NULL. The caller frees the error.
 */
GError *kmt_top_engine_error(KmtTopEngine *engine);

/*
 * Request a raw capture in the directory path from the next tick on, or its
 * end. The header of later snapshots has the result.
 */
void kmt_top_engine_start_capture(KmtTopEngine *engine, const char *path);
void kmt_top_engine_stop_capture(KmtTopEngine *engine);

#endif
