// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ticks of a session that writes a stream, and the end of the stream.
 *
 * In a round, each reader sends the records that its CPU had when the round
 * began. A record that is sent later than round n, from any CPU, is therefore
 * younger than the beginning of round n. All records that were sent before the
 * end of round n - 1 are older. So the watermark of round n is the time of the
 * last record that any reader had sent at round n - 1, unless a source still
 * holds older records back, or a reader is too slow to send all records of its
 * CPU in a round. The records that this reader has sent are then the limit.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "kmemtraced/session-private.h"
#include "lib/capture/error.h"

/* Shortest time from one look at the tables and counters to the next. */
#define TABLES_US ((gint64)G_USEC_PER_SEC)

/* The look at the tables takes at most 1/TABLES_PART of the time. */
#define TABLES_PART 20

static gint64 clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void post_tick(KmtdSession *session, gint64 watermark)
{
	const KmtStreamTick tick = {
		.number = ++session->ticks.n_posted,
		.watermark = watermark,
		.monotonic_ns = clock_ns(CLOCK_MONOTONIC),
		.realtime_ns = clock_ns(CLOCK_REALTIME),
		.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
	};

	kmt_stream_writer_post(session->stream, KMT_STREAM_TICK, &tick,
			       sizeof(tick), NULL, 0);
}

static void post_counters(KmtdSession *session)
{
	g_autoptr(GHashTable) lost =
		session->source->class->overruns(session->source, NULL);
	g_autoptr(GArray) all =
		g_array_new(FALSE, FALSE, sizeof(KmtStreamCounters));

	for (guint i = 0; i < session->readers->len; i++) {
		KmtdReader *reader = session->readers->pdata[i];
		KmtCaptureCpuWriter *writer = kmtd_reader_file_writer(reader);
		guint cpu = kmtd_reader_cpu(reader);
		const guint64 *n =
			lost ? g_hash_table_lookup(lost, GUINT_TO_POINTER(cpu))
			     : NULL;
		const KmtStreamCounters counters = {
			.cpu = cpu,
			.is_lost_known = lost != NULL,
			.lost = n ? *n : 0,
			.records = kmt_capture_cpu_writer_written(writer) /
				   session->source->record_bytes,
			.unsent = kmt_capture_cpu_writer_unsaved(writer),
		};

		g_array_append_val(all, counters);
	}
	kmt_stream_writer_post(session->stream, KMT_STREAM_COUNTERS, all->data,
			       all->len * sizeof(KmtStreamCounters), NULL, 0);
}

static void ignore_warning(const char *text)
{
}

/*
 * Send the tables that have changed. A table that cannot be read now has caused
 * a warning at the start.
 */
static void update_tables(KmtdSession *session)
{
	gint64 start_us = g_get_monotonic_time(), end_us;
	GError *error = NULL;

	if (start_us < session->ticks.tables_us)
		return;
	session->tables.warning = ignore_warning;
	if (!kmtd_tables_renew(&session->tables, &error))
		kmtd_session_add_error(session, error);
	session->tables.warning = session->ui->warning;
	post_counters(session);
	end_us = g_get_monotonic_time();
	session->ticks.tables_us =
		start_us + MAX(TABLES_US, TABLES_PART * (end_us - start_us));
}

static void begin_round(KmtdSession *session, gint64 now_us)
{
	KmtdSessionTicks *ticks = &session->ticks;

	ticks->is_open = TRUE;
	ticks->round++;
	ticks->n_readers = session->readers->len;
	ticks->next_us = now_us + KMT_STREAM_TICK_MS * (gint64)1000;
	/* A reader that has ended because its file disappeared does not
	 * subtract itself. A reader that ends during the round may delay the
	 * end of this round until the next wakeup of the main thread. */
	atomic_store(&ticks->n_pending, kmtd_session_n_unfinished(session));
	for (guint i = 0; i < ticks->n_readers; i++)
		kmtd_reader_request_tick(session->readers->pdata[i],
					 ticks->round, &ticks->n_pending);
}

/* End the round if each reader that existed at its beginning is done. */
static void try_end_round(KmtdSession *session)
{
	KmtdSessionTicks *ticks = &session->ticks;
	gint64 last_ns = KMT_STREAM_WATERMARK_NONE;
	gint64 watermark = ticks->last_ns;

	for (guint i = 0; i < ticks->n_readers; i++) {
		KmtdReaderTick tick;

		if (!kmtd_reader_tick_done(session->readers->pdata[i],
					   ticks->round, &tick))
			return;
		last_ns = MAX(last_ns, tick.last_ns);
		if (tick.settled_ns <= watermark)
			watermark = tick.settled_ns - 1;
	}
	ticks->is_open = FALSE;
	ticks->last_ns = last_ns;
	ticks->watermark = MAX(ticks->watermark, watermark);
	update_tables(session);
	post_tick(session, ticks->watermark);
}

gint64 kmtd_session_tick(KmtdSession *session)
{
	KmtdSessionTicks *ticks = &session->ticks;
	gint64 now_us = g_get_monotonic_time();

	if (!session->stream)
		return G_MAXINT64;
	kmt_stream_writer_push(session->stream);
	if (ticks->is_open)
		try_end_round(session);
	if (!ticks->is_open && now_us >= ticks->next_us)
		begin_round(session, now_us);
	/* While a round is open, the last reader wakes the main thread. */
	return ticks->is_open ? G_MAXINT64 : ticks->next_us;
}

/*
 * Wait until the reader of the stream has accepted all frames. A stop request
 * ends the waiting, unless it is the first one of the session.
 */
static void finish_stream(KmtdSession *session)
{
	int r;

	while ((r = kmt_stream_writer_flush(session->stream,
					    session->signal_fd)) == -EINTR) {
		kmtd_session_restart_cleanup(session);
		if (kmtd_session_consume_signals(session, NULL) &&
		    session->n_stop_requests++ > 0)
			kmt_stream_writer_cancel(session->stream);
	}
	if (r == -ECANCELED && !session->failed)
		kmtd_session_add_error(
			session,
			g_error_new(KMT_DAEMON_ERROR,
				    KMT_DAEMON_ERROR_ABANDONED,
				    "ended before the reader of the stream "
				    "had accepted all records"));
	else if (r < 0)
		kmtd_session_add_write_error(session, 0, -r, 0);
}

void kmtd_session_end_stream(KmtdSession *session, const KmtdSummary *summary)
{
	const GError *error =
		session->errors->len ? session->errors->pdata[0] : NULL;
	const char *text = error ? error->message : "";
	const KmtStreamEnd end = {
		.reason = session->failed ? KMT_STREAM_END_FAILED
					  : session->end_reason,
		.complete = !session->failed,
		.records = summary->bytes / MAX(summary->record_bytes, 1),
		.lost = summary->lost,
		.is_lost_known = summary->lost_known,
	};

	if (summary->cpus->len > 0)
		post_counters(session);
	post_tick(session, KMT_STREAM_WATERMARK_END);
	kmt_stream_writer_post(session->stream, KMT_STREAM_END, &end,
			       sizeof(end), text, strlen(text));
	finish_stream(session);
}
