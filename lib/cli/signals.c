// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/cli/signals.h"

/*
 * Signals whose action is replaced. SIGCHLD must wake the main thread when a
 * command ends; if SIGCHLD is ignored, the kernel neither queues the signal nor
 * keeps an exit status. SIGPIPE and SIGXFSZ are ignored, so that write()
 * returns an error instead.
 */
static const struct {
	int number;
	void (*action)(int);
} changed[KMT_CLI_SIGNALS_CHANGED] = {
	{SIGCHLD, SIG_DFL},
	{SIGPIPE, SIG_IGN},
	{SIGXFSZ, SIG_IGN},
};

gboolean kmt_cli_signals_is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN;
}

void kmt_cli_signals_block(KmtCliSignals *signals)
{
	static const int stop_signals[] = {SIGTERM, SIGHUP, SIGQUIT};

	sigemptyset(&signals->blocked);
	sigaddset(&signals->blocked, SIGCHLD);
	sigaddset(&signals->blocked, SIGINT);
	signals->ignore_terminal = kmt_cli_signals_is_ignored(SIGINT);
	for (gsize i = 0; i < G_N_ELEMENTS(stop_signals); i++)
		if (!kmt_cli_signals_is_ignored(stop_signals[i]))
			sigaddset(&signals->blocked, stop_signals[i]);
	sigprocmask(SIG_BLOCK, &signals->blocked, &signals->old_mask);
	for (gsize i = 0; i < G_N_ELEMENTS(changed); i++) {
		struct sigaction action = {.sa_handler = changed[i].action};

		sigaction(changed[i].number, &action, &signals->old_actions[i]);
	}
}

void kmt_cli_signals_release(const KmtCliSignals *signals)
{
	sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
}

void kmt_cli_signals_restore(const KmtCliSignals *signals)
{
	for (gsize i = 0; i < G_N_ELEMENTS(changed); i++)
		sigaction(changed[i].number, &signals->old_actions[i], NULL);
	kmt_cli_signals_release(signals);
}

gboolean kmt_cli_signals_requests_stop(const KmtCliSignals *signals,
				       const struct signalfd_siginfo *info)
{
	if (info->ssi_signo == SIGCHLD)
		return FALSE;
	return info->ssi_signo != SIGINT || info->ssi_code != SI_KERNEL ||
	       !signals->ignore_terminal;
}
