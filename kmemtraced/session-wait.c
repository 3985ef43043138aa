// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for signals and wakeups, restarts the cleanup process, and follows
 * process 1 to its root directory.
 */
#include "config.h"

#include <poll.h>
#include <unistd.h>

#include "kmemtraced/session-private.h"

/*
 * A stop signal within this time after another one counts as the same request.
 * For example, timeout(1) signals the process and then its whole process group.
 */
#define SAME_SIGNAL_US ((gint64)G_USEC_PER_SEC)

/*
 * Consume all pending signals. Forward the stop signals to @forward_to, unless
 * @forward_to is NULL or the signal comes from the terminal, which sends the
 * signal to the command itself. Return TRUE if there was a stop signal that
 * counts as a new request (see SAME_SIGNAL_US).
 */
gboolean kmtd_session_consume_signals(KmtdSession *session,
				      KmtdCommand *forward_to)
{
	struct signalfd_siginfo info;
	gint64 now_us = g_get_monotonic_time();
	gint64 last_us = session->signal_us;
	gboolean found = FALSE;

	while (read(session->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (!kmt_cli_signals_requests_stop(session->options->signals,
						   &info))
			continue;
		found = TRUE;
		if (forward_to && info.ssi_code != SI_KERNEL)
			kmtd_command_signal(forward_to, (int)info.ssi_signo);
	}
	if (found)
		session->signal_us = now_us;
	return found && (last_us == 0 || now_us - last_us > SAME_SIGNAL_US);
}

void kmtd_session_follow_root(KmtdSession *session)
{
	g_autoptr(GError) error = NULL;

	if (session->options->initramfs &&
	    !kmtd_initramfs_follow_root(session->options->initramfs, &error))
		session->ui->warning(error->message);
}

/* Restart the cleanup process if it was killed. While that fails, warn once. */
void kmtd_session_restart_cleanup(KmtdSession *session)
{
	g_autoptr(GError) error = NULL;

	if (kmtd_cleanup_restart(session->cleanup, &error)) {
		session->warned_no_cleanup = FALSE;
		return;
	}
	if (session->warned_no_cleanup)
		return;
	session->warned_no_cleanup = TRUE;
	kmtd_live_clear(session->live);
	session->ui->warning(error->message);
}

static void discard_input(int fd)
{
	char block[4096];

	while (fd >= 0 && read(fd, block, sizeof(block)) > 0)
		;
}

/*
 * Sleep until a signal, a reader, a new CPU or a changed setting needs
 * attention, but not beyond the monotonic time @when_us.
 */
void kmtd_session_sleep_until(KmtdSession *session, gint64 when_us)
{
	struct pollfd fds[] = {
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = session->notify_fd, .events = POLLIN},
		{.fd = session->watch_fd, .events = POLLIN},
		{.fd = session->source->changes_fd, .events = POLLIN},
		{.fd = session->stream
			       ? kmt_stream_writer_poll_fd(session->stream)
			       : -1,
		 .events = POLLOUT},
	};
	gint64 wait_us = MAX(when_us - g_get_monotonic_time(), 0);

	(void)poll(fds, G_N_ELEMENTS(fds), (int)((wait_us + 999) / 1000));
	discard_input(session->notify_fd);
	/* Discard the inotify events: callers that depend on the list of CPUs
	 * call kmtd_session_follow_cpus(), which is cheap, after each sleep. */
	discard_input(session->watch_fd);
}
