# SPDX-License-Identifier: GPL-2.0-or-later
bin_PROGRAMS += gate/kmemtrace-gate
GATE_RULE_SOURCES = \
	gate/rule.c gate/rule.h gate/rule-private.h \
	gate/rule-clauses.c \
	gate/rule-cursor.c \
	gate/rule-file.c \
	gate/rule-limit.c \
	gate/rule-parser.c \
	gate/rule-unit.c gate/rule-unit.h \
	gate/rule-words.c gate/rule-words.h
gate_kmemtrace_gate_SOURCES = $(GATE_RULE_SOURCES) \
	gate/comparability.c gate/comparability.h \
	gate/gate.h \
	gate/gate-options.c gate/gate-options.h \
	gate/gate-run.c \
	gate/gate-text.c \
	gate/judge.c gate/judge.h \
	gate/junit.c \
	gate/line-text.c gate/line-text.h \
	gate/main.c \
	gate/markdown.c \
	gate/rule-text.c \
	gate/selection.c gate/selection.h \
	gate/verdict.c gate/verdict.h
gate_kmemtrace_gate_LDADD = $(KMT_REPORT_LIBS)
EXTRA_DIST += gate/README.md
