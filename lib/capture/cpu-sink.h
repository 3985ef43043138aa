/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receiver of the records of one CPU, instead of a file cpu<n>.out: a stream,
 * or a compressed file. The thread that writes the records of the CPU makes all
 * calls, except those of the counters.
 */
#ifndef KMEMTRACE_CAPTURE_CPU_SINK_H
#define KMEMTRACE_CAPTURE_CPU_SINK_H

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/capture/locked-buffer.h"

typedef struct kmt_capture_cpu_sink KmtCaptureCpuSink;

/* Figures of a compressed file. */
typedef struct {
	guint64 file_bytes; /* size of the file */
	guint64 n_frames;   /* frames with records */
	guint64 n_stored;   /* frames with records that are not compressed */
} KmtCaptureCpuFrames;

/* Operations of a sink. All but write and free may be NULL. */
typedef struct {
	/*
	 * Receive the first n_bytes of *buffer, which are complete records. The
	 * function may replace *buffer by another one of the same capacity.
	 * Return 0, or a negative errno if the records are lost.
	 */
	int (*write)(KmtCaptureCpuSink *sink, KmtCaptureBuffer *buffer,
		     gsize n_bytes);
	/* Return the negative errno of the first failure, or 0. */
	int (*error)(KmtCaptureCpuSink *sink);
	/* Write all received records. Return 0 or a negative errno. */
	int (*finish)(KmtCaptureCpuSink *sink);
	/* Set whether the sink compresses each record, even if the writer must
	 * wait, because no record can be lost meanwhile. */
	void (*take_time)(KmtCaptureCpuSink *sink, bool on);
	/* Drop the received records that are not written yet. Any thread may
	 * call this function. */
	void (*discard)(KmtCaptureCpuSink *sink);
	/* Wait until the records are on the disk. Called after finish. Return 0
	 * or a negative errno. */
	int (*sync)(KmtCaptureCpuSink *sink);
	/* Set the figures. Any thread may call this function. */
	void (*frames)(const KmtCaptureCpuSink *sink,
		       KmtCaptureCpuFrames *frames);
	void (*free)(KmtCaptureCpuSink *sink);
} KmtCaptureCpuSinkClass;

/* Common part of a sink. */
struct kmt_capture_cpu_sink {
	const KmtCaptureCpuSinkClass *class;
	guint cpu;
	/* Bytes that a flush leaves in the buffer, unless their first record is
	 * older than max_age_us. */
	gsize batch_bytes;
	gint64 max_age_us; /* 0: no limit */
	pid_t thread;	   /* id of the sink's own thread; 0: none */
	/* Bytes that the sink received, but did not write after a failure. */
	_Atomic guint64 lost;
};

#endif
