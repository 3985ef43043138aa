/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of a gate. The section RULES of kmemtrace-gate(1) defines their
 * syntax.
 */
#ifndef KMEMTRACE_GATE_RULE_H
#define KMEMTRACE_GATE_RULE_H

#include "gate/rule-unit.h"
#include "gate/rule-words.h"
#include "report/report-options.h"

/* The condition that a rule demands. */
typedef enum {
	KMT_GATE_GROWS, /* the figure grows by at most a limit */
	KMT_GATE_BELOW, /* the figure of the new captures is below an amount */
	KMT_GATE_AT_MOST, /* the figure of the new captures is at most an amount
			   */
	KMT_GATE_NO_NEW_LEAK, /* no leak candidate that the base lacks */
	KMT_GATE_NO_LEAK,     /* no leak candidate */
} KmtGateCondition;

/*
 * The limit of a rule. A figure passes if it is within the share of the base or
 * within the amount. "does not grow" is an amount of 0.
 */
typedef struct {
	gboolean has_percent;
	gboolean has_amount;
	KmtGateNumber percent; /* of the base; only of KMT_GATE_GROWS */
	KmtGateNumber amount;  /* in the unit of the field */
} KmtGateLimit;

/* A dimension of "by" with the glob that selects its lines. */
typedef struct {
	KmtDimension dimension;
	char *glob; /* NULL: all */
} KmtGateSelection;

/* A rule. A string is NULL if the rule lacks its clause. */
typedef struct {
	guint line; /* number of the line in the file */
	char *name; /* unique in the file */
	char *text; /* the rule as written, without its name and comment */
	KmtGateCondition condition;
	const KmtReportField *field; /* NULL: a rule about leak candidates */
	KmtGateLimit limit;
	guint kinds;	    /* bit mask of KmtKind of "of"; 0: all */
	GArray *selections; /* KmtGateSelection of "by"; empty: the sums of the
			     * kinds */
	char *start, *stop; /* as in --time */
	gboolean per_second;
	char *per_mark; /* name of a mark */
	/* Filters of "for", as the options of the report. */
	char *kind, *cpu, *node, *size, *lifetime, *callsite, *module, *cgroup;
} KmtGateRule;

void kmt_gate_rule_free(KmtGateRule *rule);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtGateRule, kmt_gate_rule_free)

/*
 * Parse a line of a rule file. Set *rule to NULL for a line without a rule.
 * Return FALSE with KMT_GATE_RULE_ERROR on error; the message names the word
 * and what is expected. The caller frees the rule.
 */
gboolean kmt_gate_rule_parse(const char *line, KmtGateRule **rule,
			     GError **error);

/*
 * Read a rule file and return its rules (KmtGateRule) in the order of the file.
 * Return NULL if the file cannot be read, has no rule, or has a wrong rule,
 * which the error names with the file and the line. The caller frees the array.
 */
GPtrArray *kmt_gate_rules_read(const char *path, GError **error);

/* Return whether a rule is about leak candidates. */
static inline gboolean kmt_gate_rule_has_leaks(const KmtGateRule *rule)
{
	return rule->condition == KMT_GATE_NO_NEW_LEAK ||
	       rule->condition == KMT_GATE_NO_LEAK;
}

/*
 * Return the value of --by that the rule needs, for example "function,cpu", or
 * NULL for the sums of the kinds. The caller frees the string.
 */
char *kmt_gate_rule_by(const KmtGateRule *rule);
/*
 * Return the value of --time that the rule needs, or NULL for the whole time.
 * The caller frees the string.
 */
char *kmt_gate_rule_time(const KmtGateRule *rule);
/*
 * Describe how a rule is understood: the options of kmemtrace-report that give
 * its lines, and its limit. Names in it may have any bytes. The caller frees
 * the string.
 */
char *kmt_gate_rule_describe(const KmtGateRule *rule);

#endif
