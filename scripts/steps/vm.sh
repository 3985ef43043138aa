# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # scripts/test sets -e and the variables
# Steps of scripts/test that boot patched kernels and check what the kernels record: the
# main job, the gap test, and comparisons, on each architecture. The programs are found
# through PATH. recording.sh and stock.sh use the functions that boot a guest and judge
# its capture.

export PYTHONDONTWRITEBYTECODE=1

# programs OPTIONS: build the programs for the guest of a kernel with these options of
# vm/build, and print their build directory.
programs()
{
	local arch

	arch=$(sed -n 's/.*--arch \([^ ]*\).*/\1/p' <<<"$1")
	if [ -n "$arch" ]; then
		"$kmt_top/vm/cross" -q "$arch"
	else
		echo "$builddir"
	fi
}

# guest OPTIONS OUT SCENARIO [OPTION of vm/run]...: boot the kernel that vm/build makes
# with OPTIONS.
guest()
{
	local options=$1 out=$2 scenario=$3 built its_programs
	shift 3
	# This machine checks and reports the captures of all guests.
	kmt_build_programs "$builddir"
	its_programs=$(programs "$options")
	# shellcheck disable=SC2086 # one or more words
	built=$(kernel $options)
	rm -rf "$out"
	"$kmt_top/vm/run" --kernel "$built" --builddir "$its_programs" --out "$out" \
		"$@" "$kmt_top/vm/scenarios/$scenario"
	sed -n '/kmemtrace-vm: started/,$p' "$out/console.log"
}

# whole_records CAPTURE: check that the records are complete and that
# kmemtrace-check finds no error.
whole_records()
{
	local file size

	size=$(sed -n 's/^record_size=//p' "$1/kmemtrace.meta")
	for file in "$1"/cpu*.out; do
		echo "${file##*/}: $(stat -c %s "$file") bytes"
		[ $(($(stat -c %s "$file") % size)) = 0 ]
	done
	kmemtrace-check "$1"
}

# meta_has CAPTURE LINE: check that kmemtrace.meta contains the line.
meta_has()
{
	grep -qx "$2" "$1/kmemtrace.meta" || {
		echo "kmemtrace.meta of $1 has no line $2"
		return 1
	}
}

# Buffer space for the 300000 events of a boot with ACPI, before a reader exists.
traced=(--append 'kmemtrace.enable=yes kmemtrace.subbufs=60')

# boot KERNEL [OPTION of vm/run]...: record and check the main job.
boot()
{
	guest "$(kernel_options "$1")" "$work/boot-$1" boot-capture.sh "${@:2}"
	python3 "$kmt_top/tests/vm/main_job.py" "$work/boot-$1/capture"
}

# version2 FOLDER [--work]: check the fields of version 2 in the capture.
version2()
{
	python3 "$kmt_top/tests/vm/version2.py" "${@:2}" "$1/capture"
}

# slabs FOLDER: compare the slabs that lib/slab simulates with the guest's slabinfo;
# see docs/testing.md.
slabs()
{
	python3 "$kmt_top/tests/vm/slab-simulator.py" \
		"$builddir/tests/slab/simulate-slabs" "$1/capture"
}

step_boot_slub()
{
	boot slub "${traced[@]}"
	slabs "$work/boot-slub"
	version2 "$work/boot-slub" --work
	python3 "$kmt_top/tests/report/figures-large.py" "$work/boot-slub/capture"
}

step_boot_slab()
{
	boot slab "${traced[@]}"
	slabs "$work/boot-slab"
}

# Records in the format of version 1.
step_boot_slob()
{
	boot slob --append 'kmemtrace.enable=yes kmemtrace.subbufs=60 kmemtrace.abi=1'
	meta_has "$work/boot-slob/capture" abi_version=1
}

step_boot_7_3() { boot 7-3 --fail-on-trouble "${traced[@]}"; }
step_boot_newest()
{
	boot newest --fail-on-trouble "${traced[@]}"
	slabs "$work/boot-newest"
}

step_boot_6_12()
{
	boot 6-12 --fail-on-trouble "${traced[@]}"
	slabs "$work/boot-6-12"
}

# Slabs that are partly empty, because files are made on one CPU and removed on another.
step_slab_fragments()
{
	local name

	for name in slub slab newest; do
		guest "$(kernel_options "$name")" "$work/slab-fragments-$name" \
			slab-fragments.sh "${traced[@]}"
		slabs "$work/slab-fragments-$name"
	done
}

# Options for guests of other architectures, which are slower to emulate.
foreign=(--fail-on-trouble --timeout 900 "${traced[@]}")

step_boot_arm64() { boot arm64 "${foreign[@]}"; }
step_boot_s390x() { boot s390x "${foreign[@]}"; }
step_boot_arm() { boot arm "${foreign[@]}"; }
step_boot_6_1_arm64() { boot 6-1-arm64 "${foreign[@]}"; }
step_boot_6_1_s390x() { boot 6-1-s390x "${foreign[@]}"; }
step_boot_6_12_arm64() { boot 6-12-arm64 "${foreign[@]}"; }
step_boot_6_12_s390x() { boot 6-12-s390x "${foreign[@]}"; }

# judge_gap FOLDER: compare the records with the work that the module reports.
judge_gap()
{
	python3 "$kmt_top/tests/vm/gap.py" "$1/capture" "$1/gap.log" "$1"/nmi*
}

# figures SOURCE FORMAT FOLDER...: count what the recording of a source has of each path
# of the gap test; scripts/sources reads the figures.
figures()
{
	python3 "$kmt_top/tests/vm/sources.py" "${@:2}" >"$3/figures"
	mv "$3/figures" "$3/figures-$1.json"
}

# gap KERNEL [OPTION of vm/run]...: check that each path through the allocators is
# recorded a known number of times.
gap()
{
	guest "$(kernel_options "$1")" "$work/gap-$1" gap.sh "${@:2}"
	judge_gap "$work/gap-$1"
	version2 "$work/gap-$1"
}

# gap_figures KERNEL [OPTION of vm/run]...: the same, with the figures for scripts/sources.
gap_figures()
{
	gap "$@"
	figures relay capture "$work/gap-$1"
}

# Contiguous and gigantic pages come from an area that the command line reserves.
gap_opts=(--memory 5120 --append
	'kmemtrace.enable=yes kmemtrace.subbufs=120 hugetlb_cma=1G')

step_gap_slub() { gap_figures slub "${gap_opts[@]}"; }
step_gap_slab() { gap slab "${traced[@]}"; }
step_gap_slob() { gap slob "${traced[@]}"; }
step_gap_7_3() { gap 7-3 --fail-on-trouble "${gap_opts[@]}"; }
step_gap_newest() { gap_figures newest --fail-on-trouble "${gap_opts[@]}"; }
step_gap_6_12() { gap_figures 6-12 --fail-on-trouble "${gap_opts[@]}"; }
step_gap_arm64() { gap arm64 "${foreign[@]}"; }
step_gap_s390x() { gap s390x "${foreign[@]}"; }
step_gap_arm() { gap arm "${foreign[@]}"; }
step_gap_6_1_arm64() { gap 6-1-arm64 "${foreign[@]}"; }
step_gap_6_1_s390x() { gap 6-1-s390x "${foreign[@]}"; }
step_gap_6_12_arm64() { gap 6-12-arm64 "${foreign[@]}"; }
step_gap_6_12_s390x() { gap 6-12-s390x "${foreign[@]}"; }

# advice_boot OPTIONS OUT: record the objects of the trials of vm/advice.
advice_boot()
{
	local hold

	hold=$(awk '!/^#/ { printf "%s%s:%s", sep, $1, $2; sep = "," }' \
		"$kmt_top/vm/advice/trials.list")
	guest "$1" "$2" advice.sh --timeout 900 --file "$work/hold" \
		--append "kmemtrace.enable=yes kmemtrace.subbufs=60 hold=$hold"
}

# Change four call sites of Linux 6.1 as the report advises, and compare the slabs of
# both kernels.
step_advice()
{
	local base=$work/advice-base new=$work/advice-new

	cc -O1 -static -o "$work/hold" "$kmt_top/vm/advice/hold.c"
	advice_boot slub "$base"
	advice_boot "--patch $kmt_top/vm/advice slub" "$new"
	export KMEMTRACE_WRAPPERS=$kmt_top/lib/symbols/wrappers.list
	kmemtrace-report --advise --json --lines 0 "$base/capture" >"$base/advice.json"
	kmemtrace-report --advise --lines 5 "$base/capture"
	python3 "$kmt_top/tests/vm/advice.py" "$kmt_top/vm/advice/trials.list" \
		"$base/advice.json" "$base" "$new"
}

# The counting test has the same figures on each architecture.
step_equal_counts()
{
	local arch capture narrow compared=''

	for arch in newest arm64 s390x arm; do
		capture=$work/gap-$arch/capture
		[ -e "$capture/kmemtrace.meta" ] || continue
		kmemtrace-report --json --lines 0 "$capture" >"$work/gap-$arch.json"
		[ "$arch" != newest ] || continue
		[ -e "$work/gap-newest.json" ] || break
		echo "x86_64 and $arch:"
		narrow=()
		[ "$arch" != arm ] || narrow=(--32-bit)
		python3 "$kmt_top/tests/vm/equal_counts.py" "${narrow[@]}" \
			"$work/gap-newest.json" "$work/gap-$arch.json"
		compared=yes
	done
	[ -n "$compared" ] || {
		echo "needs the captures of gap-newest and gap-arm64, gap-s390x, or gap-arm"
		exit 77
	}
}

# judge_coverage FOLDER [OPTION of tests/vm/coverage.py]...
judge_coverage()
{
	local version

	version=$(sed -nE 's/^kernel_release=([0-9]+\.[0-9]+).*/\1/p' \
		"$1/capture/kmemtrace.meta")
	python3 "$kmt_top/tests/vm/coverage.py" "${@:2}" \
		"$kmt_top/vm/coverage/exceptions.list" "$version" "$1/capture"
}

# coverage KERNEL [OPTIONS of vm/build [WORDS of the command line]]: compare the records
# with the calls of other hooks. The test must also notice a single missing record.
coverage()
{
	local out=$work/coverage-$1 options=${2:-$(kernel_options "$1")}

	guest "--patch $kmt_top/vm/coverage $options" "$out" \
		coverage.sh --fail-on-trouble --memory 1024 --timeout 900 \
		--second-disk 128 \
		--append "kmemtrace.enable=yes kmemtrace.subbufs=256 ${3:-}"
	judge_coverage "$out"
	if judge_coverage "$out" --drop 300000 >"$out/dropped"; then
		echo "a missing record is not found"
		return 1
	fi
}

step_coverage_slub() { coverage slub; }
step_coverage_6_12() { coverage 6-12 '--linux 6.12 slub'; }
step_coverage_7_3() { coverage 7-3; }
step_coverage_newest() { coverage newest; }
step_coverage_arm64() { coverage arm64; }
step_coverage_s390x() { coverage s390x; }
# The buffers do not fit into the default area of vmalloc().
step_coverage_arm() { coverage arm '' vmalloc=512M; }
step_coverage_6_1_arm64() { coverage 6-1-arm64; }
step_coverage_6_1_s390x() { coverage 6-1-s390x; }
step_coverage_6_12_arm64() { coverage 6-12-arm64; }
step_coverage_6_12_s390x() { coverage 6-12-s390x; }

# Fragments of a kernel with KUnit tests, including those of cgroups.
kunit_fragments='slub kunit cgroups'

# The tests that the kernel patches bring along, on the kernel of OPTIONS of vm/build.
selftest()
{
	local out=$work/selftest-$1 built

	# shellcheck disable=SC2086 # several words
	built=$(kernel $2)
	mkdir -p "$out.program"
	"$kmt_top/vm/selftest" "$built" "$out.program"
	guest "$2" "$out" selftest.sh --fail-on-trouble --file "$out.program/kmemtrace_test"
}

step_selftest()
{
	selftest newest "--linux newest $kunit_fragments"
	selftest 6-1 "$kunit_fragments"
}

# Run the same work on each slab allocator, and compare figures that have two sources.
step_allocators()
{
	kmt_build_programs "$builddir"
	rm -rf "$work/allocators"
	"$kmt_top/bench/allocators" --builddir "$builddir" --logs "$work/allocators" \
		--json "$work/allocators.json" --output "$work/allocators.md"
	sed -n '/^## Conclusions/,/^## Kernels/p' "$work/allocators.md"
}

# Compare the live memory of each call site with the kernel's allocation profile.
step_allocinfo()
{
	guest '--linux newest slub tags' "$work/allocinfo" allocinfo.sh --append \
		'kmemtrace.enable=yes kmemtrace.subbufs=80 early_page_ext'
	python3 "$kmt_top/tests/vm/allocinfo.py" "$work/allocinfo"
}

step_tags()
{
	guest '--linux newest slub tags' "$work/tags" tags.sh "${traced[@]}"
}

# cgroups NAME OPTIONS APPEND [OPTION of vm/run]...: move tasks between cgroups, and
# remove cgroups.
cgroups()
{
	[ -x "$work/tcgroup" ] ||
		cc -O1 -static -pthread -o "$work/tcgroup" \
			"$kmt_top/vm/tcgroup/tcgroup.c"
	guest "$2" "$work/$1" cgroups.sh --fail-on-trouble --file "$work/tcgroup" \
		--append "kmemtrace.tasks=1024 $3" "${@:4}"
	whole_records "$work/$1/capture"
	python3 "$kmt_top/tests/vm/cgroups.py" "$work/$1"
}

step_cgroups()
{
	cgroups cgroups "--linux newest $kunit_fragments" ""
	cgroups cgroups-6-1 "$kunit_fragments" ""
}

# reconcile NAME FRAGMENTS APPEND [OPTION of tests/vm/reconcile.py]...: compare live
# objects with slabinfo; see docs/testing.md.
reconcile()
{
	local name=$1 fragments=$2 append=$3
	shift 3
	guest "$fragments" "$work/reconcile-$name" reconcile.sh \
		--append "kmemtrace.enable=yes kmemtrace.subbufs=60 $append"
	python3 "$kmt_top/tests/vm/reconcile.py" "$@" "$work/reconcile-$name"
}

step_reconcile_slub()
{
	reconcile slub slub "" --kept -1
	# slub_debug=F disables the per-CPU lists of free objects, so the numbers must be
	# exactly equal.
	reconcile slub-exact slub slub_debug=F --kept 0
}

step_reconcile_slab()
{
	reconcile slab slab "" --kept 1
}

# stacks NAME OPTIONS: the main job with stacks, on the kernel that vm/build makes with
# OPTIONS.
stacks()
{
	guest "$2" "$work/$1" boot-capture.sh --append \
		"kmemtrace.enable=yes kmemtrace.subbufs=60 kmemtrace.stacks=yes $debug_quiet"
	python3 "$kmt_top/tests/vm/main_job.py" "$work/$1/capture"
	version2 "$work/$1"
	# shellcheck disable=SC2086 # several words
	python3 "$kmt_top/tests/vm/stacks.py" "$work/$1/capture" \
		"$(kernel $2)/vmlinux"
}

step_stacks() { stacks stacks "--linux 6.12 $test_fragments"; }
step_stacks_6_1() { stacks stacks-6-1 "$test_fragments"; }

# nested NAME OPTIONS: events within events; and each stack of the fast unwinder against
# the kernel's.
nested()
{
	# shellcheck disable=SC2086 # several words
	python3 "$kmt_top/tests/vm/guarded.py" "$(kernel $2)"
	guest "$2" "$work/$1" nested.sh --fail-on-trouble \
		--append "kmemtrace.stacks=yes kmemtrace.subbufs=8192 kmemtrace.subbuf_size=1152 $debug_quiet"
	python3 "$kmt_top/tests/vm/nested.py" "$work/$1"
	guest "$2" "$work/$1-unwind" unwind.sh --fail-on-trouble \
		--append "kmemtrace.enable=yes kmemtrace.stacks=yes $debug_quiet"
}

step_nested() { nested nested "--linux 6.12 $test_fragments"; }
step_nested_6_1() { nested nested-6-1 "$test_fragments"; }

# Check that the commands in the documents work.
step_walkthrough()
{
	kmt_build_programs "$builddir"
	"$kmt_top/scripts/walkthrough" --check --build "$builddir"
}

# boot_fault NAME: boot Linux 6.1 with the fault in NAME for a comparison.
boot_fault()
{
	guest slub "$work/diff/$1" diff.sh --disk-size 512 --append \
		"kmemtrace.enable=yes kmemtrace.subbufs=60 kmt_fault=${1%%-*}"
}

# boot_build NAME FRAGMENT...: boot another build of Linux 6.1 for a comparison. $vmlinux is
# the file with its debug information.
boot_build()
{
	local built

	built=$("$kmt_top/vm/build" -q slub debuginfo "${@:2}")
	vmlinux=$built/vmlinux
	rm -rf "$work/diff/$1"
	"$kmt_top/vm/run" --kernel "$built" --builddir "$builddir" \
		--out "$work/diff/$1" --disk-size 512 --append \
		'kmemtrace.enable=yes kmemtrace.subbufs=60 kmt_fault=none' \
		"$kmt_top/vm/scenarios/diff.sh"
}

# Compare boots with and without a fault, and boots of two builds. The equal boots of both
# sides take turns, so that a change of the load affects both.
step_diff_guest()
{
	local name vmlinux fast

	mkdir -p "$work/diff"
	for name in none-1 none-2 none-3 none-4 none-5 none-6 leak waste spike; do
		boot_fault "$name"
	done
	python3 "$kmt_top/tests/vm/diff.py" "$work/diff"
	boot_build fast
	fast=$vmlinux
	boot_build small size nomodules
	python3 "$kmt_top/tests/vm/diff_matches.py" "$work/diff/fast/capture" "$fast" \
		"$work/diff/small/capture" "$vmlinux"
}

# Judge boots of a module whose table grows by 64 KiB.
step_gate_guest()
{
	local built name size

	kmt_build_programs "$builddir"
	built=$("$kmt_top/vm/build" -q --module "$kmt_top/vm/regress" slub)
	mkdir -p "$work/gate"
	for name in base-1 base-2 grown; do
		size=512
		[ $name != grown ] || size=1024
		rm -rf "$work/gate/$name"
		"$kmt_top/vm/run" --kernel "$built" --builddir "$builddir" \
			--out "$work/gate/$name" --disk-size 300 --append \
			"kmemtrace.enable=yes kmemtrace.subbufs=60 kmt_regress.size=$size" \
			"$kmt_top/vm/scenarios/regress.sh"
		sed -n '/kmemtrace-vm: started/,$p' "$work/gate/$name/console.log"
		kmemtrace-check "$work/gate/$name/capture"
	done
	python3 "$kmt_top/tests/vm/gate.py" "$work/gate" "$built"
}
