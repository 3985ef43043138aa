/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMEMTRACE_IMPORT_DAT_CPU_RANGES_H
#define KMEMTRACE_IMPORT_DAT_CPU_RANGES_H

#include "import/dat-file.h"

/*
 * Check that the ranges of the CPUs in a trace.dat file do not overlap, because
 * overlapping pages would be imported twice. Returns FALSE and sets *error if
 * ranges overlap or a CPU has two ranges in one buffer.
 */
gboolean kmt_dat_ranges_check(const KmtDatFile *dat, GError **error);

#endif
