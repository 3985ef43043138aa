/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of perf that have only a part of the events, on purpose. */
#ifndef KMEMTRACE_IMPORT_PERFDESIGN_H
#define KMEMTRACE_IMPORT_PERFDESIGN_H

#include "import/decode.h"
#include "import/perfdata.h"

/* The file does not tell how many tasks were recorded. */
#define PERF_TASKS_UNKNOWN G_MAXUINT64

/*
 * Adds each reason why events of memory are missing to import.  n_tasks: how
 * many tasks perf recorded at its start; 0 stands for all.
 */
void perf_design_add(KmtImport *import, const PerfData *data,
		     const KmtImportDecoder *decoder, guint64 n_tasks);

#endif
