# SPDX-License-Identifier: GPL-2.0-or-later
bin_PROGRAMS += report/kmemtrace-report
REPORT_SOURCES = \
	report/aggregate.c report/aggregate.h \
	report/deferred.c report/deferred.h \
	report/detailed-deferred.c \
	report/detailed-findings.c \
	report/detailed-private.h \
	report/detailed-span.c \
	report/detailed-stats.c \
	report/accounting.h \
	report/capture-symbols.c report/capture-symbols.h \
	report/columns.c report/columns.h \
	report/cross-cpu.c report/cross-cpu.h \
	report/csv.c \
	report/dimension.c report/dimension.h \
	report/field.c report/field.h \
	report/object-filter.c report/object-filter.h \
	report/folded.c \
	report/group-values.c \
	report/groups.c report/groups.h report/groups-private.h \
	report/histogram.c report/histogram.h \
	report/index.c report/index.h \
	report/report-json.c \
	report/report-json-parts.c \
	report/report-json-detailed.c report/report-json-private.h \
	report/leaks.c report/leaks.h \
	report/counters.c report/counters.h \
	report/loss.c \
	report/mark-list.c report/mark-list.h \
	report/report-options.c report/report-options.h \
	report/phases.c report/phases.h \
	report/bar.c report/bar.h \
	report/basic-stats.c \
	report/report.c report/report.h \
	report/scale.c report/scale.h \
	report/table.c report/table.h \
	report/finding-counts.c report/finding-counts.h \
	report/report-text.c report/report-text.h \
	report/report-plan.c report/report-plan-private.h \
	report/report-plan-time.c \
	report/report-text-capture.c \
	report/report-text-cross-cpu.c \
	report/report-text-deferred.c \
	report/report-text-detailed.c \
	report/report-text-findings.c \
	report/report-text-groups.c \
	report/totals.c report/totals.h
report_kmemtrace_report_SOURCES = $(REPORT_SOURCES) report/main.c
report_kmemtrace_report_LDADD = $(KMT_SYMBOLS_LIBS) $(KMT_OUTPUT_LIBS) \
	$(KMT_CLI_LIBS)
EXTRA_DIST += report/README.md
