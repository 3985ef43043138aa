/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units of the figures that a rule can limit. */
#ifndef KMEMTRACE_GATE_RULE_UNIT_H
#define KMEMTRACE_GATE_RULE_UNIT_H

#include "report/field.h"

typedef enum {
	KMT_GATE_UNIT_NONE, /* a rule cannot limit the figure */
	KMT_GATE_UNIT_BYTES,
	KMT_GATE_UNIT_COUNT, /* objects, events, or events per second */
	KMT_GATE_UNIT_TIME,  /* durations, ns */
	KMT_GATE_UNIT_SHARE, /* from 0 to 1; rules have percent */
} KmtGateUnit;

/* Return the unit of the figures of @field. */
KmtGateUnit kmt_gate_unit_of(const KmtReportField *field);

/*
 * Return whether @field describes one moment, the end of the time of a report,
 * as live does. Other fields depend on all events in that time.
 */
gboolean kmt_gate_field_has_moment(const KmtReportField *field);

/* Return whether a rule can divide @field by seconds or by marks. */
gboolean kmt_gate_field_has_rate(const KmtReportField *field);

/* A decimal number: digits / divisor * factor. */
typedef struct {
	guint64 digits;
	guint64 divisor; /* a power of ten */
	guint64 factor;	 /* of the unit */
} KmtGateNumber;

/*
 * Parse a decimal number without sign, such as "1.5", at the beginning of
 * @text, with factor 1. Return the end of the number in @text, or NULL if there
 * is none or it has too many digits.
 */
const char *kmt_gate_number_parse(const char *text, KmtGateNumber *number);

/*
 * Set number->factor to the factor of a unit suffix, such as "KiB" for
 * KMT_GATE_UNIT_BYTES. An empty suffix is valid for bytes and counts. Return
 * FALSE if @unit has no such suffix.
 */
gboolean kmt_gate_number_set_suffix(KmtGateNumber *number, KmtGateUnit unit,
				    const char *suffix);

/* Return what kmt_gate_number_set_suffix() accepts, for messages. */
const char *kmt_gate_unit_suffixes(KmtGateUnit unit);

/* Return the value of @number in the unit of the figures. */
long double kmt_gate_number_value(const KmtGateNumber *number);

#endif
