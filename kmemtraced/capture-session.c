// SPDX-License-Identifier: GPL-2.0-or-later
/* The course of a session: prepare, record, drain, save. */
#include "config.h"

#include <unistd.h>

#include "kmemtraced/session-private.h"
#include "lib/capture/error.h"
#include "lib/capture/meta.h"

static GError *interrupted(void)
{
	return g_error_new(KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_INTERRUPTED,
			   "interrupted before recording began");
}

/*
 * Save the records of a trace that was switched off before kmemtraced started.
 * Switching tracing on would discard these records. Return FALSE if there are
 * no such records. If a stop signal arrived before any record was read, return
 * FALSE and add an error to the session.
 */
static gboolean run_frozen(KmtdSession *session, KmtdSummary *summary)
{
	gboolean is_complete = kmtd_session_wait_drained(session);

	if (is_complete && kmtd_session_bytes_read(session) == 0)
		return FALSE;
	/* A reader may hold records that its counter of bytes does not include
	 * yet. Drain the readers before the counter is tested. */
	kmtd_session_drain(session);
	session->frozen = kmtd_session_bytes_read(session) > 0;
	if (!session->frozen) {
		kmtd_session_add_error(session, interrupted());
		return FALSE;
	}
	session->end_reason = KMT_STREAM_END_FROZEN;
	session->ui->note("tracing was already off: saved the events recorded "
			  "before, and did not switch tracing on");
	kmtd_session_save(session, summary);
	if (session->options->command)
		kmtd_session_add_error(
			session,
			g_error_new(KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_FROZEN,
				    "the command was not started"));
	return TRUE;
}

static void note_started(KmtdSession *session)
{
	const KmtdOutput *output = session->output;
	gboolean staged = output->directory &&
			  kmt_capture_writer_is_staged(output->directory);
	g_autofree char *place = output->class->describe(output);
	g_autofree char *text = g_strdup_printf(
		"recording %u CPUs %s%s%s, from %s; %s ends it",
		session->readers->len, place,
		staged ? ", which replaces the capture in " : "",
		staged ? session->options->directory : "",
		session->source->description,
		session->options->command ? "the command's end" : "Ctrl+C");

	session->ui->note(text);
}

/*
 * Record, if has_begun, and then end the session. The final steps must run in
 * this order, because each step depends on the previous one.
 */
static void run(KmtdSession *session, gboolean has_begun, KmtdSummary *summary)
{
	gint64 start_us = g_get_monotonic_time();
	GError *error = NULL;

	if (has_begun)
		note_started(session);
	if (has_begun && session->options->initramfs)
		kmtd_initramfs_ready(session->options->initramfs);
	/* The command uses the terminal, so do not draw a live line there. */
	if (has_begun && !session->options->quiet && !session->options->command)
		session->live = kmtd_live_new(STDERR_FILENO);
	/* If tracing was on already, the readers had to start before the tables
	 * were copied, because the buffers could have overflowed meanwhile. */
	if ((session->was_enabled &&
	     !kmtd_tables_copy(&session->tables, &error)) ||
	    !kmtd_tables_copy_records(&session->tables, &error))
		kmtd_session_add_error(session, g_steal_pointer(&error));
	else if (has_begun)
		kmtd_session_record(session, start_us);

	kmtd_session_poll_changes(session, TRUE);
	/* 1. Switch tracing off. No more events follow, and all recorded events
	 * can be read. */
	if (!session->source->class->disable(session->source, &error))
		kmtd_session_add_error(session, g_steal_pointer(&error));
	kmtd_tables_read_slabs(&session->tables);
	summary->seconds =
		(double)(g_get_monotonic_time() - start_us) / G_USEC_PER_SEC;
	/* 2. Create readers for CPUs that appeared at the last moment: these
	 * CPUs may have records too. */
	if (!kmtd_session_follow_cpus(session, &error))
		kmtd_session_add_error(session, g_steal_pointer(&error));
	/* 3. Wait until each reader has consumed all records of its CPU and has
	 * ended. */
	kmtd_session_drain(session);
	g_clear_pointer(&session->live, kmtd_live_free);
	/* 4. Save the figures, the tables and the meta file. */
	kmtd_session_follow_root(session);
	/* An initramfs may have had no /proc any more. */
	kmtd_tables_read_slabs(&session->tables);
	kmtd_session_save(session, summary);
}

static gboolean check_any_reader(KmtdSession *session, GError **error)
{
	if (session->readers->len > 0)
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_CONTROL,
		    "there is no cpu<n> in %s", session->source->watch_path);
	return FALSE;
}

static gboolean write_meta(KmtdSession *session, GError **error)
{
	return session->output->class->write_meta(
		session->output, session->meta, kmtd_session_meta_cpus(session),
		FALSE, error);
}

/*
 * Switch tracing on, which starts a new trace. Records that earlier readers
 * consumed belong to the previous trace, so clear "continues" in the meta file
 * first. A reader of a stream shows what is not recorded during the recording,
 * and bpf knows that only when its programs are attached.
 */
static gboolean enable(KmtdSession *session, GError **error)
{
	KmtdSource *source = session->source;

	kmt_capture_meta_set_continues(session->meta, FALSE);
	if (!write_meta(session, error) ||
	    !source->class->enable(source, error))
		return FALSE;
	if (!session->stream)
		return TRUE;
	source->class->describe(source, session->meta);
	return write_meta(session, error);
}

/*
 * Return TRUE and set an error if a stop signal arrived before tracing was
 * switched on. An empty capture must not replace an older one. With a command,
 * or if tracing was on before, the signal stays pending for
 * kmtd_session_record(), which also forwards it to the command.
 */
static gboolean was_interrupted(KmtdSession *session, GError **error)
{
	if (session->was_enabled || session->options->command)
		return FALSE;
	session->n_stop_requests +=
		(guint)kmtd_session_consume_signals(session, NULL);
	if (session->n_stop_requests == 0)
		return FALSE;
	g_propagate_error(error, interrupted());
	return TRUE;
}

/*
 * Begin the recording. Return FALSE and set an error on failure; tracing is
 * then off, unless it was on before.
 */
static gboolean begin(KmtdSession *session, GError **error)
{
	KmtdCommand *command = session->options->command;

	if (!session->was_enabled && !enable(session, error))
		return FALSE;
	kmt_capture_meta_set_time(session->meta, "start_time");
	/* Create readers for the CPU files that the kernel creates when tracing
	 * is first switched on. */
	if (kmtd_session_follow_cpus(session, error) &&
	    check_any_reader(session, error) &&
	    (!command ||
	     kmtd_command_start(command, session->signal_fd, error)))
		return TRUE;
	if (!session->was_enabled)
		session->source->class->disable(session->source, NULL);
	return FALSE;
}

/* End the output of a session that has recorded nothing. */
static void undo(KmtdSession *session, const KmtdSummary *summary)
{
	if (session->output->directory)
		kmt_capture_writer_undo(session->output->directory);
	else if (session->meta)
		kmtd_session_end_stream(session, summary);
}

gboolean kmtd_session_run(const KmtdSessionOptions *options,
			  const KmtdSessionUi *ui, KmtdSummary *summary,
			  GPtrArray *errors)
{
	KmtdSession session = {
		.options = options,
		.ui = ui,
		.errors = errors,
		.readers = g_ptr_array_new_with_free_func(
			(GDestroyNotify)kmtd_reader_free),
		.signal_fd = -1,
		.notify_fd = -1,
		.watch_fd = -1,
		.end_reason = KMT_STREAM_END_FAILED,
		.ticks = {.last_ns = KMT_STREAM_WATERMARK_NONE,
			  .watermark = KMT_STREAM_WATERMARK_NONE},
	};
	GError *error = NULL;
	gboolean captured = FALSE;

	/* Start the threads before tracing is on, because their creation
	 * allocates kernel memory. */
	if (kmtd_session_prepare(&session, &error) &&
	    kmtd_session_start_readers(&session, &error)) {
		if (!session.was_enabled &&
		    session.source->class->keeps_records)
			captured = run_frozen(&session, summary);
		if (!captured && !session.failed &&
		    !was_interrupted(&session, &error)) {
			gboolean has_begun = begin(&session, &error);

			if (error)
				kmtd_session_add_error(&session,
						       g_steal_pointer(&error));
			/* If tracing was on already, the readers may have
			 * consumed records, which only the capture still has.
			 */
			captured = has_begun || session.was_enabled;
			if (captured)
				run(&session, has_begun, summary);
		}
	}
	if (error)
		kmtd_session_add_error(&session, error);
	if (!captured && session.output)
		undo(&session, summary);
	kmtd_session_clear(&session);
	return captured;
}
