// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/cli/cli.h"
#include "lib/capture/error.h"
#include "kmemtraced/cleanup-process.h"
#include "kmemtraced/live.h"
#include "lib/capture/meta.h"
#include "lib/capture/capture-writer.h"
#include "kmemtraced/cpu-reader.h"
#include "kmemtraced/capture-session.h"
#include "kmemtraced/event-source.h"
#include "kmemtraced/kernel-tables.h"

/*
 * Period of the updates of the live line. record() also searches for new CPUs
 * at least this often.
 */
#define TICK_US ((gint64)G_USEC_PER_SEC)

/* Time in drain() after which a note explains the delay to the user. */
#define DRAIN_NOTE_US ((gint64)G_USEC_PER_SEC)

#define NICE (-20)

/*
 * A stop signal within this time after another one counts as the same request.
 * For example, timeout(1) signals the process and then its whole process group.
 */
#define SAME_SIGNAL_US ((gint64)G_USEC_PER_SEC)

typedef struct {
	const KmtdSessionOptions *options;
	const KmtdSessionUi *ui;
	GPtrArray *errors;

	KmtdSource *source;
	KmtCaptureWriter *output;
	KmtdCleanup *cleanup;
	KmtdLive *live;
	GKeyFile *meta;
	GPtrArray *readers; /* of KmtdReader *, in the order of creation */
	KmtdTables tables;
	int signal_fd;
	int notify_fd; /* eventfd that the reader threads write */
	int watch_fd;  /* inotify on the directory with the CPU files */

	gboolean was_enabled;
	gboolean running; /* add_reader() starts each new reader at once */
	gboolean frozen;  /* saving a trace that was already switched off */
	gboolean failed;  /* an error left the capture incomplete */
	gint64 signal_us; /* monotonic time of the last stop signal */
	guint n_stop_requests;	    /* stop requests so far */
	gboolean warned_no_cleanup; /* warned: no cleanup process */
} KmtdSession;

static void add_error(KmtdSession *session, GError *error)
{
	g_ptr_array_add(session->errors, error);
	session->failed = TRUE;
}

/* ---- preparation ---- */

static gboolean open_descriptors(KmtdSession *session, GError **error)
{
	session->signal_fd = signalfd(-1, &session->options->signals->blocked,
				      SFD_CLOEXEC | SFD_NONBLOCK);
	session->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* inotify is optional: it only reports new CPUs sooner. follow_cpus()
	 * also runs each tick. */
	session->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (session->signal_fd < 0 || session->notify_fd < 0) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "cannot open descriptors");
		return FALSE;
	}
	if (session->watch_fd >= 0 && session->source->watch_path)
		inotify_add_watch(
			session->watch_fd, session->source->watch_path,
			IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM);
	return TRUE;
}

static KmtdReader *find_reader(KmtdSession *session, guint cpu)
{
	for (guint i = 0; i < session->readers->len; i++)
		if (kmtd_reader_cpu(session->readers->pdata[i]) == cpu)
			return session->readers->pdata[i];
	return NULL;
}

static gboolean add_reader(KmtdSession *session, guint cpu, GError **error)
{
	g_autoptr(KmtdReader) reader = NULL;
	g_autoptr(KmtdCpuStream) stream = NULL;
	KmtCaptureCpuWriter *writer = kmt_capture_writer_cpu_file(
		session->output, cpu, session->source->record_bytes,
		session->source->batch_bytes, error);

	if (!writer)
		return FALSE;
	stream = session->source->class->open_cpu(session->source, cpu, error);
	if (!stream) {
		kmt_capture_cpu_writer_free(writer);
		return FALSE;
	}
	reader = kmtd_reader_new(g_steal_pointer(&stream), cpu,
				 session->source->record_bytes, writer,
				 session->notify_fd, error);
	if (!reader || (session->running && !kmtd_reader_start(reader, error)))
		return FALSE;
	kmt_capture_meta_add_cpu(session->meta, session->options->sys, cpu);
	g_ptr_array_add(session->readers, g_steal_pointer(&reader));
	return TRUE;
}

/*
 * Create readers for new CPUs, and stop the readers of CPUs whose file has
 * disappeared. Return FALSE and set an error if a reader cannot be created.
 */
static gboolean follow_cpus(KmtdSession *session, GError **error)
{
	g_autoptr(GArray) cpus = session->source->class->cpus(session->source);

	for (guint i = 0; i < cpus->len; i++) {
		guint cpu = g_array_index(cpus, guint, i);

		if (!find_reader(session, cpu) &&
		    !add_reader(session, cpu, error))
			return FALSE;
	}
	for (guint i = 0; i < session->readers->len; i++) {
		KmtdReader *reader = session->readers->pdata[i];
		guint cpu = kmtd_reader_cpu(reader);
		gboolean exists = FALSE;

		for (guint j = 0; j < cpus->len && !exists; j++)
			exists = g_array_index(cpus, guint, j) == cpu;
		if (!exists && !kmtd_reader_finished(reader))
			kmtd_reader_gone(reader);
	}
	return TRUE;
}

static guint meta_cpus(KmtdSession *session)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);

	return MAX(session->readers->len, (guint)MAX(configured, 0));
}

static gboolean open_source(KmtdSession *session, GError **error)
{
	const KmtdSessionOptions *options = session->options;
	const KmtdSourceOptions source_options = {
		.debugfs = options->debugfs,
		.tracefs = options->tracefs,
		.sys = options->sys,
		.proc = options->proc,
		.buffer_kb = options->buffer_kb,
		.reader = options->reader,
		.pids = options->pids,
		.n_pids = options->n_pids,
		.children = options->children,
		.filter = options->filter,
		.keep_own = options->keep_own,
		.warning = session->ui->warning,
	};

	session->source =
		kmtd_source_open(options->source, &source_options, error);
	return session->source != NULL;
}

/*
 * Open the capture directory before the source, so that the second of two
 * kmemtraced processes with the same directory fails without touching the
 * kernel.
 */
static gboolean open_output(KmtdSession *session, GError **error)
{
	const KmtCaptureDirectoryOptions options = {
		.force = session->options->force,
		.warning = session->ui->warning,
	};

	session->output = kmt_capture_writer_open(session->options->directory,
						  &options, error);
	return session->output != NULL;
}

/*
 * Start the cleanup process. From here on, the kernel's state is restored
 * whatever ends kmemtraced.
 */
static gboolean start_cleanup(KmtdSession *session, GError **error)
{
	KmtdSource *source = session->source;
	KmtRecoveryState state = {0};

	if (source->class->initial_state(source, &state))
		source->recovery = kmt_recovery_begin(&state);
	session->cleanup = kmtd_cleanup_start(
		kmt_capture_writer_fd(session->output), source, error);
	return session->cleanup != NULL;
}

/*
 * Prepare the recording. Everything that allocates much memory happens here,
 * before tracing is switched on, so that these allocations are not in the
 * trace. Return FALSE and set an error on failure.
 */
static gboolean prepare(KmtdSession *session, GError **error)
{
	KmtCaptureMetaStart start = {.sys = session->options->sys,
				     .proc = session->options->proc};

	/* Each CPU needs three descriptors. */
	kmt_cli_raise_file_limit();
	if (!open_output(session, error) || !open_source(session, error) ||
	    !session->source->class->is_enabled(session->source,
						&session->was_enabled, error) ||
	    !session->source->class->any_consumed(session->source,
						  &start.continues, error) ||
	    !open_descriptors(session, error))
		return FALSE;
	session->tables.output = session->output;
	session->tables.proc = session->options->proc;
	session->tables.directory = session->source->tables_path;
	session->tables.source = session->source;
	session->tables.warning = session->ui->warning;
	if (!start_cleanup(session, error) ||
	    (session->source->class->prepare &&
	     !session->source->class->prepare(session->source, error)))
		return FALSE;
	start.source = session->source->class->name;
	start.abi_version = session->source->abi_version;
	start.record_bytes = session->source->record_bytes;
	start.was_enabled = session->was_enabled;
	session->meta = kmt_capture_meta_new(&start);
	session->source->class->describe(session->source, session->meta);
	/* Write kmemtrace.meta before the CPU files: without it, the CPU files
	 * are not recognised as parts of a capture. */
	if (!kmt_capture_writer_write_meta(session->output, session->meta, 0,
					   error) ||
	    !follow_cpus(session, error) ||
	    !kmt_capture_writer_write_meta(session->output, session->meta,
					   meta_cpus(session), error) ||
	    (!session->was_enabled &&
	     !kmtd_tables_copy(&session->tables, error)))
		return FALSE;
	/* Lock the memory if the limits permit. A failure is ignored, as in the
	 * CPU file writer. */
	(void)mlockall(MCL_CURRENT);
	/*
	 * Raise the priority if permitted; a failure is ignored. The readers
	 * inherit the priority: they must run before the tasks that fill the
	 * buffers. This thread must run before tasks that keep a CPU busy when
	 * tracing has to be switched off.
	 */
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	return TRUE;
}

static gboolean start_readers(KmtdSession *session, GError **error)
{
	for (guint i = 0; i < session->readers->len; i++)
		if (!kmtd_reader_start(session->readers->pdata[i], error))
			return FALSE;
	session->running = TRUE;
	return TRUE;
}

/* ---- recording ---- */

static guint64 bytes_read(KmtdSession *session)
{
	guint64 n = 0;

	for (guint i = 0; i < session->readers->len; i++)
		n += kmtd_reader_bytes_read(session->readers->pdata[i]);
	return n;
}

static guint64 bytes_seen(KmtdSession *session)
{
	guint64 n = 0;

	for (guint i = 0; i < session->readers->len; i++)
		n += kmtd_reader_bytes_seen(session->readers->pdata[i]);
	return n;
}

static guint64 bytes_written(KmtdSession *session)
{
	guint64 n = 0;

	for (guint i = 0; i < session->readers->len; i++)
		n += kmt_capture_cpu_writer_written(
			kmtd_reader_file_writer(session->readers->pdata[i]));
	return n;
}

static void update_live(KmtdSession *session)
{
	KmtdLiveFigures figures = {
		.events = bytes_seen(session) / session->source->record_bytes,
		.bytes = bytes_written(session),
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

static guint n_unfinished(KmtdSession *session)
{
	guint n = 0;

	for (guint i = 0; i < session->readers->len; i++)
		n += !kmtd_reader_finished(session->readers->pdata[i]);
	return n;
}

/*
 * Join the readers that have ended, and print a warning for each reader that
 * failed. Return TRUE if recording must end, because a reader cannot write or
 * no reader is left. *n_ended is the number of ended readers at the last call.
 */
static gboolean check_readers(KmtdSession *session, guint *n_ended)
{
	guint n = n_unfinished(session);
	guint n_now_ended = session->readers->len - n;

	for (guint i = 0; i < session->readers->len; i++)
		if (kmtd_reader_cannot_write(session->readers->pdata[i]))
			return TRUE;
	if (n_now_ended > *n_ended) {
		*n_ended = n_now_ended;
		for (guint i = 0; i < session->readers->len; i++) {
			KmtdReader *reader = session->readers->pdata[i];
			g_autoptr(GError) error = NULL;

			if (!kmtd_reader_finished(reader))
				continue;
			kmtd_reader_join(reader);
			if (kmtd_reader_check(reader, &error))
				continue;
			kmtd_live_clear(session->live);
			session->ui->warning(error->message);
		}
	}
	return n == 0 && session->readers->len > 0;
}

/*
 * Consume all pending signals. Forward the stop signals to @forward_to, unless
 * it is NULL or the signal comes from the terminal, which signals the command
 * as well. Return TRUE if there was a stop signal that counts as a new request
 * (see SAME_SIGNAL_US).
 */
static gboolean consume_signals(KmtdSession *session, KmtdCommand *forward_to)
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

/*
 * Return whether recording must stop. Without a command, the first stop request
 * ends the recording. With a command, the recording ends when the command ends
 * or at the second request; the first request is only forwarded to the command.
 */
static gboolean stop_requested(KmtdSession *session)
{
	KmtdCommand *command = session->options->command;

	session->n_stop_requests += (guint)consume_signals(session, command);
	if (!command)
		return session->n_stop_requests > 0;
	kmtd_command_poll(command, FALSE);
	return session->n_stop_requests > 1 || !kmtd_command_runs(command);
}

/* Restart the cleanup process if it was killed. While that fails, warn once. */
static void restart_cleanup(KmtdSession *session)
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
static void sleep_until(KmtdSession *session, gint64 when_us)
{
	struct pollfd fds[] = {
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = session->notify_fd, .events = POLLIN},
		{.fd = session->watch_fd, .events = POLLIN},
		{.fd = session->source->changes_fd, .events = POLLIN},
	};
	gint64 wait_us = MAX(when_us - g_get_monotonic_time(), 0);

	(void)poll(fds, G_N_ELEMENTS(fds), (int)((wait_us + 999) / 1000));
	discard_input(session->notify_fd);
	/* Discard the inotify events: callers that depend on the list of CPUs
	 * call follow_cpus(), which is cheap, after each sleep. */
	discard_input(session->watch_fd);
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
	session->ui->warning("tracing was switched off by somebody else; "
			     "saving what it recorded");
	return TRUE;
}

static void poll_changes(KmtdSession *session, gboolean now)
{
	if (session->source->class->poll_changes)
		session->source->class->poll_changes(session->source, now);
}

/*
 * Record until a stop request, the end of the requested time, or an error after
 * which recording is pointless.
 */
static void record(KmtdSession *session, gint64 start_us)
{
	gint64 tick_us = start_us + TICK_US;
	gint64 end_us =
		session->options->seconds > 0
			? start_us + (gint64)(session->options->seconds *
					      G_USEC_PER_SEC)
			: G_MAXINT64;
	guint n_ended = 0;

	while (!stop_requested(session) && !check_readers(session, &n_ended)) {
		gint64 now_us = g_get_monotonic_time();
		GError *error = NULL;

		if (now_us >= end_us)
			break;
		poll_changes(session, FALSE);
		restart_cleanup(session);
		if (!follow_cpus(session, &error)) {
			add_error(session, error);
			break;
		}
		if (now_us >= tick_us) {
			update_live(session);
			if (switched_off(session))
				break;
			tick_us = MAX(tick_us + TICK_US, now_us);
		}
		sleep_until(session, MIN(tick_us, end_us));
	}
}

/* ---- end of the recording ---- */

static void abandon(KmtdSession *session)
{
	for (guint i = 0; i < session->readers->len; i++)
		kmtd_reader_abandon(session->readers->pdata[i]);
	kmtd_live_clear(session->live);
	session->ui->warning("not waiting for the disk any more");
	if (!session->failed)
		add_error(session, g_error_new(KMT_DAEMON_ERROR,
					       KMT_DAEMON_ERROR_ABANDONED,
					       "ended before all was written"));
}

/*
 * Stop all readers after tracing was switched off, and wait until each reader
 * has consumed its remaining records. The user can abandon the unwritten
 * records with further stop requests.
 */
static void drain(KmtdSession *session)
{
	gint64 stopped_us = g_get_monotonic_time();
	guint n_signals = 0;
	gboolean note_pending = TRUE;

	for (guint i = 0; i < session->readers->len; i++)
		kmtd_reader_stop(session->readers->pdata[i]);
	while (n_unfinished(session) > 0) {
		sleep_until(session, g_get_monotonic_time() + TICK_US);
		restart_cleanup(session);
		if (n_unfinished(session) > 0 &&
		    consume_signals(session, NULL)) {
			/* This is the first stop request, and shutdown has
			 * already begun: ignore the request. */
			if (note_pending && session->n_stop_requests++ == 0)
				continue;
			/*
			 * The first request here abandons the unwritten
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
		    n_unfinished(session) > 0 &&
		    g_get_monotonic_time() - stopped_us > DRAIN_NOTE_US) {
			kmtd_live_clear(session->live);
			session->ui->note("writing what is buffered; Ctrl+C "
					  "gives it up");
			note_pending = FALSE;
		}
	}
	for (guint i = 0; i < session->readers->len; i++)
		kmtd_reader_join(session->readers->pdata[i]);
	session->running = FALSE;
}

static void collect_read_errors(KmtdSession *session)
{
	for (guint i = 0; i < session->readers->len; i++) {
		GError *error = NULL;

		if (!kmtd_reader_check(session->readers->pdata[i], &error))
			add_error(session, error);
	}
}

/*
 * Add a single write error for all CPUs, with the total number of bytes that
 * were not saved.
 */
static void collect_write_errors(KmtdSession *session)
{
	const KmtdReader *first = NULL;
	guint64 unsaved = 0;
	int errnum = 0;
	GError *error = NULL;

	for (guint i = 0; i < session->readers->len; i++) {
		KmtdReader *reader = session->readers->pdata[i];
		KmtCaptureCpuWriter *writer = kmtd_reader_file_writer(reader);
		int r = kmt_capture_cpu_writer_error(writer);

		if (r == 0)
			r = kmt_capture_cpu_writer_sync(writer);
		unsaved += kmt_capture_cpu_writer_unsaved(writer);
		if (r < 0 && !first) {
			first = reader;
			errnum = -r;
		}
	}
	if (!first)
		return;
	kmt_capture_set_errno(&error, kmt_capture_write_error_code(errnum),
			      errnum,
			      "cannot write %s/cpu%u.out (%" G_GUINT64_FORMAT
			      " bytes of trace found no room)",
			      kmt_capture_writer_path(session->output),
			      kmtd_reader_cpu(first), unsaved);
	add_error(session, error);
}

static int compare_cpus(const void *a, const void *b)
{
	const KmtdCpuSummary *cpu_a = a, *cpu_b = b;

	return (cpu_a->cpu > cpu_b->cpu) - (cpu_a->cpu < cpu_b->cpu);
}

/*
 * Copy the figures of the session (bytes, lost events, buffer geometry) into
 * *summary and the meta file. Add an error to the session if a figure cannot be
 * determined.
 */
static void collect_figures(KmtdSession *session, KmtdSummary *summary)
{
	GError *error = NULL;
	g_autoptr(GHashTable) lost =
		session->source->class->overruns(session->source, &error);

	summary->lost_known =
		lost && session->source->class->total_overruns(
				session->source, &summary->lost, &error);
	if (!summary->lost_known)
		add_error(session, g_steal_pointer(&error));
	for (guint i = 0; i < session->readers->len; i++) {
		KmtdReader *reader = session->readers->pdata[i];
		KmtdCpuSummary cpu = {
			.cpu = kmtd_reader_cpu(reader),
			.bytes = kmt_capture_cpu_writer_written(
				kmtd_reader_file_writer(reader)),
		};
		const guint64 *n =
			lost ? g_hash_table_lookup(lost,
						   GUINT_TO_POINTER(cpu.cpu))
			     : NULL;

		cpu.lost = n ? *n : 0;
		kmt_capture_meta_set_cpu(session->meta, cpu.cpu, cpu.bytes,
					 summary->lost_known ? &cpu.lost
							     : NULL);
		g_array_append_val(summary->cpus, cpu);
		summary->bytes += cpu.bytes;
	}
	g_array_sort(summary->cpus, compare_cpus);
	summary->keeps_newest = session->source->keeps_newest;
	summary->frozen = session->frozen;
	summary->record_bytes = session->source->record_bytes;
	summary->n_subbufs = session->source->n_subbufs;
	summary->subbuf_bytes = session->source->subbuf_bytes;
	summary->has_size_option = session->source->class->sizes_buffers;
	if (session->source->class->conclude &&
	    !session->source->class->conclude(session->source, session->meta,
					      &error))
		add_error(session, error);
	summary->had_snapshots = session->source->had_snapshots;
}

/*
 * Warn that the new capture did not replace the old one, because the new one is
 * incomplete.
 */
static void warn_not_replaced(KmtdSession *session)
{
	g_autofree char *text = g_strdup_printf(
		"the capture in %s was not replaced; the new one is in %s",
		session->options->directory,
		kmt_capture_writer_path(session->output));

	session->ui->warning(text);
}

/*
 * Save the figures, the tables and kmemtrace.meta, and publish the capture.
 * Tracing must be off, and every reader must have ended. Errors are added to
 * the session.
 */
static void save(KmtdSession *session, KmtdSummary *summary)
{
	GError *error = NULL;

	collect_read_errors(session);
	collect_write_errors(session);
	collect_figures(session, summary);
	/* After an error, such as a full disk, keep the tables that were
	 * written at the beginning. */
	if (!session->failed && !kmtd_tables_renew(&session->tables, &error))
		add_error(session, g_steal_pointer(&error));
	/* All steps that can fail before kmemtrace.meta is written are done, so
	 * session->failed is final for the meta file. */
	kmt_capture_meta_end(session->meta, summary->bytes,
			     summary->lost_known ? &summary->lost : NULL,
			     !session->failed);
	if (!kmt_capture_writer_end_meta(session->output, session->meta,
					 meta_cpus(session), &error) ||
	    !kmt_capture_writer_sync(session->output, &error))
		add_error(session, g_steal_pointer(&error));
	if (!session->failed &&
	    !kmt_capture_writer_publish(session->output, &error))
		add_error(session, error);
	if (kmt_capture_writer_is_staged(session->output))
		warn_not_replaced(session);
	summary->directory = g_strdup(kmt_capture_writer_path(session->output));
}

/*
 * Wait until each reader has once consumed all records that were present.
 * Return FALSE if a stop signal arrived first.
 */
static gboolean wait_drained(KmtdSession *session)
{
	for (;;) {
		gboolean all = TRUE;

		for (guint i = 0; i < session->readers->len; i++)
			all = all &&
			      kmtd_reader_drained(session->readers->pdata[i]);
		if (all)
			return TRUE;
		/* Count the request, so that drain() does not ignore the next
		 * one. */
		if (consume_signals(session, NULL)) {
			session->n_stop_requests++;
			return FALSE;
		}
		sleep_until(session, g_get_monotonic_time() + TICK_US);
	}
}

static GError *interrupted(void)
{
	return g_error_new(KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_INTERRUPTED,
			   "interrupted before recording began");
}

/*
 * Save the records of a trace that was switched off before kmemtraced started.
 * Switching tracing on would discard these records. Return FALSE if there are
 * no such records.
 */
static gboolean run_frozen(KmtdSession *session, KmtdSummary *summary)
{
	gboolean is_complete = wait_drained(session);

	if (is_complete && bytes_read(session) == 0)
		return FALSE;
	/* A reader may hold records that its counter of bytes does not include
	 * yet. Drain the readers before the counter is tested. */
	drain(session);
	session->frozen = bytes_read(session) > 0;
	if (!session->frozen) {
		add_error(session, interrupted());
		return FALSE;
	}
	session->ui->note("tracing was switched off before: saved what it had "
			  "recorded, and did not switch it on");
	save(session, summary);
	if (session->options->command)
		add_error(session,
			  g_error_new(KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_FROZEN,
				      "the command was not started"));
	return TRUE;
}

static void note_started(KmtdSession *session)
{
	gboolean staged = kmt_capture_writer_is_staged(session->output);
	g_autofree char *text = g_strdup_printf(
		"recording %u CPUs into %s%s%s, from %s; %s ends it",
		session->readers->len, kmt_capture_writer_path(session->output),
		staged ? ", which replaces the capture in " : "",
		staged ? session->options->directory : "",
		session->source->description,
		session->options->command ? "the command's end" : "Ctrl+C");

	session->ui->note(text);
}

/*
 * Record, and then end the session. The final steps must run in this order,
 * because each step depends on the previous one.
 */
static void run(KmtdSession *session, KmtdSummary *summary)
{
	gint64 start_us = g_get_monotonic_time();
	GError *error = NULL;

	note_started(session);
	/* The command uses the terminal, so do not draw a live line there. */
	if (!session->options->quiet && !session->options->command)
		session->live = kmtd_live_new(STDERR_FILENO);
	/* If tracing was on already, the readers had to start before the tables
	 * were copied, because the buffers would have overflowed meanwhile. */
	if ((session->was_enabled &&
	     !kmtd_tables_copy(&session->tables, &error)) ||
	    !kmtd_tables_copy_records(&session->tables, &error))
		add_error(session, g_steal_pointer(&error));
	else
		record(session, start_us);

	poll_changes(session, TRUE);
	/* 1. Switch tracing off. No more events follow, and all recorded events
	 * can be read. */
	if (!session->source->class->disable(session->source, &error))
		add_error(session, g_steal_pointer(&error));
	summary->seconds =
		(double)(g_get_monotonic_time() - start_us) / G_USEC_PER_SEC;
	/* 2. Create readers for CPUs that appeared at the last moment: these
	 * CPUs have records too. */
	if (!follow_cpus(session, &error))
		add_error(session, g_steal_pointer(&error));
	/* 3. Wait until each reader has consumed all records of its CPU and has
	 * ended. */
	drain(session);
	g_clear_pointer(&session->live, kmtd_live_free);
	/* 4. Save the figures, the tables and the meta file. */
	save(session, summary);
}

static gboolean check_any_reader(KmtdSession *session, GError **error)
{
	if (session->readers->len > 0)
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_CONTROL,
		    "there is no cpu<n> in %s", session->source->watch_path);
	return FALSE;
}

/*
 * Switch tracing on, which starts a new trace. Records that earlier readers
 * consumed belong to the previous trace, so clear "continues" in the meta file
 * first.
 */
static gboolean enable(KmtdSession *session, GError **error)
{
	kmt_capture_meta_set_continues(session->meta, FALSE);
	return kmt_capture_writer_write_meta(session->output, session->meta,
					     meta_cpus(session), error) &&
	       session->source->class->enable(session->source, error);
}

/*
 * Return TRUE and set an error if a stop signal arrived before tracing was
 * switched on. An empty capture must not replace an older one. With a command
 * the signal stays pending; record() forwards the signal once the command runs.
 */
static gboolean was_interrupted(KmtdSession *session, GError **error)
{
	if (session->was_enabled || session->options->command)
		return FALSE;
	session->n_stop_requests += (guint)consume_signals(session, NULL);
	if (session->n_stop_requests == 0)
		return FALSE;
	g_propagate_error(error, interrupted());
	return TRUE;
}

static gboolean begin(KmtdSession *session, GError **error)
{
	KmtdCommand *command = session->options->command;

	if (!session->was_enabled && !enable(session, error))
		return FALSE;
	kmt_capture_meta_set_time(session->meta, "start_time");
	/* Create readers for the CPU files that the kernel creates when tracing
	 * is first switched on. */
	if (follow_cpus(session, error) && check_any_reader(session, error) &&
	    (!command ||
	     kmtd_command_start(command, session->signal_fd, error)))
		return TRUE;
	if (!session->was_enabled)
		session->source->class->disable(session->source, NULL);
	return FALSE;
}

static void session_clear(KmtdSession *session)
{
	g_autoptr(KmtRecovery) recovery =
		session->source ? session->source->recovery : NULL;

	g_clear_pointer(&session->live, kmtd_live_free);
	g_ptr_array_unref(session->readers);
	/* Free the source, which restores the kernel's state, while the cleanup
	 * process still runs. If kmemtraced is killed meanwhile, the cleanup
	 * process restores the state instead. */
	g_clear_pointer(&session->source, kmtd_source_free);
	kmt_recovery_remove(recovery);
	g_clear_pointer(&session->cleanup, kmtd_cleanup_end);
	g_clear_pointer(&session->output, kmt_capture_writer_close);
	g_clear_pointer(&session->meta, g_key_file_unref);
	kmtd_tables_clear(&session->tables);
	if (session->signal_fd >= 0)
		close(session->signal_fd);
	if (session->notify_fd >= 0)
		close(session->notify_fd);
	if (session->watch_fd >= 0)
		close(session->watch_fd);
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
	};
	GError *error = NULL;
	gboolean captured = FALSE;

	/* Start the threads before tracing is on, because their creation
	 * allocates kernel memory. */
	if (prepare(&session, &error) && start_readers(&session, &error)) {
		if (!session.was_enabled &&
		    session.source->class->keeps_records)
			captured = run_frozen(&session, summary);
		if (!captured && !session.failed &&
		    !was_interrupted(&session, &error) &&
		    begin(&session, &error)) {
			captured = TRUE;
			run(&session, summary);
		}
	}
	if (error)
		add_error(&session, error);
	if (!captured && session.output)
		kmt_capture_writer_undo(session.output);
	session_clear(&session);
	return captured;
}
