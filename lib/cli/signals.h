/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal handling of kmemtraced: the state that it inherited, and the signals
 * that it reads.
 *
 * Signals that end a recording are blocked and read from a signalfd. Such a
 * signal stays ignored if it was ignored on entry, as SIGHUP under nohup(1).
 * SIGINT is the exception: a shell ignores SIGINT for every background command
 * of a script. In that case only a SIGINT from the terminal is ignored, so that
 * kill(1) still ends the recording.
 *
 * SIGPIPE and SIGXFSZ are ignored. Any other fatal signal kills kmemtraced;
 * kmemtraced/cleanup-process.h describes the cleanup.
 */
#ifndef KMEMTRACE_CLI_SIGNALS_H
#define KMEMTRACE_CLI_SIGNALS_H

#include <glib.h>
#include <signal.h>
#include <sys/signalfd.h>

/* Number of signals whose action kmemtraced changes, and restores before
 * exec(). */
#define KMT_CLI_SIGNALS_CHANGED 3

typedef struct {
	sigset_t blocked;	  /* blocked signals, read from a signalfd */
	gboolean ignore_terminal; /* SIGINT was ignored on entry */
	sigset_t old_mask;	  /* signal mask on entry */
	/* signal actions on entry */
	struct sigaction old_actions[KMT_CLI_SIGNALS_CHANGED];
} KmtCliSignals;

/* Return whether the action of this signal is SIG_IGN. */
gboolean kmt_cli_signals_is_ignored(int number);

/*
 * Save the signal state, block the signals that a signalfd is to read, and
 * change the actions. Call this function before any thread and any child
 * process exist.
 */
void kmt_cli_signals_block(KmtCliSignals *signals);

/*
 * Restore the signal mask of the entry, but not the actions. A stop signal that
 * was neither ignored nor blocked on entry then ends the process.
 */
void kmt_cli_signals_release(const KmtCliSignals *signals);

/*
 * Restore the signal mask and the actions of the entry. A child process calls
 * this function before exec().
 */
void kmt_cli_signals_restore(const KmtCliSignals *signals);

/*
 * Return whether a signal read from the signalfd requests the end of the
 * recording.
 */
gboolean kmt_cli_signals_requests_stop(const KmtCliSignals *signals,
				       const struct signalfd_siginfo *info);

#endif
