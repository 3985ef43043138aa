/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that cannot be accessed in a mapped file: from a pipe, decompressed,
 * or of an older layout. They can be read once, in order.
 */
#ifndef KMEMTRACE_INPUT_RECORD_STREAM_H
#define KMEMTRACE_INPUT_RECORD_STREAM_H

#include "lib/input/byte-stream.h"
#include "lib/input/capture.h"

struct KmtInputRecordStream {
	KmtInputByteStream *bytes;
	KmtInputDecoder decoder; /* unused for layout B */
	guint8 *raw;		 /* bytes read; those from at to n are not
				  * decoded yet */
	gsize at, n;
};

/* Create a stream of records, which owns bytes. */
KmtInputRecordStream *kmt_input_record_stream_new(KmtInputByteStream *bytes);
void kmt_input_record_stream_free(KmtInputRecordStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputRecordStream,
			      kmt_input_record_stream_free)

/*
 * Read up to n records of layout B without conversion. Return their number,
 * which is less than n at the end.
 */
guint64 kmt_input_record_stream_read(KmtInputCpuFile *file, guint8 *to,
				     guint64 n);

/* Decode the next record of layout A, C or D. Return FALSE at the end. */
gboolean kmt_input_record_stream_decode(KmtInputCpuFile *file,
					struct kmemtrace_event *event,
					guint *cpu);

/* Set the reason why file cannot be read to its end. */
void kmt_input_cpu_file_set_defect(KmtInputCpuFile *file, const char *reason);

/*
 * Copy the rest of a stream to a temporary file, converted to version 1 unless
 * the layout is B, and map that file in place of the stream.
 */
gboolean kmt_input_record_stream_spool(KmtInputCpuFile *file, GError **error);

/*
 * Copy a file of layout D, which holds the records of all CPUs, to one
 * temporary file per CPU, and add these to the capture.
 */
gboolean kmt_input_record_stream_split(KmtInputCapture *capture,
				       KmtInputCpuFile *file, GError **error);

#endif
