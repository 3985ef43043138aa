/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules that a capture has to keep.  Those of one file are a function each;
 * those across files are what the matcher tells (lib/match/matcher.h).
 */
#ifndef KMEMTRACE_CHECK_RULES_H
#define KMEMTRACE_CHECK_RULES_H

#include "lib/input/capture.h"
#include "lib/input/mark-reader.h"
#include "lib/input/name-tables.h"

typedef enum {
	/* What a record breaks of these tells that its other fields mean
	 * nothing: the first one is told, and no other rule is tried. */
	KMT_RULE_NULL_EVENT,
	KMT_RULE_SIZE_TOO_SMALL,
	KMT_RULE_SIZE_DIFFERS,
	KMT_RULE_UNKNOWN_EVENT,
	KMT_RULE_UNKNOWN_TYPE,
	KMT_N_FATAL_RULES,

	KMT_RULE_NULL_POINTER = KMT_N_FATAL_RULES,
	KMT_RULE_NOTHING_REQUESTED,
	KMT_RULE_TOO_LITTLE_GIVEN,
	KMT_RULE_TIME_BACKWARDS,
	KMT_RULE_LOST_NOTHING,
	KMT_RULE_LOST_TIME,
	/* Of records that have an owner; none that tells of a loss has. */
	KMT_RULE_UNKNOWN_CACHE,
	KMT_RULE_WRONG_CACHE,
	KMT_RULE_UNKNOWN_TASK,
	KMT_RULE_UNKNOWN_FLAG,
	KMT_RULE_UNKNOWN_STACK,
	KMT_N_RECORD_RULES,

	/* Of a whole file. */
	KMT_RULE_TRUNCATED_RECORD = KMT_N_RECORD_RULES,
	KMT_RULE_WRONG_FILE_SIZE,
	KMT_RULE_UNREADABLE,
	KMT_RULE_LOST_TOO_MUCH,
	KMT_N_FILE_RULES,

	/* Of marks, as KmtInputMarkDefect. */
	KMT_RULE_MARK_STRAY = KMT_N_FILE_RULES,
	KMT_RULE_MARK_SHORT,
	KMT_RULE_MARK_SIZE,
	KMT_RULE_UNKNOWN_MARK,
	KMT_RULE_MARK_VALUES,
	KMT_N_MARK_RULES,

	/* Across files. */
	KMT_RULE_DOUBLE_ALLOCATION = KMT_N_MARK_RULES,
	KMT_RULE_UNMATCHED_FREE,
	KMT_RULE_MISMATCHED_FREE,
	KMT_N_RULES
} KmtRuleId;

/* What a rule judges.  event is NULL for the rules of a whole file. */
typedef struct {
	const KmtInputCpuFile *file;
	const struct kmemtrace_event *event;
	/* The usable one before it (no fatal rule broken), or NULL. */
	const struct kmemtrace_event *previous;
	/* Of event; NULL: it has none. */
	const KmtInputRecordOwner *owner;
	guint32 stack; /* likewise; KMEMTRACE_STACK_NONE if there is none */
	const KmtInputTables *tables;
	gint64 tolerance_ns; /* of the clocks of different CPUs */
	guint64 lost;	     /* that the records of the file tell of */
} KmtRuleInput;

typedef struct {
	const char *name;
	const char *description;
	/* NULL for the rules of marks and those across files. */
	gboolean (*broken)(const KmtRuleInput *input);
} KmtRule;

extern const KmtRule kmt_rules[KMT_N_RULES];

#endif
