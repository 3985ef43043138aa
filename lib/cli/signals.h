/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The signals of kmemtraced: as it inherited them, and as it takes them.
 *
 * Signals that end a recording are blocked and read from a signalfd.  One that
 * was ignored on entry, as nohup(1) does with SIGHUP, stays ignored.  The
 * exception is SIGINT, which a shell ignores for every command that a script
 * starts with '&': then only the SIGINT of a terminal is ignored, so that
 * kill(1) still ends the recording.
 *
 * Any other deadly signal kills kmemtraced; see kmemtraced/cleanup-process.h.
 */
#ifndef KMEMTRACE_CLI_SIGNALS_H
#define KMEMTRACE_CLI_SIGNALS_H

#include <glib.h>
#include <signal.h>
#include <sys/signalfd.h>

/* The number of signals whose action kmemtraced changes and restores for a
 * command. */
#define KMT_CLI_SIGNALS_CHANGED 3

typedef struct {
	sigset_t taken;		  /* blocked, to be read from a signalfd */
	gboolean ignore_terminal; /* SIGINT was ignored on entry */
	sigset_t mask_before;	  /* on entry */
	struct sigaction before[KMT_CLI_SIGNALS_CHANGED]; /* actions on entry */
} KmtCliSignals;

/* Return whether the action of this signal is SIG_IGN. */
gboolean kmt_cli_signals_is_ignored(int number);

/* Call before any thread and any child process exist. */
void kmt_cli_signals_block(KmtCliSignals *signals);

/* Restores the mask of the entry: from now on a signal acts by itself. */
void kmt_cli_signals_release(const KmtCliSignals *signals);

/* Restores mask and actions.  For a child process before exec(). */
void kmt_cli_signals_restore(const KmtCliSignals *signals);

/* Return whether this signal asks to end the recording. */
gboolean kmt_cli_signals_asks_to_stop(const KmtCliSignals *signals,
				      const struct signalfd_siginfo *info);

#endif
