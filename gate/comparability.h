/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons why the captures of a comparison do not allow a verdict. */
#ifndef KMEMTRACE_GATE_COMPARABILITY_H
#define KMEMTRACE_GATE_COMPARABILITY_H

#include "gate/verdict.h"

/*
 * Add a reason to @verdict for each loss that could have changed the figures of
 * the rule, and for each property in which the recordings differ, except the
 * kernel.
 */
void kmt_gate_check_captures(KmtGateVerdict *verdict, const KmtDiff *diff);

#endif
