// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/sink.h"

/*
 * Size of all buffers together, so that they fit into the processor's cache. It
 * is exceeded if MIN_RECORDS for each CPU need more.
 */
#define BUFFER_BYTES (512 << 10)
#define MIN_RECORDS  64

/* Larger pipes reduce the number of switches between writer and reader. */
#define PIPE_BYTES (1 << 20)

G_STATIC_ASSERT(sizeof(struct kmemtrace_event) == KMEMTRACE_EVENT_SIZE_V1);

G_DEFINE_QUARK(bench - error - quark, bench_error)

static void set_error(GError **error, const char *what, const char *path,
		      const char *advice)
{
	int code = errno;

	g_set_error(error, BENCH_ERROR, 0, "cannot %s %s: %s%s", what, path,
		    g_strerror(code), advice);
}

static gboolean is_fifo(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

/*
 * Create the directory if it does not exist. Refuse a directory that contains
 * anything but named pipes: other files would become part of the new capture.
 */
static gboolean prepare_directory(const char *directory, GError **error)
{
	g_autoptr(GDir) dir = NULL;
	const char *name;

	if (g_mkdir_with_parents(directory, 0777) != 0) {
		set_error(error, "make", directory, "");
		return FALSE;
	}
	dir = g_dir_open(directory, 0, error);
	if (!dir)
		return FALSE;
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		if (is_fifo(path))
			continue;
		g_set_error(error, BENCH_ERROR, 0,
			    "%s is not empty: remove it, or name another "
			    "folder",
			    directory);
		return FALSE;
	}
	return TRUE;
}

static gboolean open_stdout(BenchSink *sink, GError **error)
{
	if (isatty(STDOUT_FILENO)) {
		g_set_error(error, BENCH_ERROR, 0,
			    "stdout is a terminal: use a pipe, or -o FOLDER");
		return FALSE;
	}
	sink->paths[0] = g_strdup("stdout");
	sink->fds[0] = STDOUT_FILENO;
	(void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, PIPE_BYTES);
	return TRUE;
}

static gboolean open_file(BenchSink *sink, const char *directory, guint cpu,
			  GError **error)
{
	g_autofree char *name = g_strdup_printf("cpu%u.out", cpu);
	char *path = g_build_filename(directory, name, NULL);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	sink->paths[cpu] = path;
	sink->fds[cpu] = fd;
	if (fd < 0) {
		set_error(error, "open", path,
			  errno == EMFILE ? ": see ulimit -n" : "");
		return FALSE;
	}
	if (is_fifo(path)) {
		(void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
		sink->pipes = TRUE;
	}
	return TRUE;
}

BenchSink *bench_sink_new(const char *directory, guint cpus, GError **error)
{
	g_autoptr(BenchSink) sink = g_new0(BenchSink, 1);
	gsize capacity;
	guint i;

	capacity = BUFFER_BYTES / sizeof(struct kmemtrace_event) / cpus;
	capacity = MAX(capacity, MIN_RECORDS);
	sink->cpus = cpus;
	sink->buffers = g_new0(BenchBuffer, cpus);
	sink->written = g_new0(guint64, cpus);
	sink->paths = g_new0(char *, cpus + 1);
	sink->fds = g_new(int, cpus);
	for (i = 0; i < cpus; i++) {
		BenchBuffer *b = &sink->buffers[i];

		sink->fds[i] = -1;
		b->first = b->next = g_new(struct kmemtrace_event, capacity);
		b->end = b->first + capacity;
	}
	if (!directory)
		return open_stdout(sink, error) ? g_steal_pointer(&sink) : NULL;
	if (!prepare_directory(directory, error))
		return NULL;
	for (i = 0; i < cpus; i++)
		if (!open_file(sink, directory, i, error))
			return NULL;
	return g_steal_pointer(&sink);
}

static void write_error(BenchSink *sink, guint cpu)
{
	const char *advice = "";

	if (errno == ENOSPC)
		advice = ": make room, or generate fewer events";
	else if (errno == EPIPE)
		advice = ": the reader has closed the pipe";
	set_error(&sink->error, "write", sink->paths[cpu], advice);
}

void bench_sink_flush(BenchSink *sink, guint cpu)
{
	BenchBuffer *b = &sink->buffers[cpu];
	const char *data = (const char *)b->first;
	size_t left = (size_t)((const char *)b->next - data);

	sink->written[cpu] += (guint64)(b->next - b->first);
	b->next = b->first;
	while (left && !sink->error) {
		ssize_t n = write(sink->fds[cpu], data, left);

		if (n < 0) {
			if (errno != EINTR)
				write_error(sink, cpu);
			continue;
		}
		data += n;
		left -= (size_t)n;
	}
}

void bench_sink_flush_all(BenchSink *sink)
{
	guint i;

	for (i = 0; i < sink->cpus; i++)
		bench_sink_flush(sink, i);
}

gboolean bench_sink_close(BenchSink *sink, GError **error)
{
	guint i;

	bench_sink_flush_all(sink);
	for (i = 0; i < sink->cpus; i++) {
		int fd = sink->fds[i];

		sink->fds[i] = -1;
		if (close(fd) != 0 && !sink->error)
			write_error(sink, i);
	}
	if (!sink->error)
		return TRUE;
	g_propagate_error(error, g_steal_pointer(&sink->error));
	return FALSE;
}

void bench_sink_free(BenchSink *sink)
{
	guint i;

	if (!sink)
		return;
	for (i = 0; i < sink->cpus; i++) {
		if (sink->fds[i] >= 0 && sink->fds[i] != STDOUT_FILENO)
			close(sink->fds[i]);
		g_free(sink->buffers[i].first);
	}
	g_clear_error(&sink->error);
	g_strfreev(sink->paths);
	g_free(sink->fds);
	g_free(sink->written);
	g_free(sink->buffers);
	g_free(sink);
}
