// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the decision to store frames, and of an abandoned sink. */
#include "config.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/libzstd.h"
#include "lib/capture/capture-writer.h"
#include "lib/capture/zstd-encoder.h"

#define RECORD_BYTES 64
#define BATCH_BYTES  65536
#define N_BATCHES    160
/* A group of frames takes longer than the reader may wait. */
#define SLOW_LEVEL 19

typedef struct {
	char *directory;
	KmtCaptureWriter *capture;
	KmtCaptureCpuWriter *writer;
} SinkFixture;

static void set_up(SinkFixture *fixture, gconstpointer data)
{
	const KmtCaptureDirectoryOptions options = {0};
	GError *error = NULL;

	fixture->directory = g_dir_make_tmp("kmemtrace-XXXXXX", &error);
	fixture->capture =
		kmt_capture_writer_open(fixture->directory, &options, &error);
	kmt_capture_writer_compress(fixture->capture, SLOW_LEVEL, &error);
	fixture->writer = kmt_capture_writer_cpu_file(
		fixture->capture, 0, RECORD_BYTES, BATCH_BYTES, &error);
	g_assert_no_error(error);
}

static void tear_down(SinkFixture *fixture, gconstpointer data)
{
	kmt_capture_cpu_writer_free(fixture->writer);
	kmt_capture_writer_undo(fixture->capture);
	kmt_capture_writer_close(fixture->capture);
	g_rmdir(fixture->directory);
	g_free(fixture->directory);
}

/* Write records faster than they can be compressed. */
static void write_batches(KmtCaptureCpuWriter *writer, guint n)
{
	g_autofree guint64 *batch = g_malloc(BATCH_BYTES);

	for (guint i = 0; i < n; i++) {
		for (guint j = 0; j < BATCH_BYTES / sizeof(*batch); j++)
			batch[j] = (guint64)i * j * 2654435761U >> 9;
		kmt_capture_cpu_writer_reserve(writer, BATCH_BYTES);
		kmt_capture_cpu_writer_append(writer, batch, BATCH_BYTES);
		kmt_capture_cpu_writer_flush(writer);
	}
}

static void check_stored(KmtCaptureCpuWriter *writer, gboolean is_stored)
{
	KmtCaptureCpuFrames frames;

	g_assert_cmpint(kmt_capture_cpu_writer_finish(writer), ==, 0);
	g_assert_true(kmt_capture_cpu_writer_frames(writer, &frames));
	g_assert_cmpint(frames.n_stored > 0, ==, is_stored);
	g_assert_cmpuint(frames.n_frames, >=, N_BATCHES * BATCH_BYTES / 262144);
	g_assert_cmpuint(kmt_capture_cpu_writer_written(writer), ==,
			 N_BATCHES * BATCH_BYTES);
	g_assert_cmpuint(kmt_capture_cpu_writer_unsaved(writer), ==, 0);
}

static void test_too_slow(SinkFixture *fixture, gconstpointer data)
{
	write_batches(fixture->writer, N_BATCHES);
	check_stored(fixture->writer, TRUE);
}

/* Return the number of compressed frames in the file. */
static guint64 n_compressed(const KmtCaptureCpuWriter *writer)
{
	KmtCaptureCpuFrames frames;

	g_assert_true(kmt_capture_cpu_writer_frames(writer, &frames));
	return frames.n_frames - frames.n_stored;
}

/*
 * If the buffers are about to fill up, the rest of the group that is being
 * compressed is stored.
 */
static void test_too_slow_group(SinkFixture *fixture, gconstpointer data)
{
	const guint n = KMT_CAPTURE_CPU_WRITER_BUFFER_BYTES / BATCH_BYTES + 1;

	write_batches(fixture->writer, n);
	while (n_compressed(fixture->writer) < KMT_ZSTD_GROUP_FRAMES)
		g_usleep(1000);
	/* The first of these buffers is compressed, five wait for it. */
	write_batches(fixture->writer, 7 * n);
	g_assert_cmpuint(n_compressed(fixture->writer), <,
			 2 * KMT_ZSTD_GROUP_FRAMES);
	g_assert_cmpint(kmt_capture_cpu_writer_finish(fixture->writer), ==, 0);
}

static void test_takes_time(SinkFixture *fixture, gconstpointer data)
{
	kmt_capture_cpu_writer_take_time(fixture->writer, true);
	write_batches(fixture->writer, N_BATCHES);
	check_stored(fixture->writer, FALSE);
}

/* The written and the unsaved bytes add up to all bytes of records. */
static void test_abandoned(SinkFixture *fixture, gconstpointer data)
{
	guint64 n_written;

	write_batches(fixture->writer, N_BATCHES / 2);
	kmt_capture_cpu_writer_abandon(fixture->writer);
	write_batches(fixture->writer, N_BATCHES / 2);
	g_assert_cmpint(kmt_capture_cpu_writer_finish(fixture->writer), <, 0);
	n_written = kmt_capture_cpu_writer_written(fixture->writer);
	g_assert_cmpuint(n_written, <, N_BATCHES / 2 * BATCH_BYTES);
	g_assert_cmpuint(
		n_written + kmt_capture_cpu_writer_unsaved(fixture->writer), ==,
		N_BATCHES * BATCH_BYTES);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (!kmt_libzstd_check(NULL))
		return 77;
#define ADD(name, function)                                                    \
	g_test_add("/zstd-sink/" name, SinkFixture, NULL, set_up, function,    \
		   tear_down)
	ADD("too-slow", test_too_slow);
	ADD("too-slow-group", test_too_slow_group);
	ADD("takes-time", test_takes_time);
	ADD("abandoned", test_abandoned);
	return g_test_run();
}
