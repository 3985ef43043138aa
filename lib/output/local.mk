# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/output/liboutput.a
lib_output_liboutput_a_SOURCES = \
	lib/output/capture-json.c lib/output/capture-json.h \
	lib/output/capture-symbols.c lib/output/capture-symbols.h
lib_output_liboutput_a_CFLAGS = $(AM_CFLAGS)
EXTRA_DIST += lib/output/README.md
