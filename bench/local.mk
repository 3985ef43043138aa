# SPDX-License-Identifier: GPL-2.0-or-later
# Benchmarks; make check runs only a smoke test.
noinst_PROGRAMS += bench/generate
bench_generate_SOURCES = \
	bench/generate.c \
	bench/model.c bench/model.h \
	bench/sink.c bench/sink.h
bench_generate_LDADD = $(KMT_CLI_LIBS)

noinst_PROGRAMS += bench/compress bench/load bench/measure bench/readall
bench_compress_SOURCES = bench/compress.c
bench_compress_LDADD = $(KMT_CAPTURE_LIBS) $(KMT_CLI_LIBS)
bench_load_SOURCES = bench/load.c
bench_load_LDADD = $(KMT_CLI_LIBS)
bench_measure_SOURCES = bench/measure.c
bench_measure_LDADD = $(KMT_CLI_LIBS)
bench_readall_SOURCES = bench/readall.c
bench_readall_LDADD = $(KMT_CLI_LIBS)

# The scripts instructions and workloads compile the C files of this list.
EXTRA_DIST += bench/README.md bench/allocators bench/allocatorsdoc.py \
	bench/analysis bench/benchlib.py bench/bootlib.py bench/diff \
	bench/ftrace bench/gate bench/guestlib.py bench/html bench/importfiles.py \
	bench/instructioncost.py bench/instructions bench/instructions-recorded.json bench/kernel \
	bench/latency bench/loss bench/lttnglib.py bench/meter.c bench/one-pass.c \
	bench/ownedcapture.py bench/profile.c bench/scaling bench/stock bench/top bench/workloads
