/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judges a comparison by a rule. */
#ifndef KMEMTRACE_GATE_JUDGE_H
#define KMEMTRACE_GATE_JUDGE_H

#include "gate/verdict.h"

/*
 * Judge the lines of @diff that @verdict->rule selects, at a one-sided error
 * rate for all lines of the rule together. @diff has the dimensions, the time,
 * and the filters of the rule, and its field.
 */
void kmt_gate_judge(KmtGateVerdict *verdict, const KmtDiff *diff,
		    double error_rate);

#endif
