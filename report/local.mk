# SPDX-License-Identifier: GPL-2.0-or-later
bin_PROGRAMS += report/kmemtrace-report
report_kmemtrace_report_SOURCES = \
	report/aggregate.c report/aggregate.h \
	report/columns.c report/columns.h \
	report/json.c \
	report/main.c \
	report/report.c report/report.h \
	report/sites.c report/sites.h \
	report/table.c report/table.h \
	report/tally.c report/tally.h \
	report/text.c \
	report/totals.c report/totals.h
report_kmemtrace_report_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
report_kmemtrace_report_LDADD = symbols/libsymbols.a trace/libtrace.a \
	cli/libcli.a $(JSON_LIBS) $(LIBDW_LIBS) $(GLIB_LIBS)
