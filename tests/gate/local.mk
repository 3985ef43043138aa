# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/gate/rules-unit
tests_gate_rules_unit_SOURCES = $(GATE_RULE_SOURCES) tests/gate/rules-unit.c
tests_gate_rules_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_gate_rules_unit_LDADD = $(KMT_REPORT_LIBS)
TESTS += tests/gate/rules-unit

KMT_GATE_TESTS = \
	tests/gate/captures.py \
	tests/gate/command-line.py \
	tests/gate/outputs.py \
	tests/gate/random-rules.py \
	tests/gate/verdicts.py
TESTS += $(KMT_GATE_TESTS)
EXTRA_DIST += $(KMT_GATE_TESTS)
