// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/input/byte-stream.h"

/*
 * Requested size of a pipe's buffer in bytes. With a larger buffer, the writer
 * and the reader of the pipe block less often.
 */
#define PIPE_BYTES (1 << 20)

/*
 * Number of bytes that kmt_input_byte_stream_peek() requests per read. The
 * fuzzers use a smaller number.
 */
#ifndef PEEK_CHUNK_BYTES
#define PEEK_CHUNK_BYTES 4096
#endif

typedef struct {
	KmtInputByteStream base;
	int fd;
} FdBytes;

typedef struct {
	KmtInputByteStream base;
	const guint8 *next;
	gsize left;
} MemoryBytes;

static gsize fd_pull(KmtInputByteStream *bytes, guint8 *to, gsize n)
{
	FdBytes *b = (FdBytes *)bytes;
	ssize_t got;

	do
		got = read(b->fd, to, n);
	while (got < 0 && errno == EINTR);
	if (got >= 0)
		return (gsize)got;
	kmt_input_byte_stream_set_defect(bytes, "%s", g_strerror(errno));
	return 0;
}

static void fd_close(KmtInputByteStream *bytes)
{
	close(((FdBytes *)bytes)->fd);
}

KmtInputByteStream *kmt_input_byte_stream_new_fd(int fd)
{
	FdBytes *b = g_new0(FdBytes, 1);

	b->base.pull = fd_pull;
	b->base.close = fd_close;
	b->fd = fd;
#ifdef F_SETPIPE_SZ
	/* Ignore an error: fd may not be a pipe, or the size may exceed the
	 * limit of the user. */
	fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
#endif
	return &b->base;
}

static gsize memory_pull(KmtInputByteStream *bytes, guint8 *to, gsize n)
{
	MemoryBytes *b = (MemoryBytes *)bytes;

	n = MIN(n, b->left);
	if (!n)
		return 0;
	memcpy(to, b->next, n);
	b->next += n;
	b->left -= n;
	return n;
}

KmtInputByteStream *kmt_input_byte_stream_new_memory(const guint8 *data,
						     gsize n)
{
	MemoryBytes *b = g_new0(MemoryBytes, 1);

	b->base.pull = memory_pull;
	b->next = data;
	b->left = n;
	return &b->base;
}

void kmt_input_byte_stream_free(KmtInputByteStream *bytes)
{
	if (!bytes)
		return;
	if (bytes->close)
		bytes->close(bytes);
	if (bytes->peeked)
		g_byte_array_unref(bytes->peeked);
	g_free(bytes->defect);
	g_free(bytes);
}

void kmt_input_byte_stream_set_defect(KmtInputByteStream *bytes,
				      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_free(bytes->defect);
	bytes->defect = g_strdup_vprintf(format, args);
	va_end(args);
}

static gsize pull(KmtInputByteStream *bytes, guint8 *to, gsize n)
{
	return bytes->defect ? 0 : bytes->pull(bytes, to, n);
}

gsize kmt_input_byte_stream_read(KmtInputByteStream *bytes, void *to, gsize n)
{
	guint8 *next = to;
	gsize got, left = n;

	if (bytes->peeked) {
		got = MIN(left, bytes->peeked->len - bytes->peeked_offset);
		memcpy(next, bytes->peeked->data + bytes->peeked_offset, got);
		bytes->peeked_offset += got;
		next += got;
		left -= got;
	}
	while (left && (got = pull(bytes, next, left))) {
		next += got;
		left -= got;
	}
	return n - left;
}

const guint8 *kmt_input_byte_stream_peek(KmtInputByteStream *bytes, gsize *n)
{
	GByteArray *head;
	gsize got = 1;

	if (!bytes->peeked)
		bytes->peeked = g_byte_array_new();
	head = bytes->peeked;
	if (bytes->peeked_offset) {
		g_byte_array_remove_range(head, 0, (guint)bytes->peeked_offset);
		bytes->peeked_offset = 0;
	}
	while (head->len < *n && got) {
		guint old = head->len;

		g_byte_array_set_size(head, old + PEEK_CHUNK_BYTES);
		got = pull(bytes, head->data + old, PEEK_CHUNK_BYTES);
		g_byte_array_set_size(head, old + (guint)got);
	}
	*n = MIN(*n, head->len);
	return head->data;
}
