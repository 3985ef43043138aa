/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdicts of all rules, and their output. */
#ifndef KMEMTRACE_GATE_GATE_H
#define KMEMTRACE_GATE_GATE_H

#include "gate/gate-options.h"
#include "gate/verdict.h"

#include <stdio.h>

/* A capture, for the output. */
typedef struct {
	char *path;
	char *release;	/* of the kernel, or NULL */
	char *build_id; /* of the kernel, or NULL */
} KmtGateCapture;

typedef struct {
	const KmtGateOptions *options;
	GPtrArray *rules;    /* KmtGateRule */
	GPtrArray *verdicts; /* KmtGateVerdict, in the order of the rules */
	GPtrArray *captures; /* KmtGateCapture: base side first; empty if no
			      * comparison could be made */
	guint n_base, n_new;
	double smallest_rate; /* smallest error rate that the number of captures
			       * allows */
	GPtrArray *warnings;  /* char *, printable */
} KmtGate;

/*
 * Read the captures that @options names and judge them by @rules, of which the
 * result keeps a reference. Return NULL if a capture cannot be read. The caller
 * frees the result.
 */
KmtGate *kmt_gate_run(const KmtGateOptions *options, GPtrArray *rules,
		      GError **error);
void kmt_gate_free(KmtGate *gate);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtGate, kmt_gate_free)

/* Return the number of rules with an outcome. */
guint kmt_gate_count(const KmtGate *gate, KmtGateOutcome outcome);

/* Return whether a rule was judged without a statistical test, because a side
 * has one capture. */
static inline gboolean kmt_gate_lacks_test(const KmtGate *gate)
{
	return gate->n_base < 2 || gate->n_new < 2;
}

/* Print the verdicts. The caller checks ferror(out) for write errors. */
void kmt_gate_text(const KmtGate *gate, FILE *out);
void kmt_gate_junit(const KmtGate *gate, FILE *out);
void kmt_gate_markdown(const KmtGate *gate, FILE *out);

#endif
