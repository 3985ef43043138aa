/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the records of perf.data consist of: each event chooses it. */
#ifndef KMEMTRACE_IMPORT_PERFLAYOUT_H
#define KMEMTRACE_IMPORT_PERFLAYOUT_H

#include "import/bytes.h"
#include "import/perfdata.h"

typedef struct PerfLayouts PerfLayouts;

/* Of the n_bytes of the file: the list of events there. */
PerfLayouts *perf_layouts_new(const guint8 *file, gsize n_bytes, guint64 offset,
			      guint64 size, guint64 step, GError **error);
void perf_layouts_free(PerfLayouts *layouts);

/* What is behind the header of a sample.  FALSE: it is too short. */
gboolean perf_layouts_sample(const PerfLayouts *layouts, KmtBytes body,
			     PerfEntry *entry);

/* Time and CPU, which are the end of any other record, if it has them. */
void perf_layouts_trailer(const PerfLayouts *layouts, KmtBytes body,
			  PerfEntry *entry);

#endif
