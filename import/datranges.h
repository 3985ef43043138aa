/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMEMTRACE_IMPORT_DATRANGES_H
#define KMEMTRACE_IMPORT_DATRANGES_H

#include "import/datfile.h"

/*
 * Refuse a trace.dat in which the pages of two CPUs overlap: the same events
 * would be imported twice.
 */
gboolean dat_ranges_check(const DatFile *dat, GError **error);

#endif
