// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: a file cpu0.out.zst of random bytes, after a byte that chooses
 * how the frames are read. If the file consists of frames, every byte of the
 * content belongs to exactly one frame, and readers with and without frames
 * that are read ahead return the same records as kmt_input_cpu_file_copy().
 */
#include "config.h"

#include "fuzz/exercise.h"
#include "fuzz/scratch.h"
#include "fuzz/target.h"
#include "lib/input/frame-pool.h"
#include "lib/input/frame-queue.h"
#include "lib/input/record-reader.h"

#include <string.h>

/* Check the positions of all frames. */
static void check_index(const KmtInputFrameIndex *index, gsize size)
{
	guint64 packed_at = 0, at = 0;
	guint i;

	for (i = 0; i < index->frames->len; i++) {
		const KmtInputFrame *frame =
			kmt_input_frame_index_get(index, i);

		g_assert_cmpuint(frame->packed_at, >=, packed_at);
		g_assert_cmpuint(frame->at, ==, at);
		g_assert_cmpuint(frame->size, >, 0);
		g_assert_cmpuint(frame->size, <=, KMT_INPUT_MAX_FRAME_BYTES);
		packed_at = frame->packed_at + frame->packed_size;
		at += frame->size;
		g_assert_cmpuint(kmt_input_frame_index_find(index, frame->at),
				 ==, i);
		g_assert_cmpuint(kmt_input_frame_index_find(index, at - 1), ==,
				 i);
	}
	g_assert_cmpuint(packed_at, <=, size);
	g_assert_cmpuint(index->size, ==, at);
	g_assert_cmpuint(index->damaged_bytes, <=, size);
}

/* Read all records, and read frames ahead as the bits of choice request. */
static void read_records(const KmtInputCapture *capture, KmtInputCpuFile *file,
			 guint8 choice)
{
	g_autoptr(KmtInputReader) reader = kmt_input_reader_new(file);
	g_autofree guint8 *record = g_malloc(file->record_size);
	KmtInputReadAhead job;
	KmtInputBatch batch;
	guint64 index = 0, i;

	for (;; choice = (guint8)(choice << 1 | choice >> 7)) {
		if (choice & 1 && kmt_input_read_ahead_begin(capture, 3, &job))
			kmt_input_read_ahead_run(&job);
		g_assert_cmpuint(capture->frame_pool->n_ahead, <=, 3);
		if (choice & 2 && !kmt_input_reader_next(reader, &batch))
			break;
		for (i = 0; choice & 2 && i < batch.n; i++) {
			kmt_input_cpu_file_copy(file,
						(index + i) * file->record_size,
						file->record_size, record);
			if (!file->swapped)
				g_assert_cmpmem(record, file->record_size,
						batch.records +
							i * batch.stride,
						file->record_size);
		}
		if (choice & 2) {
			index += batch.n;
			kmt_input_buffer_unref(batch.buffer);
		}
	}
	g_assert_cmpuint(index, ==, file->n_records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(KmtInputCapture) capture = NULL;
	const char *operands[] = {NULL, NULL};
	KmtInputCpuFile *file;

	if (!size)
		return 0;
	kmt_exercise_begin();
	kmt_scratch_directory();
	operands[0] = kmt_scratch_write("cpu0.out.zst", data + 1, size - 1);
	capture = kmt_input_capture_open(operands, NULL, NULL);
	file = capture ? g_ptr_array_index(capture->files, 0) : NULL;
	if (file && file->frames) {
		check_index(file->frames->index, size - 1);
		/* Some bit 1 must be set, so that the loop ends. */
		read_records(capture, file, data[0] | 2);
		read_records(capture, file, 2);
		g_assert_true(!file->frames->n_damaged || file->defect);
		g_assert_cmpuint(file->n_records * file->record_size +
					 file->truncated_bytes,
				 ==, file->frames->index->size);
	}
	if (capture)
		g_free(kmt_exercise_digest(capture, 0));
	kmt_scratch_clear();
	return 0;
}
