// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/capture/error.h"
#include "lib/capture/stream-writer.h"

/* Bytes of a table in one frame. Records can follow after each frame. */
#define PART_BYTES (256 * 1024)

/* A queue that has become larger is freed when it is empty. */
#define KEPT_QUEUE_BYTES (64 * 1024)

struct kmt_stream_writer {
	int fd;
	int own_fd; /* a description of fd's pipe that does not block, or -1 */
	int cancel_fd;	/* eventfd; readable after kmt_stream_writer_cancel() */
	bool is_socket; /* fd is a socket */
	gsize record_bytes;
	_Atomic int error;

	/* Held while a thread writes, which may block. Protects front. */
	GMutex write_lock;
	GByteArray *front; /* first part of the queue */
	gsize n_written;   /* bytes of front that were written */

	/* Protects back and sequence. Acquired after write_lock, if both are
	 * held, and never held while a thread writes. */
	GMutex queue_lock;
	GByteArray *back; /* second part of the queue */
	guint64 sequence;
};

/* ---- the descriptor ---- */

static gboolean is_usable(int fd, GError **error)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_STREAM, errno,
				      "cannot write the stream to descriptor "
				      "%d",
				      fd);
		return FALSE;
	}
	if ((flags & O_ACCMODE) != O_RDONLY && !(flags & O_PATH) && !isatty(fd))
		return TRUE;
	g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_STREAM,
		    "cannot write the stream to descriptor %d: it is %s", fd,
		    isatty(fd) ? "a terminal" : "not open for writing");
	return FALSE;
}

/*
 * Open a second description of a pipe. O_NONBLOCK in the first one would affect
 * other processes that share it. Return -1 if that is not possible.
 */
static int open_own(int fd)
{
	g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);

	return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

KmtStreamWriter *kmt_stream_writer_new(int fd, GError **error)
{
	g_autoptr(KmtStreamWriter) writer = g_new0(KmtStreamWriter, 1);
	struct stat st = {0};

	writer->fd = fd;
	writer->own_fd = writer->cancel_fd = -1;
	g_mutex_init(&writer->write_lock);
	g_mutex_init(&writer->queue_lock);
	writer->front = g_byte_array_new();
	writer->back = g_byte_array_new();
	if (!is_usable(fd, error))
		return NULL;
	writer->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (writer->cancel_fd < 0) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "cannot open a descriptor for the "
				      "stream");
		return NULL;
	}
	if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
		writer->own_fd = open_own(fd);
	writer->is_socket = S_ISSOCK(st.st_mode);
	return g_steal_pointer(&writer);
}

void kmt_stream_writer_free(KmtStreamWriter *writer)
{
	if (!writer)
		return;
	if (writer->own_fd >= 0)
		close(writer->own_fd);
	if (writer->cancel_fd >= 0)
		close(writer->cancel_fd);
	g_byte_array_unref(writer->front);
	g_byte_array_unref(writer->back);
	g_mutex_clear(&writer->write_lock);
	g_mutex_clear(&writer->queue_lock);
	g_free(writer);
}

int kmt_stream_writer_error(const KmtStreamWriter *writer)
{
	return atomic_load(&writer->error);
}

/* Set the error, unless there is one. Return the first error. */
static int set_error(KmtStreamWriter *writer, int error)
{
	int none = 0;

	atomic_compare_exchange_strong(&writer->error, &none, error);
	return kmt_stream_writer_error(writer);
}

void kmt_stream_writer_cancel(KmtStreamWriter *writer)
{
	const guint64 one = 1;

	set_error(writer, -ECANCELED);
	(void)!write(writer->cancel_fd, &one, sizeof(one));
}

/* ---- writing; the caller holds write_lock ---- */

/* Write what the other side accepts at once. Return the bytes or -errno. A
 * regular file blocks, but not for long. */
static gssize write_some(KmtStreamWriter *writer, struct iovec *parts,
			 gsize n_parts)
{
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = n_parts};
	ssize_t n;

	do
		n = writer->is_socket
			    ? sendmsg(writer->fd, &message,
				      MSG_DONTWAIT | MSG_NOSIGNAL)
			    : writev(writer->own_fd >= 0 ? writer->own_fd
							 : writer->fd,
				     parts, (int)n_parts);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	return n < 0 ? -errno : n;
}

/*
 * Wait until the other side accepts bytes. Return 0, -EINTR if interrupt_fd is
 * readable, or the error of the stream.
 */
static int wait_for_room(KmtStreamWriter *writer, int interrupt_fd)
{
	struct pollfd fds[] = {
		{.fd = writer->fd, .events = POLLOUT},
		{.fd = writer->cancel_fd, .events = POLLIN},
		{.fd = interrupt_fd, .events = POLLIN},
	};

	while (poll(fds, G_N_ELEMENTS(fds), -1) < 0)
		if (errno != EINTR && errno != EAGAIN)
			return set_error(writer, -errno);
	if (fds[2].revents)
		return -EINTR;
	return kmt_stream_writer_error(writer);
}

/* Remove the first n bytes from the parts. */
static void skip(struct iovec **parts, gsize *n_parts, gsize n)
{
	while (*n_parts && n >= (*parts)->iov_len) {
		n -= (*parts)->iov_len;
		(*parts)++;
		(*n_parts)--;
	}
	if (*n_parts) {
		(*parts)->iov_base = (guint8 *)(*parts)->iov_base + n;
		(*parts)->iov_len -= n;
	}
}

/* Write all parts, however long the other side takes. Return 0 or the error. */
static int write_all(KmtStreamWriter *writer, struct iovec *parts,
		     gsize n_parts)
{
	int error = kmt_stream_writer_error(writer);

	while (n_parts && error == 0) {
		gssize n = write_some(writer, parts, n_parts);

		if (n < 0)
			return set_error(writer, (int)n);
		skip(&parts, &n_parts, (gsize)n);
		error = n > 0 ? kmt_stream_writer_error(writer)
			      : wait_for_room(writer, -1);
	}
	return error;
}

/* Empty the array. */
static void clear(GByteArray **queue)
{
	if ((*queue)->len > KEPT_QUEUE_BYTES) {
		g_byte_array_unref(*queue);
		*queue = g_byte_array_new();
	} else {
		g_byte_array_set_size(*queue, 0);
	}
}

/* Make the next part of the queue the front. Return false if none is left. */
static bool next_front(KmtStreamWriter *writer)
{
	GByteArray *emptied;

	if (writer->n_written < writer->front->len)
		return true;
	writer->n_written = 0;
	clear(&writer->front);
	g_mutex_lock(&writer->queue_lock);
	emptied = writer->front;
	writer->front = writer->back;
	writer->back = emptied;
	g_mutex_unlock(&writer->queue_lock);
	return writer->front->len > 0;
}

/*
 * Write the queue. If @waits, wait for the other side, but not after
 * interrupt_fd has become readable. Return 0, -EINTR, -EAGAIN without @waits if
 * the queue is not empty, or the error of the stream.
 */
static int write_queue(KmtStreamWriter *writer, bool waits, int interrupt_fd)
{
	int r = kmt_stream_writer_error(writer);

	while (r == 0 && next_front(writer)) {
		struct iovec part = {
			.iov_base = writer->front->data + writer->n_written,
			.iov_len = writer->front->len - writer->n_written,
		};
		gssize n = write_some(writer, &part, 1);

		if (n < 0)
			return set_error(writer, (int)n);
		writer->n_written += (gsize)n;
		if (n > 0)
			r = kmt_stream_writer_error(writer);
		else
			r = waits ? wait_for_room(writer, interrupt_fd)
				  : -EAGAIN;
	}
	return r;
}

/* ---- frames ---- */

static gsize padding(gsize n_bytes)
{
	return -n_bytes % KMT_STREAM_ALIGN;
}

/* Return the head of the next frame. The caller holds queue_lock. */
static KmtStreamFrame next_frame(KmtStreamWriter *writer, KmtStreamType type,
				 guint cpu, gsize n_bytes)
{
	return (KmtStreamFrame){
		.type = type,
		.cpu = cpu,
		.length = (guint32)n_bytes,
		.sequence = writer->sequence++,
	};
}

/*
 * Write the queue until it is empty, and then take the sequence of the next
 * frame before another frame can. Return 0 or the error.
 */
static int begin_records(KmtStreamWriter *writer, guint cpu, gsize n_bytes,
			 KmtStreamFrame *frame)
{
	for (;;) {
		int r = write_queue(writer, true, -1);
		bool is_empty;

		if (r < 0)
			return r;
		g_mutex_lock(&writer->queue_lock);
		is_empty = writer->back->len == 0;
		if (is_empty)
			*frame = next_frame(writer, KMT_STREAM_RECORDS, cpu,
					    n_bytes);
		g_mutex_unlock(&writer->queue_lock);
		if (is_empty)
			return 0;
	}
}

int kmt_stream_writer_records(KmtStreamWriter *writer, guint cpu,
			      const guint8 *records, gsize n_bytes)
{
	const gsize max = KMT_STREAM_PAYLOAD_MAX -
			  KMT_STREAM_PAYLOAD_MAX % writer->record_bytes;
	int r = 0;

	g_mutex_lock(&writer->write_lock);
	while (n_bytes > 0 && r == 0) {
		gsize n = MIN(n_bytes, max);
		KmtStreamFrame frame;
		struct iovec parts[] = {
			{.iov_base = &frame, .iov_len = sizeof(frame)},
			{.iov_base = (void *)records, .iov_len = n},
		};

		r = begin_records(writer, cpu, n, &frame);
		if (r == 0)
			r = write_all(writer, parts, G_N_ELEMENTS(parts));
		records += n;
		n_bytes -= n;
	}
	if (r == 0)
		write_queue(writer, false, -1);
	g_mutex_unlock(&writer->write_lock);
	return r;
}

void kmt_stream_writer_push(KmtStreamWriter *writer)
{
	if (!g_mutex_trylock(&writer->write_lock))
		return;
	write_queue(writer, false, -1);
	g_mutex_unlock(&writer->write_lock);
}

void kmt_stream_writer_begin(KmtStreamWriter *writer,
			     const KmtStreamHeader *header)
{
	KmtStreamHeader copy = *header;

	memcpy(copy.magic, KMT_STREAM_MAGIC, sizeof(copy.magic));
	copy.byte_order = KMT_STREAM_BYTE_ORDER;
	copy.version = KMT_STREAM_VERSION;
	copy.header_bytes = sizeof(KmtStreamHeader);
	copy.frame_bytes = sizeof(KmtStreamFrame);
	copy.payload_max = KMT_STREAM_PAYLOAD_MAX;
	copy.pid = (gint32)getpid();
	copy.tick_ms = KMT_STREAM_TICK_MS;
	writer->record_bytes = header->record_bytes;
	g_mutex_lock(&writer->queue_lock);
	g_byte_array_append(writer->back, (const guint8 *)&copy, sizeof(copy));
	g_mutex_unlock(&writer->queue_lock);
	kmt_stream_writer_push(writer);
}

void kmt_stream_writer_post(KmtStreamWriter *writer, KmtStreamType type,
			    const void *head, gsize n_head, const void *rest,
			    gsize n_rest)
{
	static const guint8 zeros[KMT_STREAM_ALIGN];
	KmtStreamFrame frame;

	g_assert(n_head + n_rest <= KMT_STREAM_PAYLOAD_MAX);
	if (kmt_stream_writer_error(writer))
		return;
	g_mutex_lock(&writer->queue_lock);
	frame = next_frame(writer, type, KMT_STREAM_NO_CPU, n_head + n_rest);
	g_byte_array_append(writer->back, (const guint8 *)&frame,
			    sizeof(frame));
	g_byte_array_append(writer->back, head, (guint)n_head);
	g_byte_array_append(writer->back, rest, (guint)n_rest);
	g_byte_array_append(writer->back, zeros,
			    (guint)padding(n_head + n_rest));
	g_mutex_unlock(&writer->queue_lock);
	kmt_stream_writer_push(writer);
}

void kmt_stream_writer_post_table(KmtStreamWriter *writer, const char *name,
				  const char *text, gsize n_bytes, gsize n_kept)
{
	KmtStreamTable table = {
		.n_kept = n_kept, .offset = n_kept, .total = n_bytes};

	g_strlcpy(table.name, name, sizeof(table.name));
	do {
		gsize n = MIN(n_bytes - table.offset, PART_BYTES);

		kmt_stream_writer_post(writer, KMT_STREAM_TABLE, &table,
				       sizeof(table), text + table.offset, n);
		table.offset += n;
	} while (table.offset < n_bytes);
}

int kmt_stream_writer_poll_fd(KmtStreamWriter *writer)
{
	bool is_empty;

	g_mutex_lock(&writer->queue_lock);
	is_empty = writer->back->len == 0;
	g_mutex_unlock(&writer->queue_lock);
	/* While another thread writes, that thread writes the front, too. */
	if (is_empty && g_mutex_trylock(&writer->write_lock)) {
		is_empty = writer->n_written == writer->front->len;
		g_mutex_unlock(&writer->write_lock);
	}
	return is_empty || kmt_stream_writer_error(writer) ? -1 : writer->fd;
}

int kmt_stream_writer_flush(KmtStreamWriter *writer, int interrupt_fd)
{
	int r;

	g_mutex_lock(&writer->write_lock);
	r = write_queue(writer, true, interrupt_fd);
	g_mutex_unlock(&writer->write_lock);
	return r;
}
