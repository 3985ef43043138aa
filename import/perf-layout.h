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

typedef struct KmtPerfLayouts KmtPerfLayouts;

/*
 * Create an empty list of events; free it with kmt_perf_layouts_free(), which
 * accepts NULL.
 */
KmtPerfLayouts *kmt_perf_layouts_new(void);
void kmt_perf_layouts_free(KmtPerfLayouts *layouts);

/*
 * Add an event: a struct perf_event_attr of any size, and the event's IDs as an
 * array of u64. file_bytes is the size of the file and bounds the number of
 * IDs. Returns FALSE and sets *error if the event cannot be imported.
 */
gboolean kmt_perf_layouts_add(KmtPerfLayouts *layouts, KmtByteSpan attr,
			      KmtByteSpan ids, gsize file_bytes,
			      GError **error);

/*
 * Finish the list of events. Call the function after the last
 * kmt_perf_layouts_add() and before records are read. Returns FALSE and sets
 * *error if samples of different layouts cannot be distinguished.
 */
gboolean kmt_perf_layouts_finish(KmtPerfLayouts *layouts, GError **error);

/*
 * Return the number of events, and the attributes and the number of IDs of an
 * event. index counts in file order. The attributes belong to layouts.
 */
guint kmt_perf_layouts_count(const KmtPerfLayouts *layouts);
const struct perf_event_attr *
kmt_perf_layouts_attr(const KmtPerfLayouts *layouts, guint index);
guint kmt_perf_layouts_n_ids(const KmtPerfLayouts *layouts, guint index);

/*
 * Return whether both lists belong to one recording, that is, have the same IDs
 * and attributes.
 */
gboolean kmt_perf_layouts_equal(const KmtPerfLayouts *a,
				const KmtPerfLayouts *b);

/*
 * Parse the body of a sample, which begins after the record header. Returns
 * FALSE if the body is too short or its event is not in the list.
 */
gboolean kmt_perf_layouts_sample(const KmtPerfLayouts *layouts,
				 KmtByteSpan body, KmtPerfEntry *entry);

/*
 * Return whether body is a complete sample of a tracepoint. The caller passes
 * the body of a record whose header has another type than PERF_RECORD_SAMPLE:
 * TRUE means that this type is damaged.
 */
gboolean kmt_perf_layouts_is_sample(const KmtPerfLayouts *layouts,
				    KmtByteSpan body);

/*
 * Read the trailer of a record that is not a sample, and set the members time,
 * cpu, and id of *entry. A record without a trailer leaves *entry unchanged.
 */
void kmt_perf_layouts_trailer(const KmtPerfLayouts *layouts, KmtByteSpan body,
			      KmtPerfEntry *entry);

#endif
