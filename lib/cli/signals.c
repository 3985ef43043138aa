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
	static const int asking[] = {SIGTERM, SIGHUP, SIGQUIT};

	sigemptyset(&signals->taken);
	sigaddset(&signals->taken, SIGCHLD);
	sigaddset(&signals->taken, SIGINT);
	signals->ignore_terminal = kmt_cli_signals_is_ignored(SIGINT);
	for (gsize i = 0; i < G_N_ELEMENTS(asking); i++)
		if (!kmt_cli_signals_is_ignored(asking[i]))
			sigaddset(&signals->taken, asking[i]);
	sigprocmask(SIG_BLOCK, &signals->taken, &signals->mask_before);
	for (gsize i = 0; i < G_N_ELEMENTS(changed); i++) {
		struct sigaction action = {.sa_handler = changed[i].action};

		sigaction(changed[i].number, &action, &signals->before[i]);
	}
}

void kmt_cli_signals_release(const KmtCliSignals *signals)
{
	sigprocmask(SIG_SETMASK, &signals->mask_before, NULL);
}

void kmt_cli_signals_restore(const KmtCliSignals *signals)
{
	for (gsize i = 0; i < G_N_ELEMENTS(changed); i++)
		sigaction(changed[i].number, &signals->before[i], NULL);
	kmt_cli_signals_release(signals);
}

gboolean kmt_cli_signals_asks_to_stop(const KmtCliSignals *signals,
				      const struct signalfd_siginfo *info)
{
	if (info->ssi_signo == SIGCHLD)
		return FALSE;
	return info->ssi_signo != SIGINT || info->ssi_code != SI_KERNEL ||
	       !signals->ignore_terminal;
}
