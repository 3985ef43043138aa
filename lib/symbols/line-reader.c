// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/symbols/line-reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Number of bytes per read(). The fuzzers use a smaller number. */
#ifndef READ_BYTES
#define READ_BYTES (1u << 20)
#endif

/*
 * Map the file over anonymous memory. If the padding extends beyond the last
 * page of the file, an anonymous page contains the rest of the padding.
 */
static gboolean map(KmtSymTextFile *file, int fd, gsize size)
{
	gsize n_bytes = size + KMT_SYM_TEXT_PADDING;
	char *text = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (text == MAP_FAILED)
		return FALSE;
	if (mmap(text, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
		 fd, 0) == MAP_FAILED) {
		munmap(text, n_bytes);
		return FALSE;
	}
	file->text = text;
	file->size = size;
	file->mapped = n_bytes;
	return TRUE;
}

static gboolean read_all(KmtSymTextFile *file, int fd, gsize max_bytes)
{
	GByteArray *bytes = g_byte_array_new();
	gssize n;

	do {
		guint length = bytes->len;

		if (length > G_MAXINT32 - READ_BYTES) {
			g_byte_array_unref(bytes);
			errno = EFBIG;
			return FALSE;
		}
		g_byte_array_set_size(bytes, length + READ_BYTES);
		do {
			n = read(fd, bytes->data + length, READ_BYTES);
		} while (n < 0 && errno == EINTR);
		g_byte_array_set_size(bytes, length + (guint)MAX(n, 0));
	} while (n > 0 && bytes->len <= max_bytes);
	if (n < 0) {
		g_byte_array_unref(bytes);
		return FALSE;
	}
	file->size = bytes->len;
	g_byte_array_set_size(bytes, bytes->len + KMT_SYM_TEXT_PADDING);
	memset(bytes->data + file->size, 0, KMT_SYM_TEXT_PADDING);
	file->text = (char *)g_byte_array_free(bytes, FALSE);
	file->mapped = 0;
	return TRUE;
}

gboolean kmt_sym_text_file_open(KmtSymTextFile *file, const char *path,
				gsize max_bytes, GError **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	gboolean done = FALSE;
	struct stat status;
	int saved;

	if (fd >= 0 && fstat(fd, &status) == 0)
		done = (S_ISREG(status.st_mode) && status.st_size > 0 &&
			map(file, fd, (gsize)status.st_size)) ||
		       read_all(file, fd, max_bytes);
	saved = errno;
	if (fd >= 0)
		close(fd);
	if (!done)
		g_set_error(error, G_FILE_ERROR,
			    (gint)g_file_error_from_errno(saved), "'%s': %s",
			    path, g_strerror(saved));
	return done;
}

void kmt_sym_text_file_clear(KmtSymTextFile *file)
{
	if (file->mapped)
		munmap(file->text, file->mapped);
	else
		g_free(file->text);
	memset(file, 0, sizeof(*file));
}
