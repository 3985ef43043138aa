// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measure the compression of cpu<n>.out files by kmemtraced --compress: bytes
 * and CPU time for each event, by level.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/capture/zstd-file.h"
#include "lib/cli/cli.h"

#define PROGRAM	     "compress"
#define GROUP_BYTES  (KMT_ZSTD_GROUP_FRAMES * KMT_ZSTD_FRAME_BYTES)
#define RECORD_BYTES 64

typedef struct {
	guint64 n_bytes;	    /* of records */
	KmtCaptureCpuFrames frames; /* of the compressed files */
	double seconds;		    /* CPU time, with writing */
} CompressionCost;

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Compress the records of a file to a file in the folder; add the cost. */
static int compress(const char *path, const char *folder, int level,
		    gboolean is_stored, CompressionCost *cost)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GMappedFile) map = g_mapped_file_new(path, FALSE, &error);
	g_autoptr(KmtZstdEncoder) encoder =
		map ? kmt_zstd_encoder_new(level, true, &error) : NULL;
	int dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	KmtZstdFile *file =
		encoder ? kmt_zstd_file_create(dir_fd, "compressed.zst", true,
					       &error)
			: NULL;
	KmtCaptureCpuFrames frames = {0};
	int r = 0;

	if (!file)
		return kmt_cli_fail_error(PROGRAM, error);
	for (gsize at = 0, n_done; r == 0 && at < g_mapped_file_get_length(map);
	     at += n_done) {
		gsize n = MIN(g_mapped_file_get_length(map) - at, GROUP_BYTES);
		const guint8 *records =
			(const guint8 *)g_mapped_file_get_contents(map) + at;
		double start = cpu_seconds();

		r = kmt_zstd_file_append(file, encoder, records, n,
					 RECORD_BYTES, is_stored, &n_done);
		cost->seconds += cpu_seconds() - start;
	}
	if (r == 0)
		r = kmt_zstd_file_finish(file, encoder);
	kmt_zstd_file_figures(file, &frames);
	kmt_zstd_file_free(file);
	unlinkat(dir_fd, "compressed.zst", 0);
	close(dir_fd);
	cost->n_bytes += g_mapped_file_get_length(map);
	cost->frames.file_bytes += frames.file_bytes;
	return r ? kmt_cli_fail(PROGRAM, "cannot write to the folder") : 0;
}

/* Print the cost of all files with a level. Return the exit status. */
static int measure(char **paths, const char *folder, int level,
		   gboolean is_stored)
{
	g_autofree char *name =
		is_stored ? g_strdup("stored") : g_strdup_printf("%d", level);
	CompressionCost cost = {0};
	double n_events;

	for (; *paths; paths++)
		if (compress(*paths, folder, level, is_stored, &cost))
			return EXIT_FAILURE;
	n_events = (double)cost.n_bytes / RECORD_BYTES;
	printf("%-8s %12.2f %9.0f %9.0f\n", name,
	       (double)cost.frames.file_bytes / n_events,
	       cost.seconds / n_events * 1e9,
	       (double)cost.n_bytes / cost.seconds / 1e6);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const int levels[] = {1, 3, 9};
	int status;

	if (argc < 3)
		return kmt_cli_fail_usage(PROGRAM, "usage: compress FOLDER "
						   "cpu<n>.out...");
	printf("level    bytes/event  ns/event      MB/s\n");
	status = measure(argv + 2, argv[1], 1, TRUE);
	for (gsize i = 0; i < G_N_ELEMENTS(levels) && status == 0; i++)
		status = measure(argv + 2, argv[1], levels[i], FALSE);
	return status;
}
