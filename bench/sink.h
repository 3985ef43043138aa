/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The destination of generated records: a file or named pipe per CPU, or
 * stdout.
 */
#ifndef KMEMTRACE_BENCH_SINK_H
#define KMEMTRACE_BENCH_SINK_H

#include <glib.h>
#include <kmemtrace_abi.h>

/* Errors of this domain have code 0; only their text is used. */
#define BENCH_ERROR (bench_error_quark())
GQuark bench_error_quark(void);

/* Records of a CPU that are not written yet. */
typedef struct {
	struct kmemtrace_event *first, *next, *end;
} BenchBuffer;

typedef struct {
	BenchBuffer *buffers; /* one per CPU */
	int *fds;
	char **paths;
	guint cpus;
	gboolean pipes; /* some files are named pipes: the caller must call
			 * bench_sink_flush_all() after each BENCH_ROUND events
			 */
	guint64 *written;
	GError *error; /* the first error; nothing is written after it */
} BenchSink;

/*
 * Events between two calls of bench_sink_flush_all(). A reader that merges
 * several pipes waits for the next record of each pipe. If the records of a
 * round did not fit into one pipe, which holds 64 KiB by default, the reader
 * and the writer could wait for each other forever.
 */
#define BENCH_ROUND 1024

/*
 * Open a sink. The directory is created, or must be empty except for named
 * pipes. NULL means stdout, for one CPU. Return NULL and set an error on
 * failure.
 */
BenchSink *bench_sink_new(const char *directory, guint cpus, GError **error);
/*
 * Write the remaining records and close the files. Return FALSE and set an
 * error if any record could not be written or a file could not be closed.
 */
gboolean bench_sink_close(BenchSink *sink, GError **error);
void bench_sink_free(BenchSink *sink);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BenchSink, bench_sink_free)

void bench_sink_flush(BenchSink *sink, guint cpu);
void bench_sink_flush_all(BenchSink *sink);

/*
 * Return the place in the buffer for the next record of a CPU. The caller fills
 * the record before the next call.
 */
static inline struct kmemtrace_event *bench_sink_next(BenchSink *sink,
						      guint cpu)
{
	BenchBuffer *b = &sink->buffers[cpu];

	if (G_UNLIKELY(b->next == b->end))
		bench_sink_flush(sink, cpu);
	return b->next++;
}

#endif
