// SPDX-License-Identifier: GPL-2.0-or-later
/* The readers of a session: one for each CPU that the source supplies. */
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include "kmemtraced/session-private.h"
#include "lib/capture/meta.h"

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
	KmtCaptureCpuWriter *writer = session->output->class->cpu_writer(
		session->output, session->source, cpu, error);

	if (!writer)
		return FALSE;
	stream = session->source->class->open_cpu(session->source, cpu, error);
	if (!stream) {
		kmt_capture_cpu_writer_free(writer);
		return FALSE;
	}
	/* A stream is to show the records at once, also in overwrite mode. */
	if (session->stream)
		stream->read_at_end = FALSE;
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
gboolean kmtd_session_follow_cpus(KmtdSession *session, GError **error)
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

gboolean kmtd_session_start_readers(KmtdSession *session, GError **error)
{
	for (guint i = 0; i < session->readers->len; i++)
		if (!kmtd_reader_start(session->readers->pdata[i], error))
			return FALSE;
	session->running = TRUE;
	return TRUE;
}

guint kmtd_session_meta_cpus(KmtdSession *session)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);

	return MAX(session->readers->len, (guint)MAX(configured, 0));
}

guint64 kmtd_session_bytes_read(KmtdSession *session)
{
	guint64 n = 0;

	for (guint i = 0; i < session->readers->len; i++)
		n += kmtd_reader_bytes_read(session->readers->pdata[i]);
	return n;
}

guint64 kmtd_session_bytes_seen(KmtdSession *session)
{
	guint64 n = 0;

	for (guint i = 0; i < session->readers->len; i++)
		n += kmtd_reader_bytes_seen(session->readers->pdata[i]);
	return n;
}

guint64 kmtd_session_bytes_written(KmtdSession *session)
{
	guint64 n = 0;

	for (guint i = 0; i < session->readers->len; i++)
		n += kmt_capture_cpu_writer_file_bytes(
			kmtd_reader_file_writer(session->readers->pdata[i]));
	return n;
}

guint kmtd_session_n_unfinished(KmtdSession *session)
{
	guint n = 0;

	for (guint i = 0; i < session->readers->len; i++)
		n += !kmtd_reader_finished(session->readers->pdata[i]);
	return n;
}

/*
 * Join the readers that have ended, and print a warning for each reader that
 * failed. Return TRUE if recording must end, because a reader cannot write or
 * no reader is left. If a reader cannot write, no reader is joined. Otherwise
 * *n_ended, 0 before the first call, is set to the number of ended readers.
 */
gboolean kmtd_session_check_readers(KmtdSession *session, guint *n_ended)
{
	guint n = kmtd_session_n_unfinished(session);
	guint n_now_ended = session->readers->len - n;

	for (guint i = 0; i < session->readers->len; i++)
		if (kmtd_reader_cannot_write(session->readers->pdata[i]))
			return TRUE;
	if (n_now_ended > *n_ended) {
		*n_ended = n_now_ended;
		for (guint i = 0; i < session->readers->len; i++) {
			KmtdReader *reader = session->readers->pdata[i];
			g_autoptr(GError) error = NULL;

			if (!kmtd_reader_finished(reader) ||
			    !kmtd_reader_join(reader) ||
			    kmtd_reader_check(reader, &error))
				continue;
			kmtd_live_clear(session->live);
			session->ui->warning(error->message);
		}
	}
	return n == 0 && session->readers->len > 0;
}

void kmtd_session_add_write_error(KmtdSession *session, guint cpu, int errnum,
				  guint64 unsaved)
{
	const KmtdOutput *output = session->output;
	GError *error;

	/* A cancelled stream has been reported. */
	if (session->has_write_error || errnum == ECANCELED)
		return;
	session->has_write_error = TRUE;
	error = output->class->write_error(output, cpu, errnum, unsaved);
	if (error)
		kmtd_session_add_error(session, error);
	else
		session->ui->note("the reader closed the stream, which ended "
				  "the recording");
}
