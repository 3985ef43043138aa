/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of a comparison that a rule judges. */
#ifndef KMEMTRACE_GATE_SELECTION_H
#define KMEMTRACE_GATE_SELECTION_H

#include "gate/verdict.h"

/*
 * Return the lines (const KmtDiffLine *) that @rule selects by its kinds and
 * globs; without "by", the sums of the kinds. The caller frees the array, which
 * owns no line.
 */
GPtrArray *kmt_gate_select(const KmtGateRule *rule, const KmtDiff *diff);

/*
 * Add a reason to the verdict if a dimension of the rule is unknown in a whole
 * capture, for example the directory without debug information.
 */
void kmt_gate_check_names(KmtGateVerdict *verdict, const KmtDiff *diff);

/* Return whether the function of a call site or stack in the line is unknown,
 * so that the line cannot match in another build. */
gboolean kmt_gate_is_unnamed(const KmtDiff *diff, const KmtDiffLine *line);

#endif
