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
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "lib/capture/error.h"
#include "kmemtraced/cpu-reader.h"

/* The thread calls little and keeps nothing on its stack. */
#define STACK_BYTES (256 * 1024)

/* A record is not larger. */
#define KMT_RECORD_BYTES_MAX 256

/* How long to look away from a file that is ready and gives nothing. */
#define SPURIOUS_WAIT_MS 10

struct kmtd_reader {
	KmtdCpuStream *feed;
	int wake_fd;   /* eventfd: look, or stop, gone or abandon is set */
	int notify_fd; /* eventfd of main */
	guint cpu;
	guint record_bytes;
	KmtCaptureCpuWriter *sink;
	cpu_set_t *cpu_set;
	gsize cpu_set_bytes;
	pthread_t thread;
	bool running; /* main's: there is a thread to join */
	bool pinned;  /* the thread's */

	/* Main to thread; each is set once and then wake_fd written. */
	atomic_bool stop;
	atomic_bool gone;
	atomic_bool abandon;

	/* Thread to main. */
	atomic_bool drained;
	atomic_bool finished;
	atomic_bool cannot_write;
	_Atomic guint64 bytes_read;
	_Atomic guint64 bytes_left; /* seen, and left in the kernel */
	int read_error;		    /* positive errno; valid after join */
	bool vanished;		    /* likewise */
};

static void wake(int fd)
{
	const guint64 one = 1;

	/* Can fail only if the counter is full, and then it is awake. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

/*
 * Relay's reading side takes no lock against the CPU that writes: it is right
 * on that CPU, or while that CPU is offline.  When a CPU goes offline the
 * kernel moves this thread away and forgets the pinning; so it is made again
 * before each read, and may fail for as long as the CPU is offline.
 */
static void pin(KmtdReader *reader)
{
	if (reader->pinned && sched_getcpu() == (int)reader->cpu)
		return;
	reader->pinned =
		pthread_setaffinity_np(pthread_self(), reader->cpu_set_bytes,
				       reader->cpu_set) == 0;
}

/* The record of version 2 that read() gives in this place. */
static void append_lost(KmtdReader *reader, const KmtdCpuStreamPart *part)
{
	union {
		struct kmemtrace_event_lost lost;
		guint8 bytes[KMT_RECORD_BYTES_MAX];
	} record = {.lost = {
			    .event_id = KMEMTRACE_EVENT_LOST,
			    .event_size = (__u16)reader->record_bytes,
			    .node = KMEMTRACE_NODE_NONE,
			    .events = part->lost_events,
			    .since = part->lost_since,
			    .timestamp = part->lost_timestamp,
		    }};

	kmt_capture_cpu_writer_append(reader->sink, record.bytes,
				      reader->record_bytes);
}

/*
 * Writes what can be taken at once before it is given back: who kills this
 * process leaves what is not on the disk to the next one.
 */
static gint64 use_part(KmtdReader *reader, bool all)
{
	KmtdCpuStream *feed = reader->feed;
	KmtdCpuStreamPart part = {.n_bytes = 0};
	gint64 n = feed->class->take(feed, &part, all);
	int r;

	if (n <= 0) {
		/* Left there, where a kill does not lose it. */
		atomic_store_explicit(&reader->bytes_left,
				      n < 0 ? 0 : part.n_bytes,
				      memory_order_relaxed);
		return n;
	}
	if (part.lost_events &&
	    reader->record_bytes >= sizeof(struct kmemtrace_event_lost)) {
		append_lost(reader, &part);
		n += reader->record_bytes;
	}
	kmt_capture_cpu_writer_append(reader->sink, part.from, part.n_bytes);
	r = feed->class->give(feed, &part);
	if (r == 0)
		return n;
	kmt_capture_cpu_writer_take_back(reader->sink, (gsize)n);
	return r;
}

/* As use_part(), by a copy. */
static gint64 use_copy(KmtdReader *reader, bool all)
{
	gsize room;
	void *to = kmt_capture_cpu_writer_room(reader->sink, &room);
	gssize n = reader->feed->class->read(reader->feed, to, room, all);

	if (n > 0)
		kmt_capture_cpu_writer_add(reader->sink, (gsize)n);
	return n;
}

/* Reads until there is nothing more.  The number of bytes, or -errno. */
static gint64 drain(KmtdReader *reader, bool all)
{
	gint64 total = 0;

	for (;;) {
		gint64 n;

		if (atomic_load(&reader->abandon))
			kmt_capture_cpu_writer_discard(reader->sink);
		pin(reader);
		n = reader->feed->class->take ? use_part(reader, all)
					      : use_copy(reader, all);
		/* Somebody else has read it, or it was overwritten. */
		if (n == -EAGAIN)
			continue;
		if (n < 0)
			return n;
		if (n == 0)
			return total;
		total += n;
		atomic_fetch_add_explicit(&reader->bytes_read, (guint64)n,
					  memory_order_relaxed);
	}
}

/* Tells main, once, that the disk does not take what it is given. */
static void report_write(KmtdReader *reader, int error)
{
	if (error == 0 || atomic_load(&reader->cannot_write))
		return;
	atomic_store(&reader->cannot_write, true);
	wake(reader->notify_fd);
}

/* Sleeps until there is something to do.  FALSE: the file went away. */
static bool wait_for_records(KmtdReader *reader, bool was_spurious)
{
	const KmtdCpuStream *feed = reader->feed;
	struct pollfd fds[] = {
		{.fd = reader->wake_fd, .events = POLLIN},
		{.fd = feed->is_blind || feed->at_end ? -1 : feed->fd,
		 .events = POLLIN},
	};
	int pause_ms = was_spurious ? SPURIOUS_WAIT_MS : feed->pause_ms;

	if (pause_ms > 0 && poll(fds, 1, pause_ms) > 0)
		fds[1].revents = 0;
	/* Another signal than main's may end it early, which does no harm. */
	else if (poll(fds, G_N_ELEMENTS(fds), feed->timeout_ms) < 0)
		return true;
	/* Back to 0.  What it was for is looked at after this. */
	if (fds[0].revents)
		(void)!read(reader->wake_fd, &(guint64){0}, sizeof(guint64));
	return fds[0].revents || !fds[1].revents || (fds[1].revents & POLLIN);
}

static void *reader_thread(void *data)
{
	KmtdReader *reader = data;
	const KmtdCpuStream *feed = reader->feed;
	bool polled = false;

	if (reader->feed->class->attach)
		reader->feed->class->attach(reader->feed);
	for (;;) {
		/* Looked at before the last drain, so that it is the last. */
		bool stop = atomic_load(&reader->stop);
		bool gone = atomic_load(&reader->gone);
		gint64 n = 0;
		bool all = stop || gone || (feed->is_off && !polled);

		if (all || !feed->at_end)
			n = drain(reader, all);
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
		report_write(reader,
			     kmt_capture_cpu_writer_flush(reader->sink));
		if (!polled) {
			atomic_store(&reader->drained, true);
			wake(reader->notify_fd);
		}
		if (!wait_for_records(reader, polled && n == 0))
			atomic_store(&reader->gone, true);
		polled = true;
	}
	if (atomic_load(&reader->abandon))
		kmt_capture_cpu_writer_discard(reader->sink);
	report_write(reader, kmt_capture_cpu_writer_finish(reader->sink));
	atomic_store(&reader->finished, true);
	wake(reader->notify_fd);
	return NULL;
}

KmtdReader *kmtd_reader_new(KmtdCpuStream *feed, guint cpu, guint record_bytes,
			    KmtCaptureCpuWriter *sink, int notify_fd,
			    GError **error)
{
	g_autoptr(KmtdReader) reader = g_new0(KmtdReader, 1);

	reader->feed = feed;
	reader->sink = sink;
	reader->cpu = cpu;
	reader->record_bytes = record_bytes;
	reader->notify_fd = notify_fd;
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
	kmt_capture_cpu_writer_free(reader->sink);
	kmtd_cpu_stream_free(reader->feed);
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

void kmtd_reader_join(KmtdReader *reader)
{
	if (!reader->running)
		return;
	pthread_join(reader->thread, NULL);
	reader->running = false;
}

gboolean kmtd_reader_check(const KmtdReader *reader, GError **error)
{
	/* What is unsaved for want of room is counted over all CPUs by main. */
	if (reader->read_error) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_READ,
				      reader->read_error,
				      "cannot read the records of CPU %u (%s)",
				      reader->cpu, reader->feed->name);
		return FALSE;
	}
	if (reader->vanished) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_CPU_GONE,
			    "CPU %u: its file %s in debugfs went away",
			    reader->cpu, reader->feed->name);
		return FALSE;
	}
	if (kmtd_reader_bytes_read(reader) % reader->record_bytes) {
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_READ,
			    "CPU %u: the kernel gave a part of a record",
			    reader->cpu);
		return FALSE;
	}
	if (reader->feed->class->check)
		return reader->feed->class->check(reader->feed, reader->cpu,
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

KmtCaptureCpuWriter *kmtd_reader_sink(KmtdReader *reader)
{
	return reader->sink;
}
