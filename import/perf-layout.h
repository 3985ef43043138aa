/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parser of the variable parts of a perf record. The event's perf_event_attr
 * selects which parts a record has.
 */
#ifndef KMEMTRACE_IMPORT_PERF_LAYOUT_H
#define KMEMTRACE_IMPORT_PERF_LAYOUT_H

#include <linux/perf_event.h>

#include "import/byte-span.h"
#include "import/perf-data.h"

typedef struct PerfLayouts PerfLayouts;

PerfLayouts *perf_layouts_new(void);
void perf_layouts_free(PerfLayouts *layouts);

/*
 * Add an event: a struct perf_event_attr of any size, and the event's IDs as an
 * array of u64. file_bytes is the size of the file and bounds the number of
 * IDs. Returns FALSE and sets *error if the event cannot be imported.
 */
gboolean perf_layouts_add(PerfLayouts *layouts, KmtByteSpan attr,
			  KmtByteSpan ids, gsize file_bytes, GError **error);

/*
 * Finish the list of events. Call the function after the last
 * perf_layouts_add() and before records are read. Returns FALSE and sets *error
 * if samples of different layouts cannot be distinguished.
 */
gboolean perf_layouts_finish(PerfLayouts *layouts, GError **error);

/*
 * Return the number of events, and the attributes and the number of IDs of an
 * event. index counts in file order. The attributes belong to layouts.
 */
guint perf_layouts_count(const PerfLayouts *layouts);
const struct perf_event_attr *perf_layouts_attr(const PerfLayouts *layouts,
						guint index);
guint perf_layouts_n_ids(const PerfLayouts *layouts, guint index);

/*
 * Return whether both lists belong to one recording, that is, have the same IDs
 * and attributes.
 */
gboolean perf_layouts_equal(const PerfLayouts *a, const PerfLayouts *b);

/*
 * Parse the body of a sample, which begins after the record header. Returns
 * FALSE if the body is too short or its event is not in the list.
 */
gboolean perf_layouts_sample(const PerfLayouts *layouts, KmtByteSpan body,
			     PerfEntry *entry);

/*
 * Return whether body is a complete sample of a tracepoint. A caller uses the
 * function for a record of another type, whose type is then damaged.
 */
gboolean perf_layouts_is_sample(const PerfLayouts *layouts, KmtByteSpan body);

/*
 * Set the time, CPU, and event ID of a record that is not a sample, from the
 * trailer of the record. A record without a trailer leaves *entry unchanged.
 */
void perf_layouts_trailer(const PerfLayouts *layouts, KmtByteSpan body,
			  PerfEntry *entry);

#endif
