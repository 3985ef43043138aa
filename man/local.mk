# SPDX-License-Identifier: GPL-2.0-or-later
dist_man_MANS += \
	man/kmemtrace-boot.8 \
	man/kmemtrace-check.1 \
	man/kmemtrace-gate.1 \
	man/kmemtrace-import.1 \
	man/kmemtrace-report.1 \
	man/kmemtrace-top.8 \
	man/kmemtrace.5 \
	man/kmemtrace_check.1 \
	man/kmemtraced.8
