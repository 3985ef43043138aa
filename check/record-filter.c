// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "check/record-filter.h"
#include "lib/input/namespace.h"

/* A record with owner fields, which may have any alignment. */
typedef struct kmemtrace_event_v2 RawOwnerEvent __attribute__((aligned(1)));

/*
 * Return the first four bytes of a record as a number: event_id, type_id, and
 * event_size.
 */
static inline guint32 head_of(const guint8 *record)
{
	guint32 head;

	memcpy(&head, record, sizeof(head));
	return GUINT32_FROM_LE(head);
}

void kmt_record_filter_init(KmtRecordFilter *filter,
			    const KmtInputCpuFile *file,
			    const KmtInputTables *tables)
{
	const KmtInputCapture *capture = file->capture;
	const struct kmemtrace_event first = {
		.event_id = KMEMTRACE_EVENT_ALLOC,
		.event_size = (guint16)file->record_size};

	memset(filter, 0, sizeof(*filter));
	filter->tables = tables;
	filter->first_head = head_of((const guint8 *)&first);
	filter->last_head = kmt_input_last_type(file->record_size) << 8 | 1;
	filter->stride = file->record_size;
	filter->has_owners = kmt_input_capture_has_owners(capture);
	filter->checks_caches = kmt_input_tables_has_caches(tables);
	filter->checks_tasks =
		capture->complete && kmt_input_tables_has_all_tasks(tables);
	filter->checks_stacks = kmt_input_capture_has_stacks(capture) &&
				kmt_input_tables_has_stacks(tables);
}

/* Return the index of the number n in KmtKnownNumbers. */
static inline guint known_index(guint32 n)
{
	return n * 0x9e3779b1u >> (32 - KMT_KNOWN_NUMBER_BITS);
}

/* Look up a task in the table. Whether the table has a task does not depend on
 * the time. */
static G_GNUC_NO_INLINE gboolean find_task(KmtRecordFilter *filter, guint32 pid)
{
	KmtInputNameConfidence class;

	kmt_input_tables_task_name(filter->tables, pid, 0, &class);
	if (class == KMT_INPUT_NAME_UNKNOWN)
		return FALSE;
	filter->tasks.numbers[known_index(pid)] = pid;
	return TRUE;
}

static G_GNUC_NO_INLINE gboolean find_stack(KmtRecordFilter *filter,
					    guint32 stack)
{
	guint n;

	if (stack != KMEMTRACE_STACK_NONE &&
	    !kmt_input_tables_stack(filter->tables, stack, &n))
		return FALSE;
	filter->stacks.numbers[known_index(stack)] = stack;
	return TRUE;
}

static G_GNUC_NO_INLINE gboolean find_cache(KmtRecordFilter *filter,
					    guint number)
{
	const KmtInputCache *cache =
		kmt_input_tables_cache(filter->tables, number);

	if (!cache)
		return FALSE;
	filter->caches[number % KMT_KNOWN_CACHES] = *cache;
	return TRUE;
}

/* Return whether the cache of a record fits, regardless of the clock tolerance.
 */
static inline gboolean is_right_cache(KmtRecordFilter *filter,
				      const RawOwnerEvent *event,
				      gboolean is_free)
{
	const guint number = event->cache;
	const KmtInputCache *cache = &filter->caches[number % KMT_KNOWN_CACHES];

	if (event->v1.type_id != KMEMTRACE_TYPE_CACHE)
		return FALSE;
	if (!filter->checks_caches)
		return TRUE;
	if (G_UNLIKELY(cache->number != number) && !find_cache(filter, number))
		return FALSE;
	return event->v1.timestamp >= cache->created &&
	       event->v1.timestamp <= cache->destroyed &&
	       (is_free | ((event->v1.bytes_req <= cache->object_size) &
			   (event->v1.bytes_alloc == cache->size)));
}

/* Test the rules of the owner fields and of the stack. */
static inline gboolean is_right_owner(KmtRecordFilter *filter,
				      const guint8 *record, gboolean is_free)
{
	const RawOwnerEvent *event = (const RawOwnerEvent *)record;
	const guint32 pid = event->pid;
	const guint unknown_flags = ~KMEMTRACE_FLAGS_V2 |
				    (KMEMTRACE_FLAG_ACCOUNT & -(guint)is_free);

	if (G_UNLIKELY(event->flags & unknown_flags))
		return FALSE;
	if (event->cache != KMEMTRACE_CACHE_NONE &&
	    G_UNLIKELY(!is_right_cache(filter, event, is_free)))
		return FALSE;
	if (filter->checks_tasks &&
	    G_UNLIKELY(filter->tasks.numbers[known_index(pid)] != pid) &&
	    !find_task(filter, pid))
		return FALSE;
	if (filter->checks_stacks) {
		guint32 stack = kmt_input_record_stack(record, FALSE);

		return G_LIKELY(filter->stacks.numbers[known_index(stack)] ==
				stack) ||
		       find_stack(filter, stack);
	}
	return TRUE;
}

const guint8 *kmt_record_filter_skip(KmtRecordFilter *filter,
				     const guint8 *next, const guint8 *end,
				     gint64 *time)
{
	const guint32 first_head = filter->first_head;
	const guint32 last_head = filter->last_head;
	const gboolean has_owners = filter->has_owners;
	const guint stride = filter->stride;
	gint64 now = *time;

	for (; next != end; next += stride) {
		const KmtInputRawEvent *event = (const KmtInputRawEvent *)next;
		guint32 head = head_of(next) - first_head;
		/* The sizes of an ALLOC are 0 < bytes_req <= bytes_alloc. No
		 * branch depends on the event type, because that cannot be
		 * predicted. */
		guint32 right_sizes =
			(event->bytes_req - 1 < event->bytes_alloc) | head;

		if (G_UNLIKELY(head > last_head || head & 0xfe ||
			       !(right_sizes & 1) || !event->ptr ||
			       event->timestamp < now))
			break;
		if (has_owners &&
		    G_UNLIKELY(!is_right_owner(filter, next, head & 1)))
			break;
		now = event->timestamp;
	}
	*time = now;
	return next;
}
