/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on a rule, with the lines and reasons that it rests on. */
#ifndef KMEMTRACE_GATE_VERDICT_H
#define KMEMTRACE_GATE_VERDICT_H

#include "gate/rule.h"
#include "report/diff.h"

typedef enum {
	KMT_GATE_PASSED,
	KMT_GATE_EXCEEDED,
	KMT_GATE_UNDECIDED,
} KmtGateOutcome;

/* Return "passed", "exceeded", or "cannot be decided". */
const char *kmt_gate_outcome_name(KmtGateOutcome outcome);

/* A line of the comparison, copied for the output. */
typedef struct {
	KmtKind kind;
	char *name;	    /* values of the dimensions; NULL: sum of a kind */
	KmtDiffMatch match; /* SAME for a sum */
	char *guess;	    /* of a REMOVED or ADDED line: the line that may be
			     * the same code, or NULL */
	KmtFigure base, new, difference; /* NONE: unknown */
	double limit;			 /* largest value of @new that passes */
	double p;			 /* p-value of the rule; NAN: no test */
	/* Captures of each side in which the line is a leak candidate. */
	guint base_leaks, new_leaks;
} KmtGateLine;

typedef struct {
	const KmtGateRule *rule;
	KmtGateOutcome outcome;
	guint n_lines;	      /* lines that were judged */
	GPtrArray *lines;     /* KmtGateLine that exceed, the largest excess
			       * first */
	guint n_noise;	      /* lines beyond the limit, but within noise */
	KmtGateLine *nearest; /* if no line exceeds, the line nearest to its
			       * limit; NULL: no line grew */
	GPtrArray *reasons;   /* char *: why the rule cannot be decided */
} KmtGateVerdict;

KmtGateVerdict *kmt_gate_verdict_new(const KmtGateRule *rule);
void kmt_gate_verdict_free(KmtGateVerdict *verdict);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtGateVerdict, kmt_gate_verdict_free)

/*
 * Copy line @line, whose field has @cell. @cell is NULL for leak candidates.
 * The caller frees the result with kmt_gate_line_free().
 */
KmtGateLine *kmt_gate_line_new(const KmtDiff *diff, const KmtDiffLine *line,
			       const KmtDiffCell *cell);
void kmt_gate_line_free(KmtGateLine *line);

/*
 * Add a reason why the rule cannot be decided, unless the verdict has it, and
 * set the outcome. @reason may quote a capture. The function takes ownership of
 * @reason.
 */
void kmt_gate_verdict_add_reason(KmtGateVerdict *verdict, char *reason);

#endif
