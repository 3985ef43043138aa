// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "gate/rule-unit.h"

#include <string.h>

/* Largest number of digits, so that a product with 100 fits into 64 bits. */
#define MAX_DIGITS 15

static const struct {
	const char *name;
	KmtGateUnit unit;
	gboolean has_moment;
} field_units[] = {
	{"wasted", KMT_GATE_UNIT_BYTES, FALSE},
	{"frag", KMT_GATE_UNIT_SHARE, FALSE},
	{"requested", KMT_GATE_UNIT_BYTES, FALSE},
	{"allocated", KMT_GATE_UNIT_BYTES, FALSE},
	{"allocs", KMT_GATE_UNIT_COUNT, FALSE},
	{"frees", KMT_GATE_UNIT_COUNT, FALSE},
	{"live", KMT_GATE_UNIT_BYTES, TRUE},
	{"live-objects", KMT_GATE_UNIT_COUNT, TRUE},
	{"live-requested", KMT_GATE_UNIT_BYTES, TRUE},
	{"live-wasted", KMT_GATE_UNIT_BYTES, TRUE},
	{"live-frag", KMT_GATE_UNIT_SHARE, TRUE},
	{"reused", KMT_GATE_UNIT_COUNT, FALSE},
	{"peak", KMT_GATE_UNIT_BYTES, FALSE},
	/* A moment is neither large nor small. */
	{"peak-time", KMT_GATE_UNIT_NONE, FALSE},
	{"at-peak", KMT_GATE_UNIT_BYTES, FALSE},
	{"cross-cpu", KMT_GATE_UNIT_COUNT, FALSE},
	{"remote-node", KMT_GATE_UNIT_COUNT, FALSE},
	{"lifetime-median", KMT_GATE_UNIT_TIME, FALSE},
	{"lifetime-p99", KMT_GATE_UNIT_TIME, FALSE},
	{"age-median", KMT_GATE_UNIT_TIME, TRUE},
	{"churn", KMT_GATE_UNIT_COUNT, FALSE},
	{"deferred", KMT_GATE_UNIT_BYTES, TRUE},
	{"deferred-objects", KMT_GATE_UNIT_COUNT, TRUE},
	{"deferred-peak", KMT_GATE_UNIT_BYTES, FALSE},
	{"deferred-at-peak", KMT_GATE_UNIT_BYTES, FALSE},
	{"deferred-frees", KMT_GATE_UNIT_COUNT, FALSE},
	{"deferred-median", KMT_GATE_UNIT_TIME, FALSE},
	{"deferred-p99", KMT_GATE_UNIT_TIME, FALSE},
	{"deferred-max", KMT_GATE_UNIT_TIME, FALSE},
	{"deferred-age-median", KMT_GATE_UNIT_TIME, TRUE},
	{"deferred-age-max", KMT_GATE_UNIT_TIME, TRUE},
};

static const struct {
	KmtGateUnit unit;
	const char *suffix;
	guint64 factor;
} suffixes[] = {
	{KMT_GATE_UNIT_BYTES, "", 1},
	{KMT_GATE_UNIT_BYTES, "B", 1},
	{KMT_GATE_UNIT_BYTES, "KiB", 1 << 10},
	{KMT_GATE_UNIT_BYTES, "MiB", 1 << 20},
	{KMT_GATE_UNIT_BYTES, "GiB", 1 << 30},
	{KMT_GATE_UNIT_COUNT, "", 1},
	{KMT_GATE_UNIT_TIME, "ns", 1},
	{KMT_GATE_UNIT_TIME, "us", 1000},
	{KMT_GATE_UNIT_TIME, "ms", 1000000},
	{KMT_GATE_UNIT_TIME, "s", 1000000000},
};

static gsize find(const KmtReportField *field)
{
	const char *name = kmt_report_field_name(field);
	gsize i;

	for (i = 0; i < G_N_ELEMENTS(field_units); i++)
		if (strcmp(field_units[i].name, name) == 0)
			break;
	return i;
}

KmtGateUnit kmt_gate_unit_of(const KmtReportField *field)
{
	gsize i = find(field);

	return i < G_N_ELEMENTS(field_units) ? field_units[i].unit
					     : KMT_GATE_UNIT_NONE;
}

gboolean kmt_gate_field_has_moment(const KmtReportField *field)
{
	gsize i = find(field);

	return i < G_N_ELEMENTS(field_units) && field_units[i].has_moment;
}

gboolean kmt_gate_field_has_rate(const KmtReportField *field)
{
	return kmt_report_field_is_count(field) &&
	       !kmt_report_field_is_state(field);
}

const char *kmt_gate_number_parse(const char *text, KmtGateNumber *number)
{
	gboolean in_decimals = FALSE;
	guint n = 0;

	if (!g_ascii_isdigit(*text))
		return NULL;
	*number = (KmtGateNumber){.divisor = 1, .factor = 1};
	for (; g_ascii_isdigit(*text) ||
	       (*text == '.' && !in_decimals && g_ascii_isdigit(text[1]));
	     text++) {
		if (*text == '.') {
			in_decimals = TRUE;
			continue;
		}
		if (++n > MAX_DIGITS)
			return NULL;
		number->digits =
			number->digits * 10 + (guint)g_ascii_digit_value(*text);
		if (in_decimals)
			number->divisor *= 10;
	}
	return text;
}

gboolean kmt_gate_number_set_suffix(KmtGateNumber *number, KmtGateUnit unit,
				    const char *suffix)
{
	gsize i;

	for (i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		if (suffixes[i].unit != unit ||
		    strcmp(suffixes[i].suffix, suffix) != 0)
			continue;
		number->factor = suffixes[i].factor;
		return TRUE;
	}
	return FALSE;
}

const char *kmt_gate_unit_suffixes(KmtGateUnit unit)
{
	switch (unit) {
	case KMT_GATE_UNIT_BYTES:
		return "B, KiB, MiB or GiB";
	case KMT_GATE_UNIT_TIME:
		return "ns, us, ms or s";
	default:
		return "no unit";
	}
}

long double kmt_gate_number_value(const KmtGateNumber *number)
{
	return (long double)number->digits * (long double)number->factor /
	       (long double)number->divisor;
}
