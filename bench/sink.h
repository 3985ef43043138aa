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
	struct kmemtrace_event *first, *next, *end;
} BenchBuffer;

typedef struct {
	BenchBuffer *buffers; /* one per CPU */
	int *fds;
	char **paths;
	guint cpus;
	gboolean pipes; /* bench_sink_flush_all() is due after BENCH_ROUND */
	guint64 *written;
	GError *error; /* the first one; nothing is written after it */
} BenchSink;

/*
 * A reader that merges several pipes waits for the next record of each.  It and
 * the writer would wait for each other for ever if what is written between two
 * rounds did not fit into one pipe, which has 64 KiB at least.
 */
#define BENCH_ROUND 1024

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

	if (G_UNLIKELY(b->next == b->end))
		bench_sink_flush(sink, cpu);
	return b->next++;
}

#endif
