// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "lib/capture/error.h"
#include "kmemtraced/cpu-reader.h"

/*
 * Stack of a reader thread. The thread calls few functions and has no large
 * variables on its stack.
 */
#define STACK_BYTES (256 * 1024)

/* Bytes that a reader reads for a tick, unless no records are left before. */
#define TICK_BYTES (1024 * 1024)

/* Pause, in milliseconds, if a descriptor is ready but supplies no records. */
#define SPURIOUS_WAIT_MS 10

struct kmtd_reader {
	KmtdCpuStream *stream;
	int wake_fd;   /* eventfd that wakes the thread */
	int notify_fd; /* eventfd of the main thread */
	guint cpu;
	guint record_bytes;
	KmtCaptureCpuWriter *writer;
	cpu_set_t *cpu_set;
	gsize cpu_set_bytes;
	pthread_t thread;
	bool running; /* there is a thread to join; main thread only */
	bool pinned;  /* pinned to the CPU; reader thread only */

	/* Set by the main thread before a write to wake_fd, and never cleared.
	 * The reader thread sets gone, too. */
	atomic_bool stop;
	atomic_bool gone;
	atomic_bool abandon;

	/* Number of the last request for a tick; set by the main thread. */
	_Atomic guint64 tick_requested;
	atomic_uint *n_pending; /* readers that have not done the request */
	/* Set by the reader thread. Once tick_done is equal to tick_requested,
	 * the main thread reads tick, until it makes the next request. */
	_Atomic guint64 tick_done;
	KmtdReaderTick tick;
	gint64 last_ns; /* time of the last record; reader thread only */

	/* Set by the reader thread, read by the main thread. */
	atomic_bool drained;
	atomic_bool finished;
	atomic_bool cannot_write;
	_Atomic guint64 bytes_read;
	_Atomic guint64 bytes_left; /* bytes seen, but left in the kernel */
	int read_error;		    /* positive errno; valid after join */
	bool vanished;		    /* the file disappeared; valid after join */
};

static void wake(int fd)
{
	const guint64 one = 1;

	/* write() can fail only if the counter is full. The descriptor is
	 * readable then, so the wakeup is not lost. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

/*
 * Pin the reader thread to its CPU. Relay's reading side takes no lock against
 * the CPU that writes: reading is correct only on that CPU, or while that CPU
 * is offline. When a CPU goes offline, the kernel moves this thread to another
 * CPU and discards the pinning. The pinning is therefore checked, and if
 * necessary repeated, before each read. It may fail as long as the CPU is
 * offline.
 */
static void pin(KmtdReader *reader)
{
	if (reader->pinned && sched_getcpu() == (int)reader->cpu)
		return;
	reader->pinned =
		pthread_setaffinity_np(pthread_self(), reader->cpu_set_bytes,
				       reader->cpu_set) == 0;
}

/* Store the time of the last record of a batch, if there is a whole one. */
static void set_last_time(KmtdReader *reader, const void *from, gsize n_bytes)
{
	if (n_bytes < reader->record_bytes)
		return;
	memcpy(&reader->last_ns,
	       (const guint8 *)from + n_bytes - reader->record_bytes +
		       offsetof(struct kmemtrace_event, timestamp),
	       sizeof(reader->last_ns));
}

/*
 * Append a LOST record for the events that were lost before the batch.
 * acquire() returns only the figures of the loss; read() would return this
 * record itself (ABI version 2 and later).
 */
static void append_lost(KmtdReader *reader, const KmtdCpuStreamBatch *batch)
{
	union {
		struct kmemtrace_event_lost lost;
		guint8 bytes[KMT_CAPTURE_RECORD_BYTES_MAX];
	} record = {.lost = {
			    .event_id = KMEMTRACE_EVENT_LOST,
			    .event_size = (__u16)reader->record_bytes,
			    .node = KMEMTRACE_NODE_NONE,
			    .events = batch->lost_events,
			    .since = batch->lost_since,
			    .timestamp = batch->lost_timestamp,
		    }};

	kmt_capture_cpu_writer_append(reader->writer, record.bytes,
				      reader->record_bytes);
}

/*
 * Pass records to the file writer, and then release them. Records that were not
 * passed stay in the kernel, so that a killed process leaves them to the next
 * one. After a failed write, the writer discards the bytes and counts them for
 * the message. The records are released then, too, so that the next kmemtraced
 * does not take them for a trace that was left for it. Return the number of
 * bytes, 0 if there are no records to read now, or -errno. If the release
 * fails, the records are removed from the file; -EAGAIN means that another
 * reader consumed them, or that the kernel overwrote them.
 */
static gint64 write_batch(KmtdReader *reader, bool all)
{
	KmtdCpuStream *stream = reader->stream;
	KmtdCpuStreamBatch batch = {.n_bytes = 0};
	gint64 n = stream->class->acquire(stream, &batch, all);
	int r;

	if (n <= 0) {
		/* Leave the records in the kernel, where they survive the death
		 * of this process. */
		atomic_store_explicit(&reader->bytes_left,
				      n < 0 ? 0 : batch.n_bytes,
				      memory_order_relaxed);
		return n;
	}
	kmt_capture_cpu_writer_reserve(reader->writer,
				       batch.n_bytes + reader->record_bytes);
	if (batch.lost_events &&
	    reader->record_bytes >= sizeof(struct kmemtrace_event_lost)) {
		append_lost(reader, &batch);
		n += reader->record_bytes;
	}
	kmt_capture_cpu_writer_append(reader->writer, batch.from,
				      batch.n_bytes);
	/* The records are valid until the release, which may fail. The time is
	 * then too late, but so is that of the next records. */
	set_last_time(reader, batch.from, batch.n_bytes);
	r = stream->class->release(stream, &batch);
	if (r == 0)
		return n;
	kmt_capture_cpu_writer_take_back(reader->writer, (gsize)n);
	return r;
}

/*
 * Copy records into the memory of the file writer. Return the number of bytes,
 * 0 if there are no records to read now, or -errno.
 */
static gint64 copy_records(KmtdReader *reader, bool all)
{
	gsize room;
	void *to = kmt_capture_cpu_writer_room(reader->writer, &room);
	gssize n = reader->stream->class->read(reader->stream, to, room, all);

	if (n > 0) {
		set_last_time(reader, to, (gsize)n);
		kmt_capture_cpu_writer_add(reader->writer, (gsize)n);
	}
	return n;
}

/*
 * Return whether drain() must end although there may be more records, so that a
 * reader that never catches up does not delay the ticks of all readers.
 * @n_bytes: bytes that this call of drain() has read.
 */
static bool must_interrupt(const KmtdReader *reader, bool is_tick,
			   gint64 n_bytes)
{
	if (is_tick)
		return n_bytes >= TICK_BYTES;
	return atomic_load(&reader->tick_requested) !=
	       atomic_load(&reader->tick_done);
}

/*
 * Read until there are no more records to read now; without @all, some may stay
 * in the kernel. With @is_tick, also read incomplete sub-buffers, and read on
 * after the first time that no records are left: ftrace may return the rest of
 * a page as if it were the end of the buffer. Return the number of bytes, or
 * -errno. Set *is_behind if there may be more records, because a tick is due;
 * never with @all.
 */
static gint64 drain(KmtdReader *reader, bool all, bool is_tick, bool *is_behind)
{
	gint64 total = 0;
	guint n_ends = is_tick ? 2 : 1; /* results of 0 until the end */

	*is_behind = false;
	for (;;) {
		gint64 n;

		if (atomic_load(&reader->abandon))
			kmt_capture_cpu_writer_discard(reader->writer);
		pin(reader);
		n = reader->stream->class->acquire
			    ? write_batch(reader, all || is_tick)
			    : copy_records(reader, all);
		/* Another reader consumed the records, or the kernel overwrote
		 * them. */
		if (n == -EAGAIN)
			continue;
		if (n < 0)
			return n;
		if (n == 0 && --n_ends == 0)
			return total;
		total += n;
		atomic_fetch_add_explicit(&reader->bytes_read, (guint64)n,
					  memory_order_relaxed);
		if (!all && must_interrupt(reader, is_tick, total)) {
			*is_behind = true;
			return total;
		}
	}
}

/*
 * Notify the main thread, once, that a write to the disk failed. @error is 0 or
 * the error of the write.
 */
static void report_write_error(KmtdReader *reader, int error)
{
	if (error == 0 || atomic_load(&reader->cannot_write))
		return;
	atomic_store(&reader->cannot_write, true);
	wake(reader->notify_fd);
}

/*
 * Sleep until the stream has records, its timeout or the deadline of buffered
 * records expires, or the main thread wakes the reader. Return FALSE if the
 * file of the CPU disappeared.
 * @was_spurious: the last wakeup brought no records.
 */
static bool wait_for_records(KmtdReader *reader, bool was_spurious)
{
	const KmtdCpuStream *stream = reader->stream;
	struct pollfd fds[] = {
		{.fd = reader->wake_fd, .events = POLLIN},
		{.fd = stream->cannot_poll || stream->read_at_end ? -1
								  : stream->fd,
		 .events = POLLIN},
	};
	int pause_ms = was_spurious ? SPURIOUS_WAIT_MS : stream->pause_ms;
	int wait_ms = kmt_capture_cpu_writer_wait_ms(reader->writer);

	if (wait_ms < 0 ||
	    (stream->timeout_ms >= 0 && stream->timeout_ms < wait_ms))
		wait_ms = stream->timeout_ms;

	if (pause_ms > 0 && poll(fds, 1, pause_ms) > 0)
		fds[1].revents = 0;
	/* A signal that the main thread does not block may end poll() early,
	 * which does no harm. */
	else if (poll(fds, G_N_ELEMENTS(fds), wait_ms) < 0)
		return true;
	/* Reset the counter to 0. The caller checks the flags afterwards. */
	if (fds[0].revents)
		(void)!read(reader->wake_fd, &(guint64){0}, sizeof(guint64));
	return fds[0].revents || !fds[1].revents || (fds[1].revents & POLLIN);
}

/*
 * Pass the records to the sink, and report the tick to the main thread.
 * @is_behind: records may be left, which are not older than the last one.
 */
static void finish_tick(KmtdReader *reader, guint64 number, bool is_behind)
{
	KmtdCpuStream *stream = reader->stream;

	report_write_error(reader,
			   kmt_capture_cpu_writer_flush_all(reader->writer));
	reader->tick = (KmtdReaderTick){
		.last_ns = reader->last_ns,
		.settled_ns = stream->class->settled_until
				      ? stream->class->settled_until(stream)
				      : G_MAXINT64,
	};
	if (is_behind)
		reader->tick.settled_ns =
			MIN(reader->tick.settled_ns, reader->last_ns);
	atomic_store(&reader->tick_done, number);
	if (atomic_fetch_sub(reader->n_pending, 1) == 1)
		wake(reader->notify_fd);
}

/* Register the threads of the reader with the source, which omits the events
 * that they cause. */
static void attach(KmtdReader *reader)
{
	pid_t thread = kmt_capture_cpu_writer_thread(reader->writer);

	reader->stream->class->attach(reader->stream,
				      (pid_t)syscall(SYS_gettid));
	if (thread)
		reader->stream->class->attach(reader->stream, thread);
}

static void *reader_thread(void *data)
{
	KmtdReader *reader = data;
	const KmtdCpuStream *stream = reader->stream;
	bool polled = false;

	if (reader->stream->class->attach)
		attach(reader);
	for (;;) {
		/* Load the flags before drain(): once a flag is seen, the
		 * following drain() is the last one. */
		bool stop = atomic_load(&reader->stop);
		bool gone = atomic_load(&reader->gone);
		guint64 tick = atomic_load(&reader->tick_requested);
		bool is_tick = tick != atomic_load(&reader->tick_done);
		gint64 n = 0;
		bool all = stop || gone || (stream->was_off && !polled);
		bool is_behind = false;

		/* Nothing is lost while tracing is off. */
		kmt_capture_cpu_writer_take_time(
			reader->writer, stop || (stream->was_off && !polled));
		if (all || !stream->read_at_end)
			n = drain(reader, all, is_tick, &is_behind);
		if (n < 0) {
			reader->read_error = (int)-n;
			break;
		}
		if (stop)
			break;
		if (gone) {
			reader->vanished = true;
			break;
		}
		report_write_error(
			reader, kmt_capture_cpu_writer_flush(reader->writer));
		if (is_tick)
			finish_tick(reader, tick, is_behind);
		if (is_behind)
			continue;
		if (!polled) {
			atomic_store(&reader->drained, true);
			wake(reader->notify_fd);
		}
		if (!wait_for_records(reader, polled && n == 0))
			atomic_store(&reader->gone, true);
		polled = true;
	}
	if (atomic_load(&reader->abandon))
		kmt_capture_cpu_writer_discard(reader->writer);
	report_write_error(reader,
			   kmt_capture_cpu_writer_finish(reader->writer));
	atomic_store(&reader->finished, true);
	wake(reader->notify_fd);
	return NULL;
}

KmtdReader *kmtd_reader_new(KmtdCpuStream *stream, guint cpu,
			    guint record_bytes, KmtCaptureCpuWriter *writer,
			    int notify_fd, GError **error)
{
	g_autoptr(KmtdReader) reader = g_new0(KmtdReader, 1);

	reader->stream = stream;
	reader->writer = writer;
	reader->cpu = cpu;
	reader->record_bytes = record_bytes;
	reader->notify_fd = notify_fd;
	reader->last_ns = G_MININT64;
	reader->cpu_set = CPU_ALLOC(cpu + 1);
	reader->cpu_set_bytes = CPU_ALLOC_SIZE(cpu + 1);
	reader->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reader->wake_fd < 0 || !reader->cpu_set) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "cannot make a reader for CPU %u", cpu);
		return NULL;
	}
	CPU_ZERO_S(reader->cpu_set_bytes, reader->cpu_set);
	CPU_SET_S(cpu, reader->cpu_set_bytes, reader->cpu_set);
	return g_steal_pointer(&reader);
}

void kmtd_reader_free(KmtdReader *reader)
{
	if (!reader)
		return;
	if (reader->running) {
		kmtd_reader_stop(reader);
		kmtd_reader_join(reader);
	}
	if (reader->wake_fd >= 0)
		close(reader->wake_fd);
	if (reader->cpu_set)
		CPU_FREE(reader->cpu_set);
	kmt_capture_cpu_writer_free(reader->writer);
	kmtd_cpu_stream_free(reader->stream);
	g_free(reader);
}

gboolean kmtd_reader_start(KmtdReader *reader, GError **error)
{
	pthread_attr_t attr;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	r = pthread_create(&reader->thread, &attr, reader_thread, reader);
	pthread_attr_destroy(&attr);
	if (r) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, r,
				      "cannot start a thread for CPU %u",
				      reader->cpu);
		return FALSE;
	}
	reader->running = true;
	return TRUE;
}

void kmtd_reader_poll(KmtdReader *reader)
{
	wake(reader->wake_fd);
}

void kmtd_reader_request_tick(KmtdReader *reader, guint64 number,
			      atomic_uint *n_pending)
{
	reader->n_pending = n_pending;
	atomic_store(&reader->tick_requested, number);
	wake(reader->wake_fd);
}

gboolean kmtd_reader_tick_done(const KmtdReader *reader, guint64 number,
			       KmtdReaderTick *tick)
{
	if (kmtd_reader_finished(reader)) {
		*tick = (KmtdReaderTick){reader->last_ns, G_MAXINT64};
		return TRUE;
	}
	if (atomic_load(&reader->tick_done) < number)
		return FALSE;
	*tick = reader->tick;
	return TRUE;
}

void kmtd_reader_stop(KmtdReader *reader)
{
	atomic_store(&reader->stop, true);
	wake(reader->wake_fd);
}

void kmtd_reader_gone(KmtdReader *reader)
{
	atomic_store(&reader->gone, true);
	wake(reader->wake_fd);
}

void kmtd_reader_abandon(KmtdReader *reader)
{
	atomic_store(&reader->abandon, true);
	kmt_capture_cpu_writer_abandon(reader->writer);
	wake(reader->wake_fd);
}

gboolean kmtd_reader_drained(const KmtdReader *reader)
{
	return kmtd_reader_finished(reader) || atomic_load(&reader->drained);
}

gboolean kmtd_reader_finished(const KmtdReader *reader)
{
	return !reader->running || atomic_load(&reader->finished);
}

gboolean kmtd_reader_cannot_write(const KmtdReader *reader)
{
	return atomic_load(&reader->cannot_write);
}

gboolean kmtd_reader_join(KmtdReader *reader)
{
	if (!reader->running)
		return FALSE;
	pthread_join(reader->thread, NULL);
	reader->running = false;
	return TRUE;
}

gboolean kmtd_reader_check(const KmtdReader *reader, GError **error)
{
	/* The main thread reports failed writes, with the sum over all CPUs. */
	if (reader->read_error) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_READ,
				      reader->read_error,
				      "cannot read the records of CPU %u (%s)",
				      reader->cpu, reader->stream->name);
		return FALSE;
	}
	if (reader->vanished) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_CPU_GONE,
			    "CPU %u: its file %s in debugfs disappeared",
			    reader->cpu, reader->stream->name);
		return FALSE;
	}
	if (kmtd_reader_bytes_read(reader) % reader->record_bytes) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_READ,
			    "CPU %u: the kernel returned an incomplete record",
			    reader->cpu);
		return FALSE;
	}
	if (reader->stream->class->check)
		return reader->stream->class->check(reader->stream, reader->cpu,
						    error);
	return TRUE;
}

guint kmtd_reader_cpu(const KmtdReader *reader)
{
	return reader->cpu;
}

guint64 kmtd_reader_bytes_read(const KmtdReader *reader)
{
	return atomic_load_explicit(&reader->bytes_read, memory_order_relaxed);
}

guint64 kmtd_reader_bytes_seen(const KmtdReader *reader)
{
	return kmtd_reader_bytes_read(reader) +
	       atomic_load_explicit(&reader->bytes_left, memory_order_relaxed);
}

KmtCaptureCpuWriter *kmtd_reader_file_writer(KmtdReader *reader)
{
	return reader->writer;
}
