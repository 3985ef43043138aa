// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the captures. Rules with the same dimensions, time, filters, and
 * divisor share one comparison, so that each capture is read once for them.
 */
#include "config.h"

#include "gate/gate.h"
#include "gate/judge.h"
#include "lib/base/printable.h"

#include <string.h>

#define PROGRAM "kmemtrace-gate"

/* Rules that share a comparison. */
typedef struct {
	char *by;	  /* NULL: only sums of kinds */
	char *key;	  /* the other options, as one text */
	GPtrArray *rules; /* index of each rule in KmtGate.rules */
} RuleGroup;

static void group_free(gpointer data)
{
	RuleGroup *group = data;

	g_free(group->by);
	g_free(group->key);
	g_ptr_array_unref(group->rules);
	g_free(group);
}

static const char *text(const char *value)
{
	return value ? value : "";
}

/* Return the options that a rule has beside its dimensions. */
static char *key_of(const KmtGateRule *rule)
{
	g_autofree char *time = kmt_gate_rule_time(rule);

	return g_strjoin("\n", text(time), rule->per_second ? "s" : "m",
			 text(rule->per_mark), text(rule->kind),
			 text(rule->cpu), text(rule->node), text(rule->size),
			 text(rule->lifetime), text(rule->callsite),
			 text(rule->module), text(rule->cgroup), NULL);
}

/* Return whether the rule needs only the sums of the kinds, which every
 * comparison has. */
static gboolean fits_dimensions(const RuleGroup *group, const char *by)
{
	return !by || !group->by || strcmp(by, group->by) == 0;
}

/* Return the rules in groups that share a comparison. The caller frees the
 * array. */
static GPtrArray *group_rules(const GPtrArray *rules)
{
	GPtrArray *groups = g_ptr_array_new_with_free_func(group_free);
	guint i, g;

	for (i = 0; i < rules->len; i++) {
		g_autofree char *by = kmt_gate_rule_by(rules->pdata[i]);
		g_autofree char *key = key_of(rules->pdata[i]);
		RuleGroup *group = NULL;

		for (g = 0; g < groups->len && !group; g++) {
			RuleGroup *other = groups->pdata[g];

			if (strcmp(other->key, key) == 0 &&
			    fits_dimensions(other, by))
				group = other;
		}
		if (!group) {
			group = g_new0(RuleGroup, 1);
			group->key = g_steal_pointer(&key);
			group->rules = g_ptr_array_new();
			g_ptr_array_add(groups, group);
		}
		if (!group->by)
			group->by = g_steal_pointer(&by);
		g_ptr_array_add(group->rules, GUINT_TO_POINTER(i));
	}
	return groups;
}

/* ---- comparison of a group ---- */

static KmtGateRule *rule_of(const KmtGate *gate, const RuleGroup *group,
			    guint i)
{
	return gate->rules->pdata[GPOINTER_TO_UINT(group->rules->pdata[i])];
}

/* Return the list of fields of the group. The field allocs, a sum over the
 * time, shows whether files are missing. */
static char *fields_of(const KmtGate *gate, const RuleGroup *group)
{
	GString *names = g_string_new("allocs");
	guint i;

	for (i = 0; i < group->rules->len; i++) {
		const KmtGateRule *rule = rule_of(gate, group, i);

		if (rule->field)
			g_string_append_printf(
				names, ",%s",
				kmt_report_field_name(rule->field));
	}
	return g_string_free(names, FALSE);
}

static gboolean has_leaks(const KmtGate *gate, const RuleGroup *group)
{
	guint i;

	for (i = 0; i < group->rules->len; i++)
		if (kmt_gate_rule_has_leaks(rule_of(gate, group, i)))
			return TRUE;
	return FALSE;
}

/* Set the options of the report from those of the gate and of the rule. The
 * caller owns all strings. */
static void set_options(KmtOptions *o, const KmtGateOptions *gate,
			const KmtGateRule *rule)
{
	o->diff = gate->base;
	o->operands = gate->new;
	o->vmlinux = gate->vmlinux;
	o->debug_dir = gate->debug_dir;
	o->source = gate->source;
	o->base_vmlinux = gate->base_vmlinux;
	o->base_debug_dir = gate->base_debug_dir;
	o->base_source = gate->base_source;
	o->clock_tolerance = gate->clock_tolerance;
	o->jobs = gate->jobs;
	o->quiet = gate->quiet;
	o->kind = rule->kind;
	o->cpu = rule->cpu;
	o->node = rule->node;
	o->size = rule->size;
	o->lifetime = rule->lifetime;
	o->callsite = rule->callsite;
	o->module = rule->module;
	o->cgroup = rule->cgroup;
}

static void describe_captures(KmtGate *gate, const KmtDiff *diff)
{
	guint i;

	if (gate->captures->len)
		return;
	for (i = 0; i < diff->captures->len; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];
		KmtGateCapture *copy = g_new0(KmtGateCapture, 1);

		copy->path = kmt_printable(capture->path);
		copy->release = capture->release
					? kmt_printable(capture->release)
					: NULL;
		copy->build_id = capture->build_id
					 ? kmt_printable(capture->build_id)
					 : NULL;
		g_ptr_array_add(gate->captures, copy);
	}
}

/* Add the warnings of a comparison that no earlier one has. */
static void add_warnings(KmtGate *gate, const KmtDiff *diff)
{
	guint i, n;

	for (i = 0; i < diff->warnings->len; i++) {
		g_autofree char *warning =
			kmt_printable(diff->warnings->pdata[i]);

		for (n = 0; n < gate->warnings->len; n++)
			if (strcmp(gate->warnings->pdata[n], warning) == 0)
				break;
		if (n == gate->warnings->len)
			g_ptr_array_add(gate->warnings,
					g_steal_pointer(&warning));
	}
}

static void judge_group(KmtGate *gate, const RuleGroup *group,
			const KmtDiff *diff)
{
	guint i;

	describe_captures(gate, diff);
	add_warnings(gate, diff);
	for (i = 0; i < group->rules->len; i++) {
		guint n = GPOINTER_TO_UINT(group->rules->pdata[i]);

		kmt_gate_judge(gate->verdicts->pdata[n], diff,
			       gate->options->rate);
	}
}

/* Set the rules of the group to undecided, because a capture lacks what they
 * need, such as a mark. */
static void refuse_group(KmtGate *gate, const RuleGroup *group,
			 const char *reason)
{
	guint i;

	for (i = 0; i < group->rules->len; i++) {
		guint n = GPOINTER_TO_UINT(group->rules->pdata[i]);

		kmt_gate_verdict_add_reason(gate->verdicts->pdata[n],
					    g_strdup(reason));
	}
}

static gboolean run_group(KmtGate *gate, const RuleGroup *group, GError **error)
{
	const KmtGateOptions *options = gate->options;
	const KmtGateRule *rule = rule_of(gate, group, 0);
	g_autofree char *fields = fields_of(gate, group);
	g_autofree char *time = kmt_gate_rule_time(rule);
	g_autofree char *per =
		rule->per_second ? g_strdup("second")
		: rule->per_mark ? g_strconcat("mark:", rule->per_mark, NULL)
				 : NULL;
	KmtOptions o = {
		.by = group->by ? group->by : (char *)"kind",
		.fields = fields,
		.time = time,
		.per = per,
		.leaks = has_leaks(gate, group),
	};
	g_autoptr(KmtCaptureReport) report = NULL;
	g_autoptr(KmtDiff) diff = NULL;
	g_autoptr(GError) cause = NULL;

	set_options(&o, options, rule);
	report = kmt_capture_report_new(&o, error);
	if (!report)
		return FALSE;
	diff = kmt_diff_read(report, (const char *const *)options->base,
			     (const char *const *)options->new,
			     options->quiet ? NULL : PROGRAM, &cause);
	if (diff) {
		judge_group(gate, group, diff);
		return TRUE;
	}
	if (cause->domain != G_OPTION_ERROR) {
		g_propagate_error(error, g_steal_pointer(&cause));
		return FALSE;
	}
	refuse_group(gate, group, cause->message);
	return TRUE;
}

/* ---- the gate ---- */

static void capture_free(gpointer data)
{
	KmtGateCapture *capture = data;

	g_free(capture->path);
	g_free(capture->release);
	g_free(capture->build_id);
	g_free(capture);
}

static double smallest_rate(const KmtGate *gate)
{
	g_autoptr(KmtDiffSplits) splits =
		kmt_diff_splits_new(gate->n_base, gate->n_new);

	return kmt_diff_splits_smallest_p(splits, FALSE);
}

/* Return FALSE with an error if a path is a pipe. */
static gboolean refuse_pipes(char **paths, GError **error)
{
	struct stat status;

	for (; *paths; paths++) {
		if (!kmt_diff_is_pipe(*paths, &status))
			continue;
		g_set_error(error, KMT_INPUT_ERROR, KMT_INPUT_ERROR_READ,
			    "%s: a pipe can be read only once, but these rules "
			    "need several passes: store the capture in a file",
			    *paths);
		return FALSE;
	}
	return TRUE;
}

KmtGate *kmt_gate_run(const KmtGateOptions *options, GPtrArray *rules,
		      GError **error)
{
	g_autoptr(KmtGate) gate = g_new0(KmtGate, 1);
	g_autoptr(GPtrArray) groups = group_rules(rules);
	guint i;

	gate->options = options;
	gate->rules = g_ptr_array_ref(rules);
	gate->verdicts = g_ptr_array_new_with_free_func(
		(GDestroyNotify)kmt_gate_verdict_free);
	gate->captures = g_ptr_array_new_with_free_func(capture_free);
	gate->warnings = g_ptr_array_new_with_free_func(g_free);
	gate->n_base = g_strv_length(options->base);
	gate->n_new = g_strv_length(options->new);
	gate->smallest_rate = smallest_rate(gate);
	for (i = 0; i < rules->len; i++)
		g_ptr_array_add(gate->verdicts,
				kmt_gate_verdict_new(rules->pdata[i]));
	if (groups->len > 1 && (!refuse_pipes(options->base, error) ||
				!refuse_pipes(options->new, error)))
		return NULL;
	for (i = 0; i < groups->len; i++)
		if (!run_group(gate, groups->pdata[i], error))
			return NULL;
	return g_steal_pointer(&gate);
}

void kmt_gate_free(KmtGate *gate)
{
	if (!gate)
		return;
	g_ptr_array_unref(gate->rules);
	g_ptr_array_unref(gate->verdicts);
	g_ptr_array_unref(gate->captures);
	g_ptr_array_unref(gate->warnings);
	g_free(gate);
}
