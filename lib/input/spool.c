// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/input/capture.h"
#include "lib/input/spool.h"

/*
 * kmt_input_spool_add() writes its buffer to the file when the buffer contains
 * at least this number of bytes. kmt_input_spool_add_stream() reads this number
 * of bytes at a time. The fuzzers use a smaller number to test the buffer ends.
 */
#ifndef STEP_BYTES
#define STEP_BYTES (256 * 1024)
#endif

static gboolean fail(const char *what, int saved, GError **error)
{
	g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_READ,
		    "cannot unpack %s to a temporary file in %s: %s; %s", what,
		    g_get_tmp_dir(), g_strerror(saved),
		    saved == EMFILE || saved == ENFILE
			    ? "raise the limit of open files (ulimit -n)"
			    : "set TMPDIR to a directory with room for it");
	return FALSE;
}

static int open_unnamed(void)
{
	g_autofree char *path = NULL;
	int fd;

#ifdef O_TMPFILE
	fd = open(g_get_tmp_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
#endif
	/*
	 * The file system may not support O_TMPFILE. Create a file with a name
	 * and delete the name at once.
	 */
	path = g_build_filename(g_get_tmp_dir(), "kmemtrace-XXXXXX", NULL);
	fd = g_mkstemp_full(path, O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		unlink(path);
	return fd;
}

KmtInputSpool *kmt_input_spool_new(const char *what, GError **error)
{
	KmtInputSpool *spool;
	int fd = open_unnamed();

	if (fd < 0) {
		fail(what, errno, error);
		return NULL;
	}
	spool = g_new0(KmtInputSpool, 1);
	spool->fd = fd;
	spool->unwritten = g_byte_array_new();
	return spool;
}

void kmt_input_spool_free(KmtInputSpool *spool)
{
	if (!spool)
		return;
	if (spool->fd >= 0)
		close(spool->fd);
	g_byte_array_unref(spool->unwritten);
	g_free(spool);
}

gboolean kmt_input_spool_flush(KmtInputSpool *spool, const char *what,
			       GError **error)
{
	const guint8 *next = spool->unwritten->data;
	gsize left = spool->unwritten->len;

	while (left) {
		ssize_t n = write(spool->fd, next, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(what, errno, error);
		next += n;
		left -= (gsize)n;
	}
	g_byte_array_set_size(spool->unwritten, 0);
	return TRUE;
}

gboolean kmt_input_spool_add(KmtInputSpool *spool, gconstpointer data, gsize n,
			     const char *what, GError **error)
{
	const guint8 *next = data;

	spool->size += n;
	while (n) {
		guint step = (guint)MIN(n, STEP_BYTES);

		g_byte_array_append(spool->unwritten, next, step);
		next += step;
		n -= step;
		if (spool->unwritten->len >= STEP_BYTES &&
		    !kmt_input_spool_flush(spool, what, error))
			return FALSE;
	}
	return TRUE;
}

gboolean kmt_input_spool_add_stream(KmtInputSpool *spool,
				    KmtInputByteStream *bytes, const char *what,
				    GError **error)
{
	g_autofree guint8 *step = g_malloc(STEP_BYTES);
	gsize n;

	while ((n = kmt_input_byte_stream_read(bytes, step, STEP_BYTES))) {
		if (!kmt_input_spool_add(spool, step, n, what, error))
			return FALSE;
	}
	return kmt_input_spool_flush(spool, what, error);
}

gboolean kmt_input_spool_map(KmtInputSpool *spool, const guint8 **map,
			     const char *what, GError **error)
{
	void *p;

	*map = NULL;
	if (!kmt_input_spool_flush(spool, what, error))
		return FALSE;
	if (!spool->size)
		return TRUE;
	p = mmap(NULL, spool->size, PROT_READ, MAP_PRIVATE, spool->fd, 0);
	if (p == MAP_FAILED)
		return fail(what, errno, error);
	*map = p;
	return TRUE;
}
