# SPDX-License-Identifier: GPL-2.0-or-later
dist_man_MANS += docs/man/kmemtrace-report.1
dist_man_MANS += docs/man/kmemtrace-check.1 docs/man/kmemtrace_check.1
EXTRA_DIST += docs/definitions.md
dist_man_MANS += docs/man/kmemtrace.5 docs/man/kmemtraced.8
EXTRA_DIST += docs/testing.md
