// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "check/record-filter.h"
#include "lib/input/record-head.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

KmtRecordFilter *kmt_record_filter_new(const KmtInputCapture *capture,
				       const KmtInputTables *tables)
{
	KmtRecordFilter *filter = g_new0(KmtRecordFilter, 1);

	filter->tables = tables;
	filter->first_head = kmt_input_first_head(capture->record_size);
	filter->last_head = kmt_input_last_head(capture->record_size);
	filter->stride = capture->record_size;
	filter->tests = (KmtRecordTests){
		.owners = kmt_input_capture_has_owners(capture),
		.caches = kmt_input_tables_has_caches(tables),
		.tasks = capture->complete &&
			 kmt_input_tables_has_all_tasks(tables),
		.stacks = kmt_input_capture_has_stacks(capture) &&
			  kmt_input_tables_has_stacks(tables)};
	kmt_number_set_init(&filter->tasks);
	kmt_number_set_init(&filter->stacks);
	return filter;
}

void kmt_record_filter_free(KmtRecordFilter *filter)
{
	kmt_number_set_clear(&filter->tasks);
	kmt_number_set_clear(&filter->stacks);
	g_free(filter);
}

/* Return whether the cache of a record fits, regardless of the clock tolerance.
 */
static inline gboolean is_right_cache(const KmtRecordFilter *filter,
				      const KmtInputRawOwnerEvent *event,
				      gboolean is_free)
{
	const KmtInputCache *cache =
		&filter->caches[event->cache % KMT_KNOWN_CACHES];

	return event->v1.timestamp >= cache->created &&
	       event->v1.timestamp <= cache->destroyed &&
	       event->cache == cache->number &&
	       (is_free | ((event->v1.bytes_req <= cache->object_size) &
			   (event->v1.bytes_alloc == cache->size)));
}

/* Test the rules of the owner fields and of the stack. */
static ALWAYS_INLINE gboolean is_right_owner(const KmtRecordFilter *filter,
					     KmtRecordTests tests,
					     const guint8 *record,
					     gboolean is_free)
{
	const KmtInputRawOwnerEvent *event =
		(const KmtInputRawOwnerEvent *)record;
	const guint unknown_flags = ~KMEMTRACE_FLAGS_V2 |
				    (KMEMTRACE_FLAG_ACCOUNT & -(guint)is_free);

	if (G_UNLIKELY(event->flags & unknown_flags))
		return FALSE;
	if (event->cache != KMEMTRACE_CACHE_NONE &&
	    G_UNLIKELY(
		    event->v1.type_id != KMEMTRACE_TYPE_CACHE ||
		    (tests.caches && !is_right_cache(filter, event, is_free))))
		return FALSE;
	if (tests.tasks &&
	    G_UNLIKELY(!kmt_number_set_contains(&filter->tasks, event->pid)))
		return FALSE;
	return !tests.stacks ||
	       kmt_number_set_contains(
		       &filter->stacks,
		       ((const KmtInputRawStackEvent *)record)->stack);
}

/*
 * Return the first record that the filter does not accept without a search in a
 * table, or end.
 */
static ALWAYS_INLINE const guint8 *skip_known(const KmtRecordFilter *filter,
					      KmtRecordTests tests,
					      const guint8 *next,
					      const guint8 *end, gint64 *time)
{
	const guint32 first_head = filter->first_head;
	const guint32 last_head = filter->last_head;
	const guint stride = filter->stride;
	gint64 now = *time;

	for (; next != end; next += stride) {
		const KmtInputRawEvent *event = (const KmtInputRawEvent *)next;
		guint32 head = kmt_input_record_head(event) - first_head;
		/* The sizes of an ALLOC are 0 < bytes_req <= bytes_alloc. No
		 * branch depends on the event type, because that cannot be
		 * predicted. */
		guint32 right_sizes =
			(event->bytes_req - 1 < event->bytes_alloc) | head;

		if (G_UNLIKELY(head > last_head || head & 0xfe ||
			       !(right_sizes & 1) || !event->ptr ||
			       event->timestamp < now))
			break;
		if (tests.owners &&
		    G_UNLIKELY(!is_right_owner(filter, tests, next, head & 1)))
			break;
		now = event->timestamp;
	}
	*time = now;
	return next;
}

/* The table has a task at any time or never, so the time of the lookup is 0. */
static gboolean learn_task(KmtRecordFilter *filter, guint32 pid)
{
	KmtInputNameConfidence class;

	if (kmt_number_set_contains(&filter->tasks, pid))
		return FALSE;
	kmt_input_tables_task_name(filter->tables, pid, 0, &class);
	if (class == KMT_INPUT_NAME_UNKNOWN)
		return FALSE;
	kmt_number_set_add(&filter->tasks, pid);
	return TRUE;
}

static gboolean learn_stack(KmtRecordFilter *filter, guint32 stack)
{
	guint n;

	if (kmt_number_set_contains(&filter->stacks, stack) ||
	    !kmt_input_tables_stack(filter->tables, stack, &n))
		return FALSE;
	kmt_number_set_add(&filter->stacks, stack);
	return TRUE;
}

static gboolean learn_cache(KmtRecordFilter *filter, guint number)
{
	KmtInputCache *known = &filter->caches[number % KMT_KNOWN_CACHES];
	const KmtInputCache *cache;

	if (known->number == number)
		return FALSE;
	cache = kmt_input_tables_cache(filter->tables, number);
	if (cache)
		*known = *cache;
	return cache != NULL;
}

/*
 * Search the tables for the cache, the task, and the stack of a record. Return
 * whether the search added one of them to the filter.
 */
static gboolean learn(KmtRecordFilter *filter, const guint8 *record)
{
	const KmtInputRawOwnerEvent *event =
		(const KmtInputRawOwnerEvent *)record;
	gboolean found = FALSE;

	if (!filter->tests.owners)
		return FALSE;
	if (filter->tests.caches)
		found |= learn_cache(filter, event->cache);
	if (filter->tests.tasks)
		found |= learn_task(filter, event->pid);
	if (filter->tests.stacks)
		found |= learn_stack(
			filter, ((const KmtInputRawStackEvent *)record)->stack);
	return found;
}

/* Call skip_known(), with constants for the usual sets of tests. Without
 * constants, the choice of the tests takes 7 instructions for each record with
 * owner fields. */
static const guint8 *skip_usual(const KmtRecordFilter *filter,
				const guint8 *next, const guint8 *end,
				gint64 *time)
{
	static const KmtRecordTests version_1 = {FALSE},
				    owners = {TRUE, TRUE, TRUE, FALSE},
				    stacks = {TRUE, TRUE, TRUE, TRUE};
	const KmtRecordTests tests = filter->tests;

	if (!tests.owners)
		return skip_known(filter, version_1, next, end, time);
	if (!tests.caches || !tests.tasks)
		return skip_known(filter, tests, next, end, time);
	return tests.stacks ? skip_known(filter, stacks, next, end, time)
			    : skip_known(filter, owners, next, end, time);
}

const guint8 *kmt_record_filter_skip(KmtRecordFilter *filter,
				     const guint8 *next, const guint8 *end,
				     gint64 *time)
{
	do
		next = skip_usual(filter, next, end, time);
	while (next != end && learn(filter, next));
	return next;
}
