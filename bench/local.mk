# SPDX-License-Identifier: GPL-2.0-or-later
# Benchmarks; make check runs only a smoke test.
noinst_PROGRAMS += bench/generate
bench_generate_SOURCES = \
	bench/generate.c \
	bench/model.c bench/model.h \
	bench/sink.c bench/sink.h
bench_generate_LDADD = $(KMT_CLI_LIBS)

noinst_PROGRAMS += bench/load bench/measure bench/readall
bench_load_SOURCES = bench/load.c
bench_load_LDADD = $(KMT_CLI_LIBS)
bench_measure_SOURCES = bench/measure.c
bench_measure_LDADD = $(KMT_CLI_LIBS)
bench_readall_SOURCES = bench/readall.c
bench_readall_LDADD = $(KMT_CLI_LIBS)

# The scripts instructions and workloads compile the C files of this list.
EXTRA_DIST += bench/README.md bench/analysis bench/benchlib.py bench/diff bench/ftrace \
	bench/guestlib.py bench/html bench/instructions bench/kernel bench/latency \
	bench/lttnglib.py bench/meter.c bench/one-pass.c bench/profile.c bench/scaling \
	bench/loss bench/stock bench/top bench/workloads
