// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the writer of a CPU's records with a sink, and of the queue of a
 * stream. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/capture/cpu-file-writer.h"
#include "lib/capture/stream-writer.h"

#define RECORD_BYTES 64

/* What a sink has received. */
typedef struct {
	KmtCaptureCpuSink base;
	GByteArray *bytes;
	guint n_calls;
	int error; /* result of the next calls */
} Received;

static int receive(KmtCaptureCpuSink *sink, KmtCaptureBuffer *buffer,
		   gsize n_bytes)
{
	Received *received = (Received *)sink;

	g_assert_cmpuint(sink->cpu, ==, 5);
	g_assert_cmpuint(n_bytes % RECORD_BYTES, ==, 0);
	received->n_calls++;
	if (received->error == 0)
		g_byte_array_append(received->bytes, buffer->data,
				    (guint)n_bytes);
	return received->error;
}

/* The caller of the writer owns the sink. */
static void keep(KmtCaptureCpuSink *sink)
{
}

static const KmtCaptureCpuSinkClass received_class = {
	.write = receive,
	.free = keep,
};

static guint8 *make_records(gsize n)
{
	guint8 *records = g_malloc(n * RECORD_BYTES);

	for (gsize i = 0; i < n; i++)
		memset(records + i * RECORD_BYTES, (int)(i % 251),
		       RECORD_BYTES);
	return records;
}

static KmtCaptureCpuWriter *make_writer(Received *received)
{
	GError *error = NULL;
	KmtCaptureCpuWriter *writer;

	received->base.class = &received_class;
	received->base.cpu = 5;
	received->base.batch_bytes = 128 * 1024;
	writer = kmt_capture_cpu_writer_new_sink(
		&received->base, RECORD_BYTES, 4096,
		KMT_CAPTURE_CPU_WRITER_LOCKED, &error);

	g_assert_no_error(error);
	return writer;
}

/* Records that a refused release withdraws are never sent, however full the
 * buffer is. A batch may exceed the buffer. */
static void test_withdrawn_records(void)
{
	static const gsize batches[] = {1, 100, 15000, 16000, 40000, 16128};
	Received received = {.bytes = g_byte_array_new()};
	g_autoptr(KmtCaptureCpuWriter) writer = make_writer(&received);
	gsize n_kept = 0;

	for (gsize i = 0; i < G_N_ELEMENTS(batches); i++) {
		gsize n_bytes = batches[i] * RECORD_BYTES;
		g_autofree guint8 *records = make_records(batches[i]);

		for (guint n = 0; n < 2; n++) {
			g_assert_cmpint(
				kmt_capture_cpu_writer_reserve(writer, n_bytes),
				==, 0);
			g_assert_cmpint(kmt_capture_cpu_writer_append(
						writer, records, n_bytes),
					==, 0);
			if (n == 0)
				kmt_capture_cpu_writer_take_back(writer,
								 n_bytes);
		}
		n_kept += n_bytes;
		g_assert_cmpuint(received.bytes->len, <=, n_kept - n_bytes);
	}
	g_assert_cmpint(kmt_capture_cpu_writer_finish(writer), ==, 0);
	g_assert_cmpuint(received.bytes->len, ==, n_kept);
	g_assert_cmpuint(kmt_capture_cpu_writer_written(writer), ==, n_kept);
	g_assert_cmpuint(kmt_capture_cpu_writer_unsaved(writer), ==, 0);
	g_assert_cmpint(kmt_capture_cpu_writer_sync(writer), ==, 0);
	n_kept = 0;
	for (gsize i = 0; i < G_N_ELEMENTS(batches); i++) {
		g_autofree guint8 *records = make_records(batches[i]);
		gsize n_bytes = batches[i] * RECORD_BYTES;

		g_assert_cmpmem(received.bytes->data + n_kept, n_bytes, records,
				n_bytes);
		n_kept += n_bytes;
	}
	g_byte_array_unref(received.bytes);
}

static void test_flush(void)
{
	Received received = {.bytes = g_byte_array_new()};
	g_autoptr(KmtCaptureCpuWriter) writer = make_writer(&received);
	g_autofree guint8 *records = make_records(2);

	kmt_capture_cpu_writer_append(writer, records, 2 * RECORD_BYTES);
	g_assert_cmpint(kmt_capture_cpu_writer_flush(writer), ==, 0);
	g_assert_cmpuint(received.n_calls, ==, 0);
	g_assert_cmpint(kmt_capture_cpu_writer_flush_all(writer), ==, 0);
	g_assert_cmpuint(received.bytes->len, ==, 2 * RECORD_BYTES);
	g_assert_cmpint(kmt_capture_cpu_writer_flush_all(writer), ==, 0);
	g_assert_cmpuint(received.n_calls, ==, 1);
	received.error = -EPIPE;
	kmt_capture_cpu_writer_append(writer, records, RECORD_BYTES);
	g_assert_cmpint(kmt_capture_cpu_writer_flush_all(writer), ==, -EPIPE);
	kmt_capture_cpu_writer_append(writer, records, RECORD_BYTES);
	g_assert_cmpint(kmt_capture_cpu_writer_flush_all(writer), ==, -EPIPE);
	g_assert_cmpuint(received.n_calls, ==, 2);
	g_assert_cmpuint(kmt_capture_cpu_writer_unsaved(writer), ==,
			 2 * RECORD_BYTES);
	g_byte_array_unref(received.bytes);
}

/* Read frames until END; return the number of frames. The sequence has no
 * gap. */
static gpointer read_frames(gpointer data)
{
	int fd = GPOINTER_TO_INT(data);
	KmtStreamHeader header;
	KmtStreamFrame frame;
	guint64 n = 0;

	g_assert_cmpint(recv(fd, &header, sizeof(header), MSG_WAITALL), ==,
			sizeof(header));
	do {
		g_autofree guint8 *payload = NULL;
		gsize n_bytes;

		g_assert_cmpint(recv(fd, &frame, sizeof(frame), MSG_WAITALL),
				==, sizeof(frame));
		g_assert_cmpuint(frame.sequence, ==, n++);
		n_bytes = (frame.length + 7) / 8 * 8;
		payload = g_malloc(n_bytes);
		if (n_bytes)
			g_assert_cmpint(recv(fd, payload, n_bytes, MSG_WAITALL),
					==, n_bytes);
	} while (frame.type != KMT_STREAM_END);
	return GSIZE_TO_POINTER(n);
}

#define N_THREADS 3
#define N_FRAMES  300

static gpointer write_records(gpointer data)
{
	g_autofree guint8 *records = make_records(100);

	for (guint i = 0; i < N_FRAMES; i++)
		g_assert_cmpint(kmt_stream_writer_records(data, 5, records,
							  100 * RECORD_BYTES),
				==, 0);
	return NULL;
}

/* Threads write records while the main thread posts frames. */
static void test_threads(void)
{
	const KmtStreamHeader header = {.record_bytes = RECORD_BYTES};
	g_autoptr(KmtStreamWriter) writer = NULL;
	GThread *threads[N_THREADS], *reader;
	GError *error = NULL;
	guint posted = 0;
	int fds[2];

	g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), ==, 0);
	writer = kmt_stream_writer_new(fds[0], &error);
	g_assert_no_error(error);
	kmt_stream_writer_begin(writer, &header);
	reader = g_thread_new("reader", read_frames, GINT_TO_POINTER(fds[1]));
	for (guint i = 0; i < N_THREADS; i++)
		threads[i] = g_thread_new("writer", write_records, writer);
	for (; posted < N_FRAMES; posted++)
		kmt_stream_writer_post(writer, KMT_STREAM_META, "meta", 4,
				       "text", posted % 5);
	for (guint i = 0; i < N_THREADS; i++)
		g_thread_join(threads[i]);
	kmt_stream_writer_post(writer, KMT_STREAM_END, NULL, 0, NULL, 0);
	g_assert_cmpint(kmt_stream_writer_flush(writer, -1), ==, 0);
	g_assert_cmpint(kmt_stream_writer_poll_fd(writer), ==, -1);
	g_assert_cmpuint(GPOINTER_TO_SIZE(g_thread_join(reader)), ==,
			 N_THREADS * N_FRAMES + posted + 1);
	close(fds[0]);
	close(fds[1]);
}

static gpointer cancel(gpointer data)
{
	kmt_stream_writer_cancel(data);
	return NULL;
}

/* A thread that waits for the other side ends when the stream is cancelled. */
static void test_cancel(void)
{
	const KmtStreamHeader header = {.record_bytes = RECORD_BYTES};
	g_autofree guint8 *records = make_records(40000);
	g_autoptr(KmtStreamWriter) writer = NULL;
	GThread *thread;
	int fds[2];

	g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), ==, 0);
	writer = kmt_stream_writer_new(fds[0], NULL);
	g_assert_nonnull(writer);
	kmt_stream_writer_begin(writer, &header);
	thread = g_thread_new("cancel", cancel, writer);
	g_assert_cmpint(kmt_stream_writer_records(writer, 5, records,
						  40000 * RECORD_BYTES),
			==, -ECANCELED);
	g_thread_join(thread);
	g_assert_cmpint(kmt_stream_writer_error(writer), ==, -ECANCELED);
	g_assert_cmpint(kmt_stream_writer_flush(writer, -1), ==, -ECANCELED);
	close(fds[0]);
	close(fds[1]);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sink/withdrawn", test_withdrawn_records);
	g_test_add_func("/sink/flush", test_flush);
	g_test_add_func("/stream/threads", test_threads);
	g_test_add_func("/stream/cancel", test_cancel);
	return g_test_run();
}
