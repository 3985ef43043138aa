// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read every record of a capture and do nothing else, as a lower bound for the
 * time of any analysis.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "lib/cli/cli.h"

#define PROGRAM "readall"
/* Number of records that a thread takes at once, and reads at once. */
#define CHUNK  (1 << 18)
#define BUFFER 2048

typedef struct {
	int fd;
	guint64 n; /* number of records */
} File;

typedef struct {
	File *files;
	guint n_files;
	guint next; /* number of the next chunk, over all files; atomic */
} Work;

static gboolean open_file(const char *path, File *file)
{
	struct stat st;

	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0 || fstat(file->fd, &st) != 0)
		return FALSE;
	file->n = (guint64)st.st_size / sizeof(struct kmemtrace_event);
	return TRUE;
}

/* Sum a chunk. The buffer stays in the processor's cache, as in
 * kmemtrace-report. */
static guint64 sum_chunk(const File *file, guint64 from,
			 struct kmemtrace_event *buffer)
{
	guint64 until = MIN(from + CHUNK, file->n), sum = 0, i;

	while (from < until) {
		ssize_t n = pread(file->fd, buffer, BUFFER * sizeof(*buffer),
				  (off_t)(from * sizeof(*buffer)));

		if (n < (ssize_t)sizeof(*buffer)) {
			fputs(PROGRAM ": cannot read all records of a file\n",
			      stderr);
			exit(EXIT_FAILURE);
		}
		n /= (ssize_t)sizeof(*buffer);
		for (i = 0; i < (guint64)n && from < until; i++, from++)
			sum += buffer[i].bytes_alloc;
	}
	return sum;
}

static gpointer sum_chunks(gpointer data)
{
	Work *work = data;
	g_autofree struct kmemtrace_event *buffer =
		g_new(struct kmemtrace_event, BUFFER);
	guint64 *sum = g_new0(guint64, 1);
	guint i;

	for (;;) {
		guint64 chunk = (guint)g_atomic_int_add(&work->next, 1);

		for (i = 0; i < work->n_files; i++) {
			guint64 n = (work->files[i].n + CHUNK - 1) / CHUNK;

			if (chunk < n)
				break;
			chunk -= n;
		}
		if (i == work->n_files)
			return sum;
		*sum += sum_chunk(&work->files[i], chunk * CHUNK, buffer);
	}
}

int main(int argc, char **argv)
{
	guint64 events = 0, sum = 0;
	guint threads = g_get_num_processors(), i;
	g_autofree GThread **running = g_new(GThread *, threads);
	g_autofree File *files = g_new0(File, (gsize)argc);
	Work work = {files, (guint)argc - 1, 0};

	if (argc < 2 || argv[1][0] == '-') {
		fputs("Usage: " PROGRAM " FILE...\n"
		      "Sums bytes_alloc of all records of the cpu files, with "
		      "all CPUs.\n",
		      stderr);
		return EXIT_FAILURE;
	}
	for (i = 0; i < work.n_files; i++) {
		if (!open_file(argv[i + 1], &files[i])) {
			g_autofree char *message =
				g_strdup_printf("cannot read %s: %s",
						argv[i + 1], g_strerror(errno));

			return kmt_cli_fail(PROGRAM, message);
		}
		events += files[i].n;
	}
	for (i = 0; i < threads; i++)
		running[i] = g_thread_new(PROGRAM, sum_chunks, &work);
	for (i = 0; i < threads; i++) {
		g_autofree guint64 *part = g_thread_join(running[i]);

		sum += *part;
	}
	printf("%" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT
	       " bytes allocated\n",
	       events, sum);
	return EXIT_SUCCESS;
}
