/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a cpu file that are not to be had where they lie: from a pipe,
 * unpacked, or of another layout.  They come once, in order.
 */
#ifndef KMEMTRACE_INPUT_RECORD_STREAM_H
#define KMEMTRACE_INPUT_RECORD_STREAM_H

#include "lib/input/byte-stream.h"
#include "lib/input/capture.h"

struct KmtInputRecordStream {
	KmtInputByteStream *bytes;
	KmtInputDecoder decoder; /* layout B: there is nothing to decode */
	guint8 *raw;		 /* read, and from at to n not decoded yet */
	gsize at, n;
};

/* Takes bytes. */
KmtInputRecordStream *kmt_input_record_stream_new(KmtInputByteStream *bytes);
void kmt_input_record_stream_free(KmtInputRecordStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtInputRecordStream,
			      kmt_input_record_stream_free)

/*
 * Layout B: reads up to n records of file->record_size as they are.  Returns
 * how many; less than n at the end.
 */
guint64 kmt_input_record_stream_read(KmtInputCpuFile *file, guint8 *to,
				     guint64 n);

/* The others: FALSE at the end. */
gboolean kmt_input_record_stream_decode(KmtInputCpuFile *file,
					struct kmemtrace_event *event,
					guint *cpu);

/* file could not be read to its end. */
void kmt_input_cpu_file_set_defect(KmtInputCpuFile *file, const char *reason);

/*
 * What is left of the stream, as records of version 1 or B's own, to temporary
 * files that are mapped instead of it.
 */
gboolean kmt_input_record_stream_spool(KmtInputCpuFile *file, GError **error);

/* Likewise for layout D, whose files hold all CPUs: adds a file for each. */
gboolean kmt_input_record_stream_split(KmtInputCapture *capture,
				       KmtInputCpuFile *file, GError **error);

#endif
