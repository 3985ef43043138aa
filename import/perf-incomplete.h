/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects recordings of perf that contain only a part of the events because of
 * the options of perf record.
 */
#ifndef KMEMTRACE_IMPORT_PERF_INCOMPLETE_H
#define KMEMTRACE_IMPORT_PERF_INCOMPLETE_H

#include "import/decoder.h"
#include "import/perf-data.h"

/*
 * Value of n_tasks if the file does not contain the number of recorded tasks.
 */
#define KMT_PERF_TASKS_UNKNOWN G_MAXUINT64

/*
 * Add each reason why memory events are missing to import; see
 * kmt_import_add_incomplete(). n_tasks is the number of tasks that perf
 * recorded at its start; 0 stands for all tasks.
 */
void kmt_perf_add_incomplete(KmtImport *import, const KmtPerfData *data,
			     const KmtImportDecoder *decoder, guint64 n_tasks);

#endif
