# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # scripts/test sets -e and the variables
# Steps of scripts/test that test the recording itself in a guest: kmemtraced, the files
# and parameters of the kernel, lost events, and the kernel with KASAN and lockdep. vm.sh
# has the functions that boot a guest and judge its capture.

# hotplug NAME FRAGMENTS APPEND [OPTION of vm/run]...: record while CPUs go offline
# and online.
hotplug()
{
	local capture

	bufread
	guest "$2" "$work/$1" hotplug.sh --file "$work/bufread" --append \
		"kmemtrace.enable=yes kmemtrace.subbufs=60 maxcpus=1 $3" "${@:4}"
	for capture in away away-snapshot all all-snapshot; do
		whole_records "$work/$1/$capture"
	done
}

step_hotplug()
{
	hotplug hotplug slub ""
	python3 "$kmt_top/tests/vm/main_job.py" "$work/hotplug/capture"
}

step_loss()
{
	guest slub "$work/loss" loss.sh --append \
		'kmemtrace.subbufs=2 kmemtrace.subbuf_size=57344 kmemtrace.tasks=16'
	python3 "$kmt_top/tests/vm/loss.py" "$work/loss"
}

# Build bufread, a guest program that reads the buffers without kmemtraced.
bufread()
{
	[ -x "$work/bufread" ] ||
		cc -O1 -static -I"$kmt_top/abi" -o "$work/bufread" \
			"$kmt_top/vm/bufread/bufread.c"
}

# buffers NAME FRAGMENTS APPEND [OPTION of vm/run]...: test the interface of the
# buffers with bufread.
buffers()
{
	local out=$work/$1

	bufread
	guest "$2" "$out" buffers.sh --file "$work/bufread" \
		--append "kmemtrace.subbufs=8 kmemtrace.subbuf_size=65536 $3" \
		"${@:4}"
	python3 "$kmt_top/tests/vm/buffers.py" "$out"
}

step_buffers() { buffers buffers slub "" --memory 256; }

# Record the same work with both sources at the same time.
step_top_guest()
{
	guest slub "$work/top-guest" top.sh --append kmemtrace.subbufs=60
	top_builddir=$builddir PYTHONPATH=$kmt_top/tests/lib \
		python3 "$kmt_top/tests/vm/top.py" "$work/top-guest"
}

step_ftrace_guest()
{
	guest slub "$work/ftrace-guest" ftrace.sh --append kmemtrace.subbufs=60
	python3 "$kmt_top/tests/vm/ftrace.py" "$work/ftrace-guest/relay" \
		"$work/ftrace-guest/ftrace"
	whole_records "$work/ftrace-guest/relay"
}

step_kill_restart()
{
	local out=$work/kill-restart

	guest slub "$out" kill-restart.sh "${traced[@]}"
	whole_records "$out/first"
	meta_has "$out/first" complete=false
	whole_records "$out/second"
	meta_has "$out/second" complete=true
	meta_has "$out/second" continues=true
	python3 "$kmt_top/tests/vm/kill.py" "$out"
}

step_disk_full()
{
	guest slub "$work/disk-full" disk-full.sh "${traced[@]}" --second-disk 32
	whole_records "$work/disk-full/capture"
	meta_has "$work/disk-full/capture" complete=false
	whole_records "$work/disk-full/old"
	meta_has "$work/disk-full/old" complete=true
}

# Build texec, a static guest program; guests have no thread library.
texec()
{
	[ -x "$work/texec" ] ||
		cc -O1 -static -pthread -o "$work/texec" "$kmt_top/vm/texec/texec.c"
}

step_toggle()
{
	texec
	guest slub "$work/toggle" toggle.sh --file "$work/texec"
	whole_records "$work/toggle/capture"
	version2 "$work/toggle" --task 'a second name'
}

# Test snapshots and their triggers.
step_snapshot()
{
	guest slub "$work/snapshot" snapshot.sh
	python3 "$kmt_top/tests/vm/snapshot.py" "$work/snapshot"
}

# marks FRAGMENTS NAME APPEND [OPTION of vm/run]...: record annotations of the
# sample module and lines from user space.
marks()
{
	guest "$1" "$work/$2" marks.sh --fail-on-trouble \
		--append "kmemtrace.subbufs=60 $3" "${@:4}"
	whole_records "$work/$2/capture"
	python3 "$kmt_top/tests/vm/marks.py" "$work/$2"
}

step_marks() { marks slub marks ""; }

step_version1()
{
	guest slub "$work/version1" version1.sh --fail-on-trouble --append \
		'kmemtrace.abi=1 kmemtrace.subbufs=60'
	python3 "$kmt_top/tests/vm/version1.py" "$work/version1"
}

# Records of version 2, which have the events of version 3 except the hand-over to
# kfree_rcu().
step_version2()
{
	guest slub "$work/version2" version2.sh --fail-on-trouble --append \
		'kmemtrace.enable=yes kmemtrace.abi=2 kmemtrace.subbufs=60'
	python3 "$kmt_top/tests/vm/gap.py" "$work/version2/capture" \
		"$work/version2/gap.log"
	version2 "$work/version2" --abi 2
}

step_mounts()
{
	guest slub "$work/mounts" mounts.sh
	whole_records "$work/mounts/capture"
}

step_no_stacks()
{
	guest slub "$work/no-stacks" no-stacks.sh --append \
		'kmemtrace.enable=yes kmemtrace.stacks=yes stack_depot_disable=on'
}

step_parameters()
{
	guest slub "$work/parameters" parameters.sh --memory 256 --append \
		'possible_cpus=16 kmemtrace.enable=maybe kmemtrace.subbufs=1 kmemtrace.subbuf_size=12x kmemtrace.abi=4 kmemtrace.tasks=1 kmemtrace.subbufs=4294967298 kmemtrace.subbuf_size=18014398509481985K kmemtrace.abi=4294967297 kmemtrace.tasks=4294967312'
}

# control FRAGMENTS NAME [OPTION of vm/run]...: test the control files.
control()
{
	guest "$1" "$work/$2" control.sh --fail-on-trouble "${@:3}"
	python3 "$kmt_top/tests/vm/control.py" "$work/$2"
}

step_control() { control slub control; }

# Check that kmemtraced keeps up with a steady load and does not record its own
# allocations endlessly.
step_tail()
{
	guest slub "$work/tail" tail.sh --memory 2048 \
		--append 'kmemtrace.subbufs=240'
}

step_ctrl_c()
{
	guest slub "$work/ctrl-c" ctrl-c.sh --memory 2048 --disk-size 4096 \
		"${traced[@]}"
}

# no_memory OPTION of vm/run...: test a kernel that injects allocation failures.
no_memory()
{
	cc -O1 -static -o "$work/failnth" "$kmt_top/vm/failnth/failnth.c"
	guest 'slub debug' "$work/debug-no-memory" no-memory.sh \
		--file "$work/failnth" "$@"
	whole_records "$work/debug-no-memory/capture"
}

# Options for guests whose kernel has KASAN, lockdep and checks for sleeping in
# atomic context. Interrupts are routed without ACPI, whose code takes longer on
# this kernel than the kernel's limit of 30 s. This kernel has no jump labels to
# patch, so QEMU of any version may run its processors in parallel.
debug_quiet=acpi=noirq
debug_opts=(--memory 2048 --timeout 600 --fail-on-trouble --threads multi)

debug_on="kmemtrace.enable=yes kmemtrace.subbufs=60 $debug_quiet"

# debug_boot NAME FRAGMENTS: run the main job and hot-plug on a debug kernel.
debug_boot()
{
	guest "$2" "$work/$1-boot" boot-capture.sh "${debug_opts[@]}" \
		--append "$debug_on"
	python3 "$kmt_top/tests/vm/main_job.py" "$work/$1-boot/capture"
	version2 "$work/$1-boot" --work --accounted
	# CPU 1 is on a separate node.
	hotplug "$1-hotplug" "$2" "$debug_quiet" "${debug_opts[@]}" --nodes 2
}

# debug_gap NAME FRAGMENTS: run the gap test on a debug kernel. With two nodes the page
# allocator uses additional wrappers.
debug_gap()
{
	guest "$2" "$work/$1-gap" gap.sh "${debug_opts[@]}" \
		--append "$debug_on numa=fake=2 kmemtrace.stacks=yes"
	judge_gap "$work/$1-gap"
	version2 "$work/$1-gap" --accounted
}

step_debug_newest()
{
	debug_boot debug-newest '--linux newest slub debug'
	debug_gap debug-newest '--linux newest slub debug'
}

# Run the main job, hot-plug, toggling, loss, and the gap test on the debug kernel.
step_debug()
{
	debug_boot debug 'slub debug'
	texec
	guest 'slub debug' "$work/debug-toggle" toggle.sh "${debug_opts[@]}" \
		--append "$debug_quiet" --file "$work/texec"
	version2 "$work/debug-toggle" --accounted --task 'a second name'
	buffers debug-buffers 'slub debug' "$debug_quiet" "${debug_opts[@]}"
	cgroups debug-cgroups 'slub debug' "$debug_quiet" "${debug_opts[@]}"
	debug_gap debug 'slub debug'
}

# Test control, snapshots, annotations and low memory on the debug kernel.
step_debug_control()
{
	control 'slub debug' debug-control "${debug_opts[@]}" \
		--append "$debug_quiet"
	guest 'slub debug' "$work/debug-snapshot" snapshot.sh \
		"${debug_opts[@]}" --timeout 900 --append "$debug_quiet"
	python3 "$kmt_top/tests/vm/snapshot.py" "$work/debug-snapshot"
	# This kernel supports lockdown.
	marks 'slub debug' debug-marks "$debug_quiet kmemtrace.stacks=yes" \
		"${debug_opts[@]}" --file "$kmt_top/vm/scenarios/lockdown.sh"
	no_memory "${debug_opts[@]}" --timeout 900 \
		--append "maxcpus=1 $debug_quiet"
}
