# SPDX-License-Identifier: GPL-2.0-or-later
bin_PROGRAMS += report/kmemtrace-report
REPORT_SOURCES = \
	report/aggregate.c report/aggregate.h \
	report/arena.c report/arena.h \
	report/best-sizes.c report/best-sizes.h \
	report/deferred.c report/deferred.h \
	report/detailed-counts.c \
	report/detailed-cross.c \
	report/detailed-deferred.c \
	report/detailed-findings.c \
	report/detailed-private.h \
	report/detailed-span.c \
	report/detailed-stats.c \
	report/detailed-steps.c \
	report/accounting.c report/accounting.h \
	report/allocator-memory.c report/allocator-memory.h \
	report/capture-report.c report/capture-report.h \
	report/columns.c report/columns.h \
	report/cross-cpu.c report/cross-cpu.h \
	report/csv.c \
	report/csv-fields.c report/csv-fields.h \
	report/diff-csv.c \
	report/diff-folded.c \
	report/diff-json.c \
	report/diff-lines.c \
	report/diff-noise.c report/diff-noise.h \
	report/diff-print.c report/diff-output.h \
	report/diff-splits.c report/diff-splits.h \
	report/diff.c report/diff.h report/diff-private.h \
	report/diff-align.c report/diff-align.h \
	report/diff-cells.c \
	report/diff-guess.c \
	report/diff-match.c \
	report/diff-location.c report/diff-location.h report/diff-location-match.c \
	report/diff-rows.c \
	report/diff-values.c \
	report/diff-warnings.c \
	report/diff-text.c report/diff-text.h \
	report/diff-text-cells.c \
	report/diff-text-list.c \
	report/dimension.c report/dimension.h \
	report/field.c report/field.h \
	report/figure-arithmetic.c report/figure-arithmetic.h \
	report/object-filter.c report/object-filter.h \
	report/folded.c report/folded-frame.h \
	report/group-values.c \
	report/groups.c report/groups.h report/groups-private.h \
	report/detailed-history.c \
	report/history.c report/history.h \
	report/history-series.c report/history-series.h \
	report/histogram.c report/histogram.h \
	report/html-capture.c \
	report/html-comparison.c \
	report/html-data.c report/html-data.h \
	report/html-findings.c \
	report/html-kinds.c \
	report/html-names.c \
	report/html-private.h \
	report/html-series.c \
	report/html-sites.c \
	report/html-template.c report/html-template.h \
	report/html-tree.c \
	report/report-html.c report/report-html.h \
	report/index.c report/index.h \
	report/report-json.c \
	report/report-json-parts.c \
	report/report-json-detailed.c report/report-json-private.h \
	report/leaks.c report/leaks.h \
	report/counters.c report/counters.h \
	report/loss.c \
	report/mark-list.c report/mark-list.h \
	report/output-file.c report/output-file.h \
	report/report-perfetto.c report/report-perfetto.h \
	report/report-plan-diff.c \
	report/report-plan-file.c \
	report/report-plan-print.c \
	report/report-options.c report/report-options.h \
	report/phases.c report/phases.h \
	report/advice.c report/advice.h report/advice-private.h \
	report/advice-caches.c \
	report/advice-certainty.c \
	report/advice-free-sites.h \
	report/advice-json.c \
	report/advice-large.c \
	report/advice-layout.c report/advice-layout.h \
	report/advice-list.c \
	report/advice-output.h \
	report/advice-pairs.c report/advice-pairs.h \
	report/advice-remote.c \
	report/advice-short.c \
	report/advice-sizes.c \
	report/advice-sites.c report/advice-sites.h \
	report/advice-text.c \
	report/advice-together.c \
	report/bar.c report/bar.h \
	report/basic-stats.c \
	report/class-stats.c report/class-stats.h \
	report/replay.c report/replay.h \
	report/replay-objects.c report/replay-objects.h \
	report/report.c report/report.h \
	report/scale.c report/scale.h \
	report/size-classes.c report/size-classes.h \
	report/size-classes-json.c \
	report/size-classes-text.c \
	report/size-demand.c report/size-demand.h \
	report/size-replay.c report/size-replay.h \
	report/size-sets.c report/size-sets.h \
	report/table.c report/table.h \
	report/finding-counts.c report/finding-counts.h \
	report/finding-texts.c report/finding-texts.h \
	report/report-text.c report/report-text.h \
	report/report-plan.c report/report-plan-private.h \
	report/report-plan-advice.c \
	report/report-plan-time.c \
	report/report-text-capture.c \
	report/report-text-cross-cpu.c \
	report/report-text-deferred.c \
	report/report-text-detailed.c \
	report/report-text-findings.c \
	report/report-text-groups.c \
	report/totals.c report/totals.h
if PPROF
REPORT_SOURCES += \
	report/pprof-locations.c report/pprof-locations.h \
	report/pprof-stream.c report/pprof-stream.h \
	report/report-pprof.c
# The generated code is not compiled with our warnings.
noinst_LIBRARIES += report/libprofile.a
nodist_report_libprofile_a_SOURCES = report/profile.pb-c.c
report_libprofile_a_CFLAGS = $(KMT_SANITIZE) $(PROTOBUF_C_CFLAGS)
BUILT_SOURCES += report/profile.pb-c.h
CLEANFILES += report/profile.pb-c.c report/profile.pb-c.h
report/profile.pb-c.c: report/profile.proto
	$(AM_V_GEN)$(MKDIR_P) report && $(PROTOC_C) \
		--proto_path='$(srcdir)/report' --c_out=report \
		'$(srcdir)/report/profile.proto'
report/profile.pb-c.h: report/profile.pb-c.c
# Targets other than all, check and install do not make BUILT_SOURCES first.
$(report_libreport_a_OBJECTS) $(fuzz_options_OBJECTS) \
$(fuzz_report_OBJECTS): | report/profile.pb-c.h
KMT_PPROF_LIBS = report/libprofile.a $(PROTOBUF_C_LIBS)
else
KMT_PPROF_LIBS =
EXTRA_DIST += \
	report/pprof-locations.c report/pprof-locations.h \
	report/pprof-stream.c report/pprof-stream.h \
	report/report-pprof.c
endif
REPORT_SOURCES += report/report-pprof.h
EXTRA_DIST += report/profile.proto
# Everything except main(), for the programs that use the figures of a report.
noinst_LIBRARIES += report/libreport.a
report_libreport_a_SOURCES = $(REPORT_SOURCES)
KMT_REPORT_LIBS = report/libreport.a $(KMT_SLAB_LIBS) $(KMT_OUTPUT_LIBS) \
	$(KMT_SYMBOLS_LIBS) $(KMT_CLI_LIBS) $(KMT_PPROF_LIBS)
report_kmemtrace_report_SOURCES = report/main.c
report_kmemtrace_report_LDADD = $(KMT_REPORT_LIBS)
EXTRA_DIST += report/README.md report/html/data-format.md
