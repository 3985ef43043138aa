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
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kmemtrace_abi.h>

#include "lib/cli/cli.h"

#define PROGRAM "readall"
/* Number of records that a thread reads at once. */
#define CHUNK (1 << 18)

typedef struct {
	const struct kmemtrace_event *events;
	guint64 n;
} Mapped;

typedef struct {
	Mapped *files;
	guint n_files;
	guint next; /* number of the next chunk, over all files; atomic */
} Work;

static gboolean map_file(const char *path, Mapped *mapped)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *map = NULL;

	if (fd < 0)
		return FALSE;
	if (fstat(fd, &st) != 0)
		st.st_size = -1;
	mapped->n = (guint64)st.st_size / sizeof(*mapped->events);
	if (st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd,
			   0);
	close(fd);
	/* The same advice as in kmemtrace-report. */
	if (map && map != MAP_FAILED) {
		madvise(map, (size_t)st.st_size, MADV_SEQUENTIAL);
		madvise(map, (size_t)st.st_size, MADV_HUGEPAGE);
	}
	mapped->events = map;
	return st.st_size >= 0 && map != MAP_FAILED;
}

static guint64 sum_chunk(const Mapped *file, guint64 from)
{
	guint64 until = MIN(from + CHUNK, file->n), sum = 0, i;

	for (i = from; i < until; i++)
		sum += file->events[i].bytes_alloc;
	return sum;
}

static gpointer sum_chunks(gpointer data)
{
	Work *work = data;
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
		*sum += sum_chunk(&work->files[i], chunk * CHUNK);
	}
}

int main(int argc, char **argv)
{
	guint64 events = 0, sum = 0;
	guint threads = g_get_num_processors(), i;
	g_autofree GThread **running = g_new(GThread *, threads);
	g_autofree Mapped *files = g_new0(Mapped, (gsize)argc);
	Work work = {files, (guint)argc - 1, 0};

	if (argc < 2 || argv[1][0] == '-') {
		fputs("Usage: " PROGRAM " FILE...\n"
		      "Sums bytes_alloc of all records of the cpu files, with "
		      "all CPUs.\n",
		      stderr);
		return EXIT_FAILURE;
	}
	for (i = 0; i < work.n_files; i++) {
		if (!map_file(argv[i + 1], &files[i])) {
			g_autofree char *message =
				g_strdup_printf("cannot map %s: %s",
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
