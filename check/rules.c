// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "check/rules.h"

static gboolean is_alloc(const KmtRuleInput *in)
{
	return in->event->event_id == KMEMTRACE_EVENT_ALLOC;
}

static gboolean null_event(const KmtRuleInput *in)
{
	return in->event->event_id == KMEMTRACE_EVENT_NULL;
}

static gboolean size_too_small(const KmtRuleInput *in)
{
	return in->event->event_size < KMEMTRACE_EVENT_SIZE_V1;
}

static gboolean size_differs(const KmtRuleInput *in)
{
	return in->event->event_size != in->file->record_size;
}

static gboolean unknown_event(const KmtRuleInput *in)
{
	return in->event->event_id > KMEMTRACE_EVENT_FREE;
}

static gboolean unknown_type(const KmtRuleInput *in)
{
	return in->event->type_id > KMEMTRACE_TYPE_PAGES;
}

static gboolean null_pointer(const KmtRuleInput *in)
{
	return in->event->ptr == 0;
}

static gboolean nothing_requested(const KmtRuleInput *in)
{
	return is_alloc(in) && in->event->bytes_req == 0;
}

static gboolean too_little_given(const KmtRuleInput *in)
{
	return is_alloc(in) && in->event->bytes_alloc < in->event->bytes_req;
}

static gboolean time_backwards(const KmtRuleInput *in)
{
	return in->previous && in->event->timestamp < in->previous->timestamp;
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
	[KMT_RULE_SIZE_DIFFERS] = {"size-differs",
				   "event_size is not that of the capture",
				   size_differs},
	[KMT_RULE_UNKNOWN_EVENT] = {"unknown-event",
				    "event_id is neither allocation nor free",
				    unknown_event},
	[KMT_RULE_UNKNOWN_TYPE] = {"unknown-type",
				   "type_id is not kmalloc, cache or pages",
				   unknown_type},
	[KMT_RULE_NULL_POINTER] = {"null-pointer", "ptr is 0", null_pointer},
	[KMT_RULE_NOTHING_REQUESTED] = {"nothing-requested",
					"bytes_req of an allocation is 0",
					nothing_requested},
	[KMT_RULE_TOO_LITTLE_GIVEN] = {"too-little-given",
				       "bytes_alloc is below bytes_req",
				       too_little_given},
	[KMT_RULE_TIME_BACKWARDS] = {"time-backwards",
				     "timestamp is below that of the record "
				     "before",
				     time_backwards},
	[KMT_RULE_TRUNCATED_RECORD] = {"truncated-record",
				       "the file ends within a record",
				       truncated_record},
	[KMT_RULE_WRONG_FILE_SIZE] = {"wrong-file-size",
				      "the file has not the size that "
				      "kmemtrace.meta says",
				      wrong_file_size},
	[KMT_RULE_UNREADABLE] = {"unreadable",
				 "the file cannot be read to its end",
				 unreadable},
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
};
