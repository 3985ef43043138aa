# SPDX-License-Identifier: GPL-2.0-or-later
# Modules, a preloaded allocator, and reference implementations that tests share.
EXTRA_DIST += \
	tests/lib/advice_case.py \
	tests/lib/boot_case.py \
	tests/lib/compress_case.py \
	tests/lib/ctf_files.py \
	tests/lib/damaged_pages.py \
	tests/lib/diff_case.py \
	tests/lib/figures_compare.py \
	tests/lib/files.py \
	tests/lib/gate_case.py \
	tests/lib/golden_files.py \
	tests/lib/import_case.py \
	tests/lib/import_events.py \
	tests/lib/input_case.py \
	tests/lib/kmemtraced_fake.py \
	tests/lib/kmemtraced_tracefs.py \
	tests/lib/large_captures.py \
	tests/lib/live_tracefs.py \
	tests/lib/mkcapture.py \
	tests/lib/mkstream.py \
	tests/lib/perf_files.py \
	tests/lib/pprof_files.py \
	tests/lib/random_captures.py \
	tests/lib/reference_capture.py \
	tests/lib/reference_diff.py \
	tests/lib/reference_figures.py \
	tests/lib/reference_html.py \
	tests/lib/reference_match.py \
	tests/lib/reference_names.py \
	tests/lib/reference_noise.py \
	tests/lib/reference_output.py \
	tests/lib/reference_totals.py \
	tests/lib/report_case.py \
	tests/lib/seeds.py \
	tests/lib/source_case.py \
	tests/lib/stream_parser.py \
	tests/lib/target.py \
	tests/lib/terminal.py \
	tests/lib/top_case.py \
	tests/lib/top_compare.py \
	tests/lib/tmux_case.py \
	tests/lib/trace_dat_files.py \
	tests/lib/zstd_frames.py

check_PROGRAMS += tests/lib/preload-malloc.so
tests_lib_preload_malloc_so_SOURCES = tests/lib/preload-malloc.c
tests_lib_preload_malloc_so_CFLAGS = $(KMT_WARN_CFLAGS) -fPIC -fno-builtin
tests_lib_preload_malloc_so_CPPFLAGS = $(AM_CPPFLAGS)
tests_lib_preload_malloc_so_LDFLAGS = -shared

EXTRA_DIST += tests/README.md

check_PROGRAMS += tests/lib/preload-clock.so
tests_lib_preload_clock_so_SOURCES = tests/lib/preload-clock.c
tests_lib_preload_clock_so_CFLAGS = $(KMT_WARN_CFLAGS) -fPIC
tests_lib_preload_clock_so_CPPFLAGS = $(AM_CPPFLAGS)
tests_lib_preload_clock_so_LDFLAGS = -shared
