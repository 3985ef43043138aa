# SPDX-License-Identifier: GPL-2.0-or-later
dist_man_MANS += \
	docs/man/kmemtrace-check.1 \
	docs/man/kmemtrace-import.1 \
	docs/man/kmemtrace-report.1 \
	docs/man/kmemtrace.5 \
	docs/man/kmemtrace_check.1 \
	docs/man/kmemtraced.8
EXTRA_DIST += \
	docs/architecture.md \
	docs/benchmarks.md \
	docs/definitions.md \
	docs/limits.md \
	docs/reconciliation.md \
	docs/seeds.md \
	docs/testing.md \
	docs/walkthrough.md
