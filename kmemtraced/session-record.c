// SPDX-License-Identifier: GPL-2.0-or-later
/* The main loop of a session, from the start of the recording to its end. */
#include "config.h"

#include "kmemtraced/session-private.h"

static void update_live(KmtdSession *session)
{
	KmtdLiveFigures figures = {
		.events = kmtd_session_bytes_seen(session) /
			  session->source->record_bytes,
		.bytes = kmtd_session_bytes_written(session),
		.now_us = g_get_monotonic_time(),
	};

	if (!session->live)
		return;
	figures.has_lost = session->source->class->total_overruns(
		session->source, &figures.lost, NULL);
	kmtd_live_update(session->live, &figures);
	/* Wake the readers, so that the next update includes their latest
	 * records. A few records would otherwise wait for a full sub-buffer. */
	for (guint i = 0; i < session->readers->len; i++)
		kmtd_reader_poll(session->readers->pdata[i]);
}

/*
 * Return whether recording must stop. Without a command, the first stop request
 * ends the recording. With a command, the recording ends when the command ends
 * or at the second request. The command gets each stop signal, too, from
 * kmtd_session_consume_signals() or directly from the terminal. Signals within
 * one second count as one request.
 */
static gboolean stop_requested(KmtdSession *session)
{
	KmtdCommand *command = session->options->command;

	session->n_stop_requests +=
		(guint)kmtd_session_consume_signals(session, command);
	if (!command)
		return session->n_stop_requests > 0;
	kmtd_command_poll(command, FALSE);
	return session->n_stop_requests > 1 || !kmtd_command_runs(command);
}

/*
 * Return whether another program has switched tracing off, and print a warning
 * if so. Recording must end then, before tracing is switched on again:
 * switching on discards unread records and resets the counters of lost events.
 */
static gboolean switched_off(KmtdSession *session)
{
	gboolean enabled = TRUE;

	if (!session->source->class->is_enabled(session->source, &enabled,
						NULL) ||
	    enabled)
		return FALSE;
	kmtd_live_clear(session->live);
	session->ui->warning("another program switched tracing off; saving the "
			     "recorded events");
	return TRUE;
}

static gboolean stream_failed(const KmtdSession *session)
{
	return session->stream && kmt_stream_writer_error(session->stream);
}

void kmtd_session_poll_changes(KmtdSession *session, gboolean now)
{
	if (session->source->class->poll_changes)
		session->source->class->poll_changes(session->source, now);
}

/*
 * Record until stop_requested(), the end of the requested time, switched_off(),
 * or an error. A failed write for one CPU ends the recording of all CPUs;
 * kmtd_session_drain() then reads the remaining records of all CPUs, and writes
 * those of the CPUs whose writes do not fail.
 */
void kmtd_session_record(KmtdSession *session, gint64 start_us)
{
	gint64 tick_us = start_us + KMTD_SESSION_TICK_US;
	gint64 end_us =
		session->options->seconds > 0
			? start_us + (gint64)(session->options->seconds *
					      G_USEC_PER_SEC)
			: G_MAXINT64;
	KmtdCommand *command = session->options->command;
	guint n_ended = 0;

	session->end_reason = KMT_STREAM_END_STOPPED;
	while (!stop_requested(session) &&
	       !kmtd_session_check_readers(session, &n_ended) &&
	       !stream_failed(session)) {
		gint64 now_us = g_get_monotonic_time();
		gint64 round_us;
		GError *error = NULL;

		if (now_us >= end_us) {
			session->end_reason = KMT_STREAM_END_TIME;
			break;
		}
		kmtd_session_poll_changes(session, FALSE);
		kmtd_session_restart_cleanup(session);
		if (!kmtd_session_follow_cpus(session, &error)) {
			kmtd_session_add_error(session, error);
			break;
		}
		if (now_us >= tick_us) {
			update_live(session);
			kmtd_session_follow_root(session);
			if (switched_off(session)) {
				session->end_reason = KMT_STREAM_END_SWITCHED;
				break;
			}
			tick_us = MAX(tick_us + KMTD_SESSION_TICK_US, now_us);
		}
		round_us = kmtd_session_tick(session);
		kmtd_session_sleep_until(session,
					 MIN(MIN(tick_us, end_us), round_us));
	}
	if (command && !kmtd_command_runs(command))
		session->end_reason = KMT_STREAM_END_COMMAND;
}
