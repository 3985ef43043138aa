/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interactive screen of kmemtrace-top.
 *
 * The screen belongs to the main thread. It reads keys, signals, and snapshots
 * of the engine, whose own thread processes the events, so that a key never
 * waits for events. The main thread holds no lock of the engine while it draws:
 * a snapshot does not change, and the screen has a reference of each snapshot
 * that it shows.
 */
#ifndef KMEMTRACE_TOP_SCREEN_H
#define KMEMTRACE_TOP_SCREEN_H

#include "top/engine.h"

typedef struct {
	KmtTopQuery query; /* what the screen shows first; filter is copied */
	double interval_s; /* seconds between two snapshots; > 0 */
	guint64 n_iterations; /* end after this number of snapshots; 0: none */
} KmtTopScreenOptions;

/*
 * Return whether a screen can be shown on this terminal. Otherwise set *error
 * with the reason and advice. Call this function before the engine starts
 * kmemtraced.
 */
gboolean kmt_top_screen_check(GError **error);

/*
 * Start the engine's thread, and show the screen until the user or a signal
 * ends the program. The terminal is restored on return, and on each other end
 * of the program except SIGKILL. On failure return FALSE and set *error, so
 * that the caller prints the message on the restored terminal. If a signal
 * ended the screen, set *signal_number to its number, otherwise to 0.
 */
gboolean kmt_top_screen_run(KmtTopEngine *engine,
			    const KmtTopScreenOptions *options,
			    int *signal_number, GError **error);

#endif
