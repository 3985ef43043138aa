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
	FILE *stream;
	char *option;
	char *path;	 /* as given */
	char *target;	 /* path without symbolic links; NULL: in place */
	char *temporary; /* NULL: none, or it has its final name */
};

static void fail(const KmtOutputFile *output, const char *what, int code,
		 GError **error)
{
	g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code),
		    "%s: %s '%s': %s; name another file, or check the folder "
		    "and the disk",
		    output->option, what, output->path, g_strerror(code));
}

/* Open stdout. Binary data or a whole page is useless on a terminal. */
static gboolean open_stdout(KmtOutputFile *output, GError **error)
{
	int fd;

	if (isatty(STDOUT_FILENO)) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "%s: '-' is the terminal: name a file, or redirect "
			    "the output",
			    output->option);
		return FALSE;
	}
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	output->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (!output->stream)
		fail(output, "cannot write to", errno, error);
	return output->stream != NULL;
}

/* Open a temporary file beside the target. */
static gboolean open_temporary(KmtOutputFile *output, GError **error)
{
	g_autofree char *folder = NULL, *name = NULL, *template = NULL;
	int fd;

	output->target = realpath(output->path, NULL);
	if (!output->target)
		output->target = strdup(output->path);
	folder = g_path_get_dirname(output->target);
	name = g_path_get_basename(output->target);
	template = g_strdup_printf("%s/.%.200s.XXXXXX", folder, name);
	fd = g_mkstemp_full(template, O_WRONLY | O_CLOEXEC, 0666);
	if (fd < 0) {
		fail(output, "cannot create a file beside", errno, error);
		return FALSE;
	}
	output->temporary = g_steal_pointer(&template);
	output->stream = fdopen(fd, "w");
	return TRUE;
}

/* Open a pipe or device. */
static gboolean open_in_place(KmtOutputFile *output, GError **error)
{
	output->stream = g_fopen(output->path, "we");
	if (!output->stream)
		fail(output, "cannot write to", errno, error);
	return output->stream != NULL;
}

KmtOutputFile *kmt_output_file_open(const char *option, const char *path,
				    GError **error)
{
	g_autoptr(KmtOutputFile) output = g_new0(KmtOutputFile, 1);
	struct stat st;
	gboolean opened;

	output->option = g_strdup(option);
	output->path = g_strdup(path);
	if (strcmp(path, "-") == 0) {
		opened = open_stdout(output, error);
	} else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		fail(output, "cannot write to", EISDIR, error);
		opened = FALSE;
	} else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		opened = open_in_place(output, error);
	} else {
		opened = open_temporary(output, error);
	}
	return opened ? g_steal_pointer(&output) : NULL;
}

void kmt_output_file_free(KmtOutputFile *output)
{
	if (!output)
		return;
	if (output->stream)
		fclose(output->stream);
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

gboolean kmt_output_file_commit(KmtOutputFile *output, GError **error)
{
	FILE *stream = g_steal_pointer(&output->stream);
	gboolean failed;

	errno = 0;
	failed = fflush(stream) != 0 || ferror(stream) ||
		 (output->temporary && fsync(fileno(stream)) != 0);
	if (failed && !errno)
		errno = EIO;
	if (fclose(stream) != 0 || failed) {
		fail(output, "cannot write", errno, error);
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
