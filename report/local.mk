# SPDX-License-Identifier: GPL-2.0-or-later
bin_PROGRAMS += report/kmemtrace-report
REPORT_SOURCES = \
	report/aggregate.c report/aggregate.h \
	report/asked.c \
	report/books.h \
	report/columns.c report/columns.h \
	report/cross.c report/cross.h \
	report/csv.c \
	report/dimension.c report/dimension.h \
	report/field.c report/field.h \
	report/filter.c report/filter.h \
	report/folded.c \
	report/groups.c report/groups.h \
	report/histogram.c report/histogram.h \
	report/index.c report/index.h \
	report/json.c \
	report/leaks.c report/leaks.h \
	report/ledger.c report/ledger.h \
	report/loss.c \
	report/marklist.c report/marklist.h \
	report/options.c report/options.h \
	report/phases.c report/phases.h \
	report/plain.c \
	report/report.c report/report.h \
	report/scale.c report/scale.h \
	report/table.c report/table.h \
	report/tally.c report/tally.h \
	report/text.c report/text.h \
	report/text-asked.c \
	report/text-groups.c \
	report/totals.c report/totals.h
report_kmemtrace_report_SOURCES = $(REPORT_SOURCES) report/main.c
report_kmemtrace_report_LDADD = symbols/libsymbols.a cli/libcli.a \
	trace/libtrace.a $(LIBDW_LIBS) $(KMT_TRACE_LIBS)
