# SPDX-License-Identifier: GPL-2.0-or-later
# What measures the programs; make check runs none of it but a smoke test.
noinst_PROGRAMS += bench/generate
bench_generate_SOURCES = \
	bench/generate.c \
	bench/model.c bench/model.h \
	bench/sink.c bench/sink.h
bench_generate_LDADD = cli/libcli.a $(GLIB_LIBS)
