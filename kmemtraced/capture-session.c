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

/* How often the CPUs are looked for and the live line is renewed. */
#define TICK_US ((gint64)G_USEC_PER_SEC)

/* After which the user is told what is being waited for. */
#define PATIENCE_US ((gint64)G_USEC_PER_SEC)

#define NICE (-20)

/*
 * A signal so soon after another is the same wish: timeout(1), for one, signals
 * the process and then its whole group.
 */
#define SAME_SIGNAL_US ((gint64)G_USEC_PER_SEC)

typedef struct {
	const KmtdSessionOptions *options;
	const KmtdSessionUi *ui;
	GPtrArray *errors;

	KmtdSource *source;
	KmtCaptureWriter *output;
	KmtdCleanup *guard;
	KmtdLive *live;
	GKeyFile *meta;
	GPtrArray *readers; /* of KmtdReader, in the order in which they came */
	KmtdTables tables;
	int signal_fd;
	int notify_fd; /* eventfd that the readers write */
	int watch_fd;  /* inotify on where the CPUs are */

	gboolean was_enabled;
	gboolean running; /* readers that come now are started at once */
	gboolean frozen;  /* saving what was recorded before */
	gboolean failed;  /* an error that leaves the capture incomplete */
	gint64 signal_us; /* when the last signal came */
	guint n_wishes;	  /* to end */
	gboolean said_unguarded; /* that there is no cleanup process */
} KmtdSession;

static void add_error(KmtdSession *session, GError *error)
{
	g_ptr_array_add(session->errors, error);
	session->failed = TRUE;
}

/* ---- getting ready ---- */

static gboolean open_descriptors(KmtdSession *session, GError **error)
{
	session->signal_fd = signalfd(-1, &session->options->signals->taken,
				      SFD_CLOEXEC | SFD_NONBLOCK);
	session->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* Only makes new CPUs come sooner: they are looked for each tick. */
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
	g_autoptr(KmtdCpuStream) feed = NULL;
	KmtCaptureCpuWriter *sink = kmt_capture_writer_cpu_file(
		session->output, cpu, session->source->record_bytes,
		session->source->batch_bytes, error);

	if (!sink)
		return FALSE;
	feed = session->source->class->open_cpu(session->source, cpu, error);
	if (!feed) {
		kmt_capture_cpu_writer_free(sink);
		return FALSE;
	}
	reader = kmtd_reader_new(g_steal_pointer(&feed), cpu,
				 session->source->record_bytes, sink,
				 session->notify_fd, error);
	if (!reader || (session->running && !kmtd_reader_start(reader, error)))
		return FALSE;
	kmt_capture_meta_add_cpu(session->meta, session->options->sys, cpu);
	g_ptr_array_add(session->readers, g_steal_pointer(&reader));
	return TRUE;
}

/* Makes readers for CPUs that came, and tells those whose file went. */
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
		gboolean there = FALSE;

		for (guint j = 0; j < cpus->len && !there; j++)
			there = g_array_index(cpus, guint, j) == cpu;
		if (!there && !kmtd_reader_finished(reader))
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
	const KmtdSourceOptions wanted = {
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

	session->source = kmtd_source_open(options->source, &wanted, error);
	return session->source != NULL;
}

/* First, so that of two kmemtraced for one directory the second one fails. */
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

/* From here on whatever ends kmemtraced, the kernel gets back its state. */
static gboolean guard_kernel(KmtdSession *session, GError **error)
{
	KmtdSource *source = session->source;
	KmtRecoveryState state = {0};

	if (source->class->initial_state(source, &state))
		source->recovery = kmt_recovery_begin(&state);
	session->guard = kmtd_cleanup_start(
		kmt_capture_writer_fd(session->output), source, error);
	return session->guard != NULL;
}

/* Everything that allocates much, so that it is not in the trace. */
static gboolean get_ready(KmtdSession *session, GError **error)
{
	KmtCaptureMetaStart start = {.sys = session->options->sys,
				     .proc = session->options->proc};

	/* Each CPU takes three descriptors. */
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
	session->tables.records = session->source->tables_path;
	session->tables.source = session->source;
	session->tables.warning = session->ui->warning;
	if (!guard_kernel(session, error) ||
	    (session->source->class->prepare &&
	     !session->source->class->prepare(session->source, error)))
		return FALSE;
	start.source = session->source->class->name;
	start.abi_version = session->source->abi_version;
	start.record_bytes = session->source->record_bytes;
	start.was_enabled = session->was_enabled;
	session->meta = kmt_capture_meta_new(&start);
	session->source->class->describe(session->source, session->meta);
	/* Files without a kmemtrace.meta are not known to be of a capture. */
	if (!kmt_capture_writer_write_meta(session->output, session->meta, 0,
					   error) ||
	    !follow_cpus(session, error) ||
	    !kmt_capture_writer_write_meta(session->output, session->meta,
					   meta_cpus(session), error) ||
	    (!session->was_enabled &&
	     !kmtd_tables_copy(&session->tables, error)))
		return FALSE;
	/* Best effort, as in the sink. */
	(void)mlockall(MCL_CURRENT);
	/*
	 * Likewise.  The readers have to come before those who fill the
	 * buffers, and this thread before those who keep a CPU busy when the
	 * time has come to switch tracing off.  The readers inherit it.
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

/* ---- while recording ---- */

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
			kmtd_reader_sink(session->readers->pdata[i]));
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
	/* For the next time: a few events would wait for a full sub-buffer. */
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

/* TRUE: a reader cannot write, or none is left. */
static gboolean look_at_readers(KmtdSession *session, guint *n_ended)
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
 * Takes the signals that came; TRUE if any of them is another wish.  forward_to
 * gets those too, unless it is NULL or the terminal sent them to it as well.
 */
static gboolean take_signals(KmtdSession *session, KmtdCommand *forward_to)
{
	struct signalfd_siginfo info;
	gint64 now_us = g_get_monotonic_time();
	gint64 last_us = session->signal_us;
	gboolean any = FALSE;

	while (read(session->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (!kmt_cli_signals_asks_to_stop(session->options->signals,
						  &info))
			continue;
		any = TRUE;
		if (forward_to && info.ssi_code != SI_KERNEL)
			kmtd_command_signal(forward_to, (int)info.ssi_signo);
	}
	if (any)
		session->signal_us = now_us;
	return any && (last_us == 0 || now_us - last_us > SAME_SIGNAL_US);
}

/*
 * A signal has come, now or earlier.  With a command the first one is its
 * affair, and its end is what counts.
 */
static gboolean was_told(KmtdSession *session)
{
	KmtdCommand *command = session->options->command;

	session->n_wishes += (guint)take_signals(session, command);
	if (!command)
		return session->n_wishes > 0;
	kmtd_command_poll(command, FALSE);
	return session->n_wishes > 1 || !kmtd_command_runs(command);
}

/* Somebody may have killed the cleanup process. */
static void keep_guard(KmtdSession *session)
{
	g_autoptr(GError) error = NULL;

	if (kmtd_cleanup_keep(session->guard, &error)) {
		session->said_unguarded = FALSE;
		return;
	}
	if (session->said_unguarded)
		return;
	session->said_unguarded = TRUE;
	kmtd_live_clear(session->live);
	session->ui->warning(error->message);
}

static void take_all(int fd)
{
	char block[4096];

	while (fd >= 0 && read(fd, block, sizeof(block)) > 0)
		;
}

/* Sleeps until something happens, at most until when_us. */
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
	take_all(session->notify_fd);
	/* Callers that care call follow_cpus(), which is cheap, each time. */
	take_all(session->watch_fd);
}

/*
 * Somebody else did.  It must not go on when tracing is switched on again,
 * which throws away what is unread and counts what is lost from 0.
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

static void look_for_changes(KmtdSession *session, gboolean now)
{
	if (session->source->class->look)
		session->source->class->look(session->source, now);
}

/* Until a signal, the time is up, or there is no point in going on. */
static void record(KmtdSession *session, gint64 start_us)
{
	gint64 tick_us = start_us + TICK_US;
	gint64 end_us =
		session->options->seconds > 0
			? start_us + (gint64)(session->options->seconds *
					      G_USEC_PER_SEC)
			: G_MAXINT64;
	guint n_ended = 0;

	while (!was_told(session) && !look_at_readers(session, &n_ended)) {
		gint64 now_us = g_get_monotonic_time();
		GError *error = NULL;

		if (now_us >= end_us)
			break;
		look_for_changes(session, FALSE);
		keep_guard(session);
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

/* ---- the end ---- */

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

/* Tells the readers that tracing is off, and waits until they have all. */
static void drain(KmtdSession *session)
{
	gint64 told_us = g_get_monotonic_time();
	guint n_signals = 0;
	gboolean patient = TRUE;

	for (guint i = 0; i < session->readers->len; i++)
		kmtd_reader_stop(session->readers->pdata[i]);
	while (n_unfinished(session) > 0) {
		sleep_until(session, g_get_monotonic_time() + TICK_US);
		keep_guard(session);
		if (n_unfinished(session) > 0 && take_signals(session, NULL)) {
			/* This is the first request to end, and the end has
			 * begun already. */
			if (patient && session->n_wishes++ == 0)
				continue;
			/*
			 * The first of these gives up what is not written; a
			 * reader may still hang in the file system, so the
			 * second ends it.  The guard leaves whole records.
			 */
			if (n_signals++ > 0)
				_exit(session->options->command
					      ? KMTD_COMMAND_FAILED
					      : EXIT_FAILURE);
			abandon(session);
		}
		if (patient && n_signals == 0 && n_unfinished(session) > 0 &&
		    g_get_monotonic_time() - told_us > PATIENCE_US) {
			kmtd_live_clear(session->live);
			session->ui->note("writing what is buffered; Ctrl+C "
					  "gives it up");
			patient = FALSE;
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

/* One error for all the CPUs, with the sum of what found no room. */
static void collect_write_errors(KmtdSession *session)
{
	const KmtdReader *first = NULL;
	guint64 unsaved = 0;
	int errnum = 0;
	GError *error = NULL;

	for (guint i = 0; i < session->readers->len; i++) {
		KmtdReader *reader = session->readers->pdata[i];
		KmtCaptureCpuWriter *sink = kmtd_reader_sink(reader);
		int r = kmt_capture_cpu_writer_error(sink);

		if (r == 0)
			r = kmt_capture_cpu_writer_sync(sink);
		unsaved += kmt_capture_cpu_writer_unsaved(sink);
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

/* Figures of the session into summary and meta. */
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
				kmtd_reader_sink(reader)),
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
	summary->has_option = session->source->class->sizes_buffers;
	if (session->source->class->conclude &&
	    !session->source->class->conclude(session->source, session->meta,
					      &error))
		add_error(session, error);
	summary->had_snapshots = session->source->had_snapshots;
}

/* The capture that was to be replaced stays. */
static void say_not_replaced(KmtdSession *session)
{
	g_autofree char *text = g_strdup_printf(
		"the capture in %s was not replaced; the new one is in %s",
		session->options->directory,
		kmt_capture_writer_path(session->output));

	session->ui->warning(text);
}

/* Tracing is off and every reader has ended. */
static void save(KmtdSession *session, KmtdSummary *summary)
{
	GError *error = NULL;

	collect_read_errors(session);
	collect_write_errors(session);
	collect_figures(session, summary);
	/* On a full disk the tables stay as they were at the beginning. */
	if (!session->failed && !kmtd_tables_renew(&session->tables, &error))
		add_error(session, g_steal_pointer(&error));
	/* After all that can fail before kmemtrace.meta is written. */
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
		say_not_replaced(session);
	summary->directory = g_strdup(kmt_capture_writer_path(session->output));
}

/* Wait until each reader has taken what was there.  FALSE: a signal came. */
static gboolean wait_drained(KmtdSession *session)
{
	for (;;) {
		gboolean all = TRUE;

		for (guint i = 0; i < session->readers->len; i++)
			all = all &&
			      kmtd_reader_drained(session->readers->pdata[i]);
		if (all)
			return TRUE;
		/* The request counts when recording has begun. */
		if (take_signals(session, NULL)) {
			session->n_wishes++;
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
 * Tracing is off, but was not always: what it left is what the user wants, and
 * switching it on would throw that away.  FALSE: there is nothing.
 */
static gboolean run_frozen(KmtdSession *session, KmtdSummary *summary)
{
	gboolean is_complete = wait_drained(session);

	if (is_complete && bytes_read(session) == 0)
		return FALSE;
	/* A reader may hold records that it has not counted yet. */
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

static void say_started(KmtdSession *session)
{
	gboolean staged = kmt_capture_writer_is_staged(session->output);
	g_autofree char *text = g_strdup_printf(
		"recording %u CPUs into %s%s%s, from %s; %s ends it",
		session->readers->len, kmt_capture_writer_path(session->output),
		staged ? ", which replaces the capture in " : "",
		staged ? session->options->directory : "",
		session->source->what,
		session->options->command ? "the command's end" : "Ctrl+C");

	session->ui->note(text);
}

/* The order of the end is the point here; each step needs the one before. */
static void run(KmtdSession *session, KmtdSummary *summary)
{
	gint64 start_us = g_get_monotonic_time();
	GError *error = NULL;

	say_started(session);
	/* The terminal is the command's. */
	if (!session->options->quiet && !session->options->command)
		session->live = kmtd_live_new(STDERR_FILENO);
	/* Where tracing is on, the buffers cannot wait for that. */
	if ((session->was_enabled &&
	     !kmtd_tables_copy(&session->tables, &error)) ||
	    !kmtd_tables_copy_records(&session->tables, &error))
		add_error(session, g_steal_pointer(&error));
	else
		record(session, start_us);

	look_for_changes(session, TRUE);
	/* 1. No more events.  All there are can now be read. */
	if (!session->source->class->disable(session->source, &error))
		add_error(session, g_steal_pointer(&error));
	summary->seconds =
		(double)(g_get_monotonic_time() - start_us) / G_USEC_PER_SEC;
	/* 2. A CPU that came in the last moment has some too. */
	if (!follow_cpus(session, &error))
		add_error(session, g_steal_pointer(&error));
	/* 3. Each reader takes them until its CPU has no more, and ends. */
	drain(session);
	g_clear_pointer(&session->live, kmtd_live_free);
	/* 4. What was lost, what is on the disk, and what belongs to it. */
	save(session, summary);
}

static gboolean any_reader(KmtdSession *session, GError **error)
{
	if (session->readers->len > 0)
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_CONTROL,
		    "there is no cpu<n> in %s", session->source->watch_path);
	return FALSE;
}

/* A new trace: what readers took belongs to the one before. */
static gboolean enable(KmtdSession *session, GError **error)
{
	kmt_capture_meta_set_continues(session->meta, FALSE);
	return kmt_capture_writer_write_meta(session->output, session->meta,
					     meta_cpus(session), error) &&
	       session->source->class->enable(session->source, error);
}

/*
 * A signal came before tracing was switched on.  An empty capture would replace
 * an older one.  A command gets the signal when it runs.
 */
static gboolean was_interrupted(KmtdSession *session, GError **error)
{
	if (session->was_enabled || session->options->command)
		return FALSE;
	session->n_wishes += (guint)take_signals(session, NULL);
	if (session->n_wishes == 0)
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
	/* Those that the kernel makes when it is first switched on. */
	if (follow_cpus(session, error) && any_reader(session, error) &&
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
	/* Before the guard goes, which would do it in its place. */
	g_clear_pointer(&session->source, kmtd_source_free);
	kmt_recovery_remove(recovery);
	g_clear_pointer(&session->guard, kmtd_cleanup_end);
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

	/* Threads are made before tracing is on: that allocates too. */
	if (get_ready(&session, &error) && start_readers(&session, &error)) {
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
