/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a record of perf.data, which each event chooses. */
#ifndef KMEMTRACE_IMPORT_PERFLAYOUT_H
#define KMEMTRACE_IMPORT_PERFLAYOUT_H

#include <linux/perf_event.h>

#include "import/byte-span.h"
#include "import/perfdata.h"

typedef struct PerfLayouts PerfLayouts;

PerfLayouts *perf_layouts_new(void);
void perf_layouts_free(PerfLayouts *layouts);

/*
 * Adds an event: a struct perf_event_attr of any size, and the ids of the event
 * as an array of u64.  file_bytes is the size of the file.
 */
gboolean perf_layouts_add(PerfLayouts *layouts, KmtByteSpan attr,
			  KmtByteSpan ids, gsize file_bytes, GError **error);

/* Call this when all events have been added, before records are read. */
gboolean perf_layouts_finish(PerfLayouts *layouts, GError **error);

/* The events, in the order of the file. */
guint perf_layouts_count(const PerfLayouts *layouts);
const struct perf_event_attr *perf_layouts_attr(const PerfLayouts *layouts,
						guint index);
guint perf_layouts_n_ids(const PerfLayouts *layouts, guint index);

/* Whether both are the events of one recording: the same ids and attrs. */
gboolean perf_layouts_equal(const PerfLayouts *a, const PerfLayouts *b);

/*
 * Parse what follows the header of a sample.  FALSE: it is too short, or of an
 * event that is not in the list.
 */
gboolean perf_layouts_sample(const PerfLayouts *layouts, KmtByteSpan body,
			     PerfEntry *entry);

/*
 * Whether the body of a record that claims to be no sample is a whole sample of
 * a tracepoint.  Its type is then damaged.
 */
gboolean perf_layouts_is_sample(const PerfLayouts *layouts, KmtByteSpan body);

/*
 * Sets the time, CPU and id of any other record.  They are the end of the
 * record, if it has them.
 */
void perf_layouts_trailer(const PerfLayouts *layouts, KmtByteSpan body,
			  PerfEntry *entry);

#endif
