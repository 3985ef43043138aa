// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/capture/error.h"
#include "lib/capture/owner.h"
#include "lib/capture/cpu-file-writer.h"

/*
 * Size and alignment of O_DIRECT writes. If a disk requires more, the writes go
 * through the page cache; see write_from().
 */
#define BLOCK_BYTES 4096

struct kmt_capture_cpu_writer {
	int fd;			    /* -1 with a receiver */
	KmtCaptureCpuSink receiver; /* receives the records; NULL: the file */
	void *receiver_data;
	guint cpu;   /* CPU of the receiver's records */
	bool direct; /* O_DIRECT is set on fd */
	bool closed; /* no more bytes are accepted */
	int error;   /* negative errno of the write that failed, or 0 */
	gsize record_bytes;
	gsize chunk_bytes;
	gsize batch_bytes;
	gsize buffer_bytes;
	gsize fill; /* bytes in buffer */
	guint8 *buffer;
	/* Counters of bytes. Other threads read the counters while one thread
	 * writes the file. */
	_Atomic guint64 written;
	_Atomic guint64 unsaved;
};

/*
 * Add to a counter. Only the thread that writes the file changes a counter, so
 * a plain load and store suffice.
 */
static void figure_add(_Atomic guint64 *figure, guint64 n)
{
	atomic_store_explicit(
		figure, atomic_load_explicit(figure, memory_order_relaxed) + n,
		memory_order_relaxed);
}

static void set_direct(KmtCaptureCpuWriter *sink, bool on)
{
	int flags = fcntl(sink->fd, F_GETFL);

	if (flags < 0)
		return;
	flags = on ? flags | O_DIRECT : flags & ~O_DIRECT;
	/* EINVAL from a file system without O_DIRECT is not an error. */
	if (fcntl(sink->fd, F_SETFL, flags) == 0)
		sink->direct = on;
}

static bool allocate(KmtCaptureCpuWriter *sink, gsize n_bytes, bool is_locked)
{
	sink->buffer_bytes = n_bytes;
	/* Populate a locked buffer now, so that no write to the buffer
	 * allocates a page while the kernel is traced. */
	sink->buffer = mmap(NULL, sink->buffer_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS |
				    (is_locked ? MAP_POPULATE : 0),
			    -1, 0);
	if (sink->buffer == MAP_FAILED) {
		sink->buffer = NULL;
		return false;
	}
	/* A failure is ignored: an ordinary user may not be allowed to lock
	 * this much memory. */
	if (is_locked)
		(void)mlock(sink->buffer, sink->buffer_bytes);
	return true;
}

KmtCaptureCpuWriter *
kmt_capture_cpu_writer_new(int dir_fd, const char *name, gsize record_bytes,
			   gsize batch_bytes, KmtCaptureCpuWriterMemory memory,
			   GError **error)
{
	g_autoptr(KmtCaptureCpuWriter) sink = g_new0(KmtCaptureCpuWriter, 1);
	bool is_locked = memory == KMT_CAPTURE_CPU_WRITER_LOCKED;

	sink->record_bytes = record_bytes;
	sink->chunk_bytes = kmt_capture_cpu_writer_chunk_bytes(record_bytes);
	g_assert(sink->chunk_bytes % record_bytes == 0);
	sink->batch_bytes = batch_bytes;
	/*
	 * Set O_DIRECT later: with O_CREAT, a file system without O_DIRECT
	 * creates the file and then fails.
	 */
	sink->fd = openat(dir_fd, name,
			  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			  0600);
	/* The umask may have removed permissions of the owner. */
	if (sink->fd < 0 || fchmod(sink->fd, 0600) < 0) {
		kmt_capture_set_errno(error,
				      kmt_capture_write_error_code(errno),
				      errno, "cannot create %s", name);
		return NULL;
	}
	kmt_capture_owner_give(sink->fd);
	/* Only a program that records has to bypass the page cache. */
	if (is_locked)
		set_direct(sink, true);
	if (!allocate(sink,
		      is_locked ? KMT_CAPTURE_CPU_WRITER_BUFFER_BYTES
				: 2 * sink->chunk_bytes,
		      is_locked)) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "no memory to write %s", name);
		unlinkat(dir_fd, name, 0);
		return NULL;
	}
	return g_steal_pointer(&sink);
}

KmtCaptureCpuWriter *kmt_capture_cpu_writer_new_sink(KmtCaptureCpuSink receiver,
						     void *data, guint cpu,
						     gsize record_bytes,
						     gsize batch_bytes,
						     GError **error)
{
	g_autoptr(KmtCaptureCpuWriter) sink = g_new0(KmtCaptureCpuWriter, 1);
	/* A batch, the record of a loss before it, and as much again. */
	gsize needed = 2 * (batch_bytes + record_bytes);

	sink->fd = -1;
	sink->receiver = receiver;
	sink->receiver_data = data;
	sink->cpu = cpu;
	sink->record_bytes = record_bytes;
	sink->chunk_bytes = kmt_capture_cpu_writer_chunk_bytes(record_bytes);
	sink->batch_bytes = KMT_CAPTURE_CPU_WRITER_SINK_BYTES;
	needed = MAX(needed, KMT_CAPTURE_CPU_WRITER_BUFFER_BYTES);
	if (allocate(sink, needed - needed % sink->chunk_bytes, true))
		return g_steal_pointer(&sink);
	kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
			      "no memory to write the records of CPU %u", cpu);
	return NULL;
}

void kmt_capture_cpu_writer_free(KmtCaptureCpuWriter *sink)
{
	if (!sink)
		return;
	if (sink->buffer)
		munmap(sink->buffer, sink->buffer_bytes);
	if (sink->fd >= 0)
		close(sink->fd);
	g_free(sink);
}

/*
 * Truncate the file to the complete records in its first n_bytes. Return the
 * new size.
 */
static guint64 cut(KmtCaptureCpuWriter *sink, guint64 n_bytes)
{
	guint64 whole = n_bytes - n_bytes % sink->record_bytes;

	while (ftruncate(sink->fd, (off_t)whole) < 0 && errno == EINTR)
		;
	return whole;
}

/* Pass n_bytes to the receiver. Return the number of bytes that it accepted. */
static gsize pass_on(KmtCaptureCpuWriter *sink, const guint8 *from,
		     gsize n_bytes)
{
	sink->error =
		sink->receiver(sink->receiver_data, sink->cpu, from, n_bytes);
	if (sink->error) {
		sink->closed = true;
		return 0;
	}
	figure_add(&sink->written, n_bytes);
	return n_bytes;
}

/* Append n_bytes of complete records to the file. Return the number of written
 * bytes. */
static gsize write_from(KmtCaptureCpuWriter *sink, const guint8 *from,
			gsize n_bytes)
{
	guint64 start = kmt_capture_cpu_writer_written(sink);
	gsize done = 0;

	if (sink->receiver)
		return sink->closed ? 0 : pass_on(sink, from, n_bytes);
	while (done < n_bytes && !sink->closed) {
		ssize_t n = pwrite(sink->fd, from + done, n_bytes - done,
				   (off_t)(start + done));

		if (n > 0) {
			done += (gsize)n;
		} else if (n < 0 && errno == EINTR) {
			continue;
		} else if (n < 0 && errno == EINVAL && sink->direct) {
			/*
			 * Some file systems accept the flag O_DIRECT and then
			 * fail a write with EINVAL. EINVAL also follows a short
			 * write, because the next offset is not aligned.
			 * Continue through the page cache.
			 */
			set_direct(sink, false);
			if (!sink->direct)
				continue;
			sink->error = -EINVAL;
			sink->closed = true;
		} else {
			sink->error = n < 0 ? -errno : -ENOSPC;
			sink->closed = true;
		}
	}
	if (sink->closed)
		done = (gsize)(cut(sink, start + done) - start);
	figure_add(&sink->written, done);
	return done;
}

/* Write the first n_bytes of the buffer. Return 0 or a negative errno. */
static int write_out(KmtCaptureCpuWriter *sink, gsize n_bytes)
{
	gsize done = write_from(sink, sink->buffer, n_bytes);

	sink->fill -= done;
	memmove(sink->buffer, sink->buffer + done, sink->fill);
	if (sink->closed)
		kmt_capture_cpu_writer_discard(sink);
	return sink->error;
}

void *kmt_capture_cpu_writer_room(KmtCaptureCpuWriter *sink, gsize *n_bytes)
{
	gsize room = sink->buffer_bytes - sink->fill;

	/* fill is a multiple of the record size, unless the kernel returned an
	 * incomplete record. */
	*n_bytes = MAX(room - room % sink->record_bytes, 1);
	return sink->buffer + sink->fill;
}

int kmt_capture_cpu_writer_add(KmtCaptureCpuWriter *sink, gsize n_bytes)
{
	sink->fill += n_bytes;
	if (sink->closed)
		kmt_capture_cpu_writer_discard(sink);
	else if (sink->fill == sink->buffer_bytes)
		return write_out(sink, sink->fill);
	return sink->error;
}

/*
 * Return whether kmt_capture_cpu_writer_append() should write the n_bytes at
 * from directly to the file, after the content of the buffer, instead of
 * copying the bytes to the buffer.
 */
static bool is_worth_it(const KmtCaptureCpuWriter *sink, const void *from,
			gsize n_bytes)
{
	guint64 place = kmt_capture_cpu_writer_written(sink) + sink->fill;

	if (sink->closed || sink->receiver)
		return false;
	/* With O_DIRECT, small writes would add more events to the trace. */
	return !sink->direct ||
	       (n_bytes >= sink->batch_bytes &&
		(place | (guintptr)from | n_bytes) % BLOCK_BYTES == 0);
}

/* Enlarge the buffer to more than n_bytes. Return 0 or the negative errno. */
static int enlarge(KmtCaptureCpuWriter *sink, gsize n_bytes)
{
	gsize needed = n_bytes + sink->chunk_bytes;
	void *buffer;

	needed -= needed % sink->chunk_bytes;
	buffer = mremap(sink->buffer, sink->buffer_bytes, needed,
			MREMAP_MAYMOVE);
	if (buffer == MAP_FAILED) {
		sink->error = -errno;
		kmt_capture_cpu_writer_discard(sink);
		return sink->error;
	}
	sink->buffer = buffer;
	sink->buffer_bytes = needed;
	return 0;
}

int kmt_capture_cpu_writer_reserve(KmtCaptureCpuWriter *sink, gsize n_bytes)
{
	if (!sink->receiver || sink->closed ||
	    sink->fill + n_bytes < sink->buffer_bytes)
		return sink->error;
	write_out(sink, sink->fill);
	return n_bytes < sink->buffer_bytes ? sink->error
					    : enlarge(sink, n_bytes);
}

int kmt_capture_cpu_writer_append(KmtCaptureCpuWriter *sink, const void *from,
				  gsize n_bytes)
{
	const guint8 *rest = from;

	if (is_worth_it(sink, from, n_bytes)) {
		gsize done = 0;

		if (sink->fill > 0)
			write_out(sink, sink->fill);
		if (sink->fill == 0)
			done = write_from(sink, rest, n_bytes);
		rest += done;
		n_bytes -= done;
	}
	while (n_bytes > 0) {
		gsize room;
		void *to = kmt_capture_cpu_writer_room(sink, &room);
		gsize n = MIN(room, n_bytes);

		memcpy(to, rest, n);
		kmt_capture_cpu_writer_add(sink, n);
		rest += n;
		n_bytes -= n;
	}
	return sink->error;
}

int kmt_capture_cpu_writer_take_back(KmtCaptureCpuWriter *sink, gsize n_bytes)
{
	gsize unsaved =
		(gsize)MIN(kmt_capture_cpu_writer_unsaved(sink), n_bytes);
	gsize in_memory;

	figure_add(&sink->unsaved, -(guint64)unsaved);
	n_bytes -= unsaved;
	in_memory = MIN(sink->fill, n_bytes);
	sink->fill -= in_memory;
	n_bytes -= in_memory;
	if (n_bytes > 0) {
		cut(sink, kmt_capture_cpu_writer_written(sink) - n_bytes);
		figure_add(&sink->written, -(guint64)n_bytes);
	}
	return sink->error;
}

int kmt_capture_cpu_writer_flush(KmtCaptureCpuWriter *sink)
{
	gsize unit = sink->record_bytes;

	if (sink->closed)
		return sink->error;
	if ((sink->direct || sink->receiver) && sink->fill < sink->batch_bytes)
		return 0;
	if (sink->direct)
		unit = sink->chunk_bytes;
	return write_out(sink, sink->fill - sink->fill % unit);
}

int kmt_capture_cpu_writer_flush_all(KmtCaptureCpuWriter *sink)
{
	if (sink->closed || sink->fill < sink->record_bytes)
		return sink->error;
	return write_out(sink, sink->fill - sink->fill % sink->record_bytes);
}

int kmt_capture_cpu_writer_finish(KmtCaptureCpuWriter *sink)
{
	gsize chunks = sink->fill - sink->fill % sink->chunk_bytes;
	gsize whole;

	if (!sink->closed && sink->direct && chunks > 0)
		write_out(sink, chunks);
	whole = sink->fill - sink->fill % sink->record_bytes;
	if (!sink->closed && whole > 0) {
		if (sink->direct)
			set_direct(sink, false);
		write_out(sink, whole);
	}
	figure_add(&sink->unsaved, sink->fill);
	sink->fill = 0;
	return sink->error;
}

void kmt_capture_cpu_writer_discard(KmtCaptureCpuWriter *sink)
{
	sink->closed = true;
	figure_add(&sink->unsaved, sink->fill);
	sink->fill = 0;
}

int kmt_capture_cpu_writer_sync(KmtCaptureCpuWriter *sink)
{
	int r;

	if (sink->receiver)
		return 0;
	do
		r = fsync(sink->fd);
	while (r < 0 && errno == EINTR);
	/* A file without fsync() is not an error. */
	return r < 0 && errno != EINVAL && errno != ENOSYS ? -errno : 0;
}

int kmt_capture_cpu_writer_error(const KmtCaptureCpuWriter *sink)
{
	return sink->error;
}

guint64 kmt_capture_cpu_writer_written(const KmtCaptureCpuWriter *sink)
{
	return atomic_load_explicit(&sink->written, memory_order_relaxed);
}

guint64 kmt_capture_cpu_writer_unsaved(const KmtCaptureCpuWriter *sink)
{
	return atomic_load_explicit(&sink->unsaved, memory_order_relaxed);
}
