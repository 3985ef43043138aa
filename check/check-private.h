/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of kmt_check_new(). */
#ifndef KMEMTRACE_CHECK_CHECK_PRIVATE_H
#define KMEMTRACE_CHECK_CHECK_PRIVATE_H

#include "check/check.h"

/* ---- check/check-errors.c ---- */

/* Count n errors of a rule, without storing them. */
void kmt_check_count_errors(KmtCheck *check, KmtRuleId rule, guint64 n);
/* Store an error that was counted already. Return NULL if max_errors errors of
 * the rule are stored already. The result is valid until the next call. */
KmtError *kmt_check_store_error(KmtCheck *check, KmtRuleId rule,
				const KmtInputCpuFile *file, guint64 index);
/* Count and store an error whose preceding record is the record before index.
 */
void kmt_check_add_file_error(KmtCheck *check, KmtRuleId rule,
			      const KmtInputCpuFile *file, guint64 index);
/* Remove the stored errors from index from on. check->counts still counts them.
 */
void kmt_check_drop_errors(KmtCheck *check, guint from);

/* ---- check/check-files.c ---- */

/* Check the rules of records, files, and marks, with a thread per processor. */
void kmt_check_files(KmtCheck *check);

/* ---- check/check-across.c ---- */

/* Check the rules across files. */
void kmt_check_across(KmtCheck *check);

#endif
