/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds a capture against the rules and collects what breaks them.
 */
#ifndef KMEMTRACE_CHECK_CHECK_H
#define KMEMTRACE_CHECK_CHECK_H

#include <stdio.h>

#include "check/rules.h"
#include "lib/match/matcher.h"

/* One error.  index is n_records of the file where it is about no record. */
typedef struct {
	KmtRuleId rule;
	const KmtInputCpuFile *file;
	guint64 index;
	/*
	 * For the rules of a file the record before; across files the last one
	 * of the same address, for a mismatch its allocation.  NULL: none.
	 */
	const KmtInputCpuFile *before_file;
	guint64 before_index;
} KmtError;

typedef struct {
	const KmtInputCapture *capture; /* not owned */
	gboolean across;		/* the rules across files were tried */
	gint64 tolerance_ns;
	guint64 max_errors; /* kept of each rule */
	guint64 counts[KMT_N_RULES];
	guint64 total;		   /* sum of counts */
	GArray *errors;		   /* of KmtError; none of unusable files */
	guint64 kept[KMT_N_RULES]; /* how many of each are in errors */
	guint64 *usable;  /* records of each file that break no fatal rule */
	GPtrArray *notes; /* of char *: what kmt_match_merge_notes() tells */
	KmtMatchFindings findings; /* of all classes, errors or not */
	KmtInputTables *tables;
	gboolean has_marks;
	KmtInputMarks *marks; /* NULL: there are none */
} KmtCheck;

/* Never fails; memory that runs out ends the program, as everywhere in GLib. */
KmtCheck *kmt_check_new(const KmtInputCapture *capture, gboolean across,
			gint64 tolerance_ns, guint64 max_errors);
void kmt_check_free(KmtCheck *check);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCheck, kmt_check_free)

/* Whether a file has records, but only such as break a fatal rule. */
gboolean kmt_check_is_unusable(const KmtCheck *check,
			       const KmtInputCpuFile *file);

/*
 * What is to be known about lost events, as sentences; empty if nothing was
 * lost.  Free with g_ptr_array_unref().
 */
GPtrArray *kmt_check_loss(const KmtCheck *check);

/* Print to out, in which errors stick (ferror()). */
void kmt_check_text(const KmtCheck *check, FILE *out);
void kmt_check_json(const KmtCheck *check, FILE *out);

#endif
