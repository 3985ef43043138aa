/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks a capture against the rules and collects the errors. */
#ifndef KMEMTRACE_CHECK_CHECK_H
#define KMEMTRACE_CHECK_CHECK_H

#include <stdio.h>

#include "check/rules.h"
#include "lib/input/tag-table.h"
#include "lib/match/matcher.h"

/*
 * One error: record number @index of @file breaks @rule. For an error of the
 * whole file, @index is the file's n_records.
 */
typedef struct {
	KmtRuleId rule;
	const KmtInputCpuFile *file;
	guint64 index;
	/*
	 * The preceding record: for the rules of records, files and marks, the
	 * record before @index in the file; for a double allocation or a
	 * mismatch, the allocation of the object that was live; for the other
	 * rules across files, the last earlier record of the same address and
	 * namespace in merged order. NULL: none.
	 */
	const KmtInputCpuFile *before_file;
	guint64 before_index;
} KmtError;

/* The result of checking a capture. */
typedef struct {
	const KmtInputCapture *capture; /* not owned */
	gboolean across_files; /* the rules across files were checked */
	gint64 tolerance_ns;
	guint64 max_errors; /* limit of stored errors for each rule */
	guint64 counts[KMT_N_RULES];
	guint64 total;	/* sum of counts */
	GArray *errors; /* KmtError, without those of unusable files */
	guint64 kept[KMT_N_RULES]; /* number of errors of each rule in @errors
				    */
	guint64 *usable;	   /* number of usable records of each file */
	GPtrArray *notes; /* char *: kmt_match_merge_notes(); empty unless
			   * @across_files */
	KmtMatchFindings findings; /* all findings of the matcher, including
				    * those that are no errors; 0 unless
				    * @across_files */
	KmtInputTables *tables;
	KmtInputTagTable *tags;
	gboolean has_marks;
	gboolean has_defers;  /* the capture has DEFER records */
	KmtInputMarks *marks; /* NULL: the capture has no usable mark */
} KmtCheck;

/*
 * Check @capture, including the rules across files if @across_files is set.
 * At most @max_errors errors of each rule are stored. No file may be a stream,
 * and @capture must outlive the result. The function never fails; if memory is
 * exhausted, the process ends. The caller frees the result.
 */
KmtCheck *kmt_check_new(const KmtInputCapture *capture, gboolean across_files,
			gint64 tolerance_ns, guint64 max_errors);
void kmt_check_free(KmtCheck *check);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCheck, kmt_check_free)

/* Return whether the file has records, but each record breaks a fatal rule. */
gboolean kmt_check_is_unusable(const KmtCheck *check,
			       const KmtInputCpuFile *file);

/*
 * Return warnings (char *) about lost and missing events, limits of the
 * recording, clocks, defective tables, marks that were not checked, and files
 * that may not belong together; an empty array if there are none. The caller
 * frees the array with g_ptr_array_unref().
 */
GPtrArray *kmt_check_warnings(const KmtCheck *check);

/* Print the result to @out. The caller checks ferror(out) for write errors. */
void kmt_check_text(const KmtCheck *check, FILE *out);
void kmt_check_json(const KmtCheck *check, FILE *out);

#endif
