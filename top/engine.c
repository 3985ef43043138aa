// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "top/daemon.h"
#include "top/frame-reader.h"
#include "top/trace.h"

#define NS_PER_S 1000000000.0

struct KmtTopEngine {
	KmtTopDaemon *daemon; /* NULL: a file is read */
	int fd;		      /* of the stream */
	gboolean owns_fd;
	/* Used by the thread, or else by the caller: */
	KmtTopTrace *trace;
	gboolean ended;	   /* the trace has no further tick */
	double next_due_s; /* stream time of the next snapshot */
	int wake;	   /* eventfd of the caller: there is a request */
	int news;	   /* eventfd: there is a new snapshot */
	GThread *thread;   /* NULL: not started */
	GMutex lock;
	/* Protected by the lock: */
	gboolean wants_snapshot;
	gboolean wants_stop; /* of the thread */
	gboolean wants_capture_end;
	char *capture_path;	  /* NULL: no capture is requested */
	KmtTopSnapshot *snapshot; /* the next result of kmt_top_engine_take() */
	GError *error;		  /* why the stream has ended early */
};

/* ---- the stream ---- */

static void signal_event(int fd)
{
	const guint64 one = 1;

	(void)!write(fd, &one, sizeof(one));
}

static void clear_event(int fd)
{
	guint64 n;

	(void)!read(fd, &n, sizeof(n));
}

/* Wait until the stream is readable. Return FALSE if a request came instead. */
static gboolean wait_for_stream(const KmtTopEngine *engine)
{
	struct pollfd fds[] = {{.fd = engine->wake, .events = POLLIN},
			       {.fd = engine->fd, .events = POLLIN}};

	while (poll(fds, G_N_ELEMENTS(fds), -1) < 0 && errno == EINTR)
		;
	return !(fds[0].revents & POLLIN);
}

static gboolean has_request(const KmtTopEngine *engine)
{
	struct pollfd fd = {.fd = engine->wake, .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

/*
 * Note the end of the stream. kmemtraced may have failed: its messages then are
 * the reason. Return FALSE and set *error if the end is not a regular one.
 */
static gboolean end_stream(KmtTopEngine *engine, KmtTopStep step,
			   GError **reason, GError **error)
{
	g_autoptr(GError) failure = NULL;

	engine->ended = TRUE;
	if (engine->daemon) {
		if (step == KMT_TOP_STEP_ERROR)
			kmt_top_daemon_stop(engine->daemon);
		kmt_top_daemon_close(engine->daemon);
		engine->fd = -1;
		if (!kmt_top_daemon_wait(engine->daemon, &failure))
			step = KMT_TOP_STEP_ERROR;
	}
	if (failure) {
		g_clear_error(reason);
		*reason = g_steal_pointer(&failure);
	}
	if (step != KMT_TOP_STEP_ERROR)
		return TRUE;
	kmt_top_trace_set_ended(engine->trace, (*reason)->message);
	g_propagate_error(error, g_steal_pointer(reason));
	return FALSE;
}

typedef enum {
	TICK,
	ENDED,
	FAILED,
	REQUEST, /* a request interrupted the wait for the stream */
} Progress;

/* Process records up to the next tick. */
static Progress advance(KmtTopEngine *engine, GError **error)
{
	g_autoptr(GError) reason = NULL;

	for (;;) {
		KmtTopStep step = kmt_top_trace_step(engine->trace, &reason);

		if (step == KMT_TOP_STEP_TICK)
			return TICK;
		if (step == KMT_TOP_STEP_WAIT) {
			if (!wait_for_stream(engine))
				return REQUEST;
			if (kmt_top_trace_fill(engine->trace, &reason))
				continue;
			step = KMT_TOP_STEP_ERROR;
		}
		return end_stream(engine, step, &reason, error) ? ENDED
								: FAILED;
	}
}

/* ---- creation ---- */

static int open_stream(const char *path, GError **error)
{
	int fd = strcmp(path, "-") == 0 ? STDIN_FILENO
					: open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_READ,
			    "cannot open %s: %s", path, g_strerror(errno));
	return fd;
}

static gboolean open_source(KmtTopEngine *engine,
			    const KmtTopEngineOptions *options, GError **error)
{
	if (options->read) {
		engine->fd = open_stream(options->read, error);
		engine->owns_fd = engine->fd > STDIN_FILENO;
		return engine->fd >= 0;
	}
	engine->daemon = kmt_top_daemon_new(options->daemon_args, error);
	if (!engine->daemon)
		return FALSE;
	engine->fd = kmt_top_daemon_fd(engine->daemon);
	return TRUE;
}

/* Process the stream up to its first tick, or to its regular end. */
static gboolean begin_trace(KmtTopEngine *engine, GError **error)
{
	while (!kmt_top_trace_has_begun(engine->trace)) {
		Progress progress = advance(engine, error);

		if (progress == FAILED)
			return FALSE;
		if (progress == REQUEST) {
			g_set_error_literal(error, KMT_TOP_ERROR,
					    KMT_TOP_ERROR_STOPPED,
					    "stopped by a signal");
			return FALSE;
		}
		if (progress == ENDED)
			break;
	}
	return TRUE;
}

KmtTopEngine *kmt_top_engine_new(const KmtTopEngineOptions *options,
				 GError **error)
{
	const gboolean is_stdin = options->read && !strcmp(options->read, "-");
	const KmtTopTraceOptions trace = {
		.name = !options->read ? "the stream of kmemtraced"
			: is_stdin     ? "standard input"
				       : options->read,
		.input = options->read,
		.max_objects = options->max_objects,
		.clock_tolerance_ns = options->clock_tolerance_ns,
		.names = {.vmlinux = options->vmlinux,
			  .source_tree = options->source_tree,
			  .debug_directory = options->debug_directory,
			  .live = !options->read}};
	g_autoptr(KmtTopEngine) engine = g_new0(KmtTopEngine, 1);

	g_mutex_init(&engine->lock);
	engine->fd = -1;
	engine->wake = options->wake_fd;
	engine->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (engine->news < 0) {
		g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_READ,
			    "cannot create an eventfd: %s", g_strerror(errno));
		return NULL;
	}
	if (!open_source(engine, options, error))
		return NULL;
	engine->trace = kmt_top_trace_new(engine->fd, &trace, error);
	if (!engine->trace)
		return NULL;
	kmt_top_trace_set_capture(engine->trace, options->capture);
	if (!begin_trace(engine, error))
		return NULL;
	return g_steal_pointer(&engine);
}

static void stop_thread(KmtTopEngine *engine)
{
	if (!engine->thread)
		return;
	g_mutex_lock(&engine->lock);
	engine->wants_stop = TRUE;
	g_mutex_unlock(&engine->lock);
	signal_event(engine->wake);
	g_thread_join(engine->thread);
}

/* Read the rest of the stream, because a raw capture needs the last tables. */
static void finish_capture(KmtTopEngine *engine)
{
	if (!engine->trace || !engine->daemon || engine->ended ||
	    !kmt_top_trace_has_capture(engine->trace))
		return;
	kmt_top_daemon_stop(engine->daemon);
	while (!engine->ended) {
		clear_event(engine->wake);
		(void)advance(engine, NULL);
	}
}

void kmt_top_engine_free(KmtTopEngine *engine)
{
	if (!engine)
		return;
	stop_thread(engine);
	finish_capture(engine);
	kmt_top_daemon_free(engine->daemon);
	kmt_top_snapshot_unref(engine->snapshot);
	kmt_top_trace_free(engine->trace);
	if (engine->owns_fd)
		close(engine->fd);
	if (engine->news >= 0)
		close(engine->news);
	g_clear_error(&engine->error);
	g_free(engine->capture_path);
	g_mutex_clear(&engine->lock);
	g_free(engine);
}

/* ---- batch ---- */

/* Return whether the last tick is due for a snapshot, and find the time at
 * which the next one is. */
static gboolean is_due(KmtTopEngine *engine, double interval_s)
{
	double now = (double)kmt_top_trace_time(engine->trace) / NS_PER_S;

	if (engine->next_due_s <= 0)
		engine->next_due_s = interval_s;
	if (now < engine->next_due_s)
		return FALSE;
	/* A long gap in the stream skips snapshots. */
	if (now - engine->next_due_s >= interval_s)
		engine->next_due_s = now;
	engine->next_due_s += interval_s;
	return TRUE;
}

KmtTopSnapshot *kmt_top_engine_run(KmtTopEngine *engine, double interval_s,
				   GError **error)
{
	while (!engine->ended) {
		Progress progress;

		if (has_request(engine))
			return NULL;
		progress = advance(engine, error);
		if (progress == FAILED || progress == REQUEST)
			return NULL;
		if (progress == TICK && is_due(engine, interval_s))
			break;
	}
	return kmt_top_trace_snapshot(engine->trace);
}

/* ---- thread ---- */

/* Perform the requests about raw captures. */
static void serve_capture(KmtTopEngine *engine)
{
	g_autofree char *path = NULL;
	gboolean end;

	g_mutex_lock(&engine->lock);
	path = g_steal_pointer(&engine->capture_path);
	end = engine->wants_capture_end;
	engine->wants_capture_end = FALSE;
	g_mutex_unlock(&engine->lock);
	if (end)
		kmt_top_trace_stop_capture(engine->trace);
	if (path)
		kmt_top_trace_start_capture(engine->trace, path);
}

/* Make a snapshot if one is requested, or at the end. */
static void publish(KmtTopEngine *engine, gboolean always)
{
	KmtTopSnapshot *snapshot, *old;
	gboolean wanted;

	g_mutex_lock(&engine->lock);
	wanted = engine->wants_snapshot || always;
	engine->wants_snapshot = FALSE;
	g_mutex_unlock(&engine->lock);
	if (!wanted)
		return;
	snapshot = kmt_top_trace_snapshot(engine->trace);
	g_mutex_lock(&engine->lock);
	old = engine->snapshot;
	engine->snapshot = snapshot;
	g_mutex_unlock(&engine->lock);
	kmt_top_snapshot_unref(old);
	signal_event(engine->news);
}

static gboolean must_stop(KmtTopEngine *engine)
{
	g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&engine->lock);

	return engine->wants_stop;
}

static void wait_for_request(const KmtTopEngine *engine)
{
	struct pollfd fd = {.fd = engine->wake, .events = POLLIN};

	while (poll(&fd, 1, -1) < 0 && errno == EINTR)
		;
}

static gpointer run_thread(gpointer user)
{
	KmtTopEngine *engine = user;

	publish(engine, engine->ended);
	while (!must_stop(engine)) {
		g_autoptr(GError) error = NULL;

		if (engine->ended)
			wait_for_request(engine);
		else if (advance(engine, &error) == FAILED) {
			g_mutex_lock(&engine->lock);
			engine->error = g_steal_pointer(&error);
			g_mutex_unlock(&engine->lock);
			publish(engine, TRUE);
		} else if (engine->ended) {
			publish(engine, TRUE);
		}
		clear_event(engine->wake);
		serve_capture(engine);
		publish(engine, FALSE);
	}
	return NULL;
}

void kmt_top_engine_start(KmtTopEngine *engine)
{
	engine->thread = g_thread_new("engine", run_thread, engine);
}

int kmt_top_engine_fd(const KmtTopEngine *engine)
{
	return engine->news;
}

void kmt_top_engine_request(KmtTopEngine *engine)
{
	g_mutex_lock(&engine->lock);
	engine->wants_snapshot = TRUE;
	g_mutex_unlock(&engine->lock);
	signal_event(engine->wake);
}

KmtTopSnapshot *kmt_top_engine_take(KmtTopEngine *engine)
{
	g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&engine->lock);

	clear_event(engine->news);
	return g_steal_pointer(&engine->snapshot);
}

GError *kmt_top_engine_error(KmtTopEngine *engine)
{
	g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&engine->lock);

	return engine->error ? g_error_copy(engine->error) : NULL;
}

void kmt_top_engine_start_capture(KmtTopEngine *engine, const char *path)
{
	g_mutex_lock(&engine->lock);
	g_free(engine->capture_path);
	engine->capture_path = g_strdup(path);
	g_mutex_unlock(&engine->lock);
	signal_event(engine->wake);
}

void kmt_top_engine_stop_capture(KmtTopEngine *engine)
{
	g_mutex_lock(&engine->lock);
	g_clear_pointer(&engine->capture_path, g_free);
	engine->wants_capture_end = TRUE;
	g_mutex_unlock(&engine->lock);
	signal_event(engine->wake);
}
