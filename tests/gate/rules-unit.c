// SPDX-License-Identifier: GPL-2.0-or-later
/* The parser of rules: every form of a rule, and every error. */
#include "config.h"

#include "gate/rule.h"

#include <string.h>

static KmtGateRule *parse(const char *line)
{
	g_autoptr(GError) error = NULL;
	KmtGateRule *rule = NULL;
	gboolean ok = kmt_gate_rule_parse(line, &rule, &error);

	g_assert_no_error(error);
	g_assert_true(ok);
	g_assert_nonnull(rule);
	return rule;
}

static void assert_by(const KmtGateRule *rule, const char *by)
{
	g_autofree char *text = kmt_gate_rule_by(rule);

	g_assert_cmpstr(text, ==, by);
}

static void assert_time(const KmtGateRule *rule, const char *time)
{
	g_autofree char *text = kmt_gate_rule_time(rule);

	g_assert_cmpstr(text, ==, time);
}

static const char *glob(const KmtGateRule *rule, guint i)
{
	return g_array_index(rule->selections, KmtGateSelection, i).glob;
}

static double value(const KmtGateNumber *number)
{
	return (double)kmt_gate_number_value(number);
}

static void test_growth(void)
{
	g_autoptr(KmtGateRule) rule =
		parse("live at mark:booted, by directory, grows by at most "
		      "1.5 % or 64 KiB  # the patch is small");

	g_assert_cmpint(rule->condition, ==, KMT_GATE_GROWS);
	g_assert_cmpstr(kmt_report_field_name(rule->field), ==, "live");
	g_assert_null(rule->name);
	g_assert_cmpstr(rule->text, ==,
			"live at mark:booted, by directory, grows by at most "
			"1.5 % or 64 KiB");
	assert_by(rule, "directory");
	assert_time(rule, ",booted");
	g_assert_null(glob(rule, 0));
	g_assert_true(rule->limit.has_percent);
	g_assert_true(rule->limit.has_amount);
	g_assert_cmpuint(rule->limit.percent.digits, ==, 15);
	g_assert_cmpuint(rule->limit.percent.divisor, ==, 10);
	g_assert_cmpfloat(value(&rule->limit.amount), ==, 65536);
}

static void test_bounds(void)
{
	g_autoptr(KmtGateRule) below =
		parse("  small 2: wasted by module \"x y#\" below 200KiB");
	g_autoptr(KmtGateRule) most = parse("frag of slab is at most 12.5%");
	g_autoptr(KmtGateRule) stays =
		parse("lifetime-p99 by callsite stays below 2 ms");

	g_assert_cmpint(below->condition, ==, KMT_GATE_BELOW);
	g_assert_cmpstr(below->name, ==, "small 2");
	g_assert_cmpstr(below->text, ==,
			"wasted by module \"x y#\" below 200KiB");
	g_assert_cmpstr(glob(below, 0), ==, "x y#");
	g_assert_cmpfloat(value(&below->limit.amount), ==, 204800);
	g_assert_false(below->limit.has_percent);
	g_assert_cmpint(most->condition, ==, KMT_GATE_AT_MOST);
	g_assert_cmpuint(most->kinds, ==, 1U << KMT_KIND_SLAB);
	g_assert_cmpfloat(value(&most->limit.amount), ==, 0.125);
	assert_by(most, NULL);
	g_assert_cmpint(stays->condition, ==, KMT_GATE_BELOW);
	g_assert_cmpfloat(value(&stays->limit.amount), ==, 2e6);
}

static void test_clauses(void)
{
	g_autoptr(KmtGateRule) rate =
		parse("allocs per second by cache from mark:a to mark:b, "
		      "grows by at most 10%");
	g_autoptr(KmtGateRule) mark =
		parse("requested per mark:iteration does not grow");
	g_autoptr(KmtGateRule) filters =
		parse("live of pages and vmalloc for module ext4 and size "
		      "64-4096 by function x* and cpu, node, grows by at most "
		      "1 GiB");
	g_autoptr(KmtGateRule) points =
		parse("live-frag of cache by function,cache grows by at most 2 "
		      "points");

	g_assert_true(rate->per_second);
	assert_time(rate, "a,b");
	assert_by(rate, "cache");
	g_assert_false(rate->limit.has_amount);
	g_assert_cmpstr(mark->per_mark, ==, "iteration");
	g_assert_cmpint(mark->condition, ==, KMT_GATE_GROWS);
	g_assert_cmpfloat(value(&mark->limit.amount), ==, 0);
	g_assert_cmpuint(filters->kinds, ==,
			 1U << KMT_KIND_PAGES | 1U << KMT_KIND_VMALLOC);
	g_assert_cmpstr(filters->module, ==, "ext4");
	g_assert_cmpstr(filters->size, ==, "64-4096");
	assert_by(filters, "function,cpu,node");
	g_assert_cmpstr(glob(filters, 0), ==, "x*");
	g_assert_null(glob(filters, 1));
	assert_by(points, "function,cache");
	g_assert_cmpfloat(value(&points->limit.amount), ==, 0.02);
}

static void test_leaks(void)
{
	g_autoptr(KmtGateRule) new = parse("no new leak candidate");
	g_autoptr(KmtGateRule) none = parse(
		"no leak candidates by cache of cache from 0.5 to 1500ms");

	g_assert_cmpint(new->condition, ==, KMT_GATE_NO_NEW_LEAK);
	g_assert_null(new->field);
	assert_by(new, "callsite");
	assert_time(new, NULL);
	g_assert_cmpint(none->condition, ==, KMT_GATE_NO_LEAK);
	assert_by(none, "cache");
	assert_time(none, "0.5,1500ms");
}

static void test_no_rule(void)
{
	static const char *const lines[] = {"", " \t\r", "# live", "  # live",
					    ", ,"};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(lines); i++) {
		KmtGateRule *rule = (KmtGateRule *)&rule;

		g_assert_true(kmt_gate_rule_parse(lines[i], &rule, NULL));
		g_assert_null(rule);
	}
}

/* Rules with an error, and a part of the message. */
static const char *const wrong[][2] = {
	{"live", "the rule ends: expected a clause"},
	{"alive grows", "'alive': expected \"no\" or a figure"},
	{"name:", "the rule ends: expected \"no\" or a figure"},
	{"peak-time below 1 s", "'peak-time': expected a figure that can"},
	{"\"no\" new leak candidate", "'no': expected \"no\" or a figure"},
	{"no old leak candidate", "'old': expected \"no new leak"},
	{"no new leak", "'leak': expected \"no new leak"},
	{"no leak candidate below 3", "'below': expected a clause or the end"},
	{"live shrinks", "'shrinks': expected a clause"},
	{"live is above 3", "'above': expected a clause"},
	{"live grows by 3 KiB", "'grows': expected a clause"},
	{"live below", "the rule ends: expected a number with B, KiB"},
	{"live below much", "'much': expected a number with B, KiB"},
	{"live below 3 KB", "'KB': expected a number with B, KiB"},
	{"live below 3KB", "'3KB': expected a number with B, KiB"},
	{"live below 3 %", "'%': expected a number with B, KiB"},
	{"live below -3", "'-3': expected a number"},
	{"live below 1234567890123456", "expected a number"},
	{"live grows by at most 1 MB", "'MB': expected a number with % or B"},
	{"live grows by at most 1 % or", "the rule ends: expected a number"},
	{"live grows by at most 1 % or 2 %", "two numbers of one kind"},
	{"live grows by at most 1 or 2", "two numbers of one kind"},
	{"live below 3 or 4", "'or': expected"},
	{"live below 3 KiB or 4", "'or': expected the end of the rule"},
	{"allocs below 3 KiB", "'KiB': expected a number with no unit"},
	{"lifetime-p99 below 3", "'3': expected a number with ns, us"},
	{"frag below 3", "'3': expected a number with %"},
	{"frag below 3 points", "'points': expected a number with %"},
	{"frag grows by at most 3", "expected a number with % (of the base)"},
	{"peak at mark:x below 3", "at: the figure depends on all events"},
	{"no leak candidate at mark:x", "at: leak candidates depend"},
	{"live at below 3", "'below': expected a moment"},
	{"live at mark:, below 3", "'mark:': expected mark:NAME"},
	{"live at mark: below 3", "'below': expected \"no\" or a figure"},
	{": live below 3", "the rule begins with a colon"},
	{"live at \"a,b\" below 3", "'a,b': expected a moment without a comma"},
	{"live at 1 to 2 below 3", "'to': expected another clause"},
	{"live at 1x below 3", "--time ',1x': not START,STOP"},
	{"live from 3 to 2 below 3", "--time: STOP is before START"},
	{"live by below 3", "'below': expected a dimension"},
	{"live by folder below 3", "'folder': expected a dimension"},
	{"live by cpu by cpu below 3", "by: the rule has this clause twice"},
	{"live by cpu and below 3", "'below': expected a dimension"},
	{"live by cpu and cpu below 3", "'cpu': expected a dimension that"},
	{"live of cache by module below 3", "of: these dimensions do not"},
	{"live of memory below 3", "'memory': expected a kind"},
	{"live of slab and below 3", "'below': expected a kind"},
	{"live for owner x below 3", "'owner': expected a filter"},
	{"live for module below 3", "'below': expected a value"},
	{"live for cpu 0 and cpu 1 below 3", "'cpu': expected another clause"},
	{"live for size x below 3", "--size 'x': not"},
	{"live per second below 3", "per: expected a figure that is a sum"},
	{"no leak candidate per second", "per: expected a figure"},
	{"allocs per minute below 3", "'minute': expected second or mark:NAME"},
	{"allocs per mark:, below 3", "'mark:': expected second or mark:NAME"},
	{"allocs per second per second below 3", "per: the rule has"},
	{"no leak candidate for lifetime 1ms-", "--lifetime: not with"},
	{"live by module \"x below 3", "a quote is not closed"},
};

static void test_errors(void)
{
	guint i;

	for (i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_autoptr(GError) error = NULL;
		KmtGateRule *rule = NULL;

		g_test_message("%s", wrong[i][0]);
		g_assert_false(kmt_gate_rule_parse(wrong[i][0], &rule, &error));
		g_assert_error(error, KMT_GATE_RULE_ERROR,
			       KMT_GATE_RULE_ERROR_SYNTAX);
		g_test_message("%s", error->message);
		g_assert_nonnull(strstr(error->message, wrong[i][1]));
		g_assert_null(rule);
	}
}

/* Random words are a rule, no rule, or an error with a message. */
static void test_random(void)
{
	static const char *const words[] = {
		"live",	   "allocs", "frag",   "no",	"new",	"leak",
		"at",	   "most",   "mark:a", "by",	"cpu",	"function,kind",
		"of",	   "slab",   "cache",  "for",	"size", "1-2",
		"per",	   "second", "grows",  "1",	"%",	"or",
		"2KiB",	   "below",  "does",   "not",	"grow", "\"",
		"\"x y\"", ",",	     "#",      "name:", "and",	"candidate",
		"to",	   "from",   "points", "is",	"",	"\xff",
	};
	guint i, n;

	for (i = 0; i < 20000; i++) {
		g_autoptr(GString) line = g_string_new(NULL);
		g_autoptr(GError) error = NULL;
		KmtGateRule *rule = NULL;

		for (n = g_test_rand_int_range(0, 12); n; n--)
			g_string_append_printf(line, "%s%s",
					       words[g_test_rand_int_range(
						       0, G_N_ELEMENTS(words))],
					       g_test_rand_bit() ? " " : ", ");
		if (!kmt_gate_rule_parse(line->str, &rule, &error)) {
			g_assert_nonnull(error);
			g_assert_null(rule);
		}
		kmt_gate_rule_free(rule);
	}
}

/* A new field of the report needs a unit here. */
static void test_units(void)
{
	g_autofree char *text = kmt_report_field_names();
	g_auto(GStrv) names = g_strsplit(text, ", ", -1);
	guint i;

	for (i = 0; names[i]; i++) {
		const KmtReportField *field = kmt_report_field_find(names[i]);

		g_test_message("%s", names[i]);
		g_assert_true((kmt_gate_unit_of(field) == KMT_GATE_UNIT_NONE) ==
			      (strcmp(names[i], "peak-time") == 0));
		g_assert_false(kmt_gate_field_has_moment(field) &&
			       !kmt_report_field_is_state(field));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/rules/growth", test_growth);
	g_test_add_func("/rules/bounds", test_bounds);
	g_test_add_func("/rules/clauses", test_clauses);
	g_test_add_func("/rules/leaks", test_leaks);
	g_test_add_func("/rules/no-rule", test_no_rule);
	g_test_add_func("/rules/errors", test_errors);
	g_test_add_func("/rules/random", test_random);
	g_test_add_func("/rules/units", test_units);
	return g_test_run();
}
