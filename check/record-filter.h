/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fast test of the rules of records. The test accepts an ALLOC or FREE record
 * that breaks no rule, and rejects every other record. A rejected record may
 * still be correct: only the functions of rules.c decide whether a record
 * breaks a rule.
 */
#ifndef KMEMTRACE_CHECK_RECORD_FILTER_H
#define KMEMTRACE_CHECK_RECORD_FILTER_H

#include "lib/input/name-tables.h"

/* log2 of the size of KmtKnownNumbers. */
#define KMT_KNOWN_NUMBER_BITS 10

/* Number of caches that a filter stores. */
#define KMT_KNOWN_CACHES 256

/*
 * Numbers that were found in a table, at the index of their hash. 0 is always
 * known, because it means the idle task, or no stack.
 */
typedef struct {
	guint32 numbers[1 << KMT_KNOWN_NUMBER_BITS];
} KmtKnownNumbers;

/* The properties of a file on which the test depends. */
typedef struct {
	const KmtInputTables *tables;
	guint32 first_head; /* head of an ALLOC of type 0; see record-filter.c
			     */
	guint32 last_head;  /* largest head of an ALLOC or FREE, less first_head
			     */
	guint stride;	    /* distance of the records in bytes */
	gboolean has_owners;
	gboolean checks_caches, checks_tasks, checks_stacks;
	/* Results of searches in the tables, which take longer. A cache is at
	 * the index of its number modulo the size. */
	KmtKnownNumbers tasks, stacks;
	KmtInputCache caches[KMT_KNOWN_CACHES];
} KmtRecordFilter;

/* Initialise a filter for the records of file. tables must outlive it. */
void kmt_record_filter_init(KmtRecordFilter *filter,
			    const KmtInputCpuFile *file,
			    const KmtInputTables *tables);

/*
 * Return the first rejected record of those from next to end, or end if there
 * is none. The records have the byte order of this host. *time is the timestamp
 * of the last usable record before next, G_MININT64 if there is none; the
 * function sets it to that of the last accepted record.
 */
const guint8 *kmt_record_filter_skip(KmtRecordFilter *filter,
				     const guint8 *next, const guint8 *end,
				     gint64 *time);

#endif
