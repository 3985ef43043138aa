// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits until the readers have consumed and written their records. */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "kmemtraced/session-private.h"
#include "lib/capture/error.h"

/* Time in kmtd_session_drain() after which a note explains the delay to the
 * user. */
#define DRAIN_NOTE_US ((gint64)G_USEC_PER_SEC)

/* Abandon all unwritten records, warn the user, and mark the session failed. */
static void abandon(KmtdSession *session)
{
	for (guint i = 0; i < session->readers->len; i++)
		kmtd_reader_abandon(session->readers->pdata[i]);
	if (session->stream)
		kmt_stream_writer_cancel(session->stream);
	kmtd_live_clear(session->live);
	session->ui->warning(session->stream
				     ? "no longer waiting for the reader of "
				       "the stream"
				     : "no longer waiting for the disk");
	if (!session->failed)
		kmtd_session_add_error(
			session,
			g_error_new(KMT_DAEMON_ERROR,
				    KMT_DAEMON_ERROR_ABANDONED,
				    "ended before all records were written"));
}

/*
 * Stop all readers after tracing was switched off, and wait until each reader
 * has consumed its remaining records. The user can abandon the unwritten
 * records with further stop requests.
 */
void kmtd_session_drain(KmtdSession *session)
{
	gint64 stopped_us = g_get_monotonic_time();
	guint n_signals = 0;
	gboolean note_pending = TRUE;

	for (guint i = 0; i < session->readers->len; i++)
		kmtd_reader_stop(session->readers->pdata[i]);
	while (kmtd_session_n_unfinished(session) > 0) {
		kmtd_session_sleep_until(session, g_get_monotonic_time() +
							  KMTD_SESSION_TICK_US);
		kmtd_session_restart_cleanup(session);
		if (kmtd_session_n_unfinished(session) > 0 &&
		    kmtd_session_consume_signals(session, NULL)) {
			/* Ignore the first stop request of the session, because
			 * shutdown has already begun. Once the note below has
			 * been printed, each request counts. */
			if (note_pending && session->n_stop_requests++ == 0)
				continue;
			/*
			 * The first request that counts abandons the unwritten
			 * records. A reader may still be blocked in the file
			 * system, so the second request ends the process. The
			 * cleanup process then cuts each CPU file back to whole
			 * records.
			 */
			if (n_signals++ > 0)
				_exit(session->options->command
					      ? KMTD_COMMAND_FAILED
					      : EXIT_FAILURE);
			abandon(session);
		}
		if (note_pending && n_signals == 0 &&
		    kmtd_session_n_unfinished(session) > 0 &&
		    g_get_monotonic_time() - stopped_us > DRAIN_NOTE_US) {
			kmtd_live_clear(session->live);
			session->ui->note("writing the buffered records; "
					  "Ctrl+C discards them");
			note_pending = FALSE;
		}
	}
	for (guint i = 0; i < session->readers->len; i++)
		kmtd_reader_join(session->readers->pdata[i]);
	session->running = FALSE;
}

/*
 * Wait until each reader has consumed all records that were present when the
 * reader started. Return FALSE if a stop signal arrived first.
 */
gboolean kmtd_session_wait_drained(KmtdSession *session)
{
	for (;;) {
		gboolean all = TRUE;

		for (guint i = 0; i < session->readers->len; i++)
			all = all &&
			      kmtd_reader_drained(session->readers->pdata[i]);
		if (all)
			return TRUE;
		/* Count the request, so that kmtd_session_drain() does not
		 * ignore the next one. */
		if (kmtd_session_consume_signals(session, NULL)) {
			session->n_stop_requests++;
			return FALSE;
		}
		kmtd_session_sleep_until(session, g_get_monotonic_time() +
							  KMTD_SESSION_TICK_US);
	}
}
