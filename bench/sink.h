/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the generator's records go: a file or named pipe per CPU, or stdout. */
#ifndef KMEMTRACE_BENCH_SINK_H
#define KMEMTRACE_BENCH_SINK_H

#include <glib.h>
#include <kmemtrace_abi.h>

/* All errors of bench/ have code 0: their text is for people. */
#define BENCH_ERROR (bench_error_quark())
GQuark bench_error_quark(void);

/* What is collected for a CPU before it is written. */
typedef struct {
	struct kmemtrace_event *records;
	guint n;
} BenchBuffer;

typedef struct {
	BenchBuffer *buffers; /* one per CPU */
	int *fds;
	char **paths;
	guint cpus;
	guint capacity; /* records in a buffer */
	guint64 round;	/* all are to be flushed after so many */
	guint64 left;	/* until then */
	guint64 *written;
	GError *error; /* the first one; nothing is written after it */
} BenchSink;

/*
 * directory is made, or must be empty but for named pipes; NULL is stdout, for
 * one CPU.
 */
BenchSink *bench_sink_new(const char *directory, guint cpus, GError **error);
/* Writes and closes what is open.  FALSE: some record did not arrive. */
gboolean bench_sink_close(BenchSink *sink, GError **error);
void bench_sink_free(BenchSink *sink);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BenchSink, bench_sink_free)

void bench_sink_flush(BenchSink *sink, guint cpu);
void bench_sink_flush_all(BenchSink *sink);

/* The place of the next record of a CPU; it is filled before the next call. */
static inline struct kmemtrace_event *bench_sink_next(BenchSink *sink,
						      guint cpu)
{
	BenchBuffer *b = &sink->buffers[cpu];

	if (G_UNLIKELY(b->n == sink->capacity))
		bench_sink_flush(sink, cpu);
	if (G_UNLIKELY(!sink->left--))
		bench_sink_flush_all(sink);
	return &b->records[b->n++];
}

#endif
