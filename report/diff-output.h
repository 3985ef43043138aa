/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of a comparison in all formats. The caller checks ferror(out). */
#ifndef KMEMTRACE_REPORT_DIFF_OUTPUT_H
#define KMEMTRACE_REPORT_DIFF_OUTPUT_H

#include "report/diff.h"

/* Print the comparison in the format of its plan, which writes no file. */
void kmt_diff_print(const KmtDiff *diff, FILE *out);

/*
 * Compare the captures and write the page of --html, whose plan @report has.
 * The page shows the first capture of @new and the comparison. The captures and
 * @program are as in kmt_diff_read(). Append the warnings of the comparison
 * (char *) to @warnings, which frees them. Return FALSE on error.
 */
gboolean kmt_diff_write_page(KmtCaptureReport *report, const char *const *base,
			     const char *const *new, const char *program,
			     GPtrArray *warnings, GError **error);

/* Print a JSON document of the format "kmemtrace-diff". */
void kmt_diff_json(const KmtDiff *diff, FILE *out);

/* Print one CSV record for each line, with all fields. */
void kmt_diff_csv(const KmtDiff *diff, FILE *out);

/*
 * Print folded stacks with two values, the base and the new one, of the first
 * field: the format that difffolded.pl writes and flamegraph.pl reads.
 */
void kmt_diff_folded(const KmtDiff *diff, FILE *out);

/*
 * Return the lines (const KmtDiffLine *) that the output contains: all, or with
 * --lines those that the list of any field shows. The order is that of
 * diff->lines. The caller owns the array.
 */
GPtrArray *kmt_diff_shown_lines(const KmtDiff *diff);

#endif
