/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of one recording of perf. A part is a file, or a directory of perf
 * record --threads. Only perf record --switch-output creates more than one
 * part.
 */
#ifndef KMEMTRACE_IMPORT_PERF_PARTS_H
#define KMEMTRACE_IMPORT_PERF_PARTS_H

#include "import/import.h"
#include "import/perf-data.h"

/* One part of a recording. */
typedef struct {
	const char *path;  /* not owned */
	KmtPerfData *data; /* owned */
	gint64 first_ns;   /* time of the first sample; G_MAXINT64: none */
} KmtPerfPart;

/*
 * Open the parts in the NULL-terminated array paths and read entries up to the
 * first sample of each part and, until one part contained it, the kernel's
 * symbol. Returns an array of KmtPerfPart, sorted by the time of the first
 * sample, which the caller releases with g_array_unref(). *kernel receives the
 * identity of the recorded kernel, *n_tasks the number of recorded tasks if a
 * file contains it. Returns NULL and sets *error if a file cannot be read or
 * belongs to another recording.
 */
GArray *kmt_perf_parts_open(const char *const *paths, KmtImportKernel *kernel,
			    guint64 *n_tasks, GError **error);

/* Return whether an error means that a part of the input is damaged. */
gboolean kmt_perf_is_damage(const GError *problem);

#endif
