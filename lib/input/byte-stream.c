// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/input/byte-stream.h"

/* A pipe that holds more makes writer and reader wait for each other less. */
#define PIPE_BYTES (1 << 20)

/* How much is asked for at a time when a head is wanted; the tests take little.
 */
#ifndef HEAD_STEP
#define HEAD_STEP 4096
#endif

typedef struct {
	KmtBytes base;
	int fd;
} FdBytes;

typedef struct {
	KmtBytes base;
	const guint8 *next;
	gsize left;
} MemoryBytes;

static gsize fd_pull(KmtBytes *bytes, guint8 *to, gsize n)
{
	FdBytes *b = (FdBytes *)bytes;
	ssize_t got;

	do
		got = read(b->fd, to, n);
	while (got < 0 && errno == EINTR);
	if (got >= 0)
		return (gsize)got;
	kmt_bytes_set_defect(bytes, "%s", g_strerror(errno));
	return 0;
}

static void fd_close(KmtBytes *bytes)
{
	close(((FdBytes *)bytes)->fd);
}

KmtBytes *kmt_bytes_new_fd(int fd)
{
	FdBytes *b = g_new0(FdBytes, 1);

	b->base.pull = fd_pull;
	b->base.close = fd_close;
	b->fd = fd;
#ifdef F_SETPIPE_SZ
	/* No pipe, or not allowed: the size that it has will do. */
	fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
#endif
	return &b->base;
}

static gsize memory_pull(KmtBytes *bytes, guint8 *to, gsize n)
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

KmtBytes *kmt_bytes_new_memory(const guint8 *data, gsize n)
{
	MemoryBytes *b = g_new0(MemoryBytes, 1);

	b->base.pull = memory_pull;
	b->next = data;
	b->left = n;
	return &b->base;
}

void kmt_bytes_free(KmtBytes *bytes)
{
	if (!bytes)
		return;
	if (bytes->close)
		bytes->close(bytes);
	if (bytes->head)
		g_byte_array_unref(bytes->head);
	g_free(bytes->defect);
	g_free(bytes);
}

void kmt_bytes_set_defect(KmtBytes *bytes, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_free(bytes->defect);
	bytes->defect = g_strdup_vprintf(format, args);
	va_end(args);
}

static gsize pull(KmtBytes *bytes, guint8 *to, gsize n)
{
	return bytes->defect ? 0 : bytes->pull(bytes, to, n);
}

gsize kmt_bytes_read(KmtBytes *bytes, void *to, gsize n)
{
	guint8 *next = to;
	gsize got, left = n;

	if (bytes->head) {
		got = MIN(left, bytes->head->len - bytes->head_at);
		memcpy(next, bytes->head->data + bytes->head_at, got);
		bytes->head_at += got;
		next += got;
		left -= got;
	}
	while (left && (got = pull(bytes, next, left))) {
		next += got;
		left -= got;
	}
	return n - left;
}

const guint8 *kmt_bytes_peek(KmtBytes *bytes, gsize *n)
{
	GByteArray *head;
	gsize got = 1;

	if (!bytes->head)
		bytes->head = g_byte_array_new();
	head = bytes->head;
	if (bytes->head_at) {
		g_byte_array_remove_range(head, 0, (guint)bytes->head_at);
		bytes->head_at = 0;
	}
	while (head->len < *n && got) {
		guint old = head->len;

		g_byte_array_set_size(head, old + HEAD_STEP);
		got = pull(bytes, head->data + old, HEAD_STEP);
		g_byte_array_set_size(head, old + (guint)got);
	}
	*n = MIN(*n, head->len);
	return head->data;
}
