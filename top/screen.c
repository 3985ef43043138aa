// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <poll.h>

#include "top/screen-private.h"
#include "top/stop-signals.h"

gboolean kmt_top_screen_check(GError **error)
{
	return kmt_top_terminal_check(error);
}

/* The descriptors that the main thread waits for. */
enum { POLL_KEYS, POLL_SIGNALS, POLL_ENGINE, N_POLLS };

/* The state of the loop. Times are monotonic, in microseconds. */
typedef struct {
	KmtTopScreen screen;
	guint64 n_iterations; /* remaining snapshots; 0: no limit */
	gint64 next_request;
	gboolean requested; /* the engine has not answered yet */
	gboolean ended;	    /* there is no later snapshot */
	int signal_number;
} Loop;

static int poll_timeout(const Loop *loop)
{
	gint64 us = loop->next_request - g_get_monotonic_time();

	if (loop->requested || loop->ended)
		return -1;
	/* Round up, so that the loop does not wake before the time. */
	return us <= 0 ? 0 : (int)MIN((us + 999) / 1000, G_MAXINT);
}

static void request_snapshot(Loop *loop)
{
	if (loop->requested || loop->ended ||
	    g_get_monotonic_time() < loop->next_request)
		return;
	loop->requested = TRUE;
	kmt_top_engine_request(loop->screen.engine);
}

static void take_snapshot(Loop *loop)
{
	KmtTopScreen *screen = &loop->screen;
	KmtTopSnapshot *snapshot = kmt_top_engine_take(screen->engine);

	if (!snapshot)
		return;
	loop->requested = FALSE;
	loop->next_request = g_get_monotonic_time() +
			     (gint64)(screen->interval_s * G_USEC_PER_SEC);
	loop->ended = kmt_top_snapshot_header(snapshot)->ended;
	kmt_top_screen_set_snapshot(screen, snapshot);
	if (loop->n_iterations > 0 && --loop->n_iterations == 0)
		screen->quit = TRUE;
}

static void read_keys(KmtTopScreen *screen)
{
	guint32 key;

	while (!screen->quit && (key = kmt_top_terminal_key(
					 screen->terminal)) != KMT_TOP_KEY_NONE)
		kmt_top_screen_key(screen, key);
}

/* Wait for a key, a signal, or a snapshot, and process it. Return FALSE and set
 * *error if the terminal is gone. */
static gboolean wait_and_process(Loop *loop, GError **error)
{
	KmtTopScreen *screen = &loop->screen;
	struct pollfd polls[N_POLLS] = {
		[POLL_KEYS] = {.fd = kmt_top_terminal_key_fd(screen->terminal)},
		[POLL_SIGNALS] = {.fd = kmt_top_terminal_signal_fd(
					  screen->terminal)},
		/* poll() ignores a negative descriptor. */
		[POLL_ENGINE] = {.fd = loop->ended ? -1
						   : kmt_top_engine_fd(
							     screen->engine)},
	};

	for (guint i = 0; i < N_POLLS; i++)
		polls[i].events = POLLIN;
	if (poll(polls, N_POLLS, poll_timeout(loop)) < 0 && errno != EINTR) {
		g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
			    "cannot wait for keys: poll: %s",
			    g_strerror(errno));
		return FALSE;
	}
	if (polls[POLL_SIGNALS].revents)
		loop->signal_number =
			kmt_top_terminal_signals(screen->terminal);
	if (polls[POLL_ENGINE].revents)
		take_snapshot(loop);
	if (polls[POLL_KEYS].revents & POLLIN)
		read_keys(screen);
	else if (polls[POLL_KEYS].revents) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
			    "the terminal was closed");
		return FALSE;
	}
	request_snapshot(loop);
	return TRUE;
}

/* Set *error if the trace did not end as expected, so that the message is
 * printed on the restored terminal and stays visible. */
static gboolean check_engine(const Loop *loop, GError **error)
{
	GError *reason = kmt_top_engine_error(loop->screen.engine);

	if (!reason)
		return TRUE;
	g_propagate_error(error, reason);
	return FALSE;
}

gboolean kmt_top_screen_run(KmtTopEngine *engine,
			    const KmtTopScreenOptions *options,
			    int *signal_number, GError **error)
{
	Loop loop = {
		.screen = {.engine = engine,
			   .query = options->query,
			   .interval_s = options->interval_s},
		.n_iterations = options->n_iterations,
	};
	KmtTopScreen *screen = &loop.screen;
	gboolean alive = TRUE;

	*signal_number = 0;
	screen->terminal = kmt_top_terminal_new(error);
	if (!screen->terminal)
		return FALSE;
	kmt_top_screen_set_filter(screen, options->query.filter);
	kmt_top_engine_start(engine);
	/* The first snapshot is requested at once, so that the screen soon
	 * shows figures. */
	loop.next_request = g_get_monotonic_time();
	request_snapshot(&loop);
	/* A signal may have arrived before the terminal blocked it. */
	while (alive && !screen->quit && !loop.signal_number &&
	       !kmt_top_stop_signal()) {
		kmt_top_screen_draw(screen);
		alive = wait_and_process(&loop, error);
	}
	*signal_number =
		loop.signal_number ? loop.signal_number : kmt_top_stop_signal();
	kmt_top_terminal_free(screen->terminal);
	kmt_top_screen_clear(screen);
	return alive && check_engine(&loop, error);
}
