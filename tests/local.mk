# SPDX-License-Identifier: GPL-2.0-or-later

# trace/ and check/
check_PROGRAMS += tests/trace-dump
tests_trace_dump_SOURCES = tests/trace-dump.c
tests_trace_dump_LDADD = trace/libtrace.a $(GLIB_LIBS)
EXTRA_DIST += tests/mkcapture.py
