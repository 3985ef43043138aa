# SPDX-License-Identifier: GPL-2.0-or-later
GATE_RULE_SOURCES = \
	gate/rule.c gate/rule.h gate/rule-private.h \
	gate/rule-clauses.c \
	gate/rule-limit.c \
	gate/rule-parser.c \
	gate/rule-unit.c gate/rule-unit.h \
	gate/rule-words.c gate/rule-words.h
EXTRA_DIST += gate/README.md
