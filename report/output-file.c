// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/output-file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct KmtOutputFile {
	int fd;	      /* -1: closed, or not opened */
	int error;    /* errno of the first write() that failed, or 0 */
	FILE *stream; /* writes to fd */
	char *option;
	char *path;   /* as given */
	char *target; /* path without symbolic links; NULL: in place */
	/* Path of the temporary file. NULL: the file has no name yet, or has
	 * its final name, or is written in place. */
	char *temporary;
};

static void fail(const KmtOutputFile *output, const char *what, int code,
		 GError **error)
{
	g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code),
		    "%s: %s '%s': %s; name another file, or check the folder "
		    "and the disk",
		    output->option, what, output->path, g_strerror(code));
}

/* ---- the stream ---- */

/* Write for stdio, which does not keep the errno of a failed write. */
static ssize_t write_bytes(void *cookie, const char *data, size_t n)
{
	KmtOutputFile *output = cookie;
	size_t left = n;

	while (left) {
		ssize_t written = write(output->fd, data, left);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			output->error = output->error ? output->error : errno;
			return 0;
		}
		data += written;
		left -= (size_t)written;
	}
	return (ssize_t)n;
}

/* Open the stream that writes to output->fd. */
static gboolean open_stream(KmtOutputFile *output, GError **error)
{
	const cookie_io_functions_t functions = {.write = write_bytes};

	if (output->fd >= 0)
		output->stream = fopencookie(output, "w", functions);
	if (!output->stream)
		fail(output, "cannot write to", errno, error);
	return output->stream != NULL;
}

/* ---- opening ---- */

/* Open stdout. Binary data or a whole page is useless on a terminal. */
static gboolean open_stdout(KmtOutputFile *output, GError **error)
{
	if (isatty(STDOUT_FILENO)) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "%s: '-' is the terminal: name a file, or redirect "
			    "the output",
			    output->option);
		return FALSE;
	}
	output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return open_stream(output, error);
}

/* Return a template for the name of a temporary file beside the target. The
 * caller frees the string. */
static char *template_beside(const char *target)
{
	g_autofree char *folder = g_path_get_dirname(target);
	g_autofree char *name = g_path_get_basename(target);

	return g_strdup_printf("%s/.%.200s.XXXXXX", folder, name);
}

/*
 * Open a temporary file in the directory of the target. The file gets a name
 * only when it is complete, so that a program that is killed leaves nothing
 * behind; but not all file systems have files without names.
 */
static gboolean open_temporary(KmtOutputFile *output, GError **error)
{
	g_autofree char *folder = NULL, *template = NULL;
	struct stat st;
	gboolean exists;
	int fd;

	output->target = realpath(output->path, NULL);
	if (!output->target)
		output->target = strdup(output->path);
	exists = stat(output->target, &st) == 0;
	if (exists && access(output->target, W_OK) != 0) {
		fail(output, "cannot write to", errno, error);
		return FALSE;
	}
	folder = g_path_get_dirname(output->target);
	/* name_temporary() needs /proc. */
	fd = g_access("/proc/self/fd", X_OK) == 0
		     ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)
		     : -1;
	if (fd < 0) {
		template = template_beside(output->target);
		fd = g_mkstemp_full(template, O_WRONLY | O_CLOEXEC, 0666);
		if (fd >= 0)
			output->temporary = g_steal_pointer(&template);
	}
	if (fd < 0) {
		fail(output, "cannot create a file beside", errno, error);
		return FALSE;
	}
	/* A private file stays private. */
	if (exists)
		(void)fchmod(fd, st.st_mode & 0777);
	output->fd = fd;
	return open_stream(output, error);
}

/* Give the temporary file a name, which no other file has. */
static gboolean name_temporary(KmtOutputFile *output)
{
	g_autofree char *template = template_beside(output->target);
	g_autofree char *self = g_strdup_printf("/proc/self/fd/%d", output->fd);
	char *random = template + strlen(template) - strlen("XXXXXX");
	gboolean failed;

	do {
		sprintf(random, "%06x", (guint)g_random_int() >> 8);
		failed = linkat(AT_FDCWD, self, AT_FDCWD, template,
				AT_SYMLINK_FOLLOW) != 0;
	} while (failed && errno == EEXIST);
	if (failed)
		return FALSE;
	output->temporary = g_steal_pointer(&template);
	return TRUE;
}

/*
 * Return whether no other file can replace @path: a pipe, a device, or a
 * symbolic link whose target has no path. /dev/stdout is such a link if stdout
 * is a deleted file, and a rename would replace /dev/stdout itself.
 */
static gboolean must_write_in_place(const char *path)
{
	g_autofree char *link = g_file_read_link(path, NULL);
	char *target;
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return TRUE;
	if (!link)
		return FALSE;
	target = realpath(path, NULL);
	free(target);
	return !target;
}

/* Open a pipe, a device, or a link. */
static gboolean open_in_place(KmtOutputFile *output, GError **error)
{
	output->fd = open(output->path,
			  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return open_stream(output, error);
}

KmtOutputFile *kmt_output_file_open(const char *option, const char *path,
				    GError **error)
{
	g_autoptr(KmtOutputFile) output = g_new0(KmtOutputFile, 1);
	struct stat st;
	gboolean opened;

	output->fd = -1;
	output->option = g_strdup(option);
	output->path = g_strdup(path);
	if (strcmp(path, "-") == 0) {
		opened = open_stdout(output, error);
	} else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		fail(output, "cannot write to", EISDIR, error);
		opened = FALSE;
	} else if (must_write_in_place(path)) {
		opened = open_in_place(output, error);
	} else {
		opened = open_temporary(output, error);
	}
	return opened ? g_steal_pointer(&output) : NULL;
}

/* Close the stream and its file. Return 0 or an errno. */
static int close_file(KmtOutputFile *output)
{
	int fd = output->fd;

	/* This may write data that is to be discarded. */
	if (output->stream)
		(void)fclose(output->stream);
	output->stream = NULL;
	output->fd = -1;
	return fd >= 0 && close(fd) != 0 ? errno : 0;
}

void kmt_output_file_free(KmtOutputFile *output)
{
	if (!output)
		return;
	(void)close_file(output);
	if (output->temporary)
		g_unlink(output->temporary);
	g_free(output->option);
	g_free(output->path);
	free(output->target);
	g_free(output->temporary);
	g_free(output);
}

FILE *kmt_output_file_stream(const KmtOutputFile *output)
{
	return output->stream;
}

/* Write all data to the disk. Return 0 or the errno of the first error. */
static int flush(KmtOutputFile *output)
{
	if (fflush(output->stream) != 0 || ferror(output->stream))
		return output->error ? output->error : EIO;
	return output->target && fsync(output->fd) != 0 ? errno : 0;
}

gboolean kmt_output_file_commit(KmtOutputFile *output, GError **error)
{
	int code = flush(output);

	if (!code && output->target && !output->temporary &&
	    !name_temporary(output)) {
		fail(output, "cannot create a file beside", errno, error);
		return FALSE;
	}
	if (!code)
		code = close_file(output);
	if (code) {
		fail(output, "cannot write", code, error);
		return FALSE;
	}
	if (!output->temporary)
		return TRUE;
	if (g_rename(output->temporary, output->target) != 0) {
		fail(output, "cannot replace", errno, error);
		return FALSE;
	}
	g_clear_pointer(&output->temporary, g_free);
	return TRUE;
}
