// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "top/save.h"

static gboolean fail_save(GError **error, const char *path, int number)
{
	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(number),
		    "cannot save to %s: %s", path, g_strerror(number));
	return FALSE;
}

/* Return an error number, or 0. */
static int write_all(int fd, const char *text, gsize n)
{
	while (n > 0) {
		gssize written = write(fd, text, n);

		if (written < 0 && errno != EINTR)
			return errno;
		if (written > 0) {
			text += written;
			n -= (gsize)written;
		}
	}
	return 0;
}

/* Write a file that does not exist yet; a symbolic link counts as a file. */
static gboolean save_new(const char *path, const char *text, gsize n,
			 GError **error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int number;

	if (fd < 0)
		return fail_save(error, path, errno);
	number = write_all(fd, text, n);
	if (close(fd) < 0 && !number)
		number = errno;
	if (!number)
		return TRUE;
	unlink(path);
	return fail_save(error, path, number);
}

gboolean kmt_top_save(const char *path, gboolean overwrite,
		      KmtTopSavePrint print, gconstpointer user, GError **error)
{
	char *text = NULL;
	gsize n = 0;
	FILE *out = open_memstream(&text, &n);
	gboolean saved;

	if (!out)
		return fail_save(error, path, errno);
	print(out, user);
	if (fclose(out) != 0) {
		int number = errno;

		free(text);
		return fail_save(error, path, number);
	}
	if (overwrite) {
		saved = g_file_set_contents(path, text, (gssize)n, error);
		if (!saved)
			g_prefix_error(error, "cannot save to %s: ", path);
	} else {
		saved = save_new(path, text, n, error);
	}
	free(text);
	return saved;
}
