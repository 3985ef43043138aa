// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "check/rules.h"
#include "lib/input/namespace.h"

void kmt_rule_input_read(KmtRuleInput *input, const guint8 *record)
{
	const KmtInputCapture *capture = input->file->capture;
	struct kmemtrace_event *event = &input->event;

	memcpy(event, record, sizeof(*event));
	if (event->event_id == KMEMTRACE_EVENT_FREE ||
	    kmt_input_is_defer(event, capture))
		kmt_input_clear_free_fields(event);
	input->stack = KMEMTRACE_STACK_NONE;
	input->has_owner = kmt_input_capture_has_owners(capture) &&
			   !kmt_input_is_loss(event, input->file->record_size);
	if (!input->has_owner)
		return;
	kmt_input_record_owner(record, FALSE, &input->owner);
	if (kmt_input_capture_has_stacks(capture))
		input->stack = kmt_input_record_stack(record, FALSE);
}

static gboolean is_lost(const KmtRuleInput *in)
{
	return kmt_input_is_loss(&in->event, in->file->record_size);
}

static gboolean is_stop(const KmtRuleInput *in)
{
	return kmt_input_is_stop(&in->event, in->file->record_size);
}

static gboolean is_mark(const KmtRuleInput *in)
{
	return kmt_input_is_mark(&in->event, in->file->record_size);
}

static gboolean is_defer(const KmtRuleInput *in)
{
	return kmt_input_is_defer(&in->event, in->file->capture);
}

static gboolean is_alloc(const KmtRuleInput *in)
{
	return in->event.event_id == KMEMTRACE_EVENT_ALLOC;
}

static gboolean null_event(const KmtRuleInput *in)
{
	return in->event.event_id == KMEMTRACE_EVENT_NULL;
}

static gboolean size_too_small(const KmtRuleInput *in)
{
	return in->event.event_size < KMEMTRACE_EVENT_SIZE_V1;
}

static gboolean size_differs(const KmtRuleInput *in)
{
	return in->event.event_size != in->file->record_size;
}

static gboolean unknown_event(const KmtRuleInput *in)
{
	return in->event.event_id > KMEMTRACE_EVENT_FREE && !is_lost(in) &&
	       !is_stop(in) && !is_mark(in) && !is_defer(in);
}

static gboolean unknown_type(const KmtRuleInput *in)
{
	return in->event.type_id > kmt_input_last_type(in->file->record_size) &&
	       !is_mark(in);
}

static gboolean wrong_defer_type(const KmtRuleInput *in)
{
	return is_defer(in) && !kmt_input_is_defer_type(in->event.type_id);
}

static gboolean null_pointer(const KmtRuleInput *in)
{
	return in->event.ptr == 0 && !is_lost(in) && !is_stop(in) &&
	       !is_mark(in);
}

static gboolean nothing_requested(const KmtRuleInput *in)
{
	return is_alloc(in) && in->event.bytes_req == 0;
}

static gboolean too_little_given(const KmtRuleInput *in)
{
	return is_alloc(in) && in->event.bytes_alloc < in->event.bytes_req;
}

static gboolean time_backwards(const KmtRuleInput *in)
{
	return in->event.timestamp < in->previous_time;
}

/* An imported record of a loss has 0 events if the number is unknown. */
static gboolean lost_nothing(const KmtRuleInput *in)
{
	return is_lost(in) && kmt_input_loss_events(&in->event) == 0 &&
	       !in->file->capture->imported;
}

static gboolean lost_time(const KmtRuleInput *in)
{
	gint64 since;

	if (!is_lost(in))
		return FALSE;
	since = kmt_input_loss_since(&in->event);
	return since > in->event.timestamp || since < in->previous_time;
}

/* Return the table entry of the cache that the record names. Return NULL if the
 * record names no cache, if its memory is no cache object, or if the table is
 * missing, invalid or lacks the cache. */
static const KmtInputCache *find_cache(const KmtRuleInput *in)
{
	if (!in->has_owner || in->owner.cache == KMEMTRACE_CACHE_NONE ||
	    in->event.type_id != KMEMTRACE_TYPE_CACHE ||
	    !kmt_input_tables_has_caches(in->tables))
		return NULL;
	return kmt_input_tables_cache(in->tables, in->owner.cache);
}

static gboolean unknown_cache(const KmtRuleInput *in)
{
	if (!in->has_owner || in->owner.cache == KMEMTRACE_CACHE_NONE)
		return FALSE;
	return in->event.type_id != KMEMTRACE_TYPE_CACHE ||
	       (kmt_input_tables_has_caches(in->tables) && !find_cache(in));
}

/* Return whether @a is earlier than @b by more than the tolerance. */
static gboolean is_beyond(gint64 a, gint64 b, gint64 tolerance_ns)
{
	return a < b && (guint64)b - (guint64)a > (guint64)tolerance_ns;
}

/* If the kernel merged several slab caches into one, cache->object_size is the
 * largest of their object sizes. */
static gboolean wrong_cache(const KmtRuleInput *in)
{
	const KmtInputCache *cache = find_cache(in);
	gint64 time = in->event.timestamp;

	if (!cache)
		return FALSE;
	if (is_alloc(in) && (in->event.bytes_req > cache->object_size ||
			     in->event.bytes_alloc != cache->size))
		return TRUE;
	return is_beyond(time, cache->created, in->tolerance_ns) ||
	       is_beyond(cache->destroyed, time, in->tolerance_ns);
}

/*
 * A capture that was cut off may lack the names of later tasks, so this rule
 * does not apply to it.
 */
static gboolean unknown_task(const KmtRuleInput *in)
{
	KmtInputNameConfidence class;

	if (!in->has_owner || !in->file->capture->complete ||
	    !kmt_input_tables_has_all_tasks(in->tables))
		return FALSE;
	kmt_input_tables_task_name(in->tables, in->owner.pid,
				   in->event.timestamp, &class);
	return class == KMT_INPUT_NAME_UNKNOWN;
}

static gboolean unknown_flag(const KmtRuleInput *in)
{
	guint known = KMEMTRACE_FLAGS_V2;

	if (!in->has_owner)
		return FALSE;
	if (!is_alloc(in))
		known &= ~KMEMTRACE_FLAG_ACCOUNT;
	return (in->owner.flags & ~known) != 0;
}

static gboolean unknown_stack(const KmtRuleInput *in)
{
	guint n;

	return in->stack != KMEMTRACE_STACK_NONE &&
	       kmt_input_tables_has_stacks(in->tables) &&
	       !kmt_input_tables_stack(in->tables, in->stack, &n);
}

/* Fewer reported losses than overruns are no error, because no record reports a
 * loss after the last record. */
static gboolean lost_too_much(const KmtRuleInput *in)
{
	return in->file->has_overruns && in->lost > in->file->overruns;
}

static gboolean truncated_record(const KmtRuleInput *in)
{
	return in->file->truncated_bytes != 0;
}

static gboolean wrong_file_size(const KmtRuleInput *in)
{
	return in->file->has_expected_size &&
	       in->file->size != in->file->expected_size;
}

static gboolean unlisted_file(const KmtRuleInput *in)
{
	return in->file->is_unlisted;
}

static gboolean unreadable(const KmtRuleInput *in)
{
	return in->file->defect != NULL;
}

const KmtRule kmt_rules[KMT_N_RULES] = {
	[KMT_RULE_NULL_EVENT] = {"null-event",
				 "event_id is 0, which is never written",
				 null_event},
	[KMT_RULE_SIZE_TOO_SMALL] = {"size-too-small",
				     "event_size is below the 56 bytes of the "
				     "smallest record",
				     size_too_small},
	[KMT_RULE_SIZE_DIFFERS] =
		{"size-differs",
		 "event_size differs from the record size of the capture",
		 size_differs},
	[KMT_RULE_UNKNOWN_EVENT] = {"unknown-event",
				    "event_id is neither allocation nor free, "
				    "nor a deferred free, a loss, a stop or a "
				    "mark",
				    unknown_event},
	[KMT_RULE_UNKNOWN_TYPE] = {"unknown-type",
				   "type_id is not defined in this version",
				   unknown_type},
	[KMT_RULE_DEFER_TYPE] = {"defer-type",
				 "a deferred free is not of kmalloc, cache, or "
				 "vmalloc memory",
				 wrong_defer_type},
	[KMT_RULE_NULL_POINTER] = {"null-pointer", "ptr is 0", null_pointer},
	[KMT_RULE_NOTHING_REQUESTED] = {"nothing-requested",
					"bytes_req of an allocation is 0",
					nothing_requested},
	[KMT_RULE_TOO_LITTLE_GIVEN] = {"too-little-given",
				       "bytes_alloc is below bytes_req",
				       too_little_given},
	[KMT_RULE_TIME_BACKWARDS] =
		{"time-backwards",
		 "timestamp is lower than in the preceding record",
		 time_backwards},
	[KMT_RULE_LOST_NOTHING] = {"lost-nothing",
				   "a record of lost events has a count of 0",
				   lost_nothing},
	[KMT_RULE_LOST_TIME] =
		{"lost-time",
		 "the loss is not between the preceding record and this record",
		 lost_time},
	[KMT_RULE_UNKNOWN_CACHE] = {"unknown-cache",
				    "cache is not in the table of caches, or "
				    "the memory is not a cache object",
				    unknown_cache},
	[KMT_RULE_WRONG_CACHE] = {"wrong-cache",
				  "the cache has another object size, or did "
				  "not exist at that time",
				  wrong_cache},
	[KMT_RULE_UNKNOWN_TASK] = {"unknown-task",
				   "pid is not in the table of tasks",
				   unknown_task},
	[KMT_RULE_UNKNOWN_FLAG] =
		{"unknown-flag",
		 "flags has a bit that is undefined, or undefined for a free",
		 unknown_flag},
	[KMT_RULE_UNKNOWN_STACK] = {"unknown-stack",
				    "stack is not in the table of stacks",
				    unknown_stack},
	[KMT_RULE_LOST_TOO_MUCH] =
		{"lost-too-much",
		 "records report more lost events than kmemtrace.meta",
		 lost_too_much},
	[KMT_RULE_UNLISTED_FILE] = {"unlisted-file",
				    "kmemtrace.meta does not list the CPU of "
				    "the file",
				    unlisted_file},
	[KMT_RULE_TRUNCATED_RECORD] = {"truncated-record",
				       "the file ends within a record",
				       truncated_record},
	[KMT_RULE_WRONG_FILE_SIZE] =
		{"wrong-file-size", "the file size differs from kmemtrace.meta",
		 wrong_file_size},
	[KMT_RULE_UNREADABLE] = {"unreadable",
				 "the file cannot be read to its end",
				 unreadable},
	[KMT_RULE_MARK_STRAY] =
		{"mark-stray", "a continuation record does not follow its mark",
		 NULL},
	[KMT_RULE_MARK_SHORT] = {"mark-short", "records of a mark are missing",
				 NULL},
	[KMT_RULE_MARK_SIZE] = {"mark-size",
				"payload_size of a mark does not match its "
				"number of records, or is too large",
				NULL},
	[KMT_RULE_UNKNOWN_MARK] = {"unknown-mark",
				   "mark is not in the table of marks", NULL},
	[KMT_RULE_MARK_VALUES] =
		{"mark-values",
		 "the payload of a mark does not match its types", NULL},
	[KMT_RULE_DOUBLE_ALLOCATION] = {"double-allocation",
					"memory is allocated that is allocated "
					"already",
					NULL},
	[KMT_RULE_UNMATCHED_FREE] = {"unmatched-free",
				     "memory is freed that is not allocated",
				     NULL},
	[KMT_RULE_MISMATCHED_FREE] = {"mismatched-free",
				      "memory of kmalloc is freed as that of "
				      "a cache, or the other way round",
				      NULL},
	[KMT_RULE_UNMATCHED_DEFER] = {"unmatched-defer",
				      "a deferred free of memory that is not "
				      "allocated",
				      NULL},
	[KMT_RULE_DOUBLE_DEFER] = {"double-defer",
				   "a second deferred free of the same memory",
				   NULL},
};

gboolean kmt_rule_is_of_defers(KmtRuleId rule)
{
	return rule == KMT_RULE_DEFER_TYPE ||
	       rule == KMT_RULE_UNMATCHED_DEFER ||
	       rule == KMT_RULE_DOUBLE_DEFER;
}
