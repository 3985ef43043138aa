// SPDX-License-Identifier: GPL-2.0-or-later
/* Saves the figures, the tables and the meta file at the end of a session. */
#include "config.h"

#include "kmemtraced/session-private.h"
#include "lib/capture/error.h"
#include "lib/capture/meta.h"

static void collect_read_errors(KmtdSession *session)
{
	for (guint i = 0; i < session->readers->len; i++) {
		GError *error = NULL;

		if (!kmtd_reader_check(session->readers->pdata[i], &error))
			kmtd_session_add_error(session, error);
	}
}

/*
 * Add a single write error for all CPUs, with the total number of bytes that
 * were not saved.
 */
static void collect_write_errors(KmtdSession *session)
{
	guint cpu = 0;
	guint64 unsaved = 0;
	int errnum = 0;

	for (guint i = 0; i < session->readers->len; i++) {
		KmtdReader *reader = session->readers->pdata[i];
		KmtCaptureCpuWriter *writer = kmtd_reader_file_writer(reader);
		int r = kmt_capture_cpu_writer_error(writer);

		if (r == 0)
			r = kmt_capture_cpu_writer_sync(writer);
		unsaved += kmt_capture_cpu_writer_unsaved(writer);
		if (r < 0 && errnum == 0) {
			cpu = kmtd_reader_cpu(reader);
			errnum = -r;
		}
	}
	/* A tick may have failed, although no record did. */
	if (session->stream && errnum == 0)
		errnum = -kmt_stream_writer_error(session->stream);
	if (errnum)
		kmtd_session_add_write_error(session, cpu, errnum, unsaved);
}

static int compare_cpus(const void *a, const void *b)
{
	const KmtdCpuSummary *cpu_a = a, *cpu_b = b;

	return (cpu_a->cpu > cpu_b->cpu) - (cpu_a->cpu < cpu_b->cpu);
}

/*
 * Copy the figures of the session (bytes, lost events, buffer geometry) into
 * *summary, and those of each CPU into the meta file. Add an error to the
 * session if a figure cannot be determined, or if the source reports that the
 * capture is not complete.
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
		kmtd_session_add_error(session, g_steal_pointer(&error));
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
		kmtd_summary_add_frames(summary, session->meta, cpu.cpu,
					kmtd_reader_file_writer(reader));
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
		kmtd_session_add_error(session, error);
	summary->had_snapshots = session->source->had_snapshots;
	summary->n_skipped = session->source->n_skipped;
}

/*
 * Warn that the new capture did not replace the old one, because the new one is
 * incomplete or could not be published.
 */
static void warn_not_replaced(KmtdSession *session)
{
	g_autofree char *text = g_strdup_printf(
		"the capture in %s was not replaced; the new one is in %s",
		session->options->directory,
		kmt_capture_writer_path(session->output->directory));

	session->ui->warning(text);
}

static void publish(KmtdSession *session, KmtdSummary *summary)
{
	KmtCaptureWriter *directory = session->output->directory;
	GError *error = NULL;

	if (!session->failed && !kmt_capture_writer_publish(directory, &error))
		kmtd_session_add_error(session, error);
	if (kmt_capture_writer_is_staged(directory))
		warn_not_replaced(session);
	summary->directory = g_strdup(kmt_capture_writer_path(directory));
}

/*
 * Save the figures, the tables and kmemtrace.meta, and publish the capture if
 * no error has occurred. Tracing must be off, and every reader must have ended.
 * Errors are added to the session.
 */
void kmtd_session_save(KmtdSession *session, KmtdSummary *summary)
{
	GError *error = NULL;

	collect_read_errors(session);
	collect_write_errors(session);
	collect_figures(session, summary);
	/* After an error, such as a full disk, keep the tables that were
	 * written at the beginning. */
	if (!session->failed && !kmtd_tables_renew(&session->tables, &error))
		kmtd_session_add_error(session, g_steal_pointer(&error));
	/* All steps that can fail before kmemtrace.meta is written are done, so
	 * session->failed is final for the meta file. */
	kmt_capture_meta_end(session->meta, summary->bytes,
			     summary->lost_known ? &summary->lost : NULL,
			     !session->failed);
	if (!session->output->class->write_meta(session->output, session->meta,
						kmtd_session_meta_cpus(session),
						TRUE, &error))
		kmtd_session_add_error(session, g_steal_pointer(&error));
	if (session->stream)
		kmtd_session_end_stream(session, summary);
	else
		publish(session, summary);
}
