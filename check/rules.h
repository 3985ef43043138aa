/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of a correct capture. Each rule of records or files has a function
 * that checks it; the mark reader (lib/input/mark-reader.h) checks the rules of
 * marks, and the matcher (lib/match/matcher.h) the rules across files.
 */
#ifndef KMEMTRACE_CHECK_RULES_H
#define KMEMTRACE_CHECK_RULES_H

#include "lib/input/capture.h"
#include "lib/input/mark-reader.h"
#include "lib/input/name-tables.h"

/* The rules, ordered by the code that checks them. */
typedef enum {
	/* Fatal rules: a record that breaks one of them is unusable. Only the
	 * first rule that the record breaks is reported, and the record is not
	 * checked against other rules. */
	KMT_RULE_NULL_EVENT,
	KMT_RULE_SIZE_TOO_SMALL,
	KMT_RULE_SIZE_DIFFERS,
	KMT_RULE_UNKNOWN_EVENT,
	KMT_RULE_UNKNOWN_TYPE,
	KMT_RULE_DEFER_TYPE,
	KMT_N_FATAL_RULES,

	KMT_RULE_NULL_POINTER = KMT_N_FATAL_RULES,
	KMT_RULE_NOTHING_REQUESTED,
	KMT_RULE_TOO_LITTLE_GIVEN,
	KMT_RULE_TIME_BACKWARDS,
	KMT_RULE_LOST_NOTHING,
	KMT_RULE_LOST_TIME,
	/* Rules of the owner fields (cache, pid, flags) and of the stack. A
	 * record of lost events has none of these fields. */
	KMT_RULE_UNKNOWN_CACHE,
	KMT_RULE_WRONG_CACHE,
	KMT_RULE_UNKNOWN_TASK,
	KMT_RULE_UNKNOWN_FLAG,
	KMT_RULE_UNKNOWN_STACK,
	KMT_N_RECORD_RULES,

	/* Rules of a file. */
	KMT_RULE_TRUNCATED_RECORD = KMT_N_RECORD_RULES,
	KMT_RULE_WRONG_FILE_SIZE,
	KMT_RULE_UNREADABLE,
	KMT_RULE_LOST_TOO_MUCH,
	KMT_RULE_UNLISTED_FILE,
	KMT_N_FILE_RULES,

	/* Rules of marks, in the order of KmtInputMarkDefect. */
	KMT_RULE_MARK_STRAY = KMT_N_FILE_RULES,
	KMT_RULE_MARK_SHORT,
	KMT_RULE_MARK_SIZE,
	KMT_RULE_UNKNOWN_MARK,
	KMT_RULE_MARK_VALUES,
	KMT_N_MARK_RULES,

	/* Rules across files. */
	KMT_RULE_DOUBLE_ALLOCATION = KMT_N_MARK_RULES,
	KMT_RULE_UNMATCHED_FREE,
	KMT_RULE_MISMATCHED_FREE,
	KMT_RULE_UNMATCHED_DEFER,
	KMT_RULE_DOUBLE_DEFER,
	KMT_N_RULES
} KmtRuleId;

/* The input of a rule. The rules of a file use no field of a record. */
typedef struct {
	const KmtInputCpuFile *file;
	/* The record: its fields of version 1, its owner fields if has_owner,
	 * and its stack or KMEMTRACE_STACK_NONE. */
	struct kmemtrace_event event;
	gboolean has_owner;
	KmtInputRecordOwner owner;
	guint32 stack;
	/* Timestamp of the last usable record before the record; G_MININT64 if
	 * there is none. */
	gint64 previous_time;
	const KmtInputTables *tables;
	gint64 tolerance_ns; /* assumed largest difference of the clocks of two
			      * CPUs, ns */
	guint64 lost;	     /* lost events that the usable records of the
			      * file report so far, saturated */
} KmtRuleInput;

/*
 * Set the fields of *input that come from a record. The record has the byte
 * order of this host.
 */
void kmt_rule_input_read(KmtRuleInput *input, const guint8 *record);

/*
 * A rule: its name and description in the output, and the function that checks
 * it.
 */
typedef struct {
	const char *name;
	const char *description;
	/* NULL for the rules of marks and the rules across files. */
	gboolean (*broken)(const KmtRuleInput *input);
} KmtRule;

/* All rules, indexed by KmtRuleId. */
extern const KmtRule kmt_rules[KMT_N_RULES];

/*
 * Return whether a rule concerns DEFER records. The output lists such a rule
 * only if the capture has such records.
 */
gboolean kmt_rule_is_of_defers(KmtRuleId rule);

#endif
