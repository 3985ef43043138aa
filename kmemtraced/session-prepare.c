// SPDX-License-Identifier: GPL-2.0-or-later
/* Prepares a session before tracing is switched on, and releases it. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kmemtraced/session-private.h"
#include "kmemtraced/other-files.h"
#include "lib/capture/error.h"
#include "lib/capture/meta.h"
#include "lib/cli/cli.h"

#define NICE (-20)

static gboolean open_descriptors(KmtdSession *session, GError **error)
{
	session->signal_fd = signalfd(-1, &session->options->signals->blocked,
				      SFD_CLOEXEC | SFD_NONBLOCK);
	session->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* inotify is optional: it only reports new CPUs sooner.
	 * kmtd_session_follow_cpus() also runs each tick. */
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
		.cgroups = options->cgroups,
		.keep_own = options->keep_own,
		.no_recover = options->no_recover,
		.stacks = options->stacks,
		.stack_depth = options->stack_depth,
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
static gboolean open_directory(KmtdSession *session, GError **error)
{
	const KmtCaptureDirectoryOptions options = {
		.force = session->options->force,
		.warning = session->ui->warning,
	};

	KmtCaptureWriter *writer = kmt_capture_writer_open(
		session->options->directory, &options, error);

	if (!writer)
		return FALSE;
	session->output = kmtd_output_to_directory(writer);
	return !session->options->compress_level ||
	       kmt_capture_writer_compress(
		       writer, session->options->compress_level, error);
}

static gboolean open_output(KmtdSession *session, GError **error)
{
	int fd = session->options->stream_fd;

	if (fd < 0)
		return open_directory(session, error);
	session->stream = kmt_stream_writer_new(fd, error);
	if (!session->stream)
		return FALSE;
	session->output = kmtd_output_to_stream(session->stream, fd);
	return TRUE;
}

static gboolean write_meta(KmtdSession *session, guint n_cpus, GError **error)
{
	return session->output->class->write_meta(
		session->output, session->meta, n_cpus, FALSE, error);
}

/*
 * Start the cleanup process. From here on, the kernel's state is restored even
 * if kmemtraced is killed.
 */
static gboolean start_cleanup(KmtdSession *session, GError **error)
{
	KmtdSource *source = session->source;
	KmtRecoveryState state = {0};

	if (source->class->initial_state(source, &state))
		source->recovery = kmt_recovery_begin(&state);
	session->cleanup = kmtd_cleanup_start(
		session->output->directory
			? kmt_capture_writer_fd(session->output->directory)
			: -1,
		source, error);
	return session->cleanup != NULL;
}

/*
 * Describe how much slab memory is in use, because no record exists of memory
 * from before the recording.
 */
static void describe_memory(const KmtdSession *session)
{
	g_autofree char *path =
		g_build_filename(session->options->proc, "meminfo", NULL);
	g_autofree char *text = NULL;
	const char *line;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return;
	line = strstr(text, "\nSlab:");
	if (line)
		g_key_file_set_uint64(
			session->meta, "capture", "slab_at_start",
			1024 * g_ascii_strtoull(line + strlen("\nSlab:"), NULL,
						10));
}

/*
 * Prepare the recording. What allocates much memory happens here if possible,
 * before kmemtraced switches tracing on, so that these allocations are not in
 * the trace. Return FALSE and set an error on failure.
 */
gboolean kmtd_session_prepare(KmtdSession *session, GError **error)
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
	if (!session->source->class->keeps_records)
		describe_memory(session);
	if (session->output->class->begin)
		session->output->class->begin(session->output, session->source);
	/*
	 * Raise the priority if permitted; a failure is ignored. The readers,
	 * and the threads that compress, inherit the priority: they must run
	 * before the tasks that fill the buffers. This thread must run before
	 * tasks that keep a CPU busy when tracing has to be switched off.
	 */
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	/*
	 * Write kmemtrace.meta before the CPU files. A later kmemtraced does
	 * not replace a directory with CPU files but without kmemtrace.meta,
	 * because it does not recognise a capture there.
	 */
	if (!write_meta(session, 0, error) ||
	    !kmtd_session_follow_cpus(session, error) ||
	    !write_meta(session, kmtd_session_meta_cpus(session), error) ||
	    (!session->was_enabled &&
	     !kmtd_tables_copy(&session->tables, error)))
		return FALSE;
	if (session->options->stream_fd < 0)
		kmtd_other_files_warn(session->options, session->ui);
	/* Lock the memory if the limits permit. A failure is ignored, as in the
	 * CPU file writer. */
	(void)mlockall(MCL_CURRENT);
	return TRUE;
}

void kmtd_session_clear(KmtdSession *session)
{
	g_autoptr(KmtRecovery) recovery =
		session->source ? session->source->recovery : NULL;

	/* A reader that waits for the other side of the stream must end. */
	if (session->stream)
		kmt_stream_writer_cancel(session->stream);
	g_clear_pointer(&session->live, kmtd_live_free);
	g_ptr_array_unref(session->readers);
	/* Free the source, which restores the kernel's state, while the cleanup
	 * process still runs. If kmemtraced is killed meanwhile, the cleanup
	 * process restores the state instead. */
	g_clear_pointer(&session->source, kmtd_source_free);
	kmt_recovery_remove(recovery);
	g_clear_pointer(&session->cleanup, kmtd_cleanup_end);
	g_clear_pointer(&session->output, kmtd_output_free);
	g_clear_pointer(&session->stream, kmt_stream_writer_free);
	g_clear_pointer(&session->meta, g_key_file_unref);
	kmtd_tables_clear(&session->tables);
	if (session->signal_fd >= 0)
		close(session->signal_fd);
	if (session->notify_fd >= 0)
		close(session->notify_fd);
	if (session->watch_fd >= 0)
		close(session->watch_fd);
}
