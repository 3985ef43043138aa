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
	KMT_PERF_FEATURE_TRACING_DATA = 1,
	KMT_PERF_FEATURE_BUILD_ID = 2,
	KMT_PERF_FEATURE_RELEASE = 4,
	KMT_PERF_FEATURE_VERSION = 5,
	KMT_PERF_FEATURE_MACHINE = 6,
	KMT_PERF_FEATURE_CPUS = 7,
	KMT_PERF_FEATURE_COMMAND = 11,
	KMT_PERF_FEATURE_CLOCKID = 23,
	KMT_PERF_FEATURE_DIRECTORY = 24,
	KMT_PERF_N_FEATURES = 256,
};

/*
 * An opened recording. The file is mapped, so a process that truncates the file
 * causes SIGBUS.
 */
typedef struct {
	GMappedFile *file;
	KmtPerfLayouts *layouts;
	/* Contents of the features. The span is not ok if the file lacks the
	 * feature. */
	KmtByteSpan features[KMT_PERF_N_FEATURES];
	KmtByteSpan records;
} KmtPerfFile;

/*
 * Map the file at path and parse its header; free the result with
 * kmt_perf_file_free(), which accepts NULL. Returns NULL and sets *error if the
 * file cannot be mapped, or its header is damaged or not supported.
 */
KmtPerfFile *kmt_perf_file_open(const char *path, GError **error);
void kmt_perf_file_free(KmtPerfFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtPerfFile, kmt_perf_file_free)

/*
 * Return a feature that is a string, or NULL if the feature is missing, empty,
 * or damaged. The caller frees the text.
 */
char *kmt_perf_file_text(const KmtPerfFile *file, guint feature);

/*
 * Return the command line of perf, or NULL if it is missing or damaged. The
 * caller frees it.
 */
GStrv kmt_perf_file_command(const KmtPerfFile *file);

/*
 * Return the build ID of the kernel in hexadecimal, or NULL. The caller frees
 * it.
 */
char *kmt_perf_file_build_id(const KmtPerfFile *file);

#endif
