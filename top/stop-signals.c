// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/stop-signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int stop_fd = -1;
static volatile sig_atomic_t stop_signal;

static void handle(int number)
{
	const guint64 one = 1;
	int saved = errno;

	if (!stop_signal)
		stop_signal = number;
	(void)!write(stop_fd, &one, sizeof(one));
	errno = saved;
}

gboolean kmt_top_stop_signals_catch(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = handle,
					 .sa_flags = SA_RESTART};
	struct sigaction old;
	guint i;

	stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_fd < 0)
		return FALSE;
	for (i = 0; i < G_N_ELEMENTS(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &action, NULL);
	return TRUE;
}

int kmt_top_stop_fd(void)
{
	return stop_fd;
}

int kmt_top_stop_signal(void)
{
	return stop_signal;
}
