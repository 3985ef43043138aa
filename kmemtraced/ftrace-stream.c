// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams of the source "ftrace": the pages of a CPU, converted to records. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "kmemtraced/ftrace-private.h"
#include "lib/capture/error.h"

/* Without a wakeup, a reader reads after this time in milliseconds. */
#define READ_INTERVAL_MS 100

/*
 * Time, in milliseconds, after which a reader reads without a wakeup on kernels
 * without buffer_percent. Such a kernel wakes readers at each event, so the
 * readers do not poll. On every kernel, a reader first pauses for half of this
 * time.
 */
#define POLL_INTERVAL_MS 10

/*
 * A page with less free space than EVENT_MAX_BYTES is full. A page with more
 * was the last one in the buffer: the reader has consumed all records and lets
 * other tasks run.
 */
#define EVENT_MAX_BYTES 256

static void stream_attach(KmtdCpuStream *stream, pid_t thread)
{
	kmtd_own_tasks_add(&((KmtdFtraceStream *)stream)->ftrace->tasks,
			   thread);
}

/*
 * Read the next page. Return the number of bytes in the page, 0 if there is no
 * page, or -errno.
 */
static gssize read_page(KmtdFtraceStream *ftrace_stream)
{
	gsize page_bytes = ftrace_stream->ftrace->format->page_bytes;
	gsize used;
	ssize_t n;

	do
		n = read(ftrace_stream->base.fd, ftrace_stream->page,
			 page_bytes);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (n == 0)
		return 0;
	used = kmtd_ring_begin(&ftrace_stream->ring, ftrace_stream->page,
			       (gsize)n);
	ftrace_stream->caught_up =
		used + ftrace_stream->ftrace->format->data_offset +
			EVENT_MAX_BYTES <
		page_bytes;
	return n;
}

static gssize stream_read(KmtdCpuStream *stream, void *to, gsize n_bytes,
			  gboolean all)
{
	KmtdFtraceStream *ftrace_stream = (KmtdFtraceStream *)stream;
	struct kmemtrace_event_v2 *records = to;
	gsize max = n_bytes / sizeof(*records), n = 0;

	for (;;) {
		gssize r;

		n += kmtd_ring_next(&ftrace_stream->ring, records + n, max - n);
		/* The buffer of the caller is full; the page may contain more
		 * records. */
		if (n == max)
			break;
		if (ftrace_stream->caught_up && !all) {
			if (n == 0)
				ftrace_stream->caught_up = FALSE;
			break;
		}
		r = read_page(ftrace_stream);
		if (r > 0)
			continue;
		/* If no further event of this CPU will follow, return the
		 * records that wait for one. */
		if (n == 0 && (all || r < 0)) {
			kmtd_ring_end(&ftrace_stream->ring);
			n += kmtd_ring_next(&ftrace_stream->ring, records, max);
		}
		if (n == 0 && r < 0)
			return r;
		break;
	}
	return (gssize)(n * sizeof(*records));
}

/*
 * A record waits for the next event of its CPU, which may be idle. If the same
 * record waited at the last call, too, stop waiting.
 */
static gint64 stream_settled_until(KmtdCpuStream *stream)
{
	KmtdFtraceStream *ftrace_stream = (KmtdFtraceStream *)stream;
	gint64 held_ns = kmtd_ring_held_since(&ftrace_stream->ring);

	if (held_ns == ftrace_stream->held_ns && held_ns != G_MAXINT64)
		kmtd_ring_end(&ftrace_stream->ring);
	ftrace_stream->held_ns = held_ns;
	return held_ns;
}

static gboolean stream_check(const KmtdCpuStream *stream, guint cpu,
			     GError **error)
{
	guint64 n = ((const KmtdFtraceStream *)stream)->ring.counters.damaged;

	if (n == 0)
		return TRUE;
	g_set_error(
		error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_READ,
		"CPU %u: the kernel's ring buffer returned %" G_GUINT64_FORMAT
		" malformed pages or events",
		cpu, n);
	return FALSE;
}

static void stream_free(KmtdCpuStream *stream)
{
	KmtdFtraceStream *ftrace_stream = (KmtdFtraceStream *)stream;

	g_ptr_array_remove(ftrace_stream->ftrace->streams, ftrace_stream);
	if (stream->fd >= 0)
		close(stream->fd);
	g_free(stream->name);
	kmtd_task_changes_clear(&ftrace_stream->changes);
	kmtd_ring_clear(&ftrace_stream->ring);
	g_free(ftrace_stream->page);
	g_free(ftrace_stream);
}

static const KmtdCpuStreamClass stream_class = {
	.attach = stream_attach,
	.read = stream_read,
	.settled_until = stream_settled_until,
	.check = stream_check,
	.free = stream_free,
};

KmtdCpuStream *kmtd_ftrace_open_cpu(KmtdSource *source, guint cpu,
				    GError **error)
{
	KmtdFtrace *ftrace = (KmtdFtrace *)source;
	KmtdFtraceStream *ftrace_stream = g_new0(KmtdFtraceStream, 1);
	g_autoptr(KmtdCpuStream) stream = &ftrace_stream->base;

	ftrace_stream->ftrace = ftrace;
	ftrace_stream->cpu = cpu;
	ftrace_stream->held_ns = G_MAXINT64;
	ftrace_stream->page = g_malloc0(ftrace->format->page_bytes);
	kmtd_ring_init(&ftrace_stream->ring, ftrace->format,
		       ftrace->keep_own ? NULL : &ftrace->tasks);
	kmtd_task_changes_init(&ftrace_stream->changes);
	ftrace_stream->ring.changes = &ftrace_stream->changes;
	g_ptr_array_add(ftrace->streams, ftrace_stream);
	stream->class = &stream_class;
	stream->name = g_strdup_printf("per_cpu/cpu%u/trace_pipe_raw", cpu);
	stream->fd = kmtd_instance_open_file(ftrace->instance, stream->name,
					     O_RDONLY | O_NONBLOCK, error);
	if (stream->fd < 0)
		return NULL;
	stream->pause_ms = POLL_INTERVAL_MS / 2;
	stream->timeout_ms = READ_INTERVAL_MS;
	if (!kmtd_instance_has(ftrace->instance, "buffer_percent")) {
		stream->timeout_ms = POLL_INTERVAL_MS;
		stream->cannot_poll = TRUE;
	}
	return g_steal_pointer(&stream);
}
