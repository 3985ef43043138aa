# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # scripts/test sets -e and the variables
# Steps of scripts/test that record kernels without kmemtrace, by BPF programs and
# tracepoints. vm.sh has the functions that judge a capture.

# stock VERSION: record work on an unmodified kernel of Debian by BPF programs.
stock()
{
	local kernel file

	kmt_build_programs "$builddir"
	kernel=$("$kmt_top/vm/stock" "$1")
	rm -rf "$work/stock-$1"
	"$kmt_top/vm/run" --kernel "$kernel" --builddir "$builddir" \
		--out "$work/stock-$1" --fail-on-trouble --timeout 900 \
		"$kmt_top/vm/scenarios/bpf.sh"
	whole_records "$work/stock-$1/capture"
	python3 "$kmt_top/tests/vm/bpf.py" "$work/stock-$1"
	kmemtrace-check "$work/stock-$1/stacks"
	python3 "$kmt_top/tests/vm/stacks.py" "$work/stock-$1/stacks"
	for file in "$work/stock-$1/killed"/cpu*.out; do
		[ $(($(stat -c %s "$file") % 64)) = 0 ]
	done
}

# gap_stock VERSION: the gap test on an unmodified kernel, recorded by the source bpf.
# Where the kernel can preempt programs, an event is lost now and then, and nothing can
# be judged; repeat the test then.
gap_stock()
{
	local attempt kernel

	kmt_build_programs "$builddir"
	kernel=$("$kmt_top/vm/stock" --module "$kmt_top/vm/gap" "$1")
	for attempt in 1 2 3; do
		rm -rf "$work/gap-stock-$1"
		! "$kmt_top/vm/run" --kernel "$kernel" --builddir "$builddir" \
			--out "$work/gap-stock-$1" --memory 5120 --timeout 900 \
			--append 'hugetlb_cma=1G kmt_bpf' \
			"$kmt_top/vm/scenarios/gap.sh" || break
		[ "$attempt" != 3 ] &&
			grep 'FAILED: events were lost' "$work/gap-stock-$1/console.log"
	done
	judge_gap "$work/gap-stock-$1"
	kmemtrace-check "$work/gap-stock-$1/capture"
	figures bpf capture "$work/gap-stock-$1"
}
step_gap_stock_6_1() { gap_stock 6.1; }
step_gap_stock_6_12() { gap_stock 6.12; }
step_gap_stock_newest() { gap_stock newest; }

# sources VERSION: count what the tracepoints of an unmodified kernel, perf, and memleak
# record of the paths of the gap test.
sources()
{
	local out=$work/sources-$1 kernel

	kmt_build_programs "$builddir"
	kernel=$("$kmt_top/vm/stock" --tools --module "$kmt_top/vm/gap" "$1")
	rm -rf "$out"
	"$kmt_top/vm/run" --kernel "$kernel" --builddir "$builddir" --out "$out" \
		--disk "$kernel/tools.img" --memory 5120 --timeout 1800 \
		--append hugetlb_cma=1G "$kmt_top/vm/scenarios/sources.sh"
	figures ftrace capture "$out/ftrace"
	figures perf perf "$out/perf"
	figures memleak memleak "$out/memleak" "$out/memleak-percpu"
}
step_sources_6_1() { sources 6.1; }
step_sources_6_12() { sources 6.12; }
step_sources_newest() { sources newest; }

# The gap test, recorded by the source bpf.
step_gap_bpf()
{
	guest '--linux 6.12 slub debuginfo orc bpf' "$work/gap-bpf" gap.sh \
		--fail-on-trouble --memory 5120 --timeout 900 \
		--append 'hugetlb_cma=1G kmt_bpf'
	judge_gap "$work/gap-bpf"
}

step_stock_6_1() { stock 6.1; }
step_stock_6_12() { stock 6.12; }
step_stock_newest() { stock newest; }

step_stock_5_10()
{
	kmt_build_programs "$builddir"
	rm -rf "$work/stock-5.10"
	"$kmt_top/vm/run" --kernel "$("$kmt_top/vm/stock" 5.10)" --builddir "$builddir" \
		--out "$work/stock-5.10" --fail-on-trouble "$kmt_top/vm/scenarios/bpf-fallback.sh"
	kmemtrace-check "$work/stock-5.10/capture"
}

# load_stock VERSION: ten minutes of load. No object may be allocated while it is live,
# and none freed twice.
load_stock()
{
	local capture=$work/load-stock-$1/capture n_lost n_excused

	kmt_build_programs "$builddir"
	rm -rf "$work/load-stock-$1"
	"$kmt_top/vm/run" --kernel "$("$kmt_top/vm/stock" "$1")" --builddir "$builddir" \
		--out "$work/load-stock-$1" --fail-on-trouble --timeout 1500 \
		--disk-size 8192 --append "seconds=600" "$kmt_top/vm/scenarios/bpf-load.sh"
	whole_records "$capture"
	# A lost event excuses one allocation of an object that was live.
	n_lost=$(sed -n 's/^overruns=//p' "$capture/kmemtrace.meta" | head -n 1)
	n_excused=$(kmemtrace-check "$capture" 2>/dev/null | sed -nE \
		's/^double-allocation +0  besides 0 by a race, ([0-9]+) after loss$/\1/p')
	echo "$n_lost events were lost; objects allocated while live: $n_excused"
	[ "$n_excused" -le "$n_lost" ]
}
step_load_stock_6_1() { load_stock 6.1; }
step_load_stock_6_12() { load_stock 6.12; }
step_load_stock_newest() { load_stock newest; }

# leak_stock VERSION: find the leak of a module within a minute, and nothing else.
leak_stock()
{
	kmt_build_programs "$builddir"
	rm -rf "$work/leak-stock-$1"
	"$kmt_top/vm/run" \
		--kernel "$("$kmt_top/vm/stock" --module "$kmt_top/vm/faulty" "$1")" \
		--builddir "$builddir" --out "$work/leak-stock-$1" --fail-on-trouble \
		--memory 3072 --timeout 600 --program "$builddir/bench/load" \
		"$kmt_top/vm/scenarios/bpf-leak.sh"
	python3 "$kmt_top/tests/vm/leak.py" "$work/leak-stock-$1/capture"
}
step_leak_stock_6_1() { leak_stock 6.1; }
step_leak_stock_6_12() { leak_stock 6.12; }
step_leak_stock_newest() { leak_stock newest; }

step_stock_errors()
{
	local capture

	kmt_build_programs "$builddir"
	rm -rf "$work/stock-errors"
	"$kmt_top/vm/run" --kernel "$("$kmt_top/vm/stock" 6.12)" --builddir "$builddir" \
		--out "$work/stock-errors" --fail-on-trouble --timeout 7200 \
		--program setpriv "$kmt_top/vm/scenarios/bpf-errors.sh"
	for capture in second cgroups capable tracepoints integrity; do
		kmemtrace-check "$work/stock-errors/$capture"
	done
}
