// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of a mapped file: copied into buffers, or read from the mapping
 * (lib/input/record-reader.c). */
#include "config.h"

#include <unistd.h>

#include "lib/input/record-reader.h"
#include "tests/input/capture-fixture.h"

#define N_RECORDS 5000

typedef struct {
	char *directory;
	KmtInputCapture *capture;
	KmtInputCpuFile *file;
	KmtInputReader *reader;
} ReaderFixture;

/* Open a capture in which record i has the timestamp i. */
static void set_up(ReaderFixture *f)
{
	g_autofree struct kmemtrace_event *events =
		g_new0(struct kmemtrace_event, N_RECORDS);
	guint i;

	for (i = 0; i < N_RECORDS; i++)
		events[i] = (struct kmemtrace_event){
			.event_id = KMEMTRACE_EVENT_FREE,
			.event_size = sizeof(*events),
			.ptr = 8,
			.timestamp = i};
	f->directory = fixture_new();
	fixture_put(f->directory, "cpu0.out", (const char *)events,
		    N_RECORDS * sizeof(*events));
	f->capture = fixture_open(f->directory);
	f->file = f->capture->files->pdata[0];
	f->reader = kmt_input_reader_new(f->file);
}

static void tear_down(ReaderFixture *f)
{
	kmt_input_reader_free(f->reader);
	kmt_input_capture_free(f->capture);
	fixture_remove(f->directory);
}

/* Check that the records of the batch are those from first on. */
static void check_batch(const KmtInputBatch *batch, guint64 first)
{
	guint64 i;

	for (i = 0; i < batch->n; i++) {
		const KmtInputRawEvent *event =
			(const KmtInputRawEvent *)(batch->records +
						   i * batch->stride);

		g_assert_cmpint(event->timestamp, ==, (gint64)(first + i));
	}
}

static void test_copies(void)
{
	KmtInputBatch batch;
	guint64 done = 0;
	guint n_batches = 0;
	ReaderFixture f;

	set_up(&f);
	for (; kmt_input_reader_next(f.reader, &batch); done += batch.n) {
		g_assert_nonnull(batch.buffer);
		check_batch(&batch, done);
		kmt_input_buffer_unref(batch.buffer);
		n_batches++;
	}
	g_assert_cmpuint(done, ==, N_RECORDS);
	g_assert_cmpuint(n_batches, >, 2);
	tear_down(&f);
}

/* Without a descriptor, the reader returns the mapping. */
static void test_mapping(void)
{
	KmtInputBatch batch;
	ReaderFixture f;

	set_up(&f);
	close(f.file->fd);
	f.file->fd = 0;
	g_assert_true(kmt_input_reader_next(f.reader, &batch));
	g_assert_null(batch.buffer);
	g_assert_cmpuint(batch.n, ==, N_RECORDS);
	check_batch(&batch, 0);
	g_assert_false(kmt_input_reader_next(f.reader, &batch));
	tear_down(&f);
}

/* A file that another process has shortened is copied as far as possible. The
 * rest is in the mapping, in which an access raises SIGBUS as documented. */
static void test_shortened(void)
{
	g_autofree char *path = NULL;
	KmtInputBatch batch;
	guint64 done = 0;
	ReaderFixture f;

	set_up(&f);
	path = g_build_filename(f.directory, "cpu0.out", NULL);
	g_assert_cmpint(truncate(path, N_RECORDS / 2 * f.file->record_size), ==,
			0);
	while (kmt_input_reader_next(f.reader, &batch) && batch.buffer) {
		check_batch(&batch, done);
		done += batch.n;
		kmt_input_buffer_unref(batch.buffer);
	}
	g_assert_null(batch.buffer);
	g_assert_cmpuint(done, >, 0);
	g_assert_cmpuint(done, <=, N_RECORDS / 2);
	g_assert_cmpuint(batch.n, ==, N_RECORDS - done);
	g_assert_false(kmt_input_reader_next(f.reader, &batch));
	tear_down(&f);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record-reader/copies", test_copies);
	g_test_add_func("/record-reader/mapping", test_mapping);
	g_test_add_func("/record-reader/shortened", test_shortened);
	return g_test_run();
}
