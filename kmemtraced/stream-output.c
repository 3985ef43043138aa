// SPDX-License-Identifier: GPL-2.0-or-later
/* The output to a stream; see lib/capture/stream-format.h. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/capture/error.h"
#include "kmemtraced/capture-output.h"

/*
 * This table is large, and is sent again only if the modules have changed, so
 * its previous text is not kept.
 */
#define LARGE_TABLE "kallsyms"

typedef struct {
	KmtdOutput base;
	int fd;
	/* Text (GBytes *) of each table (char *) that the reader has. */
	GHashTable *sent;
} StreamOutput;

static void stream_begin(KmtdOutput *output, const KmtdSource *source)
{
	const KmtStreamHeader header = {
		.abi_version = source->abi_version,
		.record_bytes = source->record_bytes,
		.n_cpus = (guint32)MAX(sysconf(_SC_NPROCESSORS_CONF), 1),
	};

	kmt_stream_writer_begin(output->stream, &header);
}

/* Bytes of records that a CPU gathers before a frame. */
#define BATCH_BYTES ((gsize)128 * 1024)

/* Sends the records of one CPU. */
typedef struct {
	KmtCaptureCpuSink base;
	KmtStreamWriter *stream;
} StreamSink;

static int send_records(KmtCaptureCpuSink *sink, KmtCaptureBuffer *buffer,
			gsize n_bytes)
{
	return kmt_stream_writer_records(((StreamSink *)sink)->stream,
					 sink->cpu, buffer->data, n_bytes);
}

static void free_sink(KmtCaptureCpuSink *sink)
{
	g_free(sink);
}

static const KmtCaptureCpuSinkClass sink_class = {
	.write = send_records,
	.free = free_sink,
};

static KmtCaptureCpuWriter *stream_cpu_writer(KmtdOutput *output,
					      const KmtdSource *source,
					      guint cpu, GError **error)
{
	StreamSink *sink = g_new0(StreamSink, 1);

	sink->base.class = &sink_class;
	sink->base.cpu = cpu;
	sink->base.batch_bytes = BATCH_BYTES;
	sink->stream = output->stream;
	return kmt_capture_cpu_writer_new_sink(
		&sink->base, source->record_bytes, source->batch_bytes,
		KMT_CAPTURE_CPU_WRITER_LOCKED, error);
}

/* Return the number of bytes in which both texts agree from the beginning. */
static gsize common_bytes(const char *old, gsize n_old, const char *new,
			  gsize n_new)
{
	gsize n = 0, max = MIN(n_old, n_new);

	while (n < max && old[n] == new[n])
		n++;
	return n;
}

/* Send what has changed in the table. The function owns the text. */
static void send_table(StreamOutput *output, const char *name, char *text,
		       gsize n_bytes)
{
	GBytes *old = g_hash_table_lookup(output->sent, name);
	gsize n_old = 0, n_kept = 0;
	const char *old_text = old ? g_bytes_get_data(old, &n_old) : NULL;

	if (old)
		n_kept = common_bytes(old_text, n_old, text, n_bytes);
	if (!old || n_kept < n_bytes || n_kept < n_old)
		kmt_stream_writer_post_table(output->base.stream, name, text,
					     n_bytes, n_kept);
	if (g_str_equal(name, LARGE_TABLE))
		g_free(text);
	else
		g_hash_table_replace(output->sent, g_strdup(name),
				     g_bytes_new_take(text, n_bytes));
}

static gboolean stream_copy_table(KmtdOutput *output, const char *path,
				  const char *name, gboolean *hidden,
				  GError **error)
{
	g_autoptr(GError) problem = NULL;
	gboolean in_address = TRUE;
	char *text;
	gsize n_bytes;

	if (!g_file_get_contents(path, &text, &n_bytes, &problem)) {
		if (!g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT))
			g_set_error(error, KMT_DAEMON_ERROR,
				    KMT_DAEMON_ERROR_READ, "cannot read %s: %s",
				    path, g_strerror(errno));
		return FALSE;
	}
	if (hidden)
		*hidden = n_bytes > 0 && kmt_capture_addresses_are_zero(
						 text, n_bytes, &in_address);
	send_table((StreamOutput *)output, name, text, n_bytes);
	return TRUE;
}

static gboolean stream_write_table(KmtdOutput *output, const char *name,
				   const char *text, GError **error)
{
	send_table((StreamOutput *)output, name, g_strdup(text), strlen(text));
	return TRUE;
}

static gboolean stream_write_meta(KmtdOutput *output, GKeyFile *meta,
				  guint n_cpus, gboolean is_final,
				  GError **error)
{
	gsize n_bytes;
	g_autofree char *text = g_key_file_to_data(meta, &n_bytes, NULL);

	kmt_stream_writer_post(output->stream, KMT_STREAM_META, text, n_bytes,
			       NULL, 0);
	return TRUE;
}

/* A reader that closes the stream ends the recording. */
static GError *stream_write_error(const KmtdOutput *output, guint cpu,
				  int errnum, guint64 unsaved)
{
	GError *error = NULL;

	if (errnum == EPIPE || errnum == ECONNRESET)
		return NULL;
	kmt_capture_set_errno(&error, KMT_DAEMON_ERROR_STREAM, errnum,
			      "cannot write the stream to descriptor %d "
			      "(%" G_GUINT64_FORMAT
			      " bytes of trace were not sent)",
			      ((const StreamOutput *)output)->fd, unsaved);
	return error;
}

static char *stream_describe(const KmtdOutput *output)
{
	return g_strdup_printf("to descriptor %d",
			       ((const StreamOutput *)output)->fd);
}

static void stream_free(KmtdOutput *output)
{
	g_hash_table_unref(((StreamOutput *)output)->sent);
	g_free(output);
}

static const KmtdOutputClass stream_class = {
	.begin = stream_begin,
	.cpu_writer = stream_cpu_writer,
	.copy_table = stream_copy_table,
	.write_table = stream_write_table,
	.write_meta = stream_write_meta,
	.write_error = stream_write_error,
	.describe = stream_describe,
	.free = stream_free,
};

KmtdOutput *kmtd_output_to_stream(KmtStreamWriter *writer, int fd)
{
	StreamOutput *output = g_new0(StreamOutput, 1);

	output->base.class = &stream_class;
	output->base.stream = writer;
	output->fd = fd;
	output->sent = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					     (GDestroyNotify)g_bytes_unref);
	return &output->base;
}
