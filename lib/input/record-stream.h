/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of records that are not available as a mapped file of layout B. Such
 * records come, for example, from a pipe or from compressed data, or have an
 * older layout. They can be read once, in order.
 */
#ifndef KMEMTRACE_INPUT_RECORD_STREAM_H
#define KMEMTRACE_INPUT_RECORD_STREAM_H

#include "lib/input/byte-stream.h"
#include "lib/input/capture.h"

struct KmtInputRecordStream {
	KmtInputByteStream *bytes;
	KmtInputDecoder
		decoder; /* decoder of the records; for layout B, which needs no
			  * decoder, only variant.layout is set */
	guint8 *raw;	 /* buffer for undecoded bytes; the bytes from
			  * at up to n are not decoded yet */
	gsize at, n;
};

/*
 * Create a stream of records of layout B that reads bytes. The new stream owns
 * bytes.
 */
KmtInputRecordStream *kmt_input_record_stream_new(KmtInputByteStream *bytes);
void kmt_input_record_stream_free(KmtInputRecordStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputRecordStream,
			      kmt_input_record_stream_free)

/*
 * Read up to n records of layout B into to, without conversion, and return
 * their number. The number is less than n only at the end of the stream. file
 * must be a stream; the function updates the sizes and the defect in file.
 */
guint64 kmt_input_record_stream_read(KmtInputCpuFile *file, guint8 *to,
				     guint64 n);

/*
 * Decode the next record of layout A, C or D into *event, and set *cpu to its
 * CPU (0 unless the layout is D). At the end of the stream, or if the record is
 * invalid, return FALSE. The function updates the sizes and the defect in file.
 */
gboolean kmt_input_record_stream_decode(KmtInputCpuFile *file,
					struct kmemtrace_event *event,
					guint *cpu);

/*
 * Record that the end of the file cannot be read, and mark the capture as
 * damaged. file keeps the first reason if the function is called again.
 */
void kmt_input_cpu_file_set_defect(KmtInputCpuFile *file, const char *reason);

/*
 * Convert a stream to a mapped file: copy the rest of the stream to a temporary
 * file and map that file. Records of layout A, C or D are converted to version
 * 1. On failure return FALSE and set *error.
 */
gboolean kmt_input_record_stream_spool(KmtInputCpuFile *file, GError **error);

/*
 * Split a stream of layout D, which contains the records of all CPUs. The
 * function copies the records of each CPU to a temporary file and adds these
 * files to the capture. On failure return FALSE and set *error.
 */
gboolean kmt_input_record_stream_split(KmtInputCapture *capture,
				       KmtInputCpuFile *file, GError **error);

#endif
