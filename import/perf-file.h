/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parser of the header of a perf recording, written to a file (-o FILE) or to a
 * pipe (-o -). See tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef KMEMTRACE_IMPORT_PERF_FILE_H
#define KMEMTRACE_IMPORT_PERF_FILE_H

#include "import/byte-span.h"
#include "import/perf-layout.h"

enum {
	PERF_FEATURE_TRACING_DATA = 1,
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_RELEASE = 4,
	PERF_FEATURE_VERSION = 5,
	PERF_FEATURE_MACHINE = 6,
	PERF_FEATURE_CPUS = 7,
	PERF_FEATURE_COMMAND = 11,
	PERF_FEATURE_CLOCKID = 23,
	PERF_FEATURE_DIRECTORY = 24,
	PERF_N_FEATURES = 256,
};

/*
 * An opened recording. The file is mapped, so a process that truncates the file
 * causes SIGBUS.
 */
typedef struct {
	GMappedFile *file;
	PerfLayouts *layouts;
	/* Contents of the features. The span is not ok if the file lacks the
	 * feature. */
	KmtByteSpan features[PERF_N_FEATURES];
	KmtByteSpan records;
} PerfFile;

PerfFile *perf_file_open(const char *path, GError **error);
void perf_file_free(PerfFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PerfFile, perf_file_free)

/*
 * Return a feature that is a string, or NULL if the file lacks the feature. The
 * caller frees the text.
 */
char *perf_file_text(const PerfFile *file, guint feature);

/*
 * Return the command line of perf, or NULL if the file lacks it. The caller
 * frees it.
 */
GStrv perf_file_command(const PerfFile *file);

/*
 * Return the build ID of the kernel in hexadecimal, or NULL. The caller frees
 * it.
 */
char *perf_file_build_id(const PerfFile *file);

#endif
