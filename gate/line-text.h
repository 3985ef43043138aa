/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that all formats of the verdicts print. The caller frees each string.
 */
#ifndef KMEMTRACE_GATE_LINE_TEXT_H
#define KMEMTRACE_GATE_LINE_TEXT_H

#include "gate/gate.h"

/* Return a figure as a number with its unit; "-" if it is unknown. */
char *kmt_gate_figure_text(const KmtFigure *figure, KmtGateUnit unit);
/* Return the change of a line, with a sign and the percentage of the base. */
char *kmt_gate_change_text(const KmtGateLine *line, KmtGateUnit unit);
/* Return the limit of a line. */
char *kmt_gate_limit_text(const KmtGateLine *line, const KmtGateRule *rule);
/* Return the kind and the name of a line, with its match as a remark. */
char *kmt_gate_name_text(const KmtGateLine *line);

/* Return a line of a verdict as one line of text. */
char *kmt_gate_line_text(const KmtGate *gate, const KmtGateVerdict *verdict,
			 const KmtGateLine *line);
/* Return a verdict in a few words, such as "2 of 34 lines exceed". */
char *kmt_gate_verdict_text(const KmtGateVerdict *verdict);
/* Return how many captures a test with an error rate needs, as advice. */
char *kmt_gate_remedy_text(double rate);
/* Return what is known about noise, for the whole gate. */
char *kmt_gate_noise_text(const KmtGate *gate);
/* Return the numbers of rules with each outcome. */
char *kmt_gate_counts_text(const KmtGate *gate);
/* Return one side as the number of captures and the kernels. */
char *kmt_gate_side_text(const KmtGate *gate, gboolean is_new);

/* Return the number of lines of a verdict that are shown. */
guint kmt_gate_shown_lines(const KmtGate *gate, const KmtGateVerdict *verdict);

#endif
