/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fast test of the rules of records. The test accepts an ALLOC or FREE record
 * that breaks no rule, and rejects every other record. A rejected record may
 * still be correct: only the functions of rules.c decide whether a record
 * breaks a rule.
 */
#ifndef KMEMTRACE_CHECK_RECORD_FILTER_H
#define KMEMTRACE_CHECK_RECORD_FILTER_H

#include "check/number-set.h"
#include "lib/input/name-tables.h"

/* Number of caches that a filter stores. */
#define KMT_KNOWN_CACHES 256

/* The tests that the records of a capture need in addition to those of the
 * fields of version 1. */
typedef struct {
	gboolean owners; /* the owner fields */
	/* The table has the cache, the task, and the stack of a record. */
	gboolean caches, tasks, stacks;
} KmtRecordTests;

/* The properties of a capture on which the test depends. */
typedef struct {
	const KmtInputTables *tables;
	guint32 first_head, last_head; /* see lib/input/record-head.h */
	guint stride;		       /* distance of the records in bytes */
	KmtRecordTests tests;
	/* Results of searches in the tables, which take longer. A cache is at
	 * the index of its number modulo the size. */
	KmtNumberSet tasks, stacks;
	KmtInputCache caches[KMT_KNOWN_CACHES];
} KmtRecordFilter;

/*
 * Create a filter for the records of a capture. tables must outlive the filter.
 * The caller frees the filter.
 */
KmtRecordFilter *kmt_record_filter_new(const KmtInputCapture *capture,
				       const KmtInputTables *tables);
void kmt_record_filter_free(KmtRecordFilter *filter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtRecordFilter, kmt_record_filter_free)

/*
 * Return the first record from next to end that the filter rejects, or end if
 * there is none. The records have the byte order of this host. *time is the
 * timestamp of the last usable record before next, G_MININT64 if there is none;
 * the function sets it to that of the last accepted record.
 */
const guint8 *kmt_record_filter_skip(KmtRecordFilter *filter,
				     const guint8 *next, const guint8 *end,
				     gint64 *time);

#endif
