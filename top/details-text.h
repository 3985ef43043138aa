/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The details of one row as lines of text. */
#ifndef KMEMTRACE_TOP_DETAILS_TEXT_H
#define KMEMTRACE_TOP_DETAILS_TEXT_H

#include <stdio.h>

#include "top/text-lines.h"
#include "top/top-view.h"

/* Append the details to a page of lines. All figures have all digits. */
void kmt_top_details_add_lines(const KmtTopDetails *details,
			       KmtTopGrouping grouping, GArray *lines);

/* Print the lines of a page. The caller checks ferror(). */
void kmt_top_text_lines_print(const GArray *lines, FILE *out);

/* Print the details as one JSON document. The caller checks ferror(). */
void kmt_top_details_print_json(const KmtTopDetails *details,
				KmtTopGrouping grouping, FILE *out);

#endif
